/** The reader over arbitrary bytes: it ends, it throws nothing but typed errors, and portions make no difference. */
import { crc32, deflateRawSync } from "node:zlib";
import fc from "fast-check";
import { describe, expect, test } from "vitest";
import { drippingSource, readArchive, readArchiveLater, type SeenArchive } from "../testing/archive-reading.ts";
import { newSeed } from "../testing/dice.ts";
import { goldenArchives } from "../testing/golden-archive.ts";
import { gzipMember } from "../testing/gzip-member.ts";
import { loadFrames } from "../testing/zstd-frame.ts";
import { loadZstd } from "./zstd-codec.ts";

await Promise.all([loadFrames(), loadZstd()]);
const SEED = newSeed();
const parameters = (numRuns: number) => ({ seed: SEED, numRuns });

const MAGICS: readonly Buffer[] = [
  Buffer.from([0x1f, 0x8b, 8, 0]),
  Buffer.from([0x1f, 0x8b, 8, 4, 0, 0, 0, 0, 0, 3]),
  Buffer.from([0x1f, 0x8b, 8, 0x1e, 0, 0, 0, 0, 0, 3]),
  Buffer.from([0x28, 0xb5, 0x2f, 0xfd]),
  Buffer.from([0x28, 0xb5, 0x2f, 0xfd, 0x20]),
  Buffer.from([0x28, 0xb5, 0x2f, 0xfd, 0x00, 0x58]),
  Buffer.from([0x5d, 0x2a, 0x4d, 0x18]),
  Buffer.from([0x50, 0x2a, 0x4d, 0x18, 4, 0, 0, 0]),
  Buffer.from("PK\x03\x04"),
  Buffer.from("WARC/1.0\r\n"),
  Buffer.from("WARC/1.0\r\nContent-Length: 7\r\n\r\n"),
  Buffer.from("WARC/1.1\nContent-Length: 0\n\n"),
  Buffer.from("filedesc://x.arc 0.0.0.0 20040105000000 text/plain 5\n1 0 x\n"),
  Buffer.from("http://example.org/ 192.0.2.1 20040105000000 text/html 3\n"),
  Buffer.from("\r\n\r\n"),
];

/** What was read differently in small portions once: the first line decided too early, or a lone CR ended one. */
const FOUND: readonly (readonly Buffer[])[] = [
  [Buffer.from([0]), MAGICS[0]!, MAGICS[10]!],
  [Buffer.from([0, 0, 0, 0, 13]), MAGICS[12]!],
  [gzipMember(Buffer.from("\0\0\0WARC/1.0\r\n"))],
];

const magic = fc.constantFrom(...MAGICS);
const junk = fc.uint8Array({ maxLength: 60 });
const pieces = fc.array(fc.oneof(magic, junk), { maxLength: 12 });
const bytesOf = (parts: readonly Uint8Array[]) => Buffer.concat(parts);

/** What does not depend on the portions in which a broken member is decoded: the order of warnings does. */
function gist({ records, warnings, error }: SeenArchive) {
  const codes = warnings.map(({ code, offset }) => `${offset} ${code}`).sort();
  return { records: records.map(({ warnings: _, ...record }) => record), codes, error };
}

function totalSize({ records }: SeenArchive): number {
  return records.reduce((sum, { size }) => sum + size, 0);
}

describe(`seed ${SEED}`, () => {
  test("arbitrary bytes", () => {
    fc.assert(
      fc.property(fc.uint8Array({ maxLength: 500 }), (bytes) => {
        expect(totalSize(readArchive(bytes))).toBeLessThanOrEqual(1032 * bytes.length);
      }),
      parameters(500),
    );
  });

  test("pieces that look like archives, and the same in small portions", async () => {
    await fc.assert(
      fc.asyncProperty(pieces, fc.integer({ min: 1, max: 7 }), async (parts, most) => {
        const bytes = bytesOf(parts);
        const seen = readArchive(bytes);
        expect(totalSize(seen)).toBeLessThanOrEqual(1_000_000);
        expect(gist(await readArchiveLater(drippingSource(bytes, most)))).toEqual(gist(seen));
      }),
      { ...parameters(1500), examples: FOUND.map((parts): [Buffer[], number] => [[...parts], 1]) },
    );
  });

  test("sound members around arbitrary content", async () => {
    const member = pieces.map((parts) => gzipMember(bytesOf(parts)));
    await fc.assert(
      fc.asyncProperty(fc.array(fc.oneof(member, magic, junk), { maxLength: 6 }), async (parts) => {
        const bytes = bytesOf(parts);
        const seen = gist(readArchive(bytes));
        expect(gist(await readArchiveLater(drippingSource(bytes, 5)))).toEqual(seen);
      }),
      parameters(600),
    );
  });

  test("members whose deflate data is arbitrary but whose trailer fits what it inflates to", () => {
    fc.assert(
      fc.property(pieces, fc.integer({ min: 0, max: 9 }), fc.nat(), fc.nat(255), (parts, level, at, flip) => {
        const content = bytesOf(parts);
        const data = deflateRawSync(content, { level });
        data[at % data.length]! ^= flip;
        const trailer = Buffer.alloc(8);
        trailer.writeUInt32LE(crc32(content), 0);
        readArchive(Buffer.concat([Buffer.from([0x1f, 0x8b, 8, 0, 0, 0, 0, 0, 0, 3]), data, trailer]));
      }),
      parameters(500),
    );
  });

  test("golden archives with stretches cut out, doubled, overwritten and swapped", () => {
    const change = fc.record({
      kind: fc.constantFrom("cut", "double", "zero", "junk"),
      at: fc.nat(),
      size: fc.integer({ min: 1, max: 300 }),
      fill: fc.uint8Array({ minLength: 1, maxLength: 40 }),
    });
    fc.assert(
      fc.property(
        fc.constantFrom(...goldenArchives()),
        fc.array(change, { minLength: 1, maxLength: 4 }),
        (archive, changes) => {
          let { bytes } = archive;
          for (const { kind, at, size, fill } of changes) {
            const from = at % (bytes.length + 1);
            const stretch = bytes.subarray(from, from + size);
            const rest = bytes.subarray(from + stretch.length);
            const instead = {
              cut: Buffer.alloc(0),
              double: Buffer.concat([stretch, stretch]),
              zero: Buffer.alloc(stretch.length),
              junk: Buffer.from(fill),
            };
            bytes = Buffer.concat([bytes.subarray(0, from), instead[kind], rest]);
          }
          expect(readArchive(bytes).records.length).toBeLessThan(60);
        },
      ),
      parameters(3000),
    );
  });
});
