import { expect, test } from "vitest";
import { CDX_14, formatCdxLine, parseCdxLine } from "./cdx-line.ts";
import { formatCdxjLine, parseCdxjHeader, parseCdxjLine } from "./cdxj-line.ts";

const PYWB =
  'com,example)/ 20160225042329 {"url": "http://example.com/", "mime": "text/html", "status": "200", "digest": "37cf167c2672a4a64af901d9484e75eee0e2c98a", "length": "1286", "offset": "363", "filename": "example2.warc.gz"}';

test("a line of pywb is read and written as it was", () => {
  const entry = parseCdxjLine(`${PYWB}\n`)!;
  expect(entry).toEqual({
    urlKey: "com,example)/",
    timestamp: "20160225042329",
    url: "http://example.com/",
    mime: "text/html",
    status: 200,
    digest: "37cf167c2672a4a64af901d9484e75eee0e2c98a",
    length: 1286,
    offset: 363,
    file: "example2.warc.gz",
  });
  expect(formatCdxjLine(entry)).toBe(PYWB);
});

test("numbers, another order, keys of others and 17 digits: a line of browsertrix", () => {
  const entry = parseCdxjLine(
    'com,example)/ 20230529025304800 {"url":"https://example.com/","digest":"sha-256:ea8f","offset":285,"length":1232,"recordDigest":"sha256:25","status":200,"filename":"data.warc.gz"}',
  )!;
  expect(entry).toMatchObject({
    timestamp: "20230529025304800",
    offset: 285,
    length: 1232,
    status: 200,
    digest: "sha-256:ea8f",
  });
  expect(entry.extra).toEqual({ recordDigest: "sha256:25" });
  expect(formatCdxjLine(entry)).toBe(
    'com,example)/ 20230529025304800 {"url": "https://example.com/", "status": "200", "digest": "sha-256:ea8f", "length": "1232", "offset": "285", "filename": "data.warc.gz", "recordDigest": "sha256:25"}',
  );
});

test("values that do not fit are kept, those that say nothing are not", () => {
  const entry = parseCdxjLine(
    'k 20160225042329 {"status": "-", "mime": null, "length": "x", "offset": -1, "url": 5, "a": [1, {"b": null}]}',
  )!;
  expect(entry).toEqual({
    urlKey: "k",
    timestamp: "20160225042329",
    extra: { length: "x", offset: -1, url: 5, a: [1, { b: null }] },
  });
  expect(formatCdxjLine(entry)).toBe('k 20160225042329 {"length": "x", "offset": -1, "url": 5, "a": [1,{"b":null}]}');
  expect(formatCdxjLine({ ...entry, length: 7, extra: { length: "x" } })).toBe('k 20160225042329 {"length": "7"}');
});

test("keys with blanks are percent-encoded, JSON is ASCII", () => {
  const line = formatCdxjLine({ urlKey: "a b", timestamp: "20160225042329", url: "http://x/é😀" });
  expect(line).toBe('a%20b 20160225042329 {"url": "http://x/\\u00e9\\ud83d\\ude00"}');
  expect(parseCdxjLine(line)?.url).toBe("http://x/é😀");
});

test("an entry goes over from CDX, with what pywb resolved", () => {
  const entry = parseCdxLine("k 20140126200624 u warc/revisit - D - - 5 6 f 7 8 g", CDX_14)!;
  const line = formatCdxjLine(entry);
  expect(line).toContain('"filename": "f", "orig.length": "7", "orig.offset": "8", "orig.filename": "g"}');
  expect(formatCdxLine(parseCdxjLine(line)!, CDX_14)).toBe("k 20140126200624 u warc/revisit - D - - 5 6 f 7 8 g");
});

test.each([
  ['!meta {"a": 1}', "meta", { a: 1 }],
  ['!context ["https://tools.ietf.org/html/rfc7089"]\r\n', "context", ["https://tools.ietf.org/html/rfc7089"]],
  ['!meta 0 {"format": "cdxj-gzip-1.0"}', "meta", { format: "cdxj-gzip-1.0" }],
  ["!OpenWayback-CDXJ 1.0", "OpenWayback-CDXJ", 1],
  [" !OpenWayback-CDXJ 1.0", "OpenWayback-CDXJ", 1],
  ["!md", "md", ""],
  ["!meta {broken", "meta", "{broken"],
])("header %j", (line, name, value) => {
  expect(parseCdxjHeader(line)).toEqual({ name, value });
  expect(parseCdxjLine(line)).toBeUndefined();
});

test.each([
  "",
  " ",
  "k",
  "k 20160225042329",
  "k 20160225042329 ",
  'k 20160225042329 {"a": 1',
  "k 20160225042329 []",
  'k 2016 {"a": 1}',
  '20130202100000 {"uri": "x"}',
  '(com,example,)/ 2015-10-12T13:12:14Z response {"uri": "x"}',
  " CDX N b a m s k r M S V g",
  `k 20160225042329 {"a": ${"[".repeat(100_000)}${"]".repeat(100_000)}}`,
])("not an entry: %.80j", (line) => {
  expect(parseCdxjLine(line)).toBeUndefined();
  expect(parseCdxjHeader(line)).toBeUndefined();
});

test("a key is never a way to the prototype", () => {
  const line = 'k 20160225042329 {"__proto__": {"url": "x"}, "constructor": 1}';
  const entry = parseCdxjLine(line)!;
  expect(entry.url).toBeUndefined();
  expect(Object.getPrototypeOf(entry.extra)).toBe(Object.prototype);
  expect(formatCdxjLine(entry)).toBe('k 20160225042329 {"__proto__": {"url":"x"}, "constructor": 1}');
});
