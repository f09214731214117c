/** Our block decoder against frames of the reference encoder, and against frames that nobody would encode. */
import { existsSync, readFileSync } from "node:fs";
import { fileURLToPath } from "node:url";
import fc from "fast-check";
import { describe, expect, test } from "vitest";
import { newSeed } from "../testing/dice.ts";
import { compressedFrame, handmadeFrame, loadFrames } from "../testing/zstd-frame.ts";
import { BlockDecoder } from "./zstd-blocks.ts";
import { decodeFrame, decodeUnsized, loadZstd, parseFrameHeader, type ZstdFrameHeader } from "./zstd-codec.ts";

await Promise.all([loadFrames(), loadZstd()]);
const SEED = newSeed();

function headerOf(frame: Buffer): ZstdFrameHeader {
  const header = parseFrameHeader(frame, 0, frame.length);
  if (header === undefined || header === 0) throw new Error("no frame header");
  return header;
}

function* blocksOf(frame: Buffer): Generator<Buffer> {
  let at = headerOf(frame).size;
  for (let last = false; !last; ) {
    const header = frame.readUIntLE(at, 3);
    const end = at + 3 + (((header >> 1) & 3) === 1 ? 1 : header >> 3);
    yield frame.subarray(at, end);
    last = (header & 1) === 1;
    at = end;
  }
}

function decode(frame: Buffer, decoder = new BlockDecoder()): Buffer {
  decoder.begin(headerOf(frame).windowSize);
  return Buffer.concat([...blocksOf(frame)].map((block) => Buffer.from(decoder.decode(block))));
}

/** Text with repetitions near and far, of some 600 KB: several blocks, all kinds of tables. */
function longText(): Buffer {
  const words = Array.from({ length: 400 }, (_, i) => ((i * 2_654_435_761) >>> 0).toString(36));
  let text = "";
  for (let i = 0; text.length < 600_000; i++)
    text += `${words[(i * i + (i >> 3)) % words.length]} ${i % 7 === 0 ? "\n" : ""}`;
  return Buffer.from(text);
}

/** Bytes that do not compress: raw literals and raw blocks. */
function noise(size: number): Buffer {
  const bytes = Buffer.alloc(size);
  for (let i = 0, x = 1; i < size; i++, x = (x * 48_271) % 2_147_483_647) bytes[i] = x >> 8;
  return bytes;
}

const CONTENTS: readonly (readonly [string, Buffer])[] = [
  ["nothing", Buffer.alloc(0)],
  ["one byte", Buffer.from("x")],
  ["a word", Buffer.from("holotype")],
  ["zeros", Buffer.alloc(300_000)],
  ["long text", longText()],
  ["noise", noise(200_000)],
  ["few letters", Buffer.from(noise(150_000).map((byte) => 97 + (byte & 3)))],
  ["noise and text", Buffer.concat([noise(90_000), longText().subarray(0, 90_000), noise(90_000)])],
];

