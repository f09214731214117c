/** The reader at the edges of its windows and of its contract. What is in a file, and damage to it, is golden/'s matter. */
import { describe, expect, test } from "vitest";
import { ArchiveError } from "../base/index.ts";
import { drippingSource, readArchive, readArchiveLater } from "../testing/archive-reading.ts";
import { gzipMember } from "../testing/gzip-member.ts";
import { recordBytes, warcText } from "../testing/record-text.ts";
import {
  compressedFrame,
  dictionaryFrame,
  frameHeader,
  handmadeFrame,
  loadFrames,
  skippableFrame,
} from "../testing/zstd-frame.ts";
import { bufferSource, iterableSource } from "./byte-source.ts";
import { WarcReader } from "./reader.ts";
import { WarcWriter } from "./writer.ts";
import { loadZstd } from "./zstd-codec.ts";

await Promise.all([loadFrames(), loadZstd()]);

/** The smallest window that a reader takes. */
const WINDOW = 1 << 19;
const INPUT = 1 << 20;

function resource(size: number, byte = "x"): Buffer {
  return recordBytes(warcText({ type: "resource", uri: "http://example.org/", block: Buffer.alloc(size, byte) }));
}

const HEAD_SIZE = resource(100_000).length - 100_000 - 4;
const NEXT = resource(3, "y");

function codeOf(run: () => unknown): string {
  try {
    run();
  } catch (error) {
    if (error instanceof ArchiveError) return error.code;
    throw error;
  }
  return "nothing thrown";
}

describe("a record that ends near the end of the window", () => {
  // The block fits exactly, its separator does not, the next record's first bytes do not, and so on.
  const sizes = Array.from({ length: 24 }, (_, i) => WINDOW - HEAD_SIZE - 14 + i);

  test.each(["gzip", "none"] as const)("%s", (compression) => {
    const small = compression === "gzip";
    for (const fit of sizes) {
      // In a plain file the window is the one over the file, and larger.
      const size = small ? fit : fit + INPUT - WINDOW;
      const bytes = small
        ? Buffer.concat([gzipMember(resource(size), {}, 1), gzipMember(NEXT)])
        : Buffer.concat([resource(size), NEXT, Buffer.concat(new Array<Buffer>(2000).fill(NEXT))]);
      const warnings: string[] = [];
      const reader = new WarcReader(bufferSource(bytes), {
        windowSize: WINDOW,
        onWarning: ({ code }) => void warnings.push(code),
      });
      const record = reader.next()!;
      const { block } = record;
      if (block !== undefined) expect(block.length).toBe(size);
      record.drain();
      const length = small ? bytes.length - gzipMember(NEXT).length : resource(size).length;
      expect(record.length, `size ${size}`).toBe(length);
      const next = reader.next()!;
      expect(next.offset).toBe(length);
      expect(next.block?.toString()).toBe("yyy");
      expect(warnings).toEqual([]);
    }
  });
});

test("records that straddle the window over an uncompressed file keep their places", () => {
  // Some 40 of them meet the end of a window, each at another byte.
  const records = Array.from({ length: 1300 }, (_, i) => resource(131_000 + (i % 97), "xyz"[i % 3]));
  const bytes = Buffer.concat(records);
  const { records: seen, warnings } = readArchive(bytes);
  let offset = 0;
  const places = records.map(({ length }) => {
    offset += length;
    return { offset: offset - length, length };
  });
  expect(seen.map((record) => ({ offset: record.offset, length: record.length }))).toEqual(places);
  expect(warnings).toEqual([]);
});

test("members that straddle the window over a compressed file keep their places and bytes", () => {
  const members = Array.from({ length: 300 }, (_, i) => gzipMember(resource(60_000 + (i % 101)), {}, 0));
  const bytes = Buffer.concat(members);
  const reader = new WarcReader(bufferSource(bytes));
  let offset = 0;
  for (const member of members) {
    const record = reader.next()!;
    expect(record.offset).toBe(offset);
    expect(record.length).toBe(member.length);
    expect(Buffer.from(record.raw!).equals(member)).toBe(true);
    offset += member.length;
  }
  expect(reader.next()).toBeUndefined();
});

