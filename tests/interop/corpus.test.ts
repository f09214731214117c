/**
 * Real files of some sixty tools, read by us and by readers that know nothing of us. What is sound must be read alike;
 * what is damaged must be read without an untyped error. The corpus lies beside the project and is never part of it.
 */
import { execFileSync, spawnSync } from "node:child_process";
import { closeSync, existsSync, openSync, readdirSync, readFileSync, readSync, statSync } from "node:fs";
import { join, relative } from "node:path";
import { isDeepStrictEqual } from "node:util";
import { describe, expect, it, vi } from "vitest";
import { WARCParser } from "warcio";
import { ArchiveError, isDamage, type Warning } from "../../src/base/index.ts";
import { nodeDisk } from "../../src/disk/index.ts";
import { findInputs, openInput } from "../../src/pipeline/index.ts";
import { type ByteSource, bufferSource, loadZstd, scanRecord, WarcReader, WarcWriter } from "../../src/warc/index.ts";

const corpus = join(import.meta.dirname, "../../../shared/corpus");
const tools = join(import.meta.dirname, "../../../shared/tools");
const there = existsSync(corpus);
const title = (text: string) => (there ? text : `${text} (skipped: there is no ../shared/corpus)`);

await loadZstd();

function* walk(folder: string): Generator<string> {
  for (const entry of readdirSync(folder, { withFileTypes: true })) {
    const path = join(folder, entry.name);
    if (entry.isDirectory()) yield* walk(path);
    else if (!/^(?:INDEX\.tsv|README\.md)$/.test(entry.name)) yield path;
  }
}

const paths = there ? [...walk(corpus)].sort() : [];

interface Seen {
  readonly offset: number;
  readonly length: number | undefined;
  readonly inner: number | undefined;
  readonly type: string;
  readonly blockDigest: string;
}

interface Reading {
  readonly records: Seen[];
  readonly warnings: Warning[];
  readonly error: ArchiveError | undefined;
  readonly compression: string;
}

function readAll(source: ByteSource): Reading {
  const warnings: Warning[] = [];
  const records: Seen[] = [];
  const reader = new WarcReader(source, { onWarning: (warning) => void warnings.push(warning) });
  try {
    for (const record of reader) {
      const { blockDigests } = scanRecord(record, { block: ["sha1"] });
      record.drain();
      const { offset, length, inner, type } = record;
      records.push({ offset, length, inner, type, blockDigest: blockDigests[0]!.hex });
    }
  } catch (error) {
    // Anything else is a bug, and fails the test.
    if (!(error instanceof ArchiveError)) throw error;
    return { records, warnings, error, compression: reader.compression };
  }
  return { records, warnings, error: undefined, compression: reader.compression };
}

function readPath(path: string): Reading {
  const file = openSync(path, "r");
  try {
    const read = (into: Uint8Array, position: number) => readSync(file, into, 0, into.length, position);
    return readAll({ name: relative(corpus, path), seekable: true, size: statSync(path).size, read });
  } finally {
    closeSync(file);
  }
}

const readings = new Map(paths.filter((path) => !/\.(?:wacz|zip)$/.test(path)).map((path) => [path, readPath(path)]));
const isSound = ({ warnings, error, records }: Reading) =>
  error === undefined && records.length > 0 && !warnings.some(isDamage);

describe(title("every file of the corpus"), () => {
  it.skipIf(!there)("is read to its end, or refused with a typed error", () => {
    expect(readings.size).toBeGreaterThan(380);
    const refused = [...readings].filter(([, { error }]) => error !== undefined);
    const codes = new Set(refused.map(([, { error }]) => error!.code));
    expect([...codes]).toEqual(["HT_FORMAT_UNKNOWN"]);
    // Indexes, logs, text, and archives of other kinds.
    const surprising = refused
      .map(([path]) => relative(corpus, path))
      .filter((path) => /w?arc(?:\.gz|\.zst)?$/i.test(path));
    expect(surprising.filter((path) => !REFUSED_ARCHIVES.test(path))).toEqual([]);
  });

  it.skipIf(!there)("that is a WACZ gives its archives without being unpacked", () => {
    const waczs = paths.filter((path) => /\.(?:wacz|zip)$/.test(path));
    const skipped: string[] = [];
    let records = 0;
    for (const input of findInputs(nodeDisk, waczs, ({ name }) => void skipped.push(relative(corpus, name)))) {
      const source = openInput(nodeDisk, input);
      const reading = readAll(source);
      source.close?.();
      expect(isSound(reading), input.name).toBe(true);
      records += reading.records.length;
    }
    expect(skipped.every((name) => name.includes("invalid_example_1"))).toBe(true);
    expect(records).toBeGreaterThan(400);
  });

  it.skipIf(!there)("that is sound goes over unchanged, byte for byte", () => {
    let compared = 0;
    for (const [path, reading] of readings) {
      if (!isSound(reading) || reading.records.some(({ length }) => length === undefined)) continue;
      const bytes = readFileSync(path);
      const parts: Buffer[] = [];
      let end = 0;
      const writer = new WarcWriter({ write: (raw) => void parts.push(Buffer.from(raw)) });
      for (const record of new WarcReader(bufferSource(bytes), { windowSize: 8 << 20 })) {
        // What stands before the first record, between two, or behind the last belongs to none.
        if (record.offset > end) parts.push(bytes.subarray(end, record.offset));
        // A record too large for the window is copied by its place.
        const { raw, offset } = record;
        if (raw === undefined) record.drain();
        writer.copy(raw ?? bytes.subarray(offset, offset + record.length!));
        end = record.offset + record.length!;
      }
      parts.push(bytes.subarray(end));
      expect(Buffer.concat(parts).equals(bytes), relative(corpus, path)).toBe(true);
      compared++;
    }
    expect(compared).toBeGreaterThan(150);
  });
});

