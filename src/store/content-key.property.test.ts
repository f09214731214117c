import fc from "fast-check";
import { describe, expect, it } from "vitest";
import {
  type ContentKey,
  formatAddress,
  formatContentKey,
  parseAddress,
  parseContentKey,
  sameAddress,
  VOLUME_COUNT_MAX,
} from "./content-key.ts";

const keys: fc.Arbitrary<ContentKey> = fc.record({
  volume: fc.nat(VOLUME_COUNT_MAX - 1),
  signature: fc
    .uint8Array({ minLength: 1, maxLength: 64 })
    .map((bytes) => Buffer.from(bytes).toString("hex").toUpperCase()),
  overflow: fc.oneof(fc.constant(0), fc.nat(2 ** 32 - 1)),
});

const usage = expect.objectContaining({ code: "HT_USAGE" });

describe("content keys", () => {
  it("parse back from their text", () => {
    fc.assert(
      fc.property(keys, (key) => {
        expect(parseContentKey(formatContentKey(key))).toEqual(key);
        expect(parseContentKey(formatContentKey(key).toLowerCase())).toEqual(key);
        expect(sameAddress(parseAddress(formatAddress(key))!, key)).toBe(true);
      }),
    );
  });

  it("look as in the report", () => {
    expect(formatContentKey({ volume: 0, signature: "ADEE2232AF3A4355", overflow: 0 })).toBe("0-ADEE2232AF3A4355");
    expect(formatContentKey({ volume: 12, signature: "ADEE2232AF3A4355", overflow: 3 })).toBe("12-ADEE2232AF3A4355-3");
  });

  it("are told from everything else: a text that parses is the text of its key", () => {
    const nearly = fc.array(fc.constantFrom("0", "1", "9", "A", "f", "g", "-", " ", "\n", ".", "/", "4096"), {
      maxLength: 12,
    });
    const texts = fc.oneof(
      fc.string(),
      nearly.map((parts) => parts.join("")),
      keys.map(formatContentKey),
    );
    fc.assert(
      fc.property(texts, (text) => {
        let key: ContentKey;
        try {
          key = parseContentKey(text);
        } catch (error) {
          expect(error).toEqual(usage);
          return;
        }
        expect(formatContentKey(key)).toBe(text.toUpperCase());
      }),
      { numRuns: 1000 },
    );
  });

  it.each([
    "",
    "-",
    "0",
    "0-",
    "AD",
    "-AD",
    "00-AD",
    "01-AD",
    "4096-AD",
    "0-ADE",
    "0-AD-0",
    "0-AD-01",
    "0-AD-",
    "0-AD-4294967296",
    "0-AD-1-1",
    " 0-AD",
    "0-AD\n",
    "0-AD/..",
    `0-${"AD".repeat(65)}`,
  ])("are not %j", (text) => {
    expect(() => parseContentKey(text)).toThrow(usage);
    expect(parseAddress(text.slice(2))?.signature ?? "AD").toMatch(/^[0-9A-F]+$/);
  });
});
