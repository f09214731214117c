import fc from "fast-check";
import { describe, expect, it } from "vitest";
import { newSeed } from "../../testing/dice.ts";
import { archiveKey } from "./capture-key.ts";
import { type Content, contentIdentity, decodeContent, encodeContent } from "./content.ts";

const seed = process.env.HOLOTYPE_LONG_RUNS === undefined ? 20261118 : newSeed();
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
