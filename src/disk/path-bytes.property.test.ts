import fc from "fast-check";
import { expect, it } from "vitest";
import { nameFromBytes, systemPath } from "./path-bytes.ts";

const bytesOf = (path: string | Buffer) => Buffer.from(path as string);

it("leads from any bytes of a name back to them", () => {
  fc.assert(
    fc.property(fc.uint8Array({ maxLength: 30 }), (bytes) => {
      expect(bytesOf(systemPath(nameFromBytes(Buffer.from(bytes)))).equals(bytes)).toBe(true);
    }),
  );
});

it("leaves names in UTF-8 as they are, pairs of surrogates included", () => {
  fc.assert(
    fc.property(fc.string({ unit: "binary" }), (name) => {
      expect(systemPath(name)).toBe(name);
      expect(nameFromBytes(Buffer.from(name))).toBe(name);
    }),
  );
});
