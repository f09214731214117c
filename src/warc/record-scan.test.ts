import fc from "fast-check";
import { describe, expect, test } from "vitest";
import { DIGEST_ALGORITHMS, type Digest, digestOf, formatDigest, loadDigest } from "../base/index.ts";
import { drippingSource } from "../testing/archive-reading.ts";
import { createDice } from "../testing/dice.ts";
import { bufferSource } from "./byte-source.ts";
import { WarcReader } from "./reader.ts";
import type { WarcRecord } from "./record.ts";
import { judgeDigest, type RecordScan, scanRecord, scanRecordLater } from "./record-scan.ts";
import { type Compression, WarcWriter } from "./writer.ts";

await loadDigest("blake3");

type Fields = readonly (readonly [string, string])[];

function archiveOf(block: Uint8Array, type = "response", compression: Compression = "gzip", more: Fields = []): Buffer {
  const parts: Buffer[] = [];
  const writer = new WarcWriter({ write: (bytes) => void parts.push(Buffer.from(bytes)) }, { compression });
  const contentType = type === "response" ? "application/http; msgtype=response" : "text/plain";
  writer.write({
    fields: [["WARC-Type", type], ["WARC-Target-URI", "http://x.org/"], ["Content-Type", contentType], ...more],
    block,
  });
  return Buffer.concat(parts);
}

function open(archive: Uint8Array): WarcRecord {
  return new WarcReader(bufferSource(archive), { windowSize: 1 }).next()!;
}

const EVERY = { block: DIGEST_ALGORITHMS, payload: DIGEST_ALGORITHMS, stored: DIGEST_ALGORITHMS };

/** With the payload as it was handed out. */
function scan(
  block: Uint8Array,
  type?: string,
  compression?: Compression,
  more?: Fields,
): RecordScan & { payload: Buffer; whole: boolean } {
  const record = open(archiveOf(block, type, compression, more));
  const whole = record.block !== undefined;
  const parts: Buffer[] = [];
  const found = scanRecord(record, { ...EVERY, onPayload: (bytes) => void parts.push(Buffer.from(bytes)) });
  return { ...found, payload: Buffer.concat(parts), whole };
}

const all = (bytes: Uint8Array) => DIGEST_ALGORITHMS.map((algorithm) => digestOf(algorithm, bytes));

const PLAIN = "HTTP/1.1 200 OK\r\nContent-Type: text/plain\r\n\r\n";
const CHUNKED = "HTTP/1.1 200 OK\r\nTransfer-Encoding: chunked\r\n\r\n";

function chunk(body: Uint8Array, size: number): Buffer {
  const parts: Uint8Array[] = [];
  for (let at = 0; at < body.length; at += size) {
    const piece = body.subarray(at, at + size);
    parts.push(Buffer.from(`${piece.length.toString(16)}\r\n`), piece, Buffer.from("\r\n"));
  }
  return Buffer.concat([...parts, Buffer.from("0\r\n\r\n")]);
}

/** Larger than the smallest window, so that it does not fit in any at once. */
const LARGE = Buffer.from(createDice(8).bytes(1_500_000));
const SMALL = LARGE.subarray(0, 5000);

interface Case {
  readonly head: string;
  readonly stored: Buffer;
  readonly payload: Buffer;
  readonly framing: "plain" | "chunked";
  readonly complete?: boolean;
  readonly codes?: readonly string[];
}

function casesOf(body: Buffer): readonly [string, Case][] {
  const chunked = chunk(body, 60_000);
  return [
    ["plain", { head: PLAIN, stored: body, payload: body, framing: "plain" }],
    ["chunked", { head: CHUNKED, stored: chunked, payload: body, framing: "chunked" }],
    ["chunked, in small chunks", { head: CHUNKED, stored: chunk(body, 61), payload: body, framing: "chunked" }],
    [
      "said to be chunked",
      { head: CHUNKED, stored: body, payload: body, framing: "plain", codes: ["HT_HTTP_NOT_CHUNKED"] },
    ],
    [
      "chunked and cut off",
      {
        head: CHUNKED,
        stored: chunked.subarray(0, -9),
        payload: body.subarray(0, -2),
        framing: "chunked",
        complete: false,
        codes: ["HT_HTTP_CHUNK"],
      },
    ],
    ["chunked, but not said to be", { head: PLAIN, stored: chunked, payload: chunked, framing: "plain" }],
  ];
}

