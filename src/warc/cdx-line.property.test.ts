/** Of CDX, CDXJ and crawl.log lines alike: nothing throws, and what is written is read again. */
import fc from "fast-check";
import { describe, expect, test } from "vitest";
import { type Digest, type DigestAlgorithm, digestOf } from "../base/index.ts";
import {
  CDX_11,
  CDX_14,
  type CdxEntry,
  detectCdxLayout,
  formatCdxHeader,
  formatCdxLine,
  parseCdxDigest,
  parseCdxHeader,
  parseCdxLine,
} from "./cdx-line.ts";
import { formatCdxjLine, parseCdxjHeader, parseCdxjLine } from "./cdxj-line.ts";
import { type CrawlLogEntry, formatCrawlLogLine, parseCrawlLogLine } from "./crawl-log-line.ts";

const RUNS = { numRuns: 2000 };

/** Text of any characters, with those that mean something in a line more often than chance would have them. */
const anyText = fc
  .array(
    fc.oneof(fc.constantFrom(...' -,:;"{}[]#+%!\t\r\n0129'.split("")), fc.string({ unit: "binary", maxLength: 3 })),
    {
      maxLength: 60,
    },
  )
  .map((parts) => parts.join(""));

/** Lines that are nearly right. */
const almost = (lines: readonly string[]) =>
  fc
    .tuple(fc.constantFrom(...lines), fc.nat(400), fc.nat(30), anyText)
    .map(([line, at, length, text]) => line.slice(0, at) + text + line.slice(at + length));

const LINES = [
  " CDX N b a m s k r M S V g",
  "org,x)/a 20140126200624 http://x.org/a text/html 200 OSSAPWJ23L56IYVRW3GFEAR4MCJMGPTB - - 2258 334 x.warc.gz 1 2 y",
  'com,x)/ 20160225042329 {"url": "http://x/", "mime": "text/html", "status": "200", "length": 12, "a": {"b": [1]}}',
  '!meta 0 {"a": 1}',
  '2019-09-03T09:45:28.993Z   200       1270 http://x/ L http://y/ text/html #001 20190903094528724+260 sha1:B2LTWWPUOYAH7UIPQ7ZUPQ4VMBSVC36A s duplicate:"f,1,20120523150635",3t {"a":1}',
  '{"timestamp":"2021-01-16T17:04:11.697Z","url":"u","status_code":200,"thread":1,"annotations":"a,b","extra_info":{"a":1}}',
];

test("no string makes a parser throw, and what it reads it can write", () => {
  fc.assert(
    fc.property(fc.oneof(anyText, almost(LINES)), (line) => {
      const layout = parseCdxHeader(line) ?? detectCdxLayout(line) ?? CDX_11;
      const cdx = parseCdxLine(line, layout);
      if (cdx !== undefined) formatCdxLine(cdx, layout);
      const cdxj = parseCdxjLine(line);
      if (cdxj !== undefined) expect(formatCdxjLine(parseCdxjLine(formatCdxjLine(cdxj))!)).toBe(formatCdxjLine(cdxj));
      const log = parseCrawlLogLine(line);
      if (log !== undefined)
        expect(formatCrawlLogLine(parseCrawlLogLine(formatCrawlLogLine(log))!)).toBe(formatCrawlLogLine(log));
      parseCdxjHeader(line);
      parseCdxDigest(line);
    }),
    { numRuns: 10_000 },
  );
});

/** A value that needs no escape and is not taken for an absent one. */
const token = fc
  .string({ unit: "grapheme", minLength: 1, maxLength: 20 })
  .filter((text) => !/[\s\p{Cc}]/u.test(text) && text !== "-");
const count = fc.nat({ max: 999_999_999_999_999 });
const maybe = <T>(value: fc.Arbitrary<T>) => fc.option(value, { nil: undefined });
const digits = (length: number) =>
  fc.string({ unit: fc.constantFrom(..."0123456789".split("")), minLength: length, maxLength: length });