describe("decodes what the reference encodes", () => {
  test.each(CONTENTS)("%s", (_, content) => {
    for (const level of [1, 3, 9, 19])
      expect(decode(compressedFrame(content, undefined, level)).equals(content)).toBe(true);
  });

  test.each(CONTENTS)("%s, with a dictionary", (_, content) => {
    const dictionary = longText().subarray(1000, 30_000);
    const decoder = new BlockDecoder(dictionary);
    // One decoder serves frame after frame.
    for (const level of [1, 3, 19]) {
      expect(decode(compressedFrame(content, dictionary, level), decoder).equals(content)).toBe(true);
    }
  });

  test(`anything (seed ${SEED})`, () => {
    const content = fc
      .array(
        fc.oneof(fc.uint8Array({ maxLength: 300 }), fc.constantFrom(...CONTENTS.map(([, c]) => c.subarray(0, 2000)))),
      )
      .map((parts) => Buffer.concat(parts));
    fc.assert(
      fc.property(content, fc.constantFrom(1, 3, 12, 19), (bytes, level) => {
        expect(decode(compressedFrame(bytes, undefined, level)).equals(bytes)).toBe(true);
      }),
      { seed: SEED, numRuns: 200 },
    );
  });

  test("frames that do not say how much they hold", () => {
    const content = longText().subarray(0, 5000);
    const frame = handmadeFrame(content, { contentSize: false, blockSize: 700 });
    expect(Buffer.from(decodeUnsized(frame, headerOf(frame), 5000)).equals(content)).toBe(true);
    expect(() => decodeUnsized(frame, headerOf(frame), 4999)).toThrow("too large");
    expect(() => decodeUnsized(frame.subarray(0, -300), headerOf(frame), 5000)).toThrow();
  });

  const trained = fileURLToPath(new URL("../../../shared/corpus/derived/iana.dict.warc.zst", import.meta.url));
  const there = existsSync(trained);

  test.skipIf(!there)(`a trained dictionary${there ? "" : " (skipped: there is no ../shared/corpus)"}`, () => {
    const bytes = readFileSync(trained);
    const size = bytes.readUInt32LE(4);
    const dictionary = bytes.subarray(8, 8 + size);
    const decoder = new BlockDecoder(dictionary);
    let count = 0;
    for (let at = 8 + size; at < bytes.length; count++) {
      const frame = bytes.subarray(at);
      const { size: headerSize, contentSize, hasChecksum } = headerOf(frame);
      const blockSize = [...blocksOf(frame)].reduce((sum, block) => sum + block.length, 0);
      const whole = frame.subarray(0, headerSize + blockSize + (hasChecksum ? 4 : 0));
      const expected = decodeFrame(whole, contentSize!, dictionary);
      expect(decode(frame, decoder).equals(expected)).toBe(true);
      at += whole.length;
    }
    expect(count).toBeGreaterThan(300);
  });
});

describe("refuses what is broken, and at once", () => {
  const frame = compressedFrame(longText().subarray(0, 6000), undefined, 19);

  test("every byte of a frame changed", () => {
    const from = performance.now();
    const decoder = new BlockDecoder();
    for (let at = headerOf(frame).size; at < frame.length; at++) {
      const damaged = Buffer.from(frame);
      damaged[at]! ^= 1 << (at % 8);
      try {
        expect(decode(damaged, decoder).length).toBeLessThanOrEqual(1 << 18);
      } catch (error) {
        expect(error).toBeInstanceOf(Error);
      }
    }
    expect(performance.now() - from).toBeLessThan(30_000);
  });

  test("a frame cut anywhere", () => {
    const [block] = [...blocksOf(frame)];
    for (let size = 3; size < block!.length; size += 7) {
      expect(() => {
        const decoder = new BlockDecoder();
        decoder.begin(1 << 20);
        const cut = Buffer.from(block!.subarray(0, size));
        cut.writeUIntLE(((size - 3) << 3) | 5, 0, 3);
        decoder.decode(cut);
      }).toThrow(/^zstd: /);
    }
  });

  test(`blocks of arbitrary bytes (seed ${SEED})`, () => {
    const decoder = new BlockDecoder();
    fc.assert(
      fc.property(fc.uint8Array({ minLength: 1, maxLength: 200 }), (bytes) => {
        const block = Buffer.concat([Buffer.alloc(3), bytes]);
        block.writeUIntLE((bytes.length << 3) | 5, 0, 3);
        decoder.begin(1 << 20);
        try {
          expect(decoder.decode(block).length).toBeLessThanOrEqual(1 << 17);
        } catch (error) {
          expect(String(error)).toMatch(/^Error: zstd: /);
        }
      }),
      { seed: SEED, numRuns: 5000 },
    );
  });

  test.each([
    ["a block of a reserved type", "07 00 00"],
    ["a block larger than the window", "04 40 00"],
    ["literals without a table", "25 00 00 13 02 00 00"],
    ["a table that was never there", "25 00 00 00 01 fc 01"],
  ])("%s", (_, hex) => {
    const decoder = new BlockDecoder();
    decoder.begin(1024);
    expect(() => decoder.decode(Buffer.from(hex.replaceAll(" ", ""), "hex"))).toThrow(/^zstd: /);
  });

  test("a dictionary with a magic number and nothing behind it", () => {
    expect(() => new BlockDecoder(Buffer.from("37a430ec00000000", "hex"))).toThrow(/^zstd: /);
  });
});
