/** The stored golden archives are read as they were on the day they were made. */
import { readdirSync, readFileSync } from "node:fs";
import { join } from "node:path";
import { describe, expect, test } from "vitest";
import { readArchive } from "../../src/testing/archive-reading.ts";
import { loadZstd } from "../../src/warc/index.ts";

await loadZstd();

const FOLDER = join(import.meta.dirname, "files");

interface Stored {
  readonly warnings: readonly string[];
  readonly records: readonly Readonly<Record<string, string | number | null>>[];
}

const expected = JSON.parse(readFileSync(join(FOLDER, "expected.json"), "utf8")) as Readonly<Record<string, Stored>>;

describe("stored archives", () => {
  test.each(Object.entries(expected))("%s", (name, { warnings, records }) => {
    const seen = readArchive(readFileSync(join(FOLDER, name)));
    expect(seen.error).toBeUndefined();
    expect([...new Set(seen.warnings.map(({ code }) => code))]).toEqual(warnings);
    const found = seen.records.map(({ offset, length = null, inner = null, type, uri = null, digest }) => ({
      offset,
      length,
      inner,
      type,
      uri,
      digest,
    }));
    expect(found).toEqual(records);
  });

  test("are all told of", () => {
    const files = readdirSync(FOLDER).filter((name) => name !== "expected.json");
    expect(files.sort()).toEqual(Object.keys(expected).sort());
    const page = readFileSync(join(import.meta.dirname, "README.md"), "utf8");
    expect(files.filter((name) => !page.includes(`\`${name}\``))).toEqual([]);
  });
});
