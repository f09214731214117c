import { deflateRawSync } from "node:zlib";
import { describe, expect, test } from "vitest";
import { captureBytes, noise, packRecords } from "../testing/capture-text.ts";
import { gzipHeader, gzipMember } from "../testing/gzip-member.ts";
import { RecordOpener } from "./record-opening.ts";

const opener = new RecordOpener();
const CAPTURE = { uri: "http://a.example/", date: "2020-01-01T00:00:00Z" };

function open(raw: Uint8Array, blockSize: number, from = 0, to = raw.length) {
  return opener.open(raw, from, to, blockSize);
}

const record = captureBytes({ ...CAPTURE, payload: noise("x", 100_000) });
const headSize = record.indexOf("\r\n\r\n") + 4;
const block = record.subarray(headSize, -4);

describe.each([
  ["plain", record],
  ["gzip", packRecords([record])],
  ["gzip, stored", gzipMember(record, {}, 0)],
  [
    "gzip with a name and more",
    gzipMember(record, { name: "x".repeat(300), extra: Buffer.alloc(50), headerChecksum: true }),
  ],
])("%s", (_, raw) => {
  test.each([0, 1, 100, 4096, 32_768, 1 << 18])("%d bytes of the block", (size) => {
    const { head, start } = open(raw, size)!;
    expect(head.headers.get("warc-target-uri")).toBe(CAPTURE.uri);
    expect(head.blockSize).toBe(block.length);
    expect(start.length).toBe(Math.min(size, block.length));
    expect(Buffer.from(start).equals(block.subarray(0, start.length))).toBe(true);
  });

  test("with other bytes around it", () => {
    const around = Buffer.concat([noise("before", 77), raw, noise("behind", 99)]);
    const { start } = open(around, 50, 77, 77 + raw.length)!;
    expect(Buffer.from(start).equals(block.subarray(0, 50))).toBe(true);
  });

  test("cut off: gives what is there, or nothing", () => {
    for (let to = 0; to < 3000; to += 7) {
      const found = open(raw, 4096, 0, to);
      if (found === undefined) continue;
      expect(Buffer.from(found.start).equals(block.subarray(0, found.start.length))).toBe(true);
      expect(found.head.blockSize).toBe(block.length);
    }
  });
});

test("does not give what stands behind a block, nor the line ends behind it", () => {
  const short = captureBytes({ ...CAPTURE, payload: "hi" });
  const next = captureBytes({ ...CAPTURE, payload: "next" });
  const { start } = open(Buffer.concat([short, next]), 4096)!;
  expect(Buffer.from(start).toString()).toMatch(/\r\n\r\nhi$/);
});

test("a header that is large for a header", () => {
  const lines = Array.from({ length: 3000 }, (_, i) => `X-${i}: ${"y".repeat(60)}`);
  const large = captureBytes({ ...CAPTURE, payload: "hi", lines });
  expect(large.length).toBeGreaterThan(200_000);
  for (const raw of [large, packRecords([large])]) {
    const { head, start } = open(raw, 10)!;
    expect(head.headers.get("x-2999")).toBe("y".repeat(60));
    expect(Buffer.from(start).toString()).toBe("HTTP/1.1 2");
  }
});

test.each([
  ["nothing", Buffer.alloc(0)],
  ["no record", Buffer.from("hello")],
  ["a header without end", Buffer.from("WARC/1.0\r\nWARC-Type: response\r\n")],
  ["a gzip header alone", gzipHeader()],
  ["a gzip header cut off", gzipHeader({ name: "x" }).subarray(0, 9)],
  ["no deflate data", Buffer.concat([gzipHeader(), Buffer.from([0xff, 0xff, 0xff, 0xff])])],
  ["another thing in gzip", packRecords([Buffer.from("hello, this is no record")])],
  ["a header beyond all measure", Buffer.from(`WARC/1.0\r\nX: ${"y".repeat(300_000)}\r\n\r\n`)],
  ["the same in gzip", packRecords([Buffer.from(`WARC/1.0\r\nX: ${"y".repeat(300_000)}\r\n\r\n`)])],
  ["a member without its end and nothing in it", Buffer.concat([gzipHeader(), deflateRawSync(Buffer.alloc(0))])],
])("%s: absent", (_, raw) => {
  expect(open(raw, 100)).toBeUndefined();
});

test("one opener after another record, and after a failure", () => {
  const raws = [
    packRecords([record]),
    Buffer.from([0x1f, 0x8b, 8, 0, 0, 0, 0, 0, 0, 3, 255]),
    packRecords([record]),
    record,
  ];
  const found = raws.map((raw) => open(raw, 20)?.start.length);
  expect(found).toEqual([20, undefined, 20, 20]);
});
