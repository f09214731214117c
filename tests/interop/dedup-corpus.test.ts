/**
 * Every file of the corpus, sound or not, in one job: what comes out holds all that went in, and comes back byte for
 * byte. The corpus lies beside the project and is never part of it.
 */
import { readFileSync } from "node:fs";
import { join } from "node:path";
import { describe, expect, it } from "vitest";
import { nodeDisk } from "../../src/disk/index.ts";
import { findInputs } from "../../src/pipeline/index.ts";
import { checkDeduplicated, readRecords } from "../../src/testing/deduplicated.ts";
import { bufferSource, isZip, loadZstd } from "../../src/warc/index.ts";
import { holotypeAlone, temporaryFolder } from "../cli/holotype.ts";
import { archivesIn, CORPUS, present, why } from "./corpus-files.ts";

await loadZstd();
const folder = temporaryFolder();
const output = join(folder, "output");
const restored = join(folder, "restored");

/** Files of the corpus that hold records, by their paths inside it. */
function archiveFiles(): { name: string; bytes: Buffer }[] {
  const inputs = findInputs(nodeDisk, [CORPUS], () => {});
  const paths = new Set([...inputs.map(({ path }) => path), ...others.map((name) => join(CORPUS, name))]);
  return [...paths].map((path) => ({ name: path.slice(CORPUS.length + 1), bytes: readFileSync(path) }));
}

/** Files that turn out to be no archives: `dedup` copies them, and `restore` names them and leaves them where they are. */
const others: string[] = [];
if (present) findInputs(nodeDisk, [CORPUS], ({ name }) => void others.push(name.slice(CORPUS.length + 1)));

interface Result {
  readonly files: number;
  readonly replaced: number;
  readonly duplicates: number;
  readonly left: Readonly<Record<string, number>>;
  readonly bytesBefore: number;
  readonly bytesAfter: number;
  readonly damage: number;
  readonly orphans: number;
  readonly skipped: readonly { readonly name: string; readonly code: string }[];
}

/** Some 15 seconds each on two idle cores. */
const PATIENCE = { timeout: 240_000 };

describe(`the whole corpus${why}`, PATIENCE, () => {
  it.skipIf(!present)("is deduplicated: every record is there as itself or as a revisit that leads back", () => {
    const { exit, out } = holotypeAlone(["dedup", "--json", CORPUS, "-o", output]);
    // Some of its files are damaged, and some are no archives.
    expect(exit).toBe(3);
    const result = JSON.parse(out) as Result;
    expect(result.skipped.filter(({ code }) => code !== "HT_FORMAT_UNKNOWN")).toEqual([]);
    expect(result.replaced).toBeGreaterThan(500);
    const left = Object.values(result.left).reduce((sum, count) => sum + count, 0);
    expect(result.duplicates).toBe(result.replaced + left);

    const files = archiveFiles();
    expect(files.length).toBe(result.files);
    const unread = new Set(result.skipped.map(({ name }) => name.slice(CORPUS.length + 1)));
    const written = files.map(({ name }) => ({ name, bytes: readFileSync(join(output, name)) }));
    // What could not be read is there all the same.
    for (const [i, { name, bytes }] of files.entries()) {
      if (unread.has(name) || isZip(bytes)) expect(written[i]!.bytes.equals(bytes), name).toBe(true);
    }
    const isRead = ({ name, bytes }: { name: string; bytes: Buffer }) => !unread.has(name) && !isZip(bytes);
    // What a WACZ holds may be referred to.
    const known = files
      .filter(({ bytes }) => isZip(bytes))
      .flatMap(({ name, bytes }) =>
        [...archivesIn(bufferSource(bytes, name), bytes)].map(([source, inside]) => ({
          name: source.name,
          bytes: inside,
        })),
      );
    const { replaced } = checkDeduplicated(files.filter(isRead), written.filter(isRead), { known });
    expect(replaced).toHaveLength(result.replaced);
    const size = (all: readonly { bytes: Buffer }[]) => all.reduce((sum, { bytes }) => sum + bytes.length, 0);
    expect([result.bytesBefore, result.bytesAfter]).toEqual([size(files), size(written)]);
  });

  it.skipIf(!present)("is whole by our own account: verify --against", () => {
    const { exit, out } = holotypeAlone(["verify", "--json", output, "--against", CORPUS]);
    // 4 would be something that does not hold; 3 is what was wrong with the corpus already.
    expect(exit, out.slice(0, 2000)).toBe(3);
  });

  it.skipIf(!present)("comes back byte for byte: restore", () => {
    const { exit, out } = holotypeAlone(["restore", "--json", output, "-o", restored]);
    expect(exit, out.slice(-2000)).toBe(3);
    const differing = archiveFiles()
      .filter(({ name }) => !others.includes(name))
      .filter(({ name, bytes }) => {
        const back = readFileSync(join(restored, name));
        if (back.equals(bytes)) return false;
        // Not every compressor can be found again; then the records must be the same.
        const records = (file: Buffer) =>
          readRecords({ name, bytes: file }).map(({ head, block }) => head + block.toString("latin1"));
        return JSON.stringify(records(back)) !== JSON.stringify(records(bytes));
      });
    expect(differing.map(({ name }) => name)).toEqual([]);
  });
});

describe(`crawls of one site, one after another${why}`, PATIENCE, () => {
  it.skipIf(!present).each(["sites/boost", "sites/lucene-revisit", "real/webrecorder__pywb"])("%s", (site) => {
    const target = join(folder, site.replaceAll("/", "-"));
    const { exit, out } = holotypeAlone([
      "dedup",
      "-j",
      "1",
      "--json",
      "--digest",
      "sha1",
      join(CORPUS, site),
      "-o",
      target,
    ]);
    const result = JSON.parse(out) as Result;
    expect([0, 3]).toContain(exit);
    expect(result.replaced).toBeGreaterThan(0);
    const unread = new Set(result.skipped.map(({ name }) => name));
    const inputs = findInputs(nodeDisk, [join(CORPUS, site)], () => {}).filter(
      ({ path, entries }) => entries.length === 0 && !unread.has(path),
    );
    const name = (path: string) => path.slice(join(CORPUS, site).length + 1);
    const copied = others.map((path) => join(CORPUS, path)).filter((path) => path.startsWith(join(CORPUS, site)));
    const root = commonRoot([...inputs.map(({ path }) => path), ...copied].map(name));
    const before = inputs.map(({ path }) => ({ name: name(path).slice(root.length), bytes: readFileSync(path) }));
    const after = before.map((file) => ({ name: file.name, bytes: readFileSync(join(target, file.name)) }));
    expect(checkDeduplicated(before, after).replaced).toHaveLength(result.replaced);
  });
});

/** The folder that all of these lie in, with its slash. */
function commonRoot(paths: readonly string[]): string {
  let root = paths[0]!.slice(0, paths[0]!.lastIndexOf("/") + 1);
  while (!paths.every((path) => path.startsWith(root)))
    root = root.slice(0, root.lastIndexOf("/", root.length - 2) + 1);
  return root;
}