const named = {
  urlKey: maybe(token),
  timestamp: fc.oneof(digits(14), digits(17)),
  url: maybe(token),
  mime: maybe(token),
  status: maybe(fc.nat(999)),
  digest: maybe(token.filter((text) => !text.includes(":"))),
  redirect: maybe(token),
  meta: maybe(token),
  length: maybe(count),
  offset: maybe(count),
  file: maybe(token),
};

/** Any fields of any text: what a careless caller may hand over. */
const careless = fc.record({
  urlKey: anyText,
  timestamp: digits(14),
  url: anyText,
  mime: anyText,
  digest: anyText,
  file: anyText,
});

describe("CDX", () => {
  const original = fc.record({ "orig.length": token, "orig.offset": token, "orig.filename": token });

  test("what is written is read again", () => {
    fc.assert(
      fc.property(fc.record({ ...named, extra: maybe(original) }), (entry: CdxEntry) => {
        expect(parseCdxLine(formatCdxLine(entry, CDX_14), CDX_14)).toEqual(entry);
      }),
      RUNS,
    );
  });

  test("with any layout", () => {
    const delimiter = fc.constantFrom(" ", "\t", "|", ",", "§");
    const codes = fc.uniqueArray(fc.constantFrom(..."NbamskrMSVgAcvenDdu?ö".split("")), { minLength: 1 });
    fc.assert(
      fc.property(delimiter, codes, fc.record(named), (mark, letters, entry) => {
        const layout = parseCdxHeader(`${mark}CDX${mark}${letters.join(mark)}`)!;
        expect(parseCdxHeader(formatCdxHeader(layout))).toEqual(layout);
        const line = formatCdxLine(entry, layout);
        const again = parseCdxLine(line, layout);
        expect(again === undefined).toBe(!letters.includes("b"));
        if (again !== undefined) expect(formatCdxLine(again, layout)).toBe(line);
      }),
      RUNS,
    );
  });

  test("no value leaves its field", () => {
    fc.assert(
      fc.property(careless, (entry) => {
        const line = formatCdxLine(entry, CDX_11);
        expect(line.split(" ")).toHaveLength(11);
        expect(line).not.toMatch(/[\r\n\t]/);
        expect(formatCdxLine(parseCdxLine(line, CDX_11)!, CDX_11)).toBe(line);
      }),
      RUNS,
    );
  });
});

const json = fc.jsonValue({ maxDepth: 3 }).map((value) => JSON.parse(JSON.stringify(value)) as unknown);

describe("CDXJ", () => {
  const known = "url mime status digest redirect robotflags length offset filename".split(" ");
  const key = fc.string().filter((text) => !known.includes(text));
  const extra = fc.array(fc.tuple(key, json), { minLength: 1, maxLength: 4 }).map((pairs) => Object.fromEntries(pairs));

  test("what is written is read again", () => {
    fc.assert(
      fc.property(fc.record({ ...named, extra: maybe(extra) }), (entry: CdxEntry) => {
        const urlKey = entry.urlKey?.replace("!", "_");
        expect(parseCdxjLine(formatCdxjLine({ ...entry, urlKey }))).toEqual({ ...entry, urlKey });
      }),
      RUNS,
    );
  });

  test("no value leaves its field", () => {
    fc.assert(
      fc.property(careless, (entry) => {
        const line = formatCdxjLine(entry);
        expect(line).not.toMatch(/[\r\n\t]/);
        expect(formatCdxjLine(parseCdxjLine(line)!)).toBe(line);
      }),
      RUNS,
    );
  });
});

