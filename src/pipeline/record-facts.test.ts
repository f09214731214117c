/** What an archive is told of a record that it may want a revisit for. */
import { describe, expect, test } from "vitest";
import { digestOf, formatDigest } from "../base/index.ts";
import { type CaptureText, captureBytes } from "../testing/capture-text.ts";
import { bufferSource, completeRevisit, encodeSmall, WarcReader } from "../warc/index.ts";
import { type CaptureFacts, factsOf } from "./record-facts.ts";
import { SeenPayloads } from "./seen-payloads.ts";

const PAYLOAD = "twice the same";
const SHA256 = digestOf("sha256", Buffer.from(PAYLOAD));
const ORIGINAL = { uri: "http://o.example/", date: "2019-01-01T00:00:00Z", id: "urn:uuid:o" };

function captureOf(text: Partial<CaptureText>, seen: SeenPayloads): CaptureFacts {
  const bytes = captureBytes({ uri: "http://r.example/", date: "2020-01-01T00:00:00Z", payload: PAYLOAD, ...text });
  const record = new WarcReader(bufferSource(bytes)).next()!;
  return factsOf(record, "x.warc", () => {}, seen).capture!;
}

describe("a draft of the revisit", () => {
  const seen = new SeenPayloads();
  seen.add(SHA256.hex);

  test.each([
    ["with a digest of its own", { digest: "transferred" }, formatDigest(digestOf("sha1", Buffer.from(PAYLOAD)))],
    ["without a digest", { digest: "none" }, formatDigest(SHA256)],
    ["without a digest, chunked", { digest: "none", chunks: [5, 4] }, formatDigest(SHA256)],
    ["of no HTTP message", { type: "resource", digest: "none" }, formatDigest(SHA256)],
  ] as const)("tells the payload's digest: %s", (_, text, digest) => {
    const { draft } = captureOf(text, seen);
    const revisit = new WarcReader(bufferSource(encodeSmall(completeRevisit(draft!, ORIGINAL)))).next()!;
    expect(revisit.type).toBe("revisit");
    expect(revisit.payloadDigest).toBe(digest);
    expect(revisit.headers.get("warc-refers-to-target-uri")).toBe(ORIGINAL.uri);
  });

  test("is not made of a payload that was not seen", () => {
    const { draft, replaced, unexamined } = captureOf({ payload: "new" }, seen);
    expect([draft, replaced, unexamined]).toEqual([undefined, undefined, true]);
  });

  test("is not told where it is large, but that there can be one is", () => {
    const { draft, replaced } = captureOf({ http: [`X-Long: ${"x".repeat(20_000)}`] }, seen);
    expect(draft).toBeUndefined();
    expect(replaced).toBeDefined();
  });
});