/** What has the name of an archive and holds no record at all. */
const REFUSED_ARCHIVES =
  /(?:\/test[123]|input-nonarc)\.arc$|\/SEQ\/.*\.warc\.gz$|invalid-warc(?:headerversion-(?:9|14)|reader-diagnosis-1)\.warc$/;

/** Where npm warcio goes astray; walib.py agrees with us on all of these. */
const WARCIO_ASTRAY = [
  {
    why: "it looks for an HTTP header in a response that is none (text/dns) and loses its place behind it",
    files: /blackbook|NAS-research|upper-lower-case|netarkivet-20081105135926|mkelly[12]|contenttype-recommended/,
  },
  { why: "it does not read folded header lines", files: /test-utf8|fields-metainfo|fields-warcinfo/ },
  { why: "it joins two fields of one name, WARC-Type too", files: /duplicate-fields/ },
] as const;

describe(title("other readers agree"), () => {
  const hasPython = there && spawnSync("python3", ["--version"]).status === 0 && existsSync(join(tools, "walib.py"));

  it.skipIf(!hasPython)("walib.py: the same records at the same offsets in every sound file", () => {
    const script = [
      "import sys, json; sys.path.insert(0, sys.argv[1]); import walib",
      "for path in sys.stdin.read().splitlines():",
      "    found = [[o, r.fmt] for _, o, _, r in walib.file_records(path) if r is not None]",
      "    print(json.dumps(found))",
    ].join("\n");
    const sound = [...readings].filter(([, r]) => isSound(r) && r.compression !== "zstd" && r.warnings.every(isPlain));
    const input = sound.map(([path]) => path).join("\n");
    const output = execFileSync("python3", ["-c", script, tools], { input, maxBuffer: 1 << 28, encoding: "utf8" });
    const lines = output.trim().split("\n");
    expect(lines).toHaveLength(sound.length);
    for (const [i, [path, reading]] of sound.entries()) {
      const offsets = (JSON.parse(lines[i]!) as [number, string][])
        .filter(([, kind]) => kind !== "garbage")
        .map(([o]) => o);
      expect(
        reading.records.map(({ offset }) => offset),
        relative(corpus, path),
      ).toEqual(offsets);
    }
    expect(sound.length).toBeGreaterThan(200);
  });

  it.skipIf(!there)("npm warcio: the same offsets, lengths and types where it can read the file", async () => {
    // It complains to the console.
    vi.spyOn(console, "warn").mockImplementation(() => {});
    let agreed = 0;
    const failed: string[] = [];
    const differing: string[] = [];
    for (const [path, reading] of readings) {
      // It takes other separators than two line ends for a wrong length, and on some such files it never ends.
      const isRegular = reading.warnings.every(
        ({ code }) => code !== "HT_RECORD_SEPARATOR" && code !== "HT_LINE_ENDING",
      );
      const isWarc = isSound(reading) && isRegular && reading.compression !== "zstd" && reading.records[0]!.type !== "";
      if (!isWarc || !firstBytes(path).startsWith("WARC") || reading.records.some(({ length }) => length === undefined))
        continue;
      try {
        const theirs = await readWithWarcio(path);
        // In an uncompressed file it leaves the line ends behind a record out of its length.
        const lengthOf = (record: Seen, i: number) =>
          reading.compression === "none" ? theirs[i]?.length : record.length;
        const ours = reading.records.map((r, i) => ({ offset: r.offset, length: lengthOf(r, i), type: r.type }));
        if (isDeepStrictEqual(ours, theirs)) agreed++;
        else differing.push(relative(corpus, path));
      } catch {
        failed.push(relative(corpus, path));
      }
    }
    expect(differing.filter((path) => !WARCIO_ASTRAY.some(({ files }) => files.test(path)))).toEqual([]);
    expect(agreed).toBeGreaterThan(100);
    expect(failed.length).toBeLessThan(10);
  });
});

/** Not a matter on which readers differ. */
function isPlain(warning: Warning): boolean {
  return warning.code !== "HT_PADDING";
}

/** The first decoded bytes, to tell WARC from ARC. */
function firstBytes(path: string): string {
  const record = new WarcReader(bufferSource(readFileSync(path))).next();
  return record?.version ?? "";
}

async function readWithWarcio(path: string): Promise<{ offset: number; length: number; type: string }[]> {
  const bytes = readFileSync(path);
  const parser = new WARCParser([bytes] as unknown as AsyncIterable<Uint8Array>);
  const records: { offset: number; length: number; type: string }[] = [];
  for await (const record of parser) {
    await record.skipFully();
    // In an uncompressed file it leaves the two line ends behind a record out of its length.
    const separatorSize = bytes[0] === 0x1f ? 0 : 4;
    records.push({
      offset: parser.offset,
      length: parser.recordLength + separatorSize,
      type: (record.warcType ?? "").toLowerCase(),
    });
  }
  return records;
}
