/**
 * A takedown (`remove`, then `compact`) that is cut off at any moment and run again: nothing of what was removed is in the
 * segments, and everything else is, each record once: requests, metadata and revisits too.
 */
import { describe, expect, it } from "vitest";
import {
  diagnose,
  FOLDER,
  makeInput,
  openReader,
  openWriter,
  payloadsOf,
  rebuild,
} from "../../src/testing/archive-fixture.ts";
import { captureBytes, idOf, noise, recordBytes, requestBytes } from "../../src/testing/capture-text.ts";
import { newSeed } from "../../src/testing/dice.ts";
import { everyMoment } from "../../src/testing/every-stop.ts";
import { ForgetfulDisk } from "../../src/testing/forgetful-disk.ts";
import { segmentRecords } from "../../src/testing/plain-records.ts";

const GONE = "http://gone.example";
const STAYS = "http://stays.example";
const SHARED = noise("shared", 800);
const OPTIONS = { segmentSizeBytes: 3000 };

const dateOf = (day: number) => `2020-01-0${day}T00:00:00Z`;

interface Page {
  readonly uri: string;
  readonly day: number;
  readonly payload: Buffer;
}

/** A capture with a request that names it beside it, and metadata elsewhere that does not. */
function recordsOf({ uri, day, payload }: Page) {
  const date = dateOf(day);
  const id = idOf(`response ${uri} ${date}`);
  const capture = captureBytes({ uri, date, payload });
  const request = requestBytes({ uri, date, concurrentTo: [id] });
  const lines = ["WARC/1.0", "WARC-Type: metadata", `WARC-Record-ID: <${idOf(`metadata ${uri} ${date}`)}>`];
  const metadata = recordBytes([...lines, `WARC-Date: ${date}`, `WARC-Target-URI: ${uri}`], `of ${uri}`);
  return { capture, request, metadata };
}

const PAGES: readonly Page[] = [
  { uri: `${GONE}/shared`, day: 1, payload: SHARED },
  { uri: `${STAYS}/a`, day: 1, payload: noise("a", 600) },
  { uri: `${GONE}/own`, day: 1, payload: noise("own", 600) },
  { uri: `${STAYS}/first`, day: 2, payload: SHARED },
  { uri: `${STAYS}/second`, day: 3, payload: SHARED },
];

/** What must be left, as `segmentRecords` tells it. */
const LEFT = PAGES.filter(({ uri }) => uri.startsWith(STAYS))
  .flatMap(({ uri }) => [
    `${uri.endsWith("second") ? `revisit of ${STAYS}/first` : "response"} ${uri}`,
    `request ${uri}`,
    `metadata ${uri}`,
  ])
  .sort();

async function fill(disk: ForgetfulDisk): Promise<void> {
  await using writer = openWriter(disk, OPTIONS);
  const records = PAGES.map(recordsOf);
  const beside = records.flatMap(({ capture, request }) => [capture, request]);
  await writer.add([makeInput(disk, beside.slice(0, 6)), makeInput(disk, beside.slice(6))]);
  await writer.add([
    makeInput(
      disk,
      records.map(({ metadata }) => metadata),
    ),
  ]);
}

function left(disk: ForgetfulDisk): string[] {
  const told = segmentRecords(disk, FOLDER).map(({ type, uri, isOurs, refersToUri }) => {
    return `${type}${isOurs ? ` of ${refersToUri}` : ""} ${uri}`;
  });
  return told.sort();
}

async function remove(disk: ForgetfulDisk): Promise<void> {
  await using writer = openWriter(disk, OPTIONS);
  await writer.remove({ site: "gone.example" }, { reason: "a test" });
}

async function compact(disk: ForgetfulDisk): Promise<void> {
  await using writer = openWriter(disk, OPTIONS);
  writer.compact();
}

async function checkAgain(disk: ForgetfulDisk): Promise<void> {
  {
    // Whatever was cut off, what stays can be read.
    await using archive = await openReader(disk);
    expect(await payloadsOf(archive, `${STAYS}/first`)).toEqual([SHARED]);
    expect(await payloadsOf(archive, `${STAYS}/second`)).toEqual([SHARED]);
  }
  {
    // A rebuild takes what the journal has removed since the last commit for a loss.
    await using _ = openWriter(disk, OPTIONS);
  }
  const rebuilt = disk.reopen({ data: "keep", names: "keep", seed: 0 });
  await rebuild(rebuilt, OPTIONS);
  for (const each of [disk, rebuilt]) {
    await remove(each);
    await compact(each);
    expect(left(each)).toEqual(LEFT);
    expect(await diagnose(each)).toEqual([]);
  }
}

const { HOLOTYPE_LONG_RUNS: long } = process.env;
const SEED = long === undefined ? 20261118 : newSeed();

async function filled(): Promise<ForgetfulDisk> {
  const disk = new ForgetfulDisk();
  await fill(disk);
  return disk;
}

describe("a takedown", () => {
  it(`is complete after a power cut at any moment and a second run; seed ${SEED}`, { timeout: 300_000 }, async () => {
    let isThere = false;
    const count = await everyMoment(
      async (disk, look) => {
        await fill(disk);
        await look();
        isThere = true;
        await remove(disk);
        await look();
        await compact(disk);
      },
      () => isThere,
      async (disk, wasThere) => {
        if (wasThere) await checkAgain(disk);
      },
      { seed: SEED, aftermathCount: 1 },
    );
    expect(count).toBeGreaterThan(100);
  });

  it("is complete after a full disk, and a second run with room", { timeout: 300_000 }, async () => {
    const before = await filled();
    let failed = 0;
    for (let fullFromWrite = 1; ; fullFromWrite++) {
      const disk = before.reopen({ data: "keep", names: "keep", seed: 0 }, { fullFromWrite });
      try {
        await remove(disk);
        await compact(disk);
        break;
      } catch (error) {
        expect(error).toMatchObject({ code: expect.stringMatching(/^HT_(?:NO_SPACE|IO)$/) as unknown });
        failed++;
      }
      await checkAgain(disk.reopen({ data: "keep", names: "keep", seed: 0 }));
    }
    expect(failed).toBeGreaterThan(5);
  });

  it("is complete after a sync that failed, and a second run", { timeout: 300_000 }, async () => {
    const before = await filled();
    let failed = 0;
    for (let failSyncAt = 1; ; failSyncAt++) {
      const disk = before.reopen({ data: "keep", names: "keep", seed: 0 }, { failSyncAt });
      try {
        await remove(disk);
        await compact(disk);
        break;
      } catch (error) {
        expect(error).toMatchObject({ code: "HT_IO" });
        failed++;
      }
      await checkAgain(disk.reopen({ data: "drop", names: "drop", seed: 0 }));
    }
    expect(failed).toBeGreaterThan(5);
  });
});
