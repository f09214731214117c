import { describe, expect, it } from "vitest";
import { archiveKey } from "./capture-row.ts";
import { type Content, decodeContent, encodeContent } from "./content.ts";

const SHA256 = "ab7e9517cda4a9c9208f569337d2b09ae42bb18858bcea2e190dc84c93f51174";
const NOTHING = "e3b0c44298fc1c149afbf4c8996fb92427ae41e4649b934ca495991b7852b855";
const base: Content = { url: "http://a.example/", status: 200, mime: "text/html", sha256: SHA256, payloadSize: 9 };

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
    const key = archiveKey(url);
    expect(decodeContent(key, encodeContent(key, { ...base, url }))).toEqual({ ...base, url });
  });

  it("does not say the digest of nothing, and has it all the same", () => {
    const key = archiveKey(base.url);
    const nothing = { ...base, sha256: NOTHING, payloadSize: 0, mime: undefined };
    const bytes = encodeContent(key, nothing);
    expect(bytes.length).toBeLessThan(8);
    expect(decodeContent(key, bytes)).toEqual(nothing);
  });
});
