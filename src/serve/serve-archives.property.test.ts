/** Whatever is asked for: an answer that ends, and none that blames the server. */
import fc from "fast-check";
import { expect, it } from "vitest";
import { captureBytes, revisitBytes } from "../testing/capture-text.ts";
import { askHandler, serveRecords } from "../testing/served-archive.ts";

const URI = "http://a.example/page?q=1";
const PIECES =
  `coll web as-of timemap link json cdxj record segments cdx * id_ ir_ mp_ 2014 20140102030405 20140102030405000
  99999999999999 00000000000000 2014-2015* http:// https:/ a.example /page?q=1 ? & = % %2e%2e .. . // / \\ %00 %0d%0a é [ ]
  : # 000001.warc.gz http%3A%2F%2Fa.example dns:a.example javascript: api at cdx/search/cdx wayback/available url=`.split(
    /\s+/,
  );
const TARGET = fc.oneof(
  fc
    .array(fc.constantFrom(...PIECES, "\0", "\n", " ", "\xff"), { maxLength: 10 })
    .map((pieces) => `/${pieces.join("/")}`),
  fc.array(fc.constantFrom(...PIECES), { maxLength: 8 }).map((pieces) => `/coll/2014id_/${pieces.join("")}`),
  fc.string({ unit: "binary", maxLength: 80 }).map((text) => `/${text}`),
);
const VALUE = fc.constantFrom(
  undefined,
  "",
  "*",
  "bytes=0-",
  "bytes=-1",
  "bytes=9-1",
  "nonsense",
  "x".repeat(3000),
  '"a"',
);
const HEADERS = fc.record({
  host: fc.constantFrom("archive.test", "", "a b", "x".repeat(3000), "[::1]:80", "a\u0000"),
  accept: fc.constantFrom(undefined, "application/json", "text/html", "\u00ff"),
  range: VALUE,
  "if-range": VALUE,
  "if-none-match": VALUE,
  "accept-datetime": fc.constantFrom(undefined, "Mon, 01 Dec 2014 00:00:00 GMT", "x"),
});
const METHOD = fc.constantFrom("GET", "GET", "GET", "HEAD", "OPTIONS", "POST", "BREW");

it("answers every request with a status below 500, and with headers that can be sent", async () => {
  const archive = await serveRecords(
    [
      captureBytes({ uri: URI, date: "2014-01-02T03:04:05Z", payload: "page", http: ["X: a\x01\xff"] }),
      captureBytes({
        uri: "http://a.example/",
        date: "2014-01-02T03:04:05Z",
        payload: "",
        status: "302 F",
        http: ["Location: //["],
      }),
      captureBytes({ uri: "http://a.example/1", date: "2014-01-02T03:04:05Z", payload: "x", status: "999 Odd" }),
      captureBytes({ uri: "http://a.example/2", date: "2014-01-02T03:04:05Z", payload: "x", status: "100 Go on" }),
      captureBytes({ uri: "http://a.example/3", date: "2014-01-02T03:04:05Z", payload: "x", status: "204 None" }),
      revisitBytes({
        uri: "http://a.example/4",
        date: "2014-01-02T03:04:05Z",
        digest: "sha1:AAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAA",
      }),
    ],
    { serveFiles: true },
  );
  await fc.assert(
    fc.asyncProperty(TARGET, METHOD, HEADERS, async (target, method, headers) => {
      const given = Object.fromEntries(Object.entries(headers).filter(([, value]) => value !== undefined));
      const reply = await askHandler(archive.handler, target, { method, headers: given as Record<string, string> });
      expect(reply.status).toBeGreaterThanOrEqual(200);
      expect(reply.status).toBeLessThan(500);
      for (const [name, value] of Object.entries(reply.headers)) {
        expect(name).toMatch(/^[!#$%&'*+.^_`|~0-9a-z-]+$/);
        expect(value).toMatch(/^[\t\x20-\x7e\x80-\xff]*$/);
      }
    }),
    { numRuns: 2000 },
  );
  await archive[Symbol.asyncDispose]();
});

it.each(["1", "2", "3", "4"])("has an answer for the odd capture %s", async (name) => {
  await using archive = await serveRecords([
    captureBytes({ uri: "http://a.example/1", date: "2014-01-02T03:04:05Z", payload: "x", status: "999 Odd" }),
    captureBytes({ uri: "http://a.example/2", date: "2014-01-02T03:04:05Z", payload: "x", status: "100 Go on" }),
    captureBytes({ uri: "http://a.example/3", date: "2014-01-02T03:04:05Z", payload: "x", status: "204 None" }),
    revisitBytes({
      uri: "http://a.example/4",
      date: "2014-01-02T03:04:05Z",
      digest: "sha1:AAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAA",
    }),
  ]);
  const { status } = await archive.ask(`/coll/2014id_/http://a.example/${name}`);
  expect({ name, status }).toEqual({ name, status: { 1: 999, 2: 200, 3: 200, 4: 404 }[name] });
});
