/**
 * A file with requests and metadata, added while the power goes, the disk is full or a call fails; and added again. Every
 * record of it is in the segments then, counted by a parser that shares nothing with ours.
 */
import { existsSync, readdirSync, readFileSync, rmSync } from "node:fs";
import { join } from "node:path";
import { crc32, inflateRawSync } from "node:zlib";
import { describe, expect, it } from "vitest";
import { formatIso } from "../../src/base/index.ts";
import type { Disk } from "../../src/disk/index.ts";
import type { Input } from "../../src/pipeline/index.ts";
import { diagnose, FOLDER, openWriter, rebuild } from "../../src/testing/archive-fixture.ts";
import { captureBytes, noise, packRecords, recordBytes } from "../../src/testing/capture-text.ts";
import { everyFullDisk, everyMoment } from "../../src/testing/every-stop.ts";
import type { ForgetfulDisk } from "../../src/testing/forgetful-disk.ts";
import { put, temporaryFolder } from "../cli/holotype.ts";
import { countCalls, runAtCall, spreadCalls } from "./run-at-call.ts";

const { HOLOTYPE_LONG_RUNS: long } = process.env;
const MAGIC = Buffer.from([0x1f, 0x8b, 8]);
const SEGMENTS = `${FOLDER}/volumes/0/segments`;

/** Three records for each page; pages with equal numbers modulo `contents` have the same content. */
function recordsOf(pages: number, contents: number): Buffer[] {
  return Array.from({ length: pages }, (_, page) => {
    const uri = `http://a.example/${page}`;
    const date = formatIso(Date.UTC(2020, 0, 1) + page * 60_000);
    const note = (type: string, block: string) =>
      recordBytes(
        [
          "WARC/1.0",
          `WARC-Type: ${type}`,
          `WARC-Record-ID: <urn:uuid:${type}-${page}>`,
          `WARC-Concurrent-To: <urn:uuid:page-${page}>`,
          `WARC-Date: ${date}`,
          `WARC-Target-URI: ${uri}`,
        ],
        block,
      );
    const payload = noise(`content ${page % contents}`, 700);
    return [
      note("request", "GET / HTTP/1.1\r\n\r\n"),
      captureBytes({ uri, date, payload, id: `urn:uuid:page-${page}` }),
      note("metadata", `page: ${page}\r\n`),
    ];
  }).flat();
}

/** What the gzip members of a file hold. What a power cut has torn is skipped. */
function* membersIn(file: Buffer): Generator<string> {
  for (let at = 0; at >= 0; at = file.indexOf(MAGIC, at)) {
    const member = memberAt(file, at);
    if (member !== undefined) yield member.text;
    at += member?.size ?? 1;
  }
}

/** Absent where no whole member begins. The header of one that archives write has ten bytes. */
function memberAt(file: Buffer, at: number) {
  try {
    const told: unknown = inflateRawSync(file.subarray(at + 10), { info: true });
    const { buffer, engine } = told as { readonly buffer: Buffer; readonly engine: { readonly bytesWritten: number } };
    const size = 10 + engine.bytesWritten + 8;
    const isWhole =
      file.readUInt32LE(at + size - 8) === crc32(buffer) && file.readUInt32LE(at + size - 4) === buffer.length;
    return isWhole ? { text: buffer.toString("latin1"), size } : undefined;
  } catch {
    return undefined;
  }
}

/** Ids of the records in some segments; those that archives write themselves have other ids. */
function idsIn(files: readonly Buffer[]): string[] {
  const id = /^WARC-Record-ID: <urn:uuid:((?:request|page|metadata)-\d+)>/m;
  return files
    .flatMap((file) => [...membersIn(file)].map((text) => id.exec(text)?.[1]))
    .filter((found) => found !== undefined)
    .sort();
}

function wantedIds(pages: number): string[] {
  return ["request", "page", "metadata"]
    .flatMap((type) => Array.from({ length: pages }, (_, i) => `${type}-${i}`))
    .sort();
}

function read(disk: Disk, path: string): Buffer {
  using file = disk.open(path, "read");
  const bytes = Buffer.alloc(file.size());
  file.read(bytes, 0);
  return bytes;
}

