import { describe, expect, it } from "vitest";
import { ArchiveError, digestOf } from "../../src/base/index.ts";
import type { Disk } from "../../src/disk/index.ts";
import { dedup } from "../../src/pipeline/index.ts";
import { createDice, newSeed } from "../../src/testing/dice.ts";
import { readAll } from "../../src/testing/disk-suite.ts";
import { everyFullDisk, everyStop } from "../../src/testing/every-stop.ts";
import { ForgetfulDisk } from "../../src/testing/forgetful-disk.ts";
import type { Faults } from "../../src/testing/operations.ts";
import { payloadOf, WarcReader } from "../../src/warc/index.ts";
import { record, response, warcFile } from "../cli/archives.ts";

/**
 * A few payloads that do not compress, captured several times, within files and across them, in files that are compressed
 * and files that are not. Each capture has its request before it and metadata behind it.
 */
function makeArchives(): ReadonlyMap<string, Buffer> {
  const dice = createDice(3);
  const bodies = Array.from({ length: 4 }, (_, i) => Buffer.from(dice.bytes(1000 + 300 * i)));
  let year = 2001;
  const file = (compression: "gzip" | "none", ...pages: readonly [string, number][]) =>
    warcFile(
      pages.flatMap(([path, body]) => {
        const uri = `http://site.example/${path}`;
        const when = year++;
        return [
          record(
            "request",
            uri,
            "application/http; msgtype=request",
            `GET /${path} HTTP/1.1\r\nX-Year: ${when}\r\n\r\n`,
          ),
          response(uri, bodies[body]!, { date: `${when}-01-01T00:00:00Z` }),
          record("metadata", uri, "application/warc-fields", `fetchTimeMs: ${when}\r\n`),
        ];
      }),
      { compression },
    );
  return new Map([
    ["/in/a.warc.gz", file("gzip", ["one", 0], ["one-again", 0], ["two", 1])],
    ["/in/b.warc", file("none", ["two", 1], ["one", 0], ["three", 2])],
    ["/in/sub/c.warc.gz", file("gzip", ["three", 2], ["one", 0], ["four", 3])],
    ["/in/sub/d.warc", file("none", ["four", 3])],
  ]);
}

const BEFORE = makeArchives();
const CLOCK = { now: () => 1_600_000_000_000 };
const MODES = { "with -o": "/out", "in place": undefined } as const;
type Mode = keyof typeof MODES;

function prepare(disk: Disk): void {
  disk.makeFolder("/in/sub");
  for (const [path, bytes] of BEFORE) {
    using file = disk.open(path, "create");
    file.write(bytes, 0);
  }
}

function preparedDisk(faults: Faults = {}): ForgetfulDisk {
  const disk = new ForgetfulDisk();
  prepare(disk);
  return disk.reopen({ data: "keep", names: "keep", seed: 0 }, faults);
}

function run(disk: Disk, mode: Mode) {
  return dedup(disk, ["/in"], { output: MODES[mode], threads: 1, clock: CLOCK });
}

/** Every file below a folder with its bytes. */
function snapshot(disk: Disk, folder = "/"): Map<string, Buffer> {
  const files = new Map<string, Buffer>();
  for (const { name, kind } of disk.list(folder)) {
    const path = `${folder === "/" ? "" : folder}/${name}`;
    if (kind === "folder") for (const [below, bytes] of snapshot(disk, path)) files.set(below, bytes);
    else files.set(path, Buffer.from(readAll(disk, path)));
  }
  return files;
}

/** Pages that tell of a job and its times, and what depends on the key of the user. */
const NO_RESULT = /\/(?:report\.html|report\.json|job\.json|key)$/;

/** What counts as the result of a job. */
/** Of the files of a job, what says which very file it was differs from disk to disk. */
const OWN_OF_DISK = /"(?:identity|changed)":"[^"]*",/g;

function resultOf(disk: Disk): Map<string, string> {
  const digests = [...snapshot(disk)].map(([path, bytes]): [string, string] => {
    const isList = path.endsWith("/files.jsonl");
    const told = isList ? Buffer.from(bytes.toString().replace(OWN_OF_DISK, "")) : bytes;
    return [path, digestOf("sha256", told).hex];
  });
  return new Map(digests.filter(([path]) => !NO_RESULT.test(path)));
}

const undisturbed = new Map<Mode, { readonly result: Map<string, string>; readonly files: Map<string, Buffer> }>();
for (const mode of Object.keys(MODES) as Mode[]) {
  const disk = preparedDisk();
  await run(disk, mode);
  undisturbed.set(mode, { result: resultOf(disk), files: snapshot(disk) });
}

interface Content {
  /** Payloads that are there in full, by their digests. */
  readonly payloads: readonly string[];
  /** The records that hold them, by URI and date. */
  readonly captures: readonly string[];
  /** The records that revisits refer to. */
  readonly references: readonly string[];
  /** Every record in order: its id, and of what is no capture also its type and its block. */
  readonly records: readonly string[];
}

const contents = new Map<string, Content>();

