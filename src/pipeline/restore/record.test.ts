import { describe, expect, it } from "vitest";
import { digestOf, formatDigest } from "../../base/index.ts";
import { bufferSource, formatRevisit, parseHttpHead, WarcReader } from "../../warc/index.ts";
import { parseReplaced, RecordHasher, restoredBlock, restoredHead } from "./record.ts";

const PAYLOAD = Buffer.from("one two three");
const ORIGINAL = { uri: "http://a.example/", date: "2020-01-01T00:00:00Z", id: "urn:uuid:1" };

function recordOf(lines: readonly string[], block: Buffer): Buffer {
  const head = ["WARC/1.1", "WARC-Type: response", ...lines, `Content-Length: ${block.length}`];
  return Buffer.concat([Buffer.from(`${head.join("\r\n")}\r\n\r\n`), block, Buffer.from("\r\n\r\n")]);
}

/** Turns a record into a revisit and back. */
function thereAndBack(bytes: Buffer, httpSize: number, chunks?: string) {
  const record = new WarcReader(bufferSource(bytes)).next()!;
  const http = parseHttpHead(record.block!, 0, httpSize, true);
  const replaced = { digest: digestOf("sha256", bytes), chunks };
  const { head: text, block } = formatRevisit(record, http, ORIGINAL, digestOf("sha1", PAYLOAD), { replaced });
  const revisit = { text, http: Buffer.from(block, "latin1"), replaced: parseReplaced(text)! };
  const pieces = [...restoredBlock(revisit, [PAYLOAD.subarray(0, 5), PAYLOAD.subarray(5)])].map((piece) =>
    Buffer.from(piece),
  );
  const restored = restoredHead(revisit, pieces);
  const hasher = new RecordHasher(restored.head);
  for (const piece of pieces) hasher.update(piece);
  return {
    bytes: Buffer.concat([restored.head, ...pieces, Buffer.from("\r\n\r\n")]),
    digest: hasher.finish(),
    revisit,
  };
}

const HTTP = "HTTP/1.1 200 OK\r\n\r\n";

describe("a record from its revisit", () => {
  it("is as it was, digests in every form among it", () => {
    const block = Buffer.concat([Buffer.from(HTTP), PAYLOAD]);
    const lines = [
      `WARC-Block-Digest: ${formatDigest(digestOf("sha1", block))}`,
      `warc-block-digest:  MD5:${digestOf("md5", block).hex.toUpperCase()}  `,
      "X-Other: WARC-Block-Digest: sha1:none",
    ];
    const bytes = recordOf(lines.slice(0, 1), block);
    const back = thereAndBack(bytes, HTTP.length);
    expect(back.bytes.toString()).toBe(bytes.toString());
    expect(back.digest).toBe(formatDigest(digestOf("sha256", bytes)));
    const two = recordOf([lines[1]!, lines[2]!], block);
    expect(thereAndBack(two, HTTP.length).bytes.toString()).toBe(two.toString());
  });

  it("is cut into its chunks again", () => {
    const block = Buffer.from(`${HTTP}4\r\none \r\n4\r\ntwo \r\n005\r\nthree\r\n0\r\n\r\n`);
    const bytes = recordOf([], block);
    expect(thereAndBack(bytes, HTTP.length, "4*2+005+0").bytes.toString()).toBe(bytes.toString());
    expect(() => thereAndBack(bytes, HTTP.length, "4*2+0")).toThrow("cannot be cut");
    expect(() => thereAndBack(bytes, HTTP.length, "4*20+0")).toThrow("cannot be cut");
  });

  it("is known by the lines that were appended, whatever the record says itself", () => {
    const lines = [`Holotype-Replaced: resource sha256:${"0".repeat(64)}`, "Holotype-Chunks: 5+0"];
    const bytes = recordOf(lines, Buffer.concat([Buffer.from(HTTP), PAYLOAD]));
    const { revisit, bytes: back } = thereAndBack(bytes, HTTP.length);
    expect(revisit.replaced).toEqual({ type: "response", digest: digestOf("sha256", bytes), chunks: undefined });
    expect(back.toString()).toBe(bytes.toString());
  });
});

describe("parseReplaced", () => {
  it("is absent where a revisit is not ours, or of another making", () => {
    const line = (value: string) => `WARC/1.1\r\nWARC-Type: revisit\r\nHolotype-Replaced: ${value}\r\n\r\n`;
    expect(parseReplaced("WARC/1.1\r\nWARC-Type: revisit\r\n\r\n")).toBeUndefined();
    for (const value of ["", "response", `response sha1:${"A".repeat(32)}`, "a b c", "response sha256:0"]) {
      expect(parseReplaced(line(value))).toBeUndefined();
    }
    expect(parseReplaced(line(`resource sha256:${"ab".repeat(32)}`))).toMatchObject({ type: "resource" });
  });
});