describe.each(["gzip", "none"] as const)("a file that is added again (%s)", (compression) => {
  const PAGES = 7;
  const bytes = packRecords(recordsOf(PAGES, 4), compression);
  const path = `/inputs/a.warc${compression === "gzip" ? ".gz" : ""}`;
  const input: Input = { name: path, path, entries: [], size: bytes.length };

  function prepare(disk: Disk): void {
    disk.makeFolder("/inputs");
    using file = disk.open(path, "create");
    file.write(bytes, 0);
    file.sync();
    disk.syncFolder("/inputs");
    disk.syncFolder("/");
  }

  async function add(disk: Disk) {
    await using writer = openWriter(disk, { segmentSizeBytes: 4000, commitChangeCount: 20 });
    return await writer.add([input]);
  }

  /** Before the first commit nothing says what was never acknowledged: what a power cut has torn stays, and is named. */
  async function complete(disk: ForgetfulDisk, isCommitted = true): Promise<void> {
    expect(await add(disk)).toMatchObject({ damaged: 0, skipped: 0 });
    const files = disk.list(SEGMENTS).filter(({ name }) => /^\d+\.warc\.gz$/.test(name));
    expect(idsIn(files.map(({ name }) => read(disk, `${SEGMENTS}/${name}`)))).toEqual(wantedIds(PAGES));
    const isTorn = (finding: string) => !isCommitted && /^HT_(?:GZIP_\w+|CORRUPT) \S*\/segments\//.test(finding);
    expect((await diagnose(disk)).filter((finding) => !isTorn(finding))).toEqual([]);
  }

  it("is there with all of its records, whenever the power went", { timeout: 300_000 }, async () => {
    let log: readonly string[] = [];
    const count = await everyMoment(
      async (disk) => {
        ({ log } = disk.operations);
        await add(disk);
      },
      // Opening syncs once, and a commit twice.
      () => log.filter((line) => line === `sync ${FOLDER}/catalogue-1/catalogue.rows`).length >= 3,
      async (disk, isCommitted) => {
        await complete(disk, isCommitted);
        await rebuild(disk);
        expect(await add(disk)).toMatchObject({ captures: 0, known: PAGES, bytesKept: 0 });
      },
      { prepare, aftermathCount: long === undefined ? 1 : 6, ...(long === undefined ? { seed: 20261118 } : {}) },
    );
    expect(count).toBeGreaterThan(40);
  });

  it("is there with all of its records, wherever the disk was full", { timeout: 300_000 }, async () => {
    await everyFullDisk(
      async (disk) => void (await add(disk)),
      (disk) => complete(disk.reopen({ data: "keep", names: "keep", seed: 0 })),
      { prepare },
    );
  });
});

/** How often the program is killed: a few times here, 50 times in the long run. */
const KILLS = long === undefined ? 3 : 50;
const work = temporaryFolder();

it.each(["none", "gzip"] as const)(
  `is there with all of its records after ${KILLS} kills of the program (%s)`,
  { timeout: 1_200_000 },
  (compression) => {
    const PAGES = 200;
    const file = put(work, `${compression}.warc`, packRecords(recordsOf(PAGES, 90), compression));
    const archive = join(work, compression);
    const add = ["add", file, "--archive", archive];
    const segments = join(archive, "volumes/0/segments");
    const found = () => {
      const names = existsSync(segments) ? readdirSync(segments) : [];
      return idsIn(names.map((name) => readFileSync(join(segments, name))));
    };
    const wanted = wantedIds(PAGES);
    const calls = countCalls(add, work);
    expect(found()).toEqual(wanted);
    let killed = 0;
    for (const call of spreadCalls(calls, KILLS)) {
      rmSync(archive, { recursive: true });
      if (runAtCall(add, call).signal === "SIGKILL") killed++;
      const { exit, err } = runAtCall(add);
      expect(exit, `killed at call ${call} of ${calls}: ${err}`).toBe(0);
      expect(found(), `killed at call ${call} of ${calls}`).toEqual(wanted);
    }
    expect(killed).toBeGreaterThan(KILLS * 0.9);
  },
);
