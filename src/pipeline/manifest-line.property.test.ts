import fc from "fast-check";
import { describe, expect, test } from "vitest";
import { newSeed } from "../testing/dice.ts";
import {
  algorithmOf,
  flagValue,
  formatColumn,
  formatManifestLine,
  MANIFEST_WIDTH,
  type ManifestLine,
  parseManifestLine,
} from "./manifest-line.ts";

const SEED = newSeed();

/** Text that is a column as it is. */
const text = fc
  .string({ unit: "grapheme", maxLength: 20 })
  .filter((value) => !/[\t\n\r]/.test(value) && value !== "-" && value !== "");
const maybe = <T>(value: fc.Arbitrary<T>) => fc.option(value, { nil: undefined });
const count = fc.oneof(fc.nat(), fc.maxSafeNat());
const original = fc
  .record({ uri: maybe(text), date: maybe(text), id: maybe(text), file: maybe(text), offset: maybe(count) })
  .filter(({ uri, date, id }) => uri !== undefined || date !== undefined || id !== undefined);
const line: fc.Arbitrary<ManifestLine> = fc.record({
  file: text,
  offset: count,
  length: maybe(count),
  uri: maybe(text),
  date: maybe(text),
  digest: maybe(text),
  payloadSize: maybe(count),
  status: maybe(fc.nat(999)),
  mime: maybe(text),
  framing: maybe(fc.constantFrom("plain", "chunked")),
  id: maybe(text),
  flags: fc.array(
    text.filter((flag) => !flag.includes(",")),
    { maxLength: 3 },
  ),
  extension: maybe(count),
  copy: maybe(count),
  original: maybe(original),
});

describe(`seed ${SEED}`, () => {
  const parameters = { seed: SEED, numRuns: 500 };

  test("what was formatted is parsed", () => {
    fc.assert(
      fc.property(line, (value) => {
        const formatted = formatManifestLine(value);
        expect(formatted.split("\t").length).toBeGreaterThanOrEqual(MANIFEST_WIDTH);
        expect(formatted.endsWith("\t-") && formatted.split("\t").length > MANIFEST_WIDTH).toBe(false);
        expect(parseManifestLine(formatted, "here")).toEqual(value);
      }),
      parameters,
    );
  });

  test("whatever stands in a column stays in it", () => {
    fc.assert(
      fc.property(
        fc.string({ unit: fc.constantFrom("a", "\t", "\r", "\n", "-", "%", "\0", "\u00e9", "\u2028"), maxLength: 20 }),
        (value) => {
          const column = formatColumn(value);
          expect(column).not.toBe("");
          expect(column).not.toMatch(/[\t\n\r]/);
          if (value !== "" && !/[\t\n\r]/.test(value)) expect(column).toBe(value);
        },
      ),
      parameters,
    );
  });

  test("any text is a line, or is refused with its place", () => {
    fc.assert(
      fc.property(fc.array(fc.oneof(text, fc.constant("-"), fc.constant("12")), { maxLength: 22 }), (columns) => {
        try {
          const parsed = parseManifestLine(columns.join("\t"), "file:7");
          expect(Number.isSafeInteger(parsed.offset) || parsed.offset > Number.MAX_SAFE_INTEGER).toBe(true);
        } catch (error) {
          expect(error).toMatchObject({ code: "HT_USAGE", message: expect.stringMatching(/^file:7: /) });
        }
      }),
      parameters,
    );
  });
});

const COLUMNS = ["f", "1", "2", "u", "d", "sha1:x", "5", "200", "a/b", "plain", "id", "a,inner:7,b"];

test.each([
  [1, "-", "no offset"],
  [1, "x", "offset is not a number: x"],
  [2, "-1", "length is not a number: -1"],
  [6, "1e3", "payload size is not a number: 1e3"],
  [7, "2 0", "status is not a number: 2 0"],
])("column %d of %j: %s", (column, value, message) => {
  const columns = COLUMNS.with(column, value);
  expect(() => parseManifestLine(columns.join("\t"), "m:3")).toThrow(`m:3: ${message}`);
});

test("flags have values, and digests algorithms", () => {
  const parsed = parseManifestLine(COLUMNS.join("\t"), "");
  expect(flagValue(parsed, "inner")).toBe("7");
  expect(flagValue(parsed, "in")).toBeUndefined();
  expect(algorithmOf(parsed)).toBe("sha1");
  expect(algorithmOf({ ...parsed, digest: undefined })).toBeUndefined();
});

test("columns behind those that are known are passed over", () => {
  const long = [...COLUMNS, "0", "1", "-", "-", "-", "-", "-", "more", "and more"].join("\t");
  expect(parseManifestLine(long, "")).toMatchObject({ extension: 0, copy: 1, original: undefined });
});