describe.each([
  ["whole", SMALL],
  ["streamed", LARGE],
])("%s", (name, body) => {
  test.each(casesOf(body))("%s", (_, { head, stored, payload, framing, complete = true, codes = [] }) => {
    const block = Buffer.concat([Buffer.from(head), stored]);
    for (const compression of ["none", "gzip"] as const) {
      const found = scan(block, "response", compression);
      // How much of an uncompressed file lies in the window is the reader's choice.
      if (compression === "gzip") expect(found.whole).toBe(name === "whole");
      expect(found).toMatchObject({ framing, complete, payloadSize: payload.length, blockSize: block.length });
      expect(found.http?.text).toBe(head);
      expect(found.findings.map(({ code }) => code)).toEqual(codes);
      expect(found.payload.equals(payload)).toBe(true);
      expect(found.blockDigests).toEqual(all(block));
      expect(found.payloadDigests).toEqual(all(payload));
      expect(found.storedDigests).toEqual(all(stored));
    }
  });

  test("chunked and cut off, as its writer says", () => {
    const block = Buffer.concat([Buffer.from(CHUNKED), chunk(body, 1000).subarray(0, -9)]);
    const found = scan(block, "response", "gzip", [["WARC-Truncated", "disconnect"]]);
    expect(found).toMatchObject({ framing: "chunked", complete: false, findings: [] });
  });

  test("no HTTP message", () => {
    const found = scan(body, "resource");
    expect(found).toMatchObject({ http: undefined, framing: "plain", complete: true, findings: [] });
    expect(found.payloadDigests).toEqual(all(body));
    expect(found.blockDigests).toEqual(all(body));
  });

  test("a response that is no HTTP message", () => {
    const bytes = Buffer.concat([Buffer.from("<html>\n"), body]);
    const found = scan(bytes);
    expect(found.http).toBeUndefined();
    expect(found.findings.map(({ code }) => code)).toEqual(["HT_HTTP_HEADER"]);
    expect(found.payloadDigests).toEqual(all(bytes));
  });

  test("from a source that answers later", async () => {
    const block = Buffer.concat([Buffer.from(CHUNKED), chunk(body, 1000)]);
    const archive = archiveOf(block);
    const reader = new WarcReader(drippingSource(archive, 100_000), { windowSize: 1 });
    const found = await scanRecordLater((await reader.nextLater())!, EVERY);
    expect(found).toEqual(scanRecord(open(archive), EVERY));
  });

  test("digests that nobody asked for are not there", () => {
    const block = Buffer.concat([Buffer.from(CHUNKED), chunk(body, 1000)]);
    const none = scanRecord(open(archiveOf(block)), {});
    expect(none).toMatchObject({ blockDigests: [], payloadDigests: [], storedDigests: [], payloadSize: body.length });
    const payloadOnly = scanRecord(open(archiveOf(block)), { payload: ["md5"] });
    expect(payloadOnly).toMatchObject({ blockDigests: [], payloadDigests: [digestOf("md5", body)] });
  });
});

test.each<[string, string, string[]]>([
  ["an empty block", "", []],
  ["a head without its blank line", "HTTP/1.1 200 OK\r\nA: b\r\n", ["HT_HTTP_UNTERMINATED"]],
  ["a head alone", PLAIN, []],
  ["a head that says chunked, alone", CHUNKED, []],
])("%s has an empty payload", (_, block, codes) => {
  const found = scan(Buffer.from(block));
  expect(found).toMatchObject({ payloadSize: 0, framing: "plain", complete: true, blockSize: block.length });
  expect(found.findings.map(({ code }) => code)).toEqual(codes);
  expect(found.payloadDigests).toEqual(all(new Uint8Array(0)));
});

test("an empty chunked body is chunked", () => {
  const found = scan(Buffer.from(`${CHUNKED}0\r\n\r\n`));
  expect(found).toMatchObject({ payloadSize: 0, framing: "chunked", complete: true, findings: [] });
});

test("any block has digests that are those of its parts", () => {
  fc.assert(
    fc.property(
      fc.constantFrom("", PLAIN, CHUNKED),
      fc.uint8Array({ maxLength: 60 }),
      fc.boolean(),
      (head, body, coded) => {
        const block = Buffer.concat([Buffer.from(head), coded ? chunk(body, 5) : body]);
        const found = scan(block);
        expect(found.blockDigests).toEqual(all(block));
        expect(found.payloadDigests).toEqual(all(found.payload));
        expect(found.payloadSize).toBe(found.payload.length);
        if (coded && head === CHUNKED) expect(found.payload.equals(body)).toBe(true);
      },
    ),
  );
});

describe("a digest in a header", () => {
  const block = Buffer.concat([Buffer.from(CHUNKED), chunk(SMALL, 100)]);
  const sha1 = { payload: ["sha1"], stored: ["sha1"] } as const;
  const found = scanRecord(open(archiveOf(block)), sha1);
  const base32 = formatDigest(digestOf("sha1", SMALL));
  const zeros: Digest = { algorithm: "sha1", hex: "0".repeat(40) };

  test.each([
    [undefined, "absent"],
    [base32, "transferred"],
    [base32.toLowerCase(), "transferred"],
    [`SHA-1:${digestOf("sha1", SMALL).hex}`, "transferred"],
    [formatDigest(digestOf("sha1", chunk(SMALL, 100))), "stored"],
    [formatDigest(zeros), "mismatch"],
    [formatDigest(digestOf("sha1", block)), "mismatch"],
    [formatDigest(digestOf("sha256", SMALL)), "unknown"],
    ["sha1:", "unknown"],
    ["crc32:00000000", "unknown"],
    [digestOf("sha1", SMALL).hex, "unknown"],
  ])("%s is %s", (claim, verdict) => {
    expect(judgeDigest(claim, found)).toBe(verdict);
  });

  test("of another algorithm of the same size is not taken for it", () => {
    const twice = scanRecord(open(archiveOf(block)), { payload: ["sha256"] });
    const { hex } = digestOf("sha256", SMALL);
    expect(judgeDigest(`sha256:${hex}`, twice)).toBe("transferred");
    expect(judgeDigest(`blake3:${hex}`, twice)).toBe("unknown");
  });
});
