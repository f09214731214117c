import { brotliCompressSync, deflateRawSync, deflateSync, gzipSync } from "node:zlib";
import fc from "fast-check";
import { describe, expect, test } from "vitest";
import { ArchiveError } from "../base/index.ts";
import { createDice } from "../testing/dice.ts";
import { type ContentCoding, decodeContent, parseContentCodings } from "./content-coding.ts";
import { encodeFrame, loadZstd } from "./zstd-codec.ts";

await loadZstd();

test.each<[value: string | undefined, codings: ContentCoding[]]>([
  [undefined, []],
  ["", []],
  [" , ", []],
  ["identity", []],
  ["gzip", ["gzip"]],
  [" X-GZip ", ["gzip"]],
  ["deflate, gzip", ["deflate", "gzip"]],
  ["br,identity,zstd", ["br", "zstd"]],
])("%j names %j", (value, codings) => {
  expect(parseContentCodings(value)).toEqual(codings);
});

test.each(["compress", "gzip, sdch", "gzip deflate", "constructor", "__proto__"])("%j is not known", (value) => {
  expect(() => parseContentCodings(value)).toThrow(expect.objectContaining({ code: "HT_UNSUPPORTED" }));
});

async function decode(payload: Iterable<Uint8Array>, codings: readonly ContentCoding[]): Promise<Buffer> {
  const parts: Buffer[] = [];
  for await (const piece of decodeContent(payload, codings)) parts.push(Buffer.from(piece));
  return Buffer.concat(parts);
}

/** Pieces that are all views of one buffer, each gone when the next one is asked for. */
function* inPieces(bytes: Uint8Array, size: number): Generator<Uint8Array> {
  const buffer = Buffer.alloc(size);
  for (let at = 0; at < bytes.length; at += size) {
    buffer.fill(0xee);
    const count = Buffer.from(bytes.subarray(at, at + size)).copy(buffer);
    yield buffer.subarray(0, count);
  }
}

test("a long content makes Node warn of nothing", async () => {
  const warnings: Error[] = [];
  const note = (warning: Error) => void warnings.push(warning);
  process.on("warning", note);
  try {
    const content = Buffer.from(createDice(5).bytes(2_000_000));
    expect(await decode(inPieces(gzipSync(content), 40_000), ["gzip"])).toEqual(content);
    await new Promise((resolve) => setImmediate(resolve));
  } finally {
    process.off("warning", note);
  }
  expect(warnings).toEqual([]);
});

type Kind = readonly [name: string, coding: ContentCoding, encode: (bytes: Uint8Array) => Uint8Array];
const KINDS: readonly Kind[] = [
  ["gzip", "gzip", gzipSync],
  [
    "gzip in two members",
    "gzip",
    (bytes) => Buffer.concat([gzipSync(bytes.subarray(0, 99)), gzipSync(bytes.subarray(99))]),
  ],
  ["deflate with a zlib header", "deflate", deflateSync],
  ["deflate without", "deflate", deflateRawSync],
  ["br", "br", (bytes) => brotliCompressSync(bytes, { params: { 1: 4 } })],
  ["zstd", "zstd", (bytes) => encodeFrame(bytes, 3, undefined)],
  [
    "zstd in two frames",
    "zstd",
    (bytes) =>
      Buffer.concat([encodeFrame(bytes.subarray(0, 99), 3, undefined), encodeFrame(bytes.subarray(99), 3, undefined)]),
  ],
];

const text = Buffer.from("the one specimen that all others refer to; ".repeat(300));
const large = Buffer.concat([Buffer.from(createDice(4).bytes(1 << 20)), Buffer.alloc(3 << 20, "ab")]);

