import fc from "fast-check";
import { describe, expect, it } from "vitest";
import { newSeed } from "../../testing/dice.ts";
import { archiveKey } from "./capture-key.ts";
import {
  type CaptureRow,
  decodeCapture,
  EMPTY_PAYLOAD,
  encodeCapture,
  Flag,
  type RowRequest,
  VISIT_CLASSES,
} from "./capture-row.ts";
import { type Content, contentIdentity, decodeContent, encodeContent } from "./content.ts";

const seed = newSeed();
const SHA256 = "ab7e9517cda4a9c9208f569337d2b09ae42bb18858bcea2e190dc84c93f51174";
const NOTHING = "e3b0c44298fc1c149afbf4c8996fb92427ae41e4649b934ca495991b7852b855";
const base: Content = { url: "http://a.example/", status: 200, mime: "text/html", sha256: SHA256, payloadSize: 9 };

/** As the timeline gives it back. */
function pass(content: Content, location?: string): { readonly back: Content; readonly size: number } {
  const key = archiveKey(content.url);
  const value = encodeContent(key, content, location);
  const identity = contentIdentity(content.status, location, content.sha256).toString("latin1");
  return { back: decodeContent(key, value, identity), size: value.length };
}

describe("a content", () => {
  it.each([
    "http://a.example/",
    "https://a.example/x?y=1",
    "http://www.a.example/x",
    "https://www.a.example:8080/x",
    "http://A.example/X",
    "https://wwww.a.example/",
    "ftp://a.example/x",
    "not a URL",
    "",
  ])("comes back with its URL: %s", (url) => {
    expect(pass({ ...base, url }).back).toEqual({ ...base, url });
  });

  it("does not say the digest of nothing, and has it all the same", () => {
    const nothing = { ...base, sha256: NOTHING, payloadSize: 0, mime: undefined };
    const { back, size } = pass(nothing);
    expect(size).toBeLessThan(8);
    expect(back).toEqual(nothing);
  });

  const digest = fc.uint8Array({ minLength: 32, maxLength: 32 }).map((bytes) => Buffer.from(bytes).toString("hex"));
  const status = fc.option(fc.integer({ min: 1, max: 999 }), { nil: undefined });
  const location = fc.option(fc.webUrl(), { nil: undefined });

  it("comes back with its digest, whatever its status, a redirect or not", () => {
    fc.assert(
      fc.property(digest, status, location, (sha256, own, to) => {
        const content = { ...base, sha256, status: own };
        expect(pass(content, to).back).toEqual(content);
      }),
      { seed },
    );
  });

  it("is told apart by payload, status and place, and by nothing else", () => {
    const held = fc.tuple(fc.constantFrom(SHA256, NOTHING), status, fc.option(fc.constantFrom("/a", "/b")));
    fc.assert(
      fc.property(held, held, (one, other) => {
        const [first, second] = [one, other].map(([sha256, own, to]) => contentIdentity(own, to ?? undefined, sha256));
        expect(first!.equals(second!)).toBe(JSON.stringify(one) === JSON.stringify(other));
      }),
      { seed },
    );
  });
});

describe("the row of a capture", () => {
  const maybe = <T>(value: fc.Arbitrary<T>) => fc.option(value, { nil: undefined });
  const bytes = (size: number) => fc.uint8Array({ minLength: size, maxLength: size }).map((each) => Buffer.from(each));
  const payload = fc.record({ sha256: bytes(32), sha1: bytes(20), size: fc.integer({ min: 1, max: 2 ** 40 }) });
  const number = fc.oneof(fc.nat(300), fc.nat(2 ** 32 - 1));
  const request = fc.record({ method: fc.constantFrom("GET", "POST", "HEAD"), isConditional: fc.boolean() });
  const toRequest = (each: RowRequest) => (each.method === "GET" ? each : { ...each, query: "__wb_method=POST&a=b" });
  const flags = fc.subarray(Object.values(Flag)).map((some) => some.reduce((sum, flag) => sum | flag, 0));
  const place = fc.record({ segment: number, offset: number, length: number, inner: number });
  const urls = [
    "http://a.example/",
    "https://www.a.example/x?y",
    "not a URL",
    "",
    `http://a.example/${"é".repeat(9000)}`,
  ];
  const anyRow: fc.Arbitrary<CaptureRow> = fc.record({
    url: fc.constantFrom(...urls),
    kind: fc.constantFrom("response", "resource", "revisit", "replaced"),
    class: fc.constantFrom(...VISIT_CLASSES),
    flags,
    status: maybe(fc.integer({ min: 1, max: 999 })),
    mime: maybe(fc.constantFrom("text/html", "application/zip", "text/x-own; é")),
    location: maybe(fc.webUrl()),
    payload: maybe(fc.oneof(payload, fc.constant(EMPTY_PAYLOAD))),
    claim: maybe(fc.constant("md5:9e107d9d372bb6826bd81d3542a419d6")),
    form: maybe(bytes(8).map((each) => each.toString("hex"))),
    etag: maybe(number),
    lastModified: maybe(number),
    request: maybe(request.map(toRequest)),
    source: number,
    place: place.map((each) => ({ ...each, inner: each.length === 0 ? each.inner : 0 })),
    before: number,
    after: number,
  });

  it("comes back as it was put, whatever of it is there", () => {
    fc.assert(
      fc.property(anyRow, (row) => {
        const key = archiveKey(row.url);
        expect(decodeCapture(key, encodeCapture(key, row))).toEqual(row);
      }),
      { seed, numRuns: 500 },
    );
  });
});
