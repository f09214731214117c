import fc from "fast-check";
import { describe, expect, test } from "vitest";
import { createDice } from "../testing/dice.ts";
import { bufferSource } from "./byte-source.ts";
import { payloadOf } from "./payload.ts";
import { WarcReader } from "./reader.ts";
import { scanRecord } from "./record-scan.ts";
import { WarcWriter } from "./writer.ts";

function archiveOf(block: Uint8Array, contentType = "application/http"): Buffer {
  const parts: Buffer[] = [];
  const writer = new WarcWriter({ write: (bytes) => void parts.push(Buffer.from(bytes)) });
  writer.write({
    fields: [
      ["WARC-Type", "resource"],
      ["Content-Type", contentType],
    ],
    block,
  });
  return Buffer.concat(parts);
}

function open(archive: Uint8Array) {
  return new WarcReader(bufferSource(archive), { windowSize: 1 }).next()!;
}

function read(block: Uint8Array, contentType?: string) {
  const record = open(archiveOf(block, contentType));
  const whole = record.block !== undefined;
  const { http, chunks } = payloadOf(record);
  const parts: Buffer[] = [];
  for (const chunk of chunks) parts.push(Buffer.from(chunk));
  return { whole, http, payload: Buffer.concat(parts) };
}

function chunked(body: Uint8Array, size: number): Buffer {
  const parts: Uint8Array[] = [];
  for (let at = 0; at < body.length; at += size) {
    const piece = body.subarray(at, at + size);
    parts.push(Buffer.from(`${piece.length.toString(16)}\r\n`), piece, Buffer.from("\r\n"));
  }
  return Buffer.concat([...parts, Buffer.from("0\r\nX: y\r\n\r\n")]);
}

const PLAIN = Buffer.from("HTTP/1.1 200 OK\r\nA: b\r\n\r\n");
const CHUNKED = Buffer.from("HTTP/1.1 200 OK\r\nTransfer-Encoding: chunked\r\n\r\n");
const LARGE = Buffer.from(createDice(2).bytes(1_300_000));

describe.each([
  ["whole", LARGE.subarray(0, 3000)],
  ["streamed", LARGE],
])("%s", (name, body) => {
  test.each([
    ["plain", PLAIN, body],
    ["chunked", CHUNKED, chunked(body, 70_000)],
    ["in small chunks", CHUNKED, chunked(body, 31)],
    ["said to be chunked", CHUNKED, body],
  ])("%s", (_, head, stored) => {
    const found = read(Buffer.concat([head, stored]));
    expect(found.whole).toBe(name === "whole");
    expect(found.http?.text).toBe(head.toString());
    expect(found.payload.equals(body)).toBe(true);
  });

  test("no HTTP message", () => {
    const block = Buffer.concat([CHUNKED, chunked(body, 500)]);
    const found = read(block, "text/plain");
    expect(found.http).toBeUndefined();
    expect(found.payload.equals(block)).toBe(true);
  });
});

test.each([
  ["", undefined, ""],
  ["HTTP/1.1 200 OK\r\nA: b\r\n", "HTTP/1.1 200 OK\r\nA: b\r\n", ""],
  ["HTTP/1.1 200 OK\r\n\r\n", "HTTP/1.1 200 OK\r\n\r\n", ""],
  ["<html>\r\n\r\nx", undefined, "<html>\r\n\r\nx"],
  [`${CHUNKED.toString()}4\r\nWi`, CHUNKED.toString(), "Wi"],
  [`${CHUNKED.toString()}4\r\nWiki\r\nzz`, CHUNKED.toString(), "Wiki"],
  [`${CHUNKED.toString()}4`, CHUNKED.toString(), "4"],
])("the payload of %j", (block, head, payload) => {
  const found = read(Buffer.from(block));
  expect(found.http?.text).toBe(head);
  expect(found.payload.toString()).toBe(payload);
});

test("is what a scan of the record sees", () => {
  const piece = fc.constantFrom("3\r\nabc\r\n", "0\r\n\r\n", "x", "\r\n", "12");
  const head = fc.constantFrom("", PLAIN.toString(), CHUNKED.toString());
  fc.assert(
    fc.property(head, fc.array(piece, { maxLength: 6 }), (start, pieces) => {
      const block = Buffer.from(start + pieces.join(""));
      const parts: Buffer[] = [];
      const scan = scanRecord(open(archiveOf(block)), { onPayload: (bytes) => void parts.push(Buffer.from(bytes)) });
      const found = read(block);
      expect(found.payload.equals(Buffer.concat(parts))).toBe(true);
      expect(found.http?.text).toBe(scan.http?.text);
    }),
    { numRuns: 200 },
  );
});
