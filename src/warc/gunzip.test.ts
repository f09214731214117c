import { gzipSync } from "node:zlib";
import fc from "fast-check";
import { expect, test } from "vitest";
import { ArchiveError } from "../base/index.ts";
import { newSeed } from "../testing/dice.ts";
import { bufferSource } from "./byte-source.ts";
import { gunzip } from "./gunzip.ts";

const SEED = newSeed();

function unpack(bytes: Uint8Array): Buffer {
  const pieces: Buffer[] = [];
  for (const piece of gunzip(bufferSource(bytes))) pieces.push(Buffer.from(piece));
  return Buffer.concat(pieces);
}

test(`members of any number and size give their contents one behind the other, seed ${SEED}`, () => {
  const content = fc
    .tuple(fc.uint8Array({ maxLength: 50 }), fc.constantFrom(0, 1, 1000, 20_000))
    .map(([bytes, times]) => Buffer.concat(Array.from({ length: times }, () => Buffer.from(bytes))));
  fc.assert(
    fc.property(fc.array(content, { minLength: 1, maxLength: 5 }), (contents) => {
      const packed = Buffer.concat(contents.map((each) => gzipSync(each)));
      expect(unpack(packed).equals(Buffer.concat(contents))).toBe(true);
    }),
    { seed: SEED, numRuns: 60 },
  );
});

test("damage is an error that names the file", () => {
  const whole = gzipSync(Buffer.from("com,example)/ 2020\n".repeat(5000)));
  for (const size of [whole.length - 1, whole.length - 9, 30]) {
    expect(() => unpack(whole.subarray(0, size))).toThrow(ArchiveError);
  }
  const changed = Buffer.from(whole);
  changed[whole.length - 6]! ^= 1;
  expect(() => unpack(changed)).toThrow("(memory):0: CRC-32 differs");
});