describe.each(KINDS)("%s", (_, coding, encode) => {
  test.each([1, 2, 7, 1000, 1 << 20])("in pieces of %i", async (size) => {
    expect((await decode(inPieces(encode(text), size), [coding])).equals(text)).toBe(true);
  });

  test("nothing, coded", async () => {
    expect((await decode([encode(Buffer.alloc(0))], [coding])).length).toBe(0);
  });

  test("no bytes at all", async () => {
    expect((await decode([], [coding])).length).toBe(0);
    expect((await decode([new Uint8Array(0), new Uint8Array(0)], [coding])).length).toBe(0);
  });

  test("empty pieces before and between", async () => {
    const coded = encode(text);
    const pieces = [new Uint8Array(0), coded.subarray(0, 1), new Uint8Array(0), coded.subarray(1), new Uint8Array(0)];
    expect((await decode(pieces, [coding])).equals(text)).toBe(true);
  });

  test("megabytes", async () => {
    expect((await decode(inPieces(encode(large), 100_000), [coding])).equals(large)).toBe(true);
  });

  test("who stops in the middle is let go", async () => {
    let size = 0;
    for await (const piece of decodeContent(inPieces(encode(large), 5000), [coding])) {
      size += piece.length;
      if (size > 0) break;
    }
    expect(size).toBeGreaterThan(0);
    expect(size).toBeLessThan(large.length);
  });

  test("cut off", async () => {
    const coded = encode(text);
    for (const cut of [1, 5, coded.length >> 1, coded.length - 1]) {
      const failure: unknown = await decode([coded.subarray(0, cut)], [coding]).catch((error: unknown) => error);
      expect(failure, `cut at ${cut} of ${coded.length}`).toMatchObject({ name: "ArchiveError", code: "HT_CORRUPT" });
    }
  });

  test("damaged: an error of ours or other bytes, and an end", async () => {
    const coded = encode(large);
    await fc.assert(
      fc.asyncProperty(
        fc.nat(99),
        fc.integer({ min: 1, max: 255 }),
        fc.integer({ min: 1, max: 99_999 }),
        async (at, flip, size) => {
          const bytes = Buffer.from(coded.subarray(0, 200_000));
          bytes[at]! ^= flip;
          const result: unknown = await decode(inPieces(bytes, Math.max(size, 1000)), [coding]).catch(
            (error: unknown) => error,
          );
          if (!Buffer.isBuffer(result)) expect(result).toBeInstanceOf(ArchiveError);
        },
      ),
      { numRuns: 20 },
    );
  });

  test("something else altogether", async () => {
    const bytes = Buffer.alloc(300_000, "<html>");
    await expect(decode(inPieces(bytes, 1000), [coding])).rejects.toMatchObject({ code: "HT_CORRUPT" });
  });

  test("an error of the source is its own", async () => {
    function* failing(): Generator<Uint8Array> {
      yield encode(text).subarray(0, 20);
      throw new ArchiveError("HT_IO", "the disk is gone");
    }
    await expect(decode(failing(), [coding])).rejects.toMatchObject({ code: "HT_IO" });
  });
});

test("bytes behind the end of raw deflate do not matter, and do not hang", async () => {
  const coded = Buffer.concat([deflateRawSync(text), Buffer.alloc(1 << 20, 1)]);
  expect((await decode(inPieces(coded, 5000), ["deflate"])).equals(text)).toBe(true);
});

test("several codings are undone from the last to the first", async () => {
  await fc.assert(
    fc.asyncProperty(
      fc.array(fc.constantFrom(...KINDS), { maxLength: 4 }),
      fc.integer({ min: 1, max: 500 }),
      async (kinds, size) => {
        const coded = kinds.reduce<Uint8Array>((bytes, [, , encode]) => encode(bytes), text);
        const codings = kinds.map(([, coding]) => coding);
        expect((await decode(inPieces(coded, size), codings)).equals(text)).toBe(true);
      },
    ),
    { numRuns: 30 },
  );
});

test("a payload that comes later", async () => {
  async function* later(): AsyncGenerator<Uint8Array> {
    for (const piece of inPieces(gzipSync(text), 50)) {
      await Promise.resolve();
      yield piece;
    }
  }
  const parts: Buffer[] = [];
  for await (const piece of decodeContent(later(), ["gzip"])) parts.push(Buffer.from(piece));
  expect(Buffer.concat(parts).equals(text)).toBe(true);
});
