/** Points at which archives were once mended, at every power cut: segmented captures, odd records, healing. */
import { expect, it } from "vitest";
import {
  capturesOf,
  diagnose,
  FOLDER,
  makeInput,
  openReader,
  openWriter,
  payloadsOf,
  rebuild,
} from "../../src/testing/archive-fixture.ts";
import { captureBytes, idOf, noise, requestBytes } from "../../src/testing/capture-text.ts";
import { newSeed } from "../../src/testing/dice.ts";
import { everyMoment } from "../../src/testing/every-stop.ts";
import type { ForgetfulDisk } from "../../src/testing/forgetful-disk.ts";
import { segmentRecords } from "../../src/testing/plain-records.ts";
import { countOf, rot } from "../../src/testing/rotten-records.ts";
import { SEGMENTED_PAYLOAD, SEGMENTED_URL, segments } from "../../src/testing/segmented-text.ts";

const { HOLOTYPE_LONG_RUNS: long } = process.env;
const SEED = long === undefined ? 20261118 : newSeed();
const DATE = "2020-01-01T00:00:00Z";
const GONE = "http://gone.example/page";
const STAYS = "http://stays.example/page";
/** Segments that turn, and small commits. */
const OPTIONS = { segmentSizeBytes: 3000, commitChangeCount: 12 };

const page = (uri: string) => captureBytes({ uri, date: DATE, payload: noise(uri, 700) });

async function add(disk: ForgetfulDisk, ...files: readonly (readonly Uint8Array[])[]): Promise<void> {
  await using writer = openWriter(disk, OPTIONS);
  await writer.add(files.map((records) => makeInput(disk, records)));
}

async function takeDown(disk: ForgetfulDisk): Promise<void> {
  await using writer = openWriter(disk, OPTIONS);
  await writer.remove({ url: GONE }, { reason: "a test" });
  writer.compact();
}

async function payloads(disk: ForgetfulDisk, url: string): Promise<Buffer[]> {
  await using archive = await openReader(disk);
  return await payloadsOf(archive, url);
}

it(`has all of a segmented capture, whenever the power went; seed ${SEED}`, { timeout: 300_000 }, async () => {
  const [one, two, three] = segments();
  let isAcknowledged = false;
  const count = await everyMoment(
    async (disk, look) => {
      await add(disk, [three, page(GONE)], [one, page(STAYS), two]);
      await look();
      isAcknowledged = true;
      await takeDown(disk);
    },
    () => isAcknowledged,
    async (disk, isThere) => {
      if (isThere) expect(await payloads(disk, SEGMENTED_URL)).toEqual([SEGMENTED_PAYLOAD]);
      await add(disk, [three, page(GONE)], [one, page(STAYS), two]);
      expect(await payloads(disk, SEGMENTED_URL)).toEqual([SEGMENTED_PAYLOAD]);
      await rebuild(disk);
      expect(await payloads(disk, SEGMENTED_URL)).toEqual([SEGMENTED_PAYLOAD]);
      await takeDown(disk);
      expect(await payloads(disk, SEGMENTED_URL)).toEqual([SEGMENTED_PAYLOAD]);
      expect(segmentRecords(disk, FOLDER).map(({ type }) => type)).toHaveLength(4);
      expect(await diagnose(disk)).toEqual([]);
    },
    { seed: SEED, aftermathCount: 1 },
  );
  expect(count).toBeGreaterThan(100);
});

it(`knows where odd records come from, whenever the power went; seed ${SEED}`, { timeout: 300_000 }, async () => {
  const odd = (uri: string) => Buffer.from(page(uri).toString("latin1").replace("WARC/1.0", "WARC/0.9"), "latin1");
  const uri = (file: number, i: number) => `http://${file}.example/${i}`;
  const files = [0, 1, 2].map((file) => [0, 1, 2, 3].map((i) => ((file + i) % 2 === 0 ? odd : page)(uri(file, i))));
  const check = async (disk: ForgetfulDisk) => {
    await using archive = await openReader(disk);
    const sources: string[] = [];
    for (const [file, records] of files.entries()) {
      const found = await Promise.all(records.map((_, i) => capturesOf(archive, uri(file, i))));
      const own = new Set(found.flat().map(({ source }) => source!));
      expect(own.size).toBeLessThanOrEqual(1);
      sources.push(...own);
    }
    expect(new Set(sources).size).toBe(sources.length);
  };
  const count = await everyMoment(
    async (disk) => {
      await using writer = openWriter(disk, OPTIONS);
      await writer.add(files.map((records) => makeInput(disk, records)));
    },
    () => undefined,
    async (disk) => {
      {
        await using _ = openWriter(disk, OPTIONS);
      }
      await check(disk);
      await rebuild(disk);
      await check(disk);
      expect(await diagnose(disk)).toEqual([]);
    },
    { seed: SEED, aftermathCount: 1 },
  );
  expect(count).toBeGreaterThan(40);
});

it(`heals, and forgets what had rotted, whenever the power went; seed ${SEED}`, { timeout: 300_000 }, async () => {
  const request = requestBytes({ uri: GONE, date: DATE, concurrentTo: [idOf(`response ${GONE} ${DATE}`)] });
  const apart = requestBytes({
    uri: GONE,
    date: DATE,
    id: "urn:x:apart",
    concurrentTo: [idOf(`response ${GONE} ${DATE}`)],
  });
  const records = [apart, page(STAYS), request, page(GONE)];
  const rotten = [apart, request, page(GONE)];
  let stage: "filling" | "healing" | "taking down" = "filling";
  const count = await everyMoment(
    async (disk, look) => {
      await add(disk, records);
      for (const record of rotten) rot(disk, record);
      await look();
      stage = "healing";
      await add(disk, records);
      await look();
      stage = "taking down";
      await takeDown(disk);
    },
    () => stage,
    async (disk, during) => {
      if (during === "filling") return;
      if (during === "healing") {
        await add(disk, records);
        expect(await payloads(disk, GONE)).toEqual([noise(GONE, 700)]);
      }
      const rebuilt = disk.reopen({ data: "keep", names: "keep", seed: 0 });
      {
        await using _ = openWriter(rebuilt, OPTIONS);
      }
      await rebuild(rebuilt);
      for (const each of [disk, rebuilt]) {
        await takeDown(each);
        for (const record of rotten) expect(countOf(each, record)).toBe(0);
        expect(segmentRecords(each, FOLDER).map(({ uri }) => uri)).toEqual([STAYS]);
        expect(await diagnose(each)).toEqual([]);
      }
    },
    { seed: SEED, aftermathCount: 1 },
  );
  expect(count).toBeGreaterThan(100);
});