describe("zstd frames", () => {
  const large = resource(9_000_000, "a sentence that comes again and again, ");
  const dictionary = Buffer.from("a sentence that comes again and again, WARC/1.0\r\nWARC-Type: resource\r\n");

  test.each([
    ["large, with their size", handmadeFrame(large), []],
    ["large, without it", handmadeFrame(large, { contentSize: false }), []],
    ["large and compressed", compressedFrame(large), []],
    ["large, compressed with a dictionary", compressedFrame(large, dictionary), [dictionaryFrame(dictionary)]],
  ] as const)("that are %s", async (_, frame, before) => {
    const bytes = Buffer.concat([...before, frame, handmadeFrame(NEXT)]);
    const seen = readArchive(bytes);
    expect(seen).toMatchObject({ warnings: [], error: undefined });
    const start = bytes.length - frame.length - handmadeFrame(NEXT).length;
    expect(seen.records.map(({ offset, length, size }) => ({ offset, length, size }))).toEqual([
      { offset: start, length: frame.length, size: 9_000_000 },
      { offset: start + frame.length, length: handmadeFrame(NEXT).length, size: 3 },
    ]);
    expect(await readArchiveLater(drippingSource(bytes, 9001))).toEqual(seen);
  });

  test("may be read from two files at once", () => {
    const frame = handmadeFrame(large, { contentSize: false });
    const readers = [1, 2].map(() => new WarcReader(bufferSource(frame), { strict: true }));
    const records = readers.map((reader) => reader.next()!);
    for (let going = true; going; ) going = records.map((record) => record.read()).some((chunk) => chunk !== undefined);
    expect(records.map(({ length }) => length)).toEqual([frame.length, frame.length]);
  });

  test("may be skippable and larger than any window", async () => {
    const bytes = Buffer.concat([skippableFrame(Buffer.alloc(6 << 20)), handmadeFrame(NEXT)]);
    const seen = readArchive(bytes);
    expect(seen.records).toMatchObject([{ offset: (6 << 20) + 8, size: 3 }]);
    expect(await readArchiveLater(drippingSource(bytes, 50_001))).toEqual(seen);
  });

  test("that need a dictionary which is not there are damage", () => {
    const header = frameHeader(undefined, false);
    header[4] = 1;
    const bytes = Buffer.concat([header, Buffer.from([7, 1, 0, 0]), handmadeFrame(NEXT)]);
    const { records, warnings } = readArchive(bytes);
    expect(warnings.map(({ code }) => code)).toEqual(["HT_ZSTD_DICTIONARY"]);
    expect(records).toHaveLength(1);
  });

  test("that ask for a window beyond all measure are damage", () => {
    const header = frameHeader(undefined, false);
    header[5] = 0xff;
    const { warnings } = readArchive(Buffer.concat([header, Buffer.from([1, 0, 0])]));
    expect(warnings.map(({ code }) => code)).toEqual(["HT_ZSTD_DATA"]);
  });
});

describe("the contract", () => {
  const bytes = Buffer.concat([gzipMember(NEXT), gzipMember(resource(3, "z"))]);

  test("a record is gone when the next one has been asked for", () => {
    const reader = new WarcReader(bufferSource(bytes));
    const first = reader.next()!;
    const { uri } = first;
    reader.next();
    expect(codeOf(() => first.read())).toBe("HT_USAGE");
    expect(first.block).toBeUndefined();
    expect(first.raw).toBeUndefined();
    expect(first.uri).toBe(uri);
  });

  test("a block is read once", () => {
    const record = new WarcReader(bufferSource(bytes)).next()!;
    expect(record.block?.toString()).toBe("yyy");
    expect(Buffer.concat([...record.chunks()]).toString()).toBe("yyy");
    expect(record.block).toBeUndefined();
    expect(record.read()).toBeUndefined();
  });

  test("a source that answers later is not read at once", async () => {
    const reader = new WarcReader(drippingSource(bytes, 3));
    expect(codeOf(() => reader.next())).toBe("HT_USAGE");
    const record = await reader.nextLater();
    expect(record?.length).toBe(gzipMember(NEXT).length);
  });

  test("chunks of a stream will do, empty ones too", async () => {
    async function* chunks() {
      for (const byte of bytes) {
        yield Buffer.alloc(0);
        yield await Promise.resolve(Buffer.from([byte]));
      }
    }
    const seen = await readArchiveLater(iterableSource(chunks(), "(memory)"));
    expect(seen).toEqual(readArchive(bytes));
  });

  test("reading begins where it is told to", () => {
    const start = gzipMember(NEXT).length;
    const reader = new WarcReader(bufferSource(bytes), { start });
    expect(reader.next()).toMatchObject({ offset: start });
    expect(reader.next()).toBeUndefined();
  });

  test("a search begins anywhere, and says nothing of what it passes over", () => {
    for (let start = 1; start <= gzipMember(NEXT).length; start++) {
      const { records, warnings } = readArchive(bytes, { start, search: true });
      expect(records.map(({ offset }) => offset)).toEqual([gzipMember(NEXT).length]);
      expect(warnings).toEqual([]);
    }
  });

  test.each([
    ["nothing", "", undefined],
    ["text", "no archive at all\n", "HT_FORMAT_UNKNOWN"],
    ["a ZIP file", "PK\x03\x04 and so on", "HT_UNSUPPORTED"],
    ["line ends", "\r\n\r\n", undefined],
  ])("%s is no archive, and ends as it should", (_, text, code) => {
    expect(readArchive(Buffer.from(text))).toEqual({ records: [], warnings: [], error: code });
  });

  test("all records of a file written with one frame or member each can be reached by their offsets", () => {
    for (const compression of ["none", "gzip", "zstd"] as const) {
      const parts: Buffer[] = [];
      const writer = new WarcWriter({ write: (piece) => void parts.push(Buffer.from(piece)) }, { compression });
      const places = [10, 600_000, 0, 5_000_000].map((size) =>
        writer.write({ fields: [["WARC-Type", "resource"]], block: Buffer.alloc(size, "text ") }),
      );
      for (const { offset, length } of places) {
        const record = new WarcReader(bufferSource(Buffer.concat(parts)), { start: offset }).next()!;
        record.drain();
        expect({ offset: record.offset, length: record.length }).toEqual({ offset, length });
      }
    }
  });
});
