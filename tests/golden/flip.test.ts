/** Every byte of the golden archives changed in several ways: only what is hit is lost. */
import { describe, expect, test } from "vitest";
import { drippingSource, readArchive, readArchiveLater, type SeenArchive } from "../../src/testing/archive-reading.ts";
import { type ExpectedRecord, type GoldenArchive, goldenArchives } from "../../src/testing/golden-archive.ts";
import { loadFrames } from "../../src/testing/zstd-frame.ts";
import { loadZstd } from "../../src/warc/index.ts";

await Promise.all([loadFrames(), loadZstd()]);

const PATTERNS = [0x01, 0xa0] as const;

function flipped(bytes: Buffer, at: number, pattern: number): Buffer {
  const copy = Buffer.from(bytes);
  copy[at]! ^= pattern;
  return copy;
}

/** Records that the byte cannot have touched, and that must be found all the same. */
function untouched({ records, recovers }: GoldenArchive, at: number): readonly ExpectedRecord[] {
  return records.filter(({ offset, length, end }, i) => {
    const next = records[i + 1]?.offset ?? Number.POSITIVE_INFINITY;
    // What stands between two records belongs to the one before.
    const stop = length === undefined ? Math.max(next, end) : Math.max(offset + length, next);
    if (at >= stop) return end <= at;
    return recovers && at < offset && (i === 0 || records[i - 1]!.offset !== offset);
  });
}

/** What does not depend on the portions in which a broken member is decoded: the order of warnings does. */
function gist({ records, warnings, error }: SeenArchive) {
  const codes = warnings.map(({ code, offset }) => `${offset} ${code}`).sort();
  return { records: records.map(({ warnings: _, ...record }) => record), codes, error };
}

const key = ({ offset, inner, digest }: Pick<ExpectedRecord, "offset" | "inner" | "digest">) =>
  `${offset}+${inner ?? 0} ${digest}`;

function missing(expected: readonly ExpectedRecord[], seen: SeenArchive): string[] {
  const found = new Set(seen.records.map(key));
  return expected.map(key).filter((one) => !found.has(one));
}

describe.each(goldenArchives())("$name", (archive) => {
  const { bytes } = archive;

  test.each(PATTERNS)("loses only what is hit (xor %i)", (pattern) => {
    const failures: string[] = [];
    for (let at = 0; at < bytes.length; at++) {
      const lost = missing(untouched(archive, at), readArchive(flipped(bytes, at, pattern)));
      if (lost.length > 0) failures.push(`byte ${at}: ${lost.join(", ")}`);
    }
    expect(failures).toEqual([]);
  });

  test("does the same from a source that answers later", async () => {
    for (let at = 0; at < bytes.length; at += 11) {
      const damaged = flipped(bytes, at, PATTERNS[at % PATTERNS.length]!);
      const seen = await readArchiveLater(drippingSource(damaged, (at % 7) + 1));
      expect(gist(seen), `byte ${at}`).toEqual(gist(readArchive(damaged)));
    }
  });
});
