/** Files made to wear a reader out: each must end within seconds, and in little memory. */
import { memoryUsage } from "node:process";
import { constants, deflateRawSync } from "node:zlib";
import { describe, expect, test } from "vitest";
import { readArchive } from "../testing/archive-reading.ts";
import { gzipHeader, gzipMember } from "../testing/gzip-member.ts";
import { dictionaryFrame, frameHeader, handmadeFrame, loadFrames, runBlock } from "../testing/zstd-frame.ts";
import { type ByteSource, bufferSource } from "./byte-source.ts";
import { WarcReader } from "./reader.ts";
import { scanRecord } from "./record-scan.ts";
import { loadZstd } from "./zstd-codec.ts";

await Promise.all([loadFrames(), loadZstd()]);

const MEGABYTE = 1 << 20;
const HEAD = "WARC/1.0\r\nWARC-Type: resource\r\nContent-Length: ";

function filled(pattern: string | Buffer, size: number): Buffer {
  return Buffer.alloc(size, typeof pattern === "string" ? Buffer.from(pattern, "latin1") : pattern);
}

/** Reads everything; gives the seconds that it took. */
function secondsFor(bytes: Buffer): number {
  const from = performance.now();
  readArchive(bytes);
  return (performance.now() - from) / 1000;
}

const SOUND = gzipMember(Buffer.from(`${HEAD}0\r\n\r\n\r\n\r\n`));
const EMPTY_BLOCKS = filled("\0\0\0\xff\xff", 4 * MEGABYTE);

describe("ends within seconds", () => {
  const files: readonly (readonly [string, () => Buffer])[] = [
    ["gzip magics", () => Buffer.concat([SOUND, filled("\x1f\x8b\x08\0\0\0\0\0\0\x03", 8 * MEGABYTE)])],
    ["gzip magics with a name that never ends", () => Buffer.concat([SOUND, filled("\x1f\x8b\x08\x08", 6 * MEGABYTE)])],
    [
      "gzip magics that all jump into empty blocks",
      () => {
        const jumps = Buffer.alloc(65_520);
        for (let at = 0; at < jumps.length; at += 12) {
          gzipHeader({ extra: new Uint8Array(0) }).copy(jumps, at);
          jumps.writeUInt16LE(jumps.length - at - 12, at + 10);
        }
        return Buffer.concat([SOUND, ...new Array<Buffer>(2).fill(Buffer.concat([jumps, EMPTY_BLOCKS]))]);
      },
    ],
    [
      "members inside stored members, all broken at the end",
      () => {
        const members: Buffer[] = [];
        for (let i = 0, size = 0; i < 3000; i++) {
          members.unshift(Buffer.concat([gzipHeader(), stored(size + 2000), filled("x", 2000)]));
          size += members[0]!.length;
        }
        return Buffer.concat(members);
      },
    ],
    ["lines that begin a record", () => filled("WARC/1.0\r\n", 8 * MEGABYTE)],
    ["lines that begin a record, compressed", () => gzipMember(filled("WARC/1.0\r\n", 8 * MEGABYTE))],
    [
      "many small members of lines that begin a record",
      () => filled(gzipMember(filled("WARC/1.0\r\n", 250_000)), MEGABYTE),
    ],
    ["records without a length", () => filled("WARC/1.0\r\n\r\n", 5 * MEGABYTE)],
    ["records without a length, compressed", () => gzipMember(filled("WARC/1.0\r\n\r\n", 2 * MEGABYTE))],
    ["records in small letters", () => filled("warc/1.0\r\ncontent-length: 1\r\n\r\nxy", 6 * MEGABYTE)],
    ["records with a length that is too large", () => filled(`${HEAD}999999\r\n\r\n`, 4 * MEGABYTE)],
    ["records with a length just below the window's", () => filled(`${HEAD}1048300\r\n\r\n`, 12 * MEGABYTE)],
    ["the same, compressed", () => gzipMember(filled(`${HEAD}1048300\r\n\r\n`, 12 * MEGABYTE))],
    [
      "a header of blanks",
      () => Buffer.concat([Buffer.from(`${HEAD}1\r\nX:`), filled(" ", 250_000), Buffer.from("y\r\n\r\nz")]),
    ],
    [
      "folded headers of carriage returns",
      () => {
        const head = Buffer.concat([
          Buffer.from("WARC/1.0\r\nContent-Length: 1\n "),
          filled("\r", 200_000),
          Buffer.from("x\r\n\r\nz\r\n\r\n"),
        ]);
        return filled(head, 4 * MEGABYTE);
      },
    ],
    ["a line without an end", () => Buffer.concat([Buffer.from(`${HEAD}1\r\nX: `), filled("y", 20 * MEGABYTE)])],
    [
      "ARC lines of blanks",
      () => filled(Buffer.concat([Buffer.from("http:"), filled(" ", 65_000), Buffer.from("x\n")]), 6 * MEGABYTE),
    ],
    [
      "ARC lines of addresses",
      () =>
        filled(Buffer.concat([Buffer.from("http:x"), filled(" ::: 2000", 65_000), Buffer.from("\n")]), 4 * MEGABYTE),
    ],
    ["ARC records with nothing in them", () => filled("http://x/ 0.0.0.0 20040105000000 - 0\n", 3 * MEGABYTE)],
    ["line ends", () => Buffer.concat([Buffer.from(`${HEAD}1\r\n\r\nx`), filled("\r\n", 20 * MEGABYTE)])],
    ["zstd magics", () => filled("\x28\xb5\x2f\xfd\x00\x58", 4 * MEGABYTE)],
    ["zstd magics that ask for large windows", () => filled("\x28\xb5\x2f\xfd\x00\x78\x04\0\0", 2 * MEGABYTE)],
    [
      "zstd frames that all say that they hold much",
      () => filled("\x28\xb5\x2f\xfd\xa0\0\0\x40\0\xfc\xff\x0f", 8 * MEGABYTE),
    ],
    ["empty zstd frames", () => filled("\x28\xb5\x2f\xfd\x20\0\x01\0\0", 4 * MEGABYTE)],
    [
      "small frames behind a large dictionary",
      () =>
        Buffer.concat([
          dictionaryFrame(Buffer.alloc(8 * MEGABYTE, "dictionary")),
          filled(handmadeFrame(SOUND), 4 * MEGABYTE),
        ]),
    ],
    ["empty skippable frames", () => filled("\x50\x2a\x4d\x18\0\0\0\0", 8 * MEGABYTE)],
    ["empty gzip members", () => filled(gzipMember(Buffer.alloc(0)), 4 * MEGABYTE)],
  ];

  test.each(files)("%s", (_, make) => {
    expect(secondsFor(make())).toBeLessThan(20);
  });

  test("chunks of one byte", () => {
    const body = filled("1\r\nx\r\n", 6 * MEGABYTE);
    const http = "HTTP/1.1 200 OK\r\nTransfer-Encoding: chunked\r\n\r\n";
    const head = Buffer.from(
      `WARC/1.0\r\nWARC-Type: response\r\nContent-Type: application/http\r\nContent-Length: ${http.length + body.length}\r\n\r\n${http}`,
    );
    const from = performance.now();
    const reader = new WarcReader(bufferSource(Buffer.concat([head, body])));
    const scan = scanRecord(reader.next()!, { payload: ["sha1"] });
    expect(scan.payloadSize).toBe(MEGABYTE);
    expect(performance.now() - from).toBeLessThan(20_000);
  });
});

