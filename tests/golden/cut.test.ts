/** Every golden archive cut at every byte: what lies before the cut is delivered, and nothing worse than a warning. */
import { constants, gunzipSync } from "node:zlib";
import { describe, expect, test } from "vitest";
import { drippingSource, readArchive, readArchiveLater, type SeenArchive } from "../../src/testing/archive-reading.ts";
import { type ExpectedRecord, type GoldenArchive, goldenArchives } from "../../src/testing/golden-archive.ts";
import { loadFrames } from "../../src/testing/zstd-frame.ts";
import { loadZstd } from "../../src/warc/index.ts";

await Promise.all([loadFrames(), loadZstd()]);

/** The records whose blocks lie wholly before the cut. */
function before({ bytes, records }: GoldenArchive, cut: number): readonly ExpectedRecord[] {
  if (records.some(({ inner }) => inner !== undefined) && bytes[0] === 0x1f) return insideBefore(bytes, records, cut);
  return records.filter(({ end }) => end <= cut);
}

/** In a member that many share, those behind which the next begins in what zlib can inflate. */
function insideBefore(bytes: Buffer, records: readonly ExpectedRecord[], cut: number): readonly ExpectedRecord[] {
  if (cut < 20) return [];
  const inflated = gunzipSync(bytes.subarray(0, cut), { finishFlush: constants.Z_SYNC_FLUSH }).length;
  return records.filter((_, i) => (records[i + 1]?.inner ?? Number.POSITIVE_INFINITY) <= inflated);
}

const key = ({ offset, inner, type, uri, digest }: Omit<ExpectedRecord, "length" | "end">) =>
  `${offset}+${inner ?? 0} ${type} ${uri ?? "-"} ${digest}`;

function missing(expected: readonly ExpectedRecord[], seen: SeenArchive): string[] {
  const found = new Set(seen.records.map(key));
  return expected.map(key).filter((one) => !found.has(one));
}

describe.each(goldenArchives())("$name", (archive) => {
  const { bytes } = archive;
  const seenAt = new Map<number, SeenArchive>();

  /** What is read of the part before the cut; read once for all tests. */
  function readCut(cut: number): SeenArchive {
    const seen = seenAt.get(cut) ?? readArchive(bytes.subarray(0, cut));
    seenAt.set(cut, seen);
    return seen;
  }

  test("delivers what lies before the cut", () => {
    const failures: string[] = [];
    for (let cut = 0; cut < bytes.length; cut++) {
      const lost = missing(before(archive, cut), readCut(cut));
      if (lost.length > 0) failures.push(`cut at ${cut}: ${lost.join(", ")}`);
    }
    expect(failures).toEqual([]);
  });

  test("does the same from a source that answers later", async () => {
    for (let cut = 0; cut < bytes.length; cut += 5) {
      const seen = await readArchiveLater(drippingSource(bytes.subarray(0, cut), (cut % 7) + 1));
      expect(seen, `cut at ${cut}`).toEqual(readCut(cut));
    }
  });

  test("ends with the code of the first warning in strict mode", () => {
    for (let cut = 0; cut < bytes.length; cut += 3) {
      const loose = readCut(cut);
      const strict = readArchive(bytes.subarray(0, cut), { strict: true });
      expect(strict.error, `cut at ${cut}`).toBe(loose.warnings[0]?.code ?? loose.error);
    }
  });
});
