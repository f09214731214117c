/**
 * `remove` and `compact` as real processes, killed at chosen calls on the disk, and run again: nothing of what was removed
 * is in the segments, and everything else is, each record once. Counted by a parser that shares nothing with ours.
 */
import { createHash } from "node:crypto";
import { cpSync, mkdirSync, readdirSync, rmSync } from "node:fs";
import { join } from "node:path";
import { describe, expect, it } from "vitest";
import { ArchiveWriter } from "../../src/archive/index.ts";
import { formatIso } from "../../src/base/index.ts";
import { nodeDisk } from "../../src/disk/index.ts";
import { findInputs } from "../../src/pipeline/index.ts";
import { captureBytes, idOf, noise, packRecords, recordBytes, requestBytes } from "../../src/testing/capture-text.ts";
import { type PlainRecord, segmentRecords } from "../../src/testing/plain-records.ts";
import { holotypeAlone, put, temporaryFolder } from "../cli/holotype.ts";
import { countCalls, runAtCall, spreadCalls } from "./run-at-call.ts";

const { HOLOTYPE_LONG_RUNS: long } = process.env;
const KILLS = long === undefined ? 3 : 50;
const PAGES = 60;
const GONE = "http://gone.example";
const STAYS = "http://stays.example";

/** Every third page goes; payloads are shared by pages of both sites. */
const uriOf = (page: number) => `${page % 3 === 0 ? GONE : STAYS}/${page}`;
const dateOf = (page: number) => formatIso(Date.UTC(2020, 0, 1) + page * 60_000);

interface PageRecords {
  readonly beside: readonly Buffer[];
  readonly elsewhere: readonly Buffer[];
}

/** A request that names its capture or stands beside it, the capture, odd or not; and metadata in another file. */
function recordsOf(page: number): PageRecords {
  const [uri, date] = [uriOf(page), dateOf(page)];
  const id = idOf(`response ${uri} ${date}`);
  const request = requestBytes({ uri, date, concurrentTo: page % 2 === 0 ? [id] : [] });
  const version = page % 10 === 3 ? "WARC/0.18" : "WARC/1.0";
  const capture = captureBytes({ uri, date, payload: noise(`content ${page % 20}`, 900), version });
  const lines = ["WARC/1.0", "WARC-Type: metadata", `WARC-Record-ID: <${idOf(`metadata ${uri} ${date}`)}>`];
  const metadata = recordBytes([...lines, `WARC-Date: ${date}`, `WARC-Target-URI: ${uri}`], `of page ${page}\r\n`);
  return { beside: [request, capture], elsewhere: [metadata] };
}

async function fill(archive: string, inputs: string): Promise<void> {
  await using writer = ArchiveWriter.open(nodeDisk, archive, { create: true, segmentSizeBytes: 20_000 });
  await writer.add(findInputs(nodeDisk, [inputs], () => {}));
}

function makeInputs(folder: string, compression: "gzip" | "none"): void {
  mkdirSync(folder, { recursive: true });
  const pages = Array.from({ length: PAGES }, (_, page) => recordsOf(page));
  const files = {
    first: pages.slice(0, PAGES / 2).flatMap(({ beside }) => beside),
    second: pages.slice(PAGES / 2).flatMap(({ beside }) => beside),
    third: pages.flatMap(({ elsewhere }) => elsewhere),
  };
  for (const [name, records] of Object.entries(files))
    put(folder, `${name}.warc${compression === "gzip" ? ".gz" : ""}`, packRecords(records, compression));
}

/** What a record is known by. A revisit of ours is the capture that it stands for. */
function nameOf({ type, uri, date, id }: PlainRecord): string {
  return [type === "revisit" ? "response" : type, uri, date, id].join(" ");
}

/** The same, with what it holds and refers to. */
function contentOf(record: PlainRecord): string {
  const { type, refersToUri, block } = record;
  return [nameOf(record), type, refersToUri, createHash("sha256").update(block).digest("hex")].join(" ");
}

/** All that was added of one site. */
function wanted(site: string): string[] {
  const pages = Array.from({ length: PAGES }, (_, page) => page).filter((page) => uriOf(page).startsWith(site));
  return pages.flatMap((page) => {
    const [uri, date] = [uriOf(page), dateOf(page)];
    return ["GET", "response", "metadata"].map((kind) =>
      [kind === "GET" ? "request" : kind, uri, date, idOf(`${kind} ${uri} ${date}`)].join(" "),
    );
  });
}

const remove = (archive: string) => ["remove", "--site", "gone.example", "--reason", "a test", "--archive", archive];
const compact = (archive: string) => ["compact", "--archive", archive];
const work = temporaryFolder();

describe.each(["none", "gzip"] as const)("a takedown of files with compression %s", (compression) => {
  it(`killed at ${KILLS} calls is complete after a second run`, { timeout: 1_200_000 }, async () => {
    const inputs = join(work, `inputs-${compression}`);
    makeInputs(inputs, compression);
    const filled = join(work, `filled-${compression}`);
    await fill(filled, inputs);
    expect(segmentRecords(nodeDisk, filled).map(nameOf).sort()).toEqual([...wanted(GONE), ...wanted(STAYS)].sort());
    const archive = join(work, compression);
    const fresh = () => {
      rmSync(archive, { recursive: true, force: true });
      cpSync(filled, archive, { recursive: true });
    };
    const held = () => segmentRecords(nodeDisk, archive).map(contentOf).sort();
    fresh();
    const removing = countCalls(remove(archive), work);
    const compacting = countCalls(compact(archive), work);
    const undisturbed = held();
    expect(segmentRecords(nodeDisk, archive).map(nameOf).sort()).toEqual(wanted(STAYS).sort());
    let [killed, halfway] = [0, 0];
    for (const call of spreadCalls(removing + compacting, KILLS)) {
      const about = `killed at call ${call} of ${removing} and ${compacting}`;
      fresh();
      const isRemoving = call <= removing;
      let first = runAtCall(remove(archive), isRemoving ? call : undefined);
      if (!isRemoving) first = runAtCall(compact(archive), call - removing);
      if (first.signal === "SIGKILL") killed++;
      // Whatever was cut off, what stays is there.
      const there = new Set(segmentRecords(nodeDisk, archive).map(nameOf));
      expect(
        wanted(STAYS).filter((name) => !there.has(name)),
        about,
      ).toEqual([]);
      if (held().join() !== undisturbed.join()) halfway++;
      if (isRemoving) {
        // 20 says that the first run came so far that nothing was left to remove.
        const again = runAtCall(remove(archive));
        expect([0, 20], `${about}: ${again.err}`).toContain(again.exit);
      }
      const again = runAtCall(compact(archive));
      expect(again.exit, `${about}: ${again.err}`).toBe(0);
      expect(held(), about).toEqual(undisturbed);
      const names = readdirSync(join(archive, "volumes/0/segments"));
      expect(
        names.filter((name) => !/^\d+(?:\.odd)?\.warc\.gz$/.test(name)),
        about,
      ).toEqual([]);
      const { exit, out, err } = holotypeAlone(["doctor", "--scrub", "--archive", archive]);
      expect(exit, `${about}: ${out}${err}`).toBe(0);
    }
    expect(killed).toBeGreaterThan(KILLS * 0.9);
    expect(halfway).toBeGreaterThan(KILLS / 2);
  });
});
