/**
 * Every record of every type, of every WARC file of the corpus, is in the segments: counted on both sides by a simple reader
 * that shares nothing with ours, after adding all files in one order and in the other; and so they are in an export of
 * everything. The corpus lies beside the project and is never part of it.
 */
import { createHash } from "node:crypto";
import { readdirSync, readFileSync } from "node:fs";
import { join } from "node:path";
import { inflateRawSync } from "node:zlib";
import { expect, it } from "vitest";
import { ArchiveWriter, examineArchive, exportArchive } from "../../src/archive/index.ts";
import { nodeDisk } from "../../src/disk/index.ts";
import { findInputs } from "../../src/pipeline/index.ts";
import { temporaryFolder } from "../cli/holotype.ts";
import { CORPUS, corpusFiles, present, why } from "./corpus-files.ts";

const { HOLOTYPE_LONG_RUNS: long } = process.env;
const reason = long === undefined ? " (skipped: it belongs to npm run test:long)" : why;
const folder = temporaryFolder();

interface Found {
  /** What a record is known by: its id, URI and date; without an id, also its type and block. */
  readonly name: string;
  readonly type: string;
}

/** The gzip members of a file, each inflated; the file itself where it is none. Ends where one is damaged. */
function* membersOf(bytes: Buffer): Generator<Buffer> {
  if (bytes.readUInt16BE(0) !== 0x1f8b) return yield bytes;
  for (let at = 0; at < bytes.length; ) {
    const flags = bytes[at + 3] ?? 0;
    let start = at + 10;
    if ((flags & 4) !== 0) start += 2 + bytes.readUInt16LE(start);
    for (const flag of [8, 16]) if ((flags & flag) !== 0) start = bytes.indexOf(0, start) + 1;
    if ((flags & 2) !== 0) start += 2;
    try {
      const { buffer, engine } = inflateRawSync(bytes.subarray(start), { info: true }) as unknown as {
        readonly buffer: Buffer;
        readonly engine: { readonly bytesWritten: number };
      };
      yield buffer;
      at = start + engine.bytesWritten + 8;
    } catch {
      return;
    }
  }
}

/** The whole records of a file, as far as a simple reader comes. */
function recordsIn(path: string): Found[] {
  const bytes = readFileSync(path);
  return bytes.length < 20 ? [] : [...membersOf(bytes)].flatMap(recordsOf);
}

function recordsOf(bytes: Buffer): Found[] {
  const records: Found[] = [];
  for (let at = 0; bytes.toString("latin1", at, at + 5) === "WARC/"; ) {
    const head = /^[^]*?\r?\n\r?\n/.exec(bytes.toString("latin1", at, at + 65_536))?.[0];
    const field = (name: string) => new RegExp(`^${name}[ \\t]*:[ \\t]*(.*?)[ \\t]*\\r?$`, "im").exec(head!)?.[1] ?? "";
    const size = head === undefined ? Number.NaN : Number(field("Content-Length") || Number.NaN);
    const start = at + (head?.length ?? 0);
    if (!(start + size <= bytes.length)) break;
    const [id, type, uri] = [
      field("WARC-Record-ID"),
      field("WARC-Type"),
      field("WARC-Target-URI").replace(/[<>]/g, ""),
    ];
    const block = createHash("sha256")
      .update(bytes.subarray(start, start + size))
      .digest("hex");
    records.push({ name: `${id === "" ? `${type} ${block}` : id} ${uri} ${field("WARC-Date").toUpperCase()}`, type });
    at = start + size;
    while (bytes[at] === 13 || bytes[at] === 10) at++;
  }
  return records;
}

const isRead = (path: string) => /\.warc(?:\.gz)?$/.test(path) && !path.startsWith("derived/");

it.runIf(present && long !== undefined)(
  `finds every record of the corpus in the segments and in an export, added in two orders${reason}`,
  { timeout: 3_600_000 },
  async () => {
    const inputs = findInputs(nodeDisk, [CORPUS], () => {});
    const wanted: Found[] = [];
    for (const path of corpusFiles().filter(isRead)) wanted.push(...recordsIn(join(CORPUS, path)));
    expect(wanted.length).toBeGreaterThan(5000);
    for (const [i, order] of [inputs, inputs.toReversed()].entries()) {
      const archive = join(folder, `archive-${i}`);
      {
        await using writer = ArchiveWriter.open(nodeDisk, archive, { create: true });
        await writer.add(order);
      }
      const segments = join(archive, "volumes/0/segments");
      const missingIn = (paths: readonly string[]) => {
        const there = new Set(paths.flatMap((path) => recordsIn(path).map(({ name }) => name)));
        return wanted.filter(({ name }) => !there.has(name)).map(({ type, name }) => `${type} ${name}`);
      };
      expect(missingIn(readdirSync(segments).map((name) => join(segments, name)))).toEqual([]);
      const findings: string[] = [];
      for await (const { message } of examineArchive(nodeDisk, archive, { scrub: true })) findings.push(message);
      expect(findings).toEqual([]);
      const output = join(folder, `${i}.warc.gz`);
      const { files, left } = await exportArchive(nodeDisk, archive, {
        output,
        format: "warc",
        selection: {},
        description: "the corpus",
        software: "a test",
      });
      expect(left).toBe(0);
      expect(missingIn(files)).toEqual([]);
    }
  },
);
