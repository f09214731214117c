/** WACZ files that are damaged, or are not what they say. */
import { join } from "node:path";
import { describe, expect, it } from "vitest";
import { digestOf } from "../../src/base/index.ts";
import { response, warcFile, zipFile } from "./archives.ts";
import { holotype, linesOf, put, temporaryFolder } from "./holotype.ts";

const folder = temporaryFolder();
let count = 0;

const archives = Object.fromEntries(
  ["a", "b", "c"].map((name) => [
    `archive/${name}.warc.gz`,
    warcFile([response(`http://${name}.example/`, name.repeat(500))]),
  ]),
);
const pages = Buffer.from('{"format": "json-pages-1.0"}\n');

function dataPackage(resources: readonly object[]): Buffer {
  return Buffer.from(JSON.stringify({ profile: "data-package", resources }));
}

const listed = Object.entries({ ...archives, "pages/pages.jsonl": pages }).map(([path, bytes]) => ({
  path,
  hash: `sha256:${digestOf("sha256", bytes).hex}`,
  bytes: bytes.length,
}));

interface Wacz {
  readonly resources?: readonly object[] | undefined;
  readonly method?: string | undefined;
  readonly damage?: ((bytes: Buffer) => void) | undefined;
}

function makeWacz({ resources = listed, method, damage }: Wacz = {}): string {
  const entries = { ...archives, "pages/pages.jsonl": pages, "datapackage.json": dataPackage(resources) };
  const bytes = zipFile(entries, method);
  damage?.(bytes);
  return put(folder, `${++count}.wacz`, bytes);
}

/** Changes a byte of an entry, counted from the end of its name in the local header. */
function flip(name: string, offset: number): (bytes: Buffer) => void {
  return (bytes) => {
    bytes[bytes.indexOf(name) + name.length + offset]! ^= 6;
  };
}

/** Breaks the local header of an entry. */
function hide(name: string): (bytes: Buffer) => void {
  return (bytes) => {
    bytes[bytes.indexOf(name) - 30] = 0;
  };
}

function check(path: string) {
  const { exit, out } = holotype(["check", "--notes", path]);
  return { exit, found: linesOf(out).filter((line) => /HT_(?:ZIP|WACZ)/.test(line)) };
}

function add(path: string, ...options: readonly string[]) {
  const archive = join(folder, `archive-${++count}`);
  const { exit, out, err } = holotype(["add", "--json", "--archive", archive, ...options, path]);
  return { exit, report: JSON.parse(out) as { captures: number; skipped: number }, err };
}

describe("a WACZ", () => {
  it("that is whole is sound", () => {
    expect(check(makeWacz())).toEqual({ exit: 0, found: [] });
    expect(check(makeWacz({ method: "deflated" }))).toEqual({ exit: 0, found: [] });
  });

  it("with an entry of another CRC-32 is damaged, be it no archive", () => {
    const { exit, found } = check(makeWacz({ damage: flip("pages/pages.jsonl", 3) }));
    expect(exit).toBe(4);
    expect(found).toEqual([expect.stringContaining("HT_ZIP_CHECKSUM pages/pages.jsonl")]);
  });

  it.each(["stored", "deflated"])("has the CRC-32 of its %s archives compared by add, too", (method) => {
    // In the header of a gzip member there is a time, which nobody looks at.
    const name = "archive/b.warc.gz";
    const bytes = Buffer.from(archives[name]!);
    bytes[4]! ^= 1;
    const entries = { ...archives, [name]: bytes };
    const zip = zipFile(entries, method);
    const wrong = zipFile(archives, method);
    // The directory is that of other bytes of the same size.
    const at = zip.indexOf("PK\x01\x02");
    const path = put(
      folder,
      `${++count}.wacz`,
      Buffer.concat([zip.subarray(0, at), wrong.subarray(wrong.indexOf("PK\x01\x02"))]),
    );
    expect(zip.length).toBe(wrong.length);
    for (const options of [[], ["--threads", "2"], ["--adopt"]]) {
      const { exit, report, err } = add(path, ...options);
      expect({ exit, captures: report.captures }).toEqual({ exit: 3, captures: 3 });
      expect(err).toContain("HT_ZIP_CHECKSUM");
      expect(err).toContain(name);
    }
  });

  it("without a file that datapackage.json lists is damaged", () => {
    const gone = { path: "archive/gone.warc.gz", hash: `sha256:${"0".repeat(64)}`, bytes: 1 };
    const { exit, found } = check(makeWacz({ resources: [...listed, gone] }));
    expect(exit).toBe(4);
    expect(found).toEqual([expect.stringContaining("HT_WACZ_MISSING archive/gone.warc.gz")]);
  });

  it.each([
    ["another hash", { hash: `sha256:${"0".repeat(64)}` }],
    ["another size", { bytes: 1 }],
  ])("with %s in datapackage.json has a note", (_, wrong) => {
    const { exit, found } = check(makeWacz({ resources: [{ ...listed[0], ...wrong }, ...listed.slice(1)] }));
    expect(exit).toBe(0);
    expect(found).toEqual([expect.stringContaining("HT_WACZ_HASH archive/a.warc.gz")]);
  });

  it.each([
    ["is no JSON", "{"],
    ["is no object", "null"],
    ["lists nothing", '{"resources": 7}'],
  ])("whose datapackage.json %s is damaged", (_, text) => {
    const path = put(folder, `${++count}.wacz`, zipFile({ ...archives, "datapackage.json": Buffer.from(text) }));
    expect(check(path)).toEqual({ exit: 4, found: [expect.stringContaining("HT_WACZ_MISSING")] });
  });

  it.each([
    ["stored", hide("archive/b.warc.gz")],
    ["deflated", hide("archive/b.warc.gz")],
    ["deflated", flip("archive/b.warc.gz", 0)],
  ])("with one %s entry that cannot be read: the others are taken", (method, damage) => {
    const path = makeWacz({ method, damage });
    for (const options of [[], ["--threads", "2"], ["--adopt"]]) {
      const { exit, report, err } = add(path, ...options);
      expect({ exit, captures: report.captures }).toEqual({ exit: 3, captures: 2 });
      expect(err).toContain("archive/b.warc.gz");
    }
    expect(check(path).exit).toBe(4);
  });
});

describe("a WACZ that is added", () => {
  const add = (path: string, ...args: string[]) =>
    holotype(["add", path, "--archive", join(folder, `archive-${++count}`), ...args]);

  it.each([[], ["--adopt"]])("lacks a file that datapackage.json lists: the rest is taken, exit 3 %s", (...args) => {
    const path = makeWacz({ resources: [...listed, { path: "archive/gone.warc.gz" }] });
    const { exit, out, err } = add(path, ...args);
    expect(exit).toBe(3);
    expect(err).toContain("HT_WACZ_MISSING archive/gone.warc.gz");
    expect(out).toMatch(/captures +3 new/);
  });

  it("has another hash: that is a note", () => {
    const wrong = listed.map((each, i) => (i === 0 ? { ...each, hash: `sha256:${"0".repeat(64)}` } : each));
    const { exit, err } = add(makeWacz({ resources: wrong }));
    expect(exit).toBe(0);
    expect(err).toContain("HT_WACZ_HASH archive/a.warc.gz");
  });

  it("is as it says: nothing is told", () => {
    expect(add(makeWacz())).toMatchObject({ exit: 0, err: "" });
  });
});
