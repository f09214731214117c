/** Each golden archive: what is in it, and where. */
import { beforeAll, describe, expect, test } from "vitest";
import { drippingSource, readArchive, readArchiveLater, type SeenRecord } from "../../src/testing/archive-reading.ts";
import { goldenArchives } from "../../src/testing/golden-archive.ts";
import { loadFrames } from "../../src/testing/zstd-frame.ts";
import { loadZstd } from "../../src/warc/index.ts";

await Promise.all([loadFrames(), loadZstd()]);
const ARCHIVES = goldenArchives();

const place = ({ offset, length, inner, type, uri, digest }: Omit<SeenRecord, "size" | "warnings">) => ({
  offset,
  length,
  inner,
  type,
  uri,
  digest,
});

describe.each(ARCHIVES)("$name", ({ bytes, records, warnings }) => {
  beforeAll(() => loadZstd());

  test("gives its records, offsets, lengths and digests", () => {
    const seen = readArchive(bytes);
    expect(seen.error).toBeUndefined();
    expect(seen.records.map(place)).toEqual(records.map(place));
    expect([...new Set(seen.warnings.map(({ code }) => code))]).toEqual(warnings);
  });

  test("gives the same from a source that answers later", async () => {
    const seen = readArchive(bytes);
    for (let most = 1; most <= 7; most++) expect(await readArchiveLater(drippingSource(bytes, most))).toEqual(seen);
  });

  test("ends with the first warning in strict mode", () => {
    const seen = readArchive(bytes, { strict: true });
    expect(seen.error).toBe(readArchive(bytes).warnings[0]?.code);
    expect(seen.warnings).toEqual([]);
  });
});