function stored(size: number): Buffer {
  const header = Buffer.alloc(5);
  header[0] = 1;
  header.writeUInt16LE(Math.min(size, 65_535), 1);
  header.writeUInt16LE(~Math.min(size, 65_535) & 0xffff, 3);
  return header;
}

/** Reads the one record of a file, piece by piece; gives its size and by how much memory grew meanwhile. */
function grow(source: ByteSource): { size: number; grown: number } {
  const before = memoryUsage.rss();
  let most = before;
  let size = 0;
  for (const record of new WarcReader(source)) {
    for (const chunk of record.chunks()) {
      size += chunk.length;
      if (size % 997 === 0) most = Math.max(most, memoryUsage.rss());
    }
    most = Math.max(most, memoryUsage.rss());
  }
  return { size, grown: most - before };
}

/** A gzip member of `count` zeros behind `head`: blocks that stand by themselves, the same again and again. */
function zeros(head: string, count: number): Buffer {
  const flushed = { level: constants.Z_BEST_COMPRESSION, finishFlush: constants.Z_FULL_FLUSH };
  const blocks = deflateRawSync(Buffer.alloc(8 * MEGABYTE), flushed);
  const all = new Array<Buffer>(count / (8 * MEGABYTE)).fill(blocks);
  const last = deflateRawSync(Buffer.alloc(0));
  return Buffer.concat([gzipHeader(), deflateRawSync(Buffer.from(head), flushed), ...all, last, Buffer.alloc(8)]);
}