/** What an archive file holds; a file that cannot be read is a failure. */
function contentOf(bytes: Buffer): Content {
  const key = digestOf("sha256", bytes).hex;
  const known = contents.get(key);
  if (known !== undefined) return known;
  const [payloads, captures, references, records]: string[][] = [[], [], [], []];
  const source = { name: key, seekable: true, size: bytes.length, read: readFrom(bytes) };
  const reader = new WarcReader(source, {
    onWarning: ({ code, message }) => {
      throw new Error(`${code} ${message}`);
    },
  });
  for (let record = reader.next(); record !== undefined; record = reader.next()) {
    const payload = Buffer.concat([...payloadOf(record).chunks].map((piece) => Buffer.from(piece)));
    const field = (name: string) => record?.headers.get(name);
    const isCapture = record.type === "revisit" || record.type === "response";
    records!.push(isCapture ? `${record.id}` : `${record.id} ${record.type} ${digestOf("sha256", payload).hex}`);
    if (!isCapture) continue;
    if (record.type === "revisit") {
      references!.push(`${field("warc-refers-to-target-uri")} ${field("warc-refers-to-date")}`);
    } else {
      payloads!.push(digestOf("sha1", payload).hex);
      captures!.push(`${field("warc-target-uri")} ${field("warc-date")}`);
    }
  }
  const content = { payloads: payloads!, captures: captures!, references: references!, records: records! };
  contents.set(key, content);
  return content;
}

function readFrom(bytes: Buffer) {
  return (into: Uint8Array, position: number): number => {
    const piece = bytes.subarray(position, position + into.length);
    into.set(piece);
    return piece.length;
  };
}

const ALL_PAYLOADS = new Set([...BEFORE.values()].flatMap((bytes) => contentOf(bytes).payloads));

/** Every input is wholly as it was or wholly as it should be, and every payload is in one of them. */
function checkNothingLost(disk: Disk, mode: Mode): void {
  const { files } = undisturbed.get(mode)!;
  const payloads = new Set<string>();
  for (const [path, before] of BEFORE) {
    const bytes = Buffer.from(readAll(disk, path));
    const isOld = bytes.equals(before);
    const isNew = mode === "in place" && bytes.equals(files.get(path)!);
    if (!isOld && !isNew) throw new Error(`${path} is neither the old file nor the new one`);
    for (const payload of contentOf(bytes).payloads) payloads.add(payload);
    expect(contentOf(bytes).records, path).toEqual(contentOf(before).records);
  }
  expect(payloads).toEqual(ALL_PAYLOADS);
}

function outputsOf(disk: Disk): [string, Buffer][] {
  const paths = [...BEFORE.keys()].map((path) => path.replace("/in/", "/out/"));
  return paths.flatMap((path) => (disk.stat(path) === undefined ? [] : [[path, Buffer.from(readAll(disk, path))]]));
}

/**
 * The same where a file may have been left as it is, so that others refer to other records: each file has all its records,
 * every payload is somewhere, and every revisit leads to a record that holds one.
 */
function checkSound(disk: Disk, mode: Mode, about: string): void {
  const inputs = [...BEFORE.keys()].map((path) => [path, contentOf(Buffer.from(readAll(disk, path)))] as const);
  for (const [path, { records }] of inputs) expect(records, about).toEqual(contentOf(BEFORE.get(path)!).records);
  expect(new Set(inputs.flatMap(([, { payloads }]) => payloads)), about).toEqual(ALL_PAYLOADS);
  if (mode === "with -o") {
    for (const [path, bytes] of BEFORE) expect(bytes.equals(readAll(disk, path)), about).toBe(true);
    for (const [path, bytes] of outputsOf(disk)) {
      expect(contentOf(bytes).records, about).toEqual(contentOf(BEFORE.get(path.replace("/out/", "/in/"))!).records);
    }
    return;
  }
  const present = new Set(inputs.flatMap(([, { captures }]) => captures));
  for (const [, { references }] of inputs) for (const capture of references) expect(present, about).toContain(capture);
}

/** What has its name under the output is finished. */
function checkNothingHalf(disk: Disk, mode: Mode): void {
  for (const [path, bytes] of outputsOf(disk)) {
    if (!undisturbed.get(mode)!.files.get(path)!.equals(bytes)) throw new Error(`${path} is not what it should be`);
  }
}

/** Outputs refer to nothing but what lies in one of them. */
function checkClosure(disk: Disk): void {
  const found = outputsOf(disk).map(([, bytes]) => contentOf(bytes));
  const present = new Set(found.flatMap(({ captures }) => captures));
  for (const { references } of found) for (const capture of references) expect(present).toContain(capture);
}

async function checkResult(disk: Disk, mode: Mode): Promise<void> {
  const { skipped } = await run(disk, mode);
  expect(skipped).toEqual([]);
  expect(Object.fromEntries(resultOf(disk))).toEqual(Object.fromEntries(undisturbed.get(mode)!.result));
}

/** How many disks a stop can leave; to go on from each would take minutes, so each stop takes others of them. */
const AFTERMATHS = 24;
const { HOLOTYPE_LONG_RUNS: long } = process.env;
const RESUMED_EACH = long === undefined ? 2 : AFTERMATHS;

