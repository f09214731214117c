/** `check`, `verify`, `restore`, `add`, `rebuild` and `export` must all say the same of what a revisit refers to. */
import { describe, expect, test } from "vitest";
import { Archive, ArchiveWriter, exportArchive } from "../../src/archive/index.ts";
import { digestOf, formatDigest } from "../../src/base/index.ts";
import { type Disk, removeTree } from "../../src/disk/index.ts";
import {
  findInputs,
  OrphanFinder,
  restoreSubset,
  runTask,
  type VerifyResult,
  verify,
} from "../../src/pipeline/index.ts";
import { getFile, putFile } from "../../src/testing/dedup-trial.ts";
import { ForgetfulDisk } from "../../src/testing/forgetful-disk.ts";
import { bufferSource, scanRecord, WarcReader } from "../../src/warc/index.ts";
import { CASES } from "./cases.ts";

const ROOT = "/references";

function write(disk: Disk, records: readonly Buffer[]): void {
  for (const [i, record] of records.entries()) putFile(disk, `${ROOT}/${i}.warc`, record);
}

async function orphansOf(disk: Disk): Promise<number> {
  using finder = new OrphanFinder(disk);
  const onText = (text: string | Uint8Array) => {
    const lines = Buffer.from(text as Uint8Array)
      .toString()
      .split("\n")
      .filter(Boolean);
    for (const line of lines) finder.take(line);
  };
  await runTask(
    disk,
    findInputs(disk, [ROOT], () => {}),
    { kind: "check", options: {} },
    { threads: 1, onText },
  );
  return [...finder.orphans()].length;
}

/** The payloads of the records of 2021, as a subset has them. */
async function restored(disk: Disk): Promise<Buffer[]> {
  const filter = { fromMs: Date.UTC(2021), toMs: Date.UTC(2021, 6) };
  const { files, failed } = await restoreSubset(disk, [ROOT], { output: "/restored", filter });
  expect(failed).toEqual([]);
  return files.flatMap(({ output }) => {
    if (output === undefined) return [];
    const payloads: Buffer[] = [];
    for (const record of new WarcReader(bufferSource(getFile(disk, output)))) {
      const pieces: Buffer[] = [];
      scanRecord(record, { onPayload: (piece) => void pieces.push(Buffer.from(piece)) });
      payloads.push(Buffer.concat(pieces));
    }
    return payloads;
  });
}

function codesOf({ problemCounts }: VerifyResult, besides: readonly string[]): string[] {
  return Object.keys(problemCounts).filter((code) => !besides.includes(code));
}

const ARCHIVE = "/archive";
const EMPTY_SHA1 = formatDigest(digestOf("sha1", Buffer.alloc(0)));
const IN_2021 = { fromMs: Date.UTC(2021), toMs: Date.UTC(2021, 6) };

/** Each file by itself, as its writer would have it. */
async function addEach(disk: Disk, isAdopted: boolean): Promise<void> {
  removeTree(disk, ARCHIVE);
  for (const input of findInputs(disk, [ROOT], () => {})) {
    await using writer = ArchiveWriter.open(disk, ARCHIVE, { create: true });
    await (isAdopted ? writer.adopt([input]) : writer.add([input]));
  }
}

/** What the archive says of the captures of 2021: the digests of their payloads, as they are read, and their flags. */
async function heldIn2021(disk: Disk): Promise<{ wanted: string[]; flags: string[][] }> {
  await using archive = await Archive.open(disk, ARCHIVE);
  const [wanted, flags]: [string[], string[][]] = [[], []];
  for await (const captures of archive.captures(IN_2021)) {
    for (const capture of captures) {
      flags.push(capture.flags.filter((flag) => flag === "pending"));
      if (capture.sha256 === undefined) continue;
      await using opened = await archive.open(capture);
      const pieces: Uint8Array[] = [];
      for await (const piece of opened.payload()) pieces.push(piece);
      wanted.push(digestOf("sha256", Buffer.concat(pieces)).hex);
    }
  }
  return { wanted, flags };
}

/** The payloads of what is exported of 2021; a revisit whose original is not there is one still. */
async function exported(disk: Disk): Promise<string[]> {
  const output = "/exported.warc.gz";
  const options = { output, format: "warc", description: "2021", software: "a test", replace: true } as const;
  await exportArchive(disk, ARCHIVE, { ...options, selection: IN_2021 });
  const found: string[] = [];
  for (const record of new WarcReader(bufferSource(getFile(disk, output)))) {
    if (record.type === "warcinfo") continue;
    const isByDigest = record.headers.get("warc-profile")?.endsWith("identical-payload-digest") === true;
    if (record.type === "revisit" && !(isByDigest && record.payloadDigest === EMPTY_SHA1)) continue;
    found.push(scanRecord(record, { payload: ["sha256"] }).payloadDigests[0]!.hex);
  }
  return found;
}

describe.each(CASES)("a revisit by $name", ({ records, payload, unread = false, besides = [] }) => {
  test.each([
    ["in order", records],
    ["the other way round", [...records].reverse()],
  ])("has one verdict, %s", async (_, files) => {
    const disk = new ForgetfulDisk();
    write(disk, files);
    const isOrphan = payload === undefined && !unread;
    expect({ check: await orphansOf(disk) }).toEqual({ check: isOrphan ? 1 : 0 });
    const codes = codesOf(await verify(disk, [ROOT], { threads: 1 }), besides);
    expect({ verify: codes }).toEqual({ verify: isOrphan ? [expect.stringMatching(/^HT_REVISIT_/)] : [] });
    const wanted = payload === undefined ? [] : [digestOf("sha256", payload).hex];
    const found = (await restored(disk)).map((bytes) => digestOf("sha256", bytes).hex);
    expect({ restore: found }).toEqual({ restore: wanted });
    for (const isAdopted of [false, true]) {
      await addEach(disk, isAdopted);
      const flags = isOrphan ? [["pending"]] : [[]];
      expect({ add: await heldIn2021(disk) }).toEqual({ add: { wanted, flags } });
      await ArchiveWriter.rebuild(disk, ARCHIVE);
      expect({ rebuild: await heldIn2021(disk) }).toEqual({ rebuild: { wanted, flags } });
      expect({ export: await exported(disk) }).toEqual({ export: wanted });
    }
  });
});