describe("memory stays bounded", () => {
  const GIGABYTE = 1 << 30;

  test("when a gzip member inflates to a gigabyte", () => {
    const bytes = zeros(`${HEAD}${GIGABYTE}\r\n\r\n`, GIGABYTE);
    expect(bytes.length).toBeLessThan(1_200_000);
    const { size, grown } = grow(bufferSource(bytes));
    expect(size).toBe(GIGABYTE);
    expect(grown).toBeLessThan(100 * MEGABYTE);
  });

  test.each([true, false])("when a zstd frame of 33 KB decodes to a gigabyte (says its size: %s)", (says) => {
    const head = Buffer.from(`${HEAD}${GIGABYTE}\r\n\r\n`);
    const blocks = new Array<Buffer>(GIGABYTE / 131_072).fill(runBlock(0, 131_072, false));
    const first = Buffer.alloc(3);
    first.writeUIntLE(head.length << 3, 0, 3);
    const frame = [frameHeader(says ? GIGABYTE + head.length : undefined, false), first, head, ...blocks];
    const { size, grown } = grow(bufferSource(Buffer.concat([...frame, runBlock(0, 0, true)])));
    expect(size).toBe(GIGABYTE);
    expect(grown).toBeLessThan(100 * MEGABYTE);
  });

  test("when a zstd frame is one segment of a gigabyte", () => {
    const header = Buffer.from([0x28, 0xb5, 0x2f, 0xfd, 0xa0, 0, 0, 0, 0x40]);
    const blocks = new Array<Buffer>(8192).fill(runBlock(0, 131_072, false));
    const { grown } = grow(bufferSource(Buffer.concat([header, ...blocks])));
    expect(grown).toBeLessThan(100 * MEGABYTE);
  });

  test("when nothing but warnings comes", () => {
    const before = memoryUsage.rss();
    const reader = new WarcReader(bufferSource(filled("WARC/1.0\r\nx\r\n", 20 * MEGABYTE)));
    expect([...reader]).toEqual([]);
    expect(memoryUsage.rss() - before).toBeLessThan(100 * MEGABYTE);
  });
});

/** A file that is made while it is read: parts of bytes, and runs of one byte as long as one likes. */
function madeSource(parts: readonly (Buffer | number)[]): ByteSource {
  const sizes = parts.map((part) => (typeof part === "number" ? part : part.length));
  return {
    name: "(made)",
    seekable: true,
    size: sizes.reduce((sum, size) => sum + size, 0),
    read(into, position) {
      let from = 0;
      for (const [i, part] of parts.entries()) {
        const inside = position - from;
        from += sizes[i]!;
        if (position >= from) continue;
        const count = Math.min(into.length, sizes[i]! - inside);
        if (typeof part === "number") into.fill(120, 0, count);
        else into.set(part.subarray(inside, inside + count));
        return count;
      }
      return 0;
    },
  };
}

test("a record of more than 5 GB has its length, and the one behind it its offset", () => {
  const size = 5_500_000_000;
  const head = Buffer.from(`${HEAD}${size}\r\n\r\n`);
  const tail = Buffer.from("\r\n\r\n");
  const next = Buffer.from(`${HEAD}3\r\n\r\nabc\r\n\r\n`);
  const reader = new WarcReader(madeSource([head, size, tail, next]));
  const large = reader.next()!;
  expect(large.offset).toBe(0);
  let got = 0;
  for (const chunk of large.chunks()) got += chunk.length;
  expect(got).toBe(size);
  expect(large.length).toBe(head.length + size + 4);
  const small = reader.next()!;
  expect(small.offset).toBe(head.length + size + 4);
  expect(small.block!.toString()).toBe("abc");
  expect(small.length).toBe(next.length);
  expect(reader.next()).toBeUndefined();
});

test("a gzip member of more than 4 GB, stored, keeps offsets exact", () => {
  const piece = 65_535;
  const count = 66_000;
  const size = piece * count;
  const head = Buffer.from(`${HEAD}${size}\r\n\r\n`);
  const header = Buffer.alloc(5);
  header.writeUInt16LE(piece, 1);
  header.writeUInt16LE(~piece & 0xffff, 3);
  const block = Buffer.concat([header, filled("x", piece)]);
  const first = stored(head.length);
  first[0] = 0;
  const last = stored(4);
  const before = Buffer.concat([gzipHeader(), first, head]);
  const behind = Buffer.concat([last, Buffer.from("\r\n\r\n"), Buffer.alloc(8)]);
  const middle = block.length * count;
  const end = before.length + middle + behind.length;
  const source: ByteSource = {
    name: "(made)",
    seekable: true,
    size: end + SOUND.length,
    read(into, position) {
      const at = position - before.length;
      if (at < 0) return copy(before.subarray(position), into);
      if (at < middle) return copy(block.subarray(at % block.length), into);
      if (position < end) return copy(behind.subarray(at - middle), into);
      return copy(SOUND.subarray(position - end), into);
    },
  };
  const codes: string[] = [];
  const reader = new WarcReader(source, { onWarning: ({ code }) => void codes.push(code) });
  const large = reader.next()!;
  large.drain();
  expect(large.length).toBe(end);
  const small = reader.next()!;
  expect(small.offset).toBe(end);
  expect(small.length).toBe(SOUND.length);
  expect(reader.next()).toBeUndefined();
  // The trailer was left empty.
  expect(codes).toEqual(["HT_GZIP_CHECKSUM"]);
});

function copy(bytes: Buffer, into: Uint8Array): number {
  return bytes.copy(into);
}
