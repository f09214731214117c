/**
 * A file with requests and metadata, added while the power goes, the disk is full or a call fails; and added again. Every
 * record of it is in the segments then, counted by a parser that shares nothing with ours.
 */
import { spawn } from "node:child_process";
import { mkdtempSync, readdirSync, readFileSync, rmSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { gunzipSync } from "node:zlib";
import { describe, expect, it } from "vitest";
import { formatIso } from "../../src/base/index.ts";
import type { Disk } from "../../src/disk/index.ts";
import type { Input } from "../../src/pipeline/index.ts";
import { diagnose, FOLDER, openWriter, rebuild } from "../../src/testing/archive-fixture.ts";
import { captureBytes, noise, packRecords, recordBytes } from "../../src/testing/capture-text.ts";
import { createDice } from "../../src/testing/dice.ts";
import { everyFullDisk, everyMoment } from "../../src/testing/every-stop.ts";
import type { ForgetfulDisk } from "../../src/testing/forgetful-disk.ts";

const { HOLOTYPE_LONG_RUNS: long } = process.env;
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

/** Ids of the records in some files of gzip members; those that archives write themselves have other ids. */
function idsIn(files: readonly Buffer[]): string[] {
  const texts = files.map((bytes) => gunzipSync(bytes).toString("latin1"));
  return texts
    .flatMap((text) =>
      [...text.matchAll(/^WARC-Record-ID: <urn:uuid:((?:request|page|metadata)-\d+)>/gm)].map(([, id]) => id!),
    )
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

  async function complete(disk: ForgetfulDisk): Promise<void> {
    expect(await add(disk)).toMatchObject({ damaged: 0, skipped: 0 });
    const files = disk.list(SEGMENTS).filter(({ name }) => /^\d+\.warc\.gz$/.test(name));
    expect(idsIn(files.map(({ name }) => read(disk, `${SEGMENTS}/${name}`)))).toEqual(wantedIds(PAGES));
    expect(await diagnose(disk)).toEqual([]);
  }

  it("is there with all of its records, whenever the power went", { timeout: 300_000 }, async () => {
    const count = await everyMoment(
      async (disk) => void (await add(disk)),
      () => undefined,
      async (disk) => {
        await complete(disk);
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
const KILLS = long === undefined ? 4 : 50;

it(`is there with all of its records after ${KILLS} kills of the program`, { timeout: 600_000 }, async () => {
  const folder = mkdtempSync(join(tmpdir(), "holotype-kill-"));
  try {
    const PAGES = 1500;
    const records = recordsOf(PAGES, 700);
    const dice = createDice(20261118);
    for (let kill = 0; kill < KILLS; kill++) {
      const isPlain = kill % 2 === 0;
      const file = join(folder, isPlain ? "a.warc" : "b.warc.gz");
      writeFileSync(file, packRecords(records, isPlain ? "none" : "gzip"));
      const archive = join(folder, `archive-${kill}`);
      const run = (afterMs?: number) =>
        new Promise<number | null>((resolve) => {
          const child = spawn(process.execPath, ["dist/bin/holotype.js", "add", file, "--archive", archive], {
            stdio: "ignore",
          });
          const timer = afterMs === undefined ? undefined : setTimeout(() => child.kill("SIGKILL"), afterMs);
          child.on("close", (code) => {
            clearTimeout(timer);
            resolve(code);
          });
        });
      await run(150 + dice.below(900));
      expect(await run()).toBe(0);
      const segments = join(archive, "volumes/0/segments");
      const names = readdirSync(segments).filter((name) => /^\d+\.warc\.gz$/.test(name));
      expect(idsIn(names.map((name) => readFileSync(join(segments, name))))).toEqual(wantedIds(PAGES));
      rmSync(archive, { recursive: true });
    }
  } finally {
    rmSync(folder, { recursive: true });
  }
});