describe.each(Object.keys(MODES) as Mode[])("dedup %s under a power cut at any moment", (mode) => {
  it("loses no payload, and comes to the undisturbed result when it is run again", { timeout: 120_000 }, async () => {
    let checks = 0;
    const count = await everyStop(
      async (disk) => void (await run(disk, mode)),
      async (disk, stoppedAt) => {
        checkNothingLost(disk, mode);
        checkNothingHalf(disk, mode);
        const turn = checks++ % AFTERMATHS;
        const chosen = (turn + (stoppedAt ?? 0) * 5) % AFTERMATHS < RESUMED_EACH;
        if (chosen || stoppedAt === undefined) await checkResult(disk, mode);
      },
      { prepare },
    );
    expect(count).toBeGreaterThan(150);
  });

  // The first seed once found an unfinished file that was removed, and came back behind a finished job.
  it.each([2936691245, newSeed()])("comes to it also when the power goes again and again: %d", async (seed) => {
    const whole = preparedDisk();
    await run(whole, mode);
    const dice = createDice(seed);
    const fate = () => (["drop", "tear", "keep"] as const)[dice.below(3)]!;
    const stop = () => ({ stopAt: 1 + dice.below(whole.operations.log.length) });
    for (let round = 0; round < 20; round++) {
      let disk = preparedDisk(stop());
      for (let cuts = 0; cuts < 4; cuts++) {
        await run(disk, mode).catch((error: unknown) => {
          if (!disk.operations.stopped) throw error;
        });
        const found = disk.reopen({ data: fate(), names: fate(), seed: dice.below(2 ** 32) });
        checkNothingLost(found, mode);
        checkNothingHalf(found, mode);
        disk = found.reopen({ data: "keep", names: "keep", seed: 0 }, cuts < 3 ? stop() : {});
      }
      await checkResult(disk, mode).catch((cause: unknown) => {
        throw new Error(`round ${round}, repeat with seed ${seed}: ${String(cause)}`, { cause });
      });
    }
  });

  it("loses nothing where any one call fails, and says so", { timeout: 120_000 }, async () => {
    const whole = preparedDisk();
    await run(whole, mode);
    const calls = whole.operations.log.length;
    for (let failAt = 1; failAt <= calls; failAt++) {
      const about = `call ${failAt} (${whole.operations.log[failAt - 1]})`;
      const disk = preparedDisk({ failAt });
      const failure = await run(disk, mode).then(
        ({ skipped }) => skipped[0]?.error,
        (error: unknown) => error,
      );
      if (failure !== undefined) expect(failure, about).toBeInstanceOf(ArchiveError);
      for (const fate of ["keep", "drop"] as const) {
        const found = disk.reopen({ data: fate, names: fate, seed: failAt });
        checkSound(found, mode, about);
        // A file that could not be opened at first makes it another job, which is refused.
        const refusal = await run(found, mode).then(
          () => undefined,
          (error: unknown) => error,
        );
        if (refusal !== undefined) expect(refusal, about).toMatchObject({ code: "HT_EXISTS" });
        checkSound(found, mode, `${about}, and again`);
      }
    }
  });

  it("loses no payload where any one sync fails", async () => {
    const disk = preparedDisk();
    await run(disk, mode);
    const syncs = disk.operations.count("sync") + disk.operations.count("syncFolder");
    expect(syncs).toBeGreaterThan(30);
    for (let failSyncAt = 1; failSyncAt <= syncs; failSyncAt++) {
      const failing = preparedDisk({ failSyncAt });
      const failure = await run(failing, mode).then(
        ({ skipped }) => skipped[0]?.error,
        (error: unknown) => error,
      );
      // It is told, and what stands there is whole, also when the power goes right after.
      expect(failure, `sync ${failSyncAt}`).toMatchObject({ code: "HT_IO" });
      if (failing.stat("/out/holotype-job/report.json") !== undefined) checkClosure(failing);
      for (const fate of ["keep", "drop"] as const) {
        checkNothingLost(failing.reopen({ data: fate, names: fate, seed: failSyncAt }), mode);
      }
    }
  });
});

describe.each(Object.keys(MODES) as Mode[])("dedup %s on a disk that is full at any moment", (mode) => {
  it("says so, leaves nothing by halves, and goes on when there is room", async () => {
    const count = await everyFullDisk(
      async (disk) => void (await run(disk, mode)),
      async (disk, failure) => {
        if (failure !== undefined) {
          expect(failure).toBeInstanceOf(ArchiveError);
          expect(failure).toMatchObject({ code: "HT_NO_SPACE" });
        }
        const names = [...snapshot(disk).keys()].filter((path) => !path.includes("/holotype-job/"));
        expect(names.filter((path) => path.endsWith(".partial"))).toEqual([]);
        const later = disk.reopen({ data: "keep", names: "keep", seed: 0 });
        checkNothingLost(later, mode);
        checkNothingHalf(later, mode);
        await checkResult(later, mode);
      },
      { prepare },
    );
    expect(count).toBeGreaterThan(20);
  });
});
