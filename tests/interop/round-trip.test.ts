/** Sound files of the corpus, written again in zstd and from there without compression: the records stay the same. */
import { existsSync, readdirSync, readFileSync } from "node:fs";
import { join, relative } from "node:path";
import { describe, expect, test } from "vitest";
import { ArchiveError, isDamage, type Warning } from "../../src/base/index.ts";
import { bufferSource, type Compression, loadZstd, WarcReader, WarcWriter } from "../../src/warc/index.ts";

await loadZstd();

const CORPUS = join(import.meta.dirname, "../../../shared/corpus");
const there = existsSync(CORPUS);
const why = there ? "" : " (skipped: there is no ../shared/corpus)";

const archives = there
  ? readdirSync(CORPUS, { recursive: true, withFileTypes: true })
      .filter((entry) => entry.isFile() && /\.warc(?:\.gz|\.zst)?$/.test(entry.name))
      .map((entry) => join(entry.parentPath, entry.name))
  : [];

interface Written {
  readonly bytes: Buffer;
  /** Header and block of each record. */
  readonly records: readonly (readonly [string, Buffer])[];
  readonly sound: boolean;
}

function rewrite(bytes: Buffer, compression: Compression, dictionary?: Uint8Array): Written {
  const parts: Buffer[] = [];
  const records: [string, Buffer][] = [];
  const warnings: Warning[] = [];
  const sink = { write: (piece: Uint8Array) => void parts.push(Buffer.from(piece)) };
  const writer = new WarcWriter(sink, { compression, dictionary });
  for (const record of new WarcReader(bufferSource(bytes), { onWarning: (warning) => void warnings.push(warning) })) {
    const head = Buffer.from(record.headers.text, "latin1");
    const block = Buffer.from(record.readAll(1 << 30));
    writer.writeStream(head, [block]);
    records.push([record.headers.text, block]);
  }
  return { bytes: Buffer.concat(parts), records, sound: records.length > 0 && !warnings.some(isDamage) };
}

function same(one: Written, other: Written): boolean {
  const equal = ([head, block]: readonly [string, Buffer], i: number) =>
    head === other.records[i]![0] && block.equals(other.records[i]![1]);
  return one.records.length === other.records.length && one.records.every(equal);
}

describe(`the corpus${why}`, () => {
  test.skipIf(!there)("from what it is to .warc.zst to .warc, record by record", () => {
    let compared = 0;
    for (const path of archives) {
      const bytes = readFileSync(path);
      // The large ones add time and nothing else.
      if (bytes.length > 2 << 20) continue;
      let first: Written;
      try {
        first = rewrite(
          bytes,
          "zstd",
          compared % 2 === 0 ? undefined : Buffer.from("WARC/1.0\r\nWARC-Type: response\r\n"),
        );
      } catch (error) {
        // No archive, whatever its name; corpus.test.ts knows which.
        if (!(error instanceof ArchiveError)) throw error;
        continue;
      }
      if (!first.sound) continue;
      const second = rewrite(first.bytes, "none");
      const third = rewrite(second.bytes, "gzip");
      expect(same(first, second) && same(second, third), relative(CORPUS, path)).toBe(true);
      compared++;
    }
    expect(compared).toBeGreaterThan(150);
  });
});