describe("crawl.log", () => {
  const timeMs = fc.integer({ min: Date.UTC(1000, 0), max: Date.UTC(9999, 11, 31) });
  const algorithm = fc.constantFrom<DigestAlgorithm>("sha1", "sha256", "md5", "sha512");
  const digest: fc.Arbitrary<Digest> = fc
    .tuple(algorithm, fc.uint8Array())
    .map(([name, bytes]) => digestOf(name, bytes));
  const annotation = fc
    .string({ unit: "grapheme", minLength: 1 })
    .map((text) => text.trim())
    .filter(
      (text) =>
        text !== "" &&
        text !== "-" &&
        !/[",{\p{Cc}]/u.test(text) &&
        !text.includes("duplicate:") &&
        !text.includes("Revisit:"),
    );
  const entry: fc.Arbitrary<CrawlLogEntry> = fc
    .record({
      timeMs,
      status: fc.integer({ min: -9999, max: 999 }),
      size: maybe(count),
      uri: token,
      hops: maybe(token),
      via: maybe(token),
      mime: maybe(token),
      thread: maybe(fc.nat(9999)),
      fetch: maybe(fc.tuple(timeMs, maybe(fc.nat()))),
      digest: maybe(digest),
      sourceTag: maybe(token),
      annotations: fc.array(annotation, { maxLength: 4 }),
      extra: maybe(
        fc.dictionary(
          fc.string().filter((text) => !text.startsWith("Revisit")),
          json,
          { noNullPrototype: true },
        ),
      ),
    })
    .map(({ fetch, ...rest }) => ({ ...rest, fetchStartMs: fetch?.[0], fetchDurationMs: fetch?.[1] }));

  test("what is written is read again", () => {
    fc.assert(
      fc.property(entry, (written) => {
        expect(parseCrawlLogLine(formatCrawlLogLine(written))).toEqual(written);
      }),
      RUNS,
    );
  });

  test("a duplicate with its origin too", () => {
    const origin = fc.record({ file: fc.stringMatching(/^[\w.-]{1,20}$/), offset: count });
    fc.assert(
      fc.property(entry, origin, (plain, where) => {
        const duplicate = { kind: "digest", origin: where } as const;
        const annotations = [...plain.annotations, `duplicate:"${where.file},${where.offset}"`];
        const again = parseCrawlLogLine(formatCrawlLogLine({ ...plain, duplicate }));
        expect(again).toEqual({ ...plain, annotations, duplicate });
      }),
      RUNS,
    );
  });

  test("no value leaves its field", () => {
    fc.assert(
      fc.property(entry, anyText, anyText, fc.array(anyText), (plain, uri, sourceTag, annotations) => {
        const line = formatCrawlLogLine({ ...plain, uri, sourceTag, annotations });
        expect(line).not.toMatch(/[\r\n\t]/);
        const again = parseCrawlLogLine(line)!;
        expect(formatCrawlLogLine(again)).toBe(line);
        expect(again).toMatchObject({ size: plain.size, digest: plain.digest, extra: plain.extra });
      }),
      RUNS,
    );
  });
});

/** Milliseconds for a line of a megabyte; what is not linear takes minutes. */
test.each([
  ["blanks", " ".repeat(1_000_000)],
  ["fields", "a ".repeat(500_000)],
  ["commas before a quote", `${LINES[4]},${"a,".repeat(500_000)}"`],
  ["quotes", `${LINES[4]!.slice(0, 150)} ${'",'.repeat(500_000)}`],
  ["braces", `${LINES[4]!.slice(0, 150)} ${" {".repeat(500_000)}}`],
  ["nesting", `k 20160225042329 {"a":${"[".repeat(500_000)}${"]".repeat(500_000)}}`],
  ["digits", "1".repeat(1_000_000)],
  ["header", ` CDX${" N".repeat(500_000)}`],
])("a megabyte of %s is read in linear time", (_, line) => {
  const start = performance.now();
  parseCdxHeader(line);
  detectCdxLayout(line);
  parseCdxjLine(line);
  parseCdxjHeader(line);
  parseCdxDigest(line);
  parseCrawlLogLine(line);
  expect(performance.now() - start).toBeLessThan(5000);
});
