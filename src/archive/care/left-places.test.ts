/** What was left, by a removal or by a healing, is dead wherever it lies, whether it can be read or not; nothing else is. */
import { describe, expect, it } from "vitest";
import {
  capturesOf,
  diagnose,
  exportedTypes,
  FOLDER,
  makeInput,
  openReader,
  openWriter,
  rebuild,
} from "../../testing/archive-fixture.ts";
import { captureBytes, idOf, noise, requestBytes } from "../../testing/capture-text.ts";
import { ForgetfulDisk } from "../../testing/forgetful-disk.ts";
import { segmentRecords } from "../../testing/plain-records.ts";
import { countOf, rot } from "../../testing/rotten-records.ts";
import type { Selection } from "./remove.ts";

const DATE = "2020-01-01T00:00:00Z";
const GONE = "http://gone.example/page";
const STAYS = "http://stays.example/page";
const OTHER = "http://other.example/page";

const page = (uri: string, date = DATE) => captureBytes({ uri, date, payload: noise(`${uri} ${date}`, 700) });
const pageId = (uri: string, date = DATE) => idOf(`response ${uri} ${date}`);
const request = (uri: string, date = DATE) => requestBytes({ uri, date, concurrentTo: [pageId(uri, date)] });
const unlinked = (uri: string, date: string) => requestBytes({ uri, date });

async function add(disk: ForgetfulDisk, records: readonly Uint8Array[], readmit = false) {
  await using writer = openWriter(disk);
  return await writer.add([makeInput(disk, records)], { readmit });
}

async function filled(...files: readonly (readonly Uint8Array[])[]): Promise<ForgetfulDisk> {
  const disk = new ForgetfulDisk();
  for (const records of files) await add(disk, records);
  return disk;
}

async function remove(disk: ForgetfulDisk, selection: Selection): Promise<void> {
  await using writer = openWriter(disk);
  await writer.remove(selection, { reason: "a test" });
}

async function compact(disk: ForgetfulDisk): Promise<void> {
  await using writer = openWriter(disk);
  writer.compact();
}

/** Types and URIs of what can be read. */
function left(disk: ForgetfulDisk): string[] {
  return segmentRecords(disk, FOLDER)
    .map(({ type, uri }) => `${type} ${uri}`)
    .sort();
}

const nothing = () => Promise.resolve();
const anew = (disk: ForgetfulDisk) => rebuild(disk, { acceptLoss: true });

describe.each([
  ["", nothing, nothing],
  [", rebuilt before it is removed", (disk: ForgetfulDisk) => rebuild(disk), nothing],
  [", rebuilt after it is removed", nothing, anew],
] as const)("a takedown%s, of what had rotted and was added again, takes", (_, first, second) => {
  async function takeDown(disk: ForgetfulDisk): Promise<void> {
    await first(disk);
    await remove(disk, { url: GONE });
    await second(disk);
    await compact(disk);
  }

  it("the rotten record as well", async () => {
    const disk = await filled([page(STAYS), page(GONE), page(OTHER)]);
    rot(disk, page(GONE));
    expect(await add(disk, [page(GONE)])).toMatchObject({ healed: 1 });
    expect(countOf(disk, page(GONE))).toBe(2);
    await takeDown(disk);
    expect(countOf(disk, page(GONE))).toBe(0);
    expect(left(disk)).toEqual([`response ${OTHER}`, `response ${STAYS}`]);
    expect(await diagnose(disk)).toEqual([]);
  });

  it("a rotten request beside the rotten record", async () => {
    const records = [request(GONE), page(GONE)];
    const disk = await filled([page(STAYS), ...records, page(OTHER)]);
    for (const record of records) rot(disk, record);
    expect(await add(disk, records)).toMatchObject({ healed: 1 });
    await takeDown(disk);
    expect(records.map((record) => countOf(disk, record))).toEqual([0, 0]);
    expect(left(disk)).toEqual([`response ${OTHER}`, `response ${STAYS}`]);
  });

  it("a request that stands by itself", async () => {
    const records = [request(GONE), page(STAYS), page(GONE)];
    const disk = await filled(records);
    rot(disk, request(GONE));
    await add(disk, records);
    expect(countOf(disk, request(GONE))).toBe(2);
    await takeDown(disk);
    expect(countOf(disk, request(GONE))).toBe(0);
    expect(left(disk)).toEqual([`response ${STAYS}`]);
  });
});

describe("what was healed", () => {
  it("gives its old place free, and keeps what can be read beside that", async () => {
    const disk = await filled([request(GONE), page(GONE), page(STAYS)]);
    rot(disk, page(GONE));
    await add(disk, [page(GONE)]);
    const other = disk.reopen({ data: "keep", names: "keep", seed: 0 });
    await rebuild(other);
    for (const each of [disk, other]) {
      await compact(each);
      expect([page(GONE), request(GONE)].map((record) => countOf(each, record))).toEqual([1, 1]);
      expect(await diagnose(each)).toEqual([]);
      await remove(each, { url: GONE });
      await compact(each);
      expect(left(each)).toEqual([`response ${STAYS}`]);
    }
  });

  it("keeps a request beside its old place that cannot be read and did not come again", async () => {
    const disk = await filled([page(STAYS), request(GONE), page(GONE), page(OTHER)]);
    for (const record of [request(GONE), page(GONE)]) rot(disk, record);
    await add(disk, [page(GONE)]);
    await compact(disk);
    expect([page(GONE), request(GONE)].map((record) => countOf(disk, record))).toEqual([1, 1]);
  });
});

describe("a request that stands by itself and has rotted", () => {
  it.each([
    ["", nothing],
    [", though everything is rebuilt before", anew],
  ])("goes with the next compaction%s", async (_, between) => {
    const disk = await filled([request(GONE), page(STAYS), page(GONE), page(OTHER)]);
    rot(disk, request(GONE));
    await remove(disk, { url: GONE });
    await between(disk);
    await compact(disk);
    expect(countOf(disk, request(GONE))).toBe(0);
    expect(left(disk)).toEqual([`response ${OTHER}`, `response ${STAYS}`]);
  });

  it("goes, though it was carried to another segment before", async () => {
    const disk = await filled([request(GONE), page(STAYS), page(GONE), page(OTHER)]);
    rot(disk, request(GONE));
    await remove(disk, { url: OTHER });
    await compact(disk);
    expect(countOf(disk, request(GONE))).toBe(1);
    await remove(disk, { url: GONE });
    await compact(disk);
    expect(countOf(disk, request(GONE))).toBe(0);
    expect(left(disk)).toEqual([`response ${STAYS}`]);
  });
});

describe.each([
  ["names it", request(GONE)],
  ["names nothing", unlinked(GONE, DATE)],
])("a request beside a removed capture that %s", (_, asked) => {
  const records = [asked, page(GONE), page(STAYS)];
  const all = [`request ${GONE}`, `response ${GONE}`, `response ${STAYS}`];

  it.each([
    ["before", [asked, page(GONE), page(STAYS)]],
    ["behind", [page(GONE), asked, page(STAYS)]],
  ])("and stands %s it stays away until it is readmitted itself", async (__, stored) => {
    for (const isCompacted of [false, true]) {
      const disk = await filled(stored);
      await remove(disk, { url: GONE });
      if (isCompacted) await compact(disk);
      await add(disk, [page(GONE)], true);
      for (const again of [stored, [asked], records]) await add(disk, again);
      for (const step of [compact, rebuild, compact]) await step(disk);
      expect(left(disk)).toEqual(all.slice(1));
      await add(disk, [asked], true);
      for (const step of [compact, rebuild, compact]) await step(disk);
      expect(left(disk)).toEqual(all);
      expect(await diagnose(disk)).toEqual([]);
    }
  });

  it("comes back alone, and its capture later", async () => {
    for (const isCompacted of [false, true]) {
      const disk = await filled(records);
      await remove(disk, { url: GONE });
      if (isCompacted) await compact(disk);
      await add(disk, [asked], true);
      for (const step of [compact, rebuild, compact]) await step(disk);
      expect(left(disk)).toEqual([`request ${GONE}`, `response ${STAYS}`]);
      await add(disk, [page(GONE)], true);
      for (const step of [compact, rebuild, compact]) await step(disk);
      expect(left(disk)).toEqual(all);
      expect(await diagnose(disk)).toEqual([]);
    }
  });
});

describe("a request that names two captures of its URL", () => {
  const [first, second] = [DATE, "2020-01-02T00:00:00Z"];
  const both = requestBytes({
    uri: GONE,
    date: first,
    method: "HEAD",
    concurrentTo: [pageId(GONE, first), pageId(GONE, second)],
  });

  it("goes with the one that is removed, and tells nothing of the other any more", async () => {
    const disk = await filled([page(GONE, first), page(STAYS), page(GONE, second), page(OTHER), both]);
    await remove(disk, { url: GONE, toMs: Date.parse(first) });
    const classes = async () => {
      await using archive = await openReader(disk);
      return (await capturesOf(archive, GONE)).map((capture) => capture.class);
    };
    expect(await classes()).toEqual(["state"]);
    await rebuild(disk);
    expect(await classes()).toEqual(["state"]);
    await compact(disk);
    expect(left(disk)).toEqual([`response ${GONE}`, `response ${OTHER}`, `response ${STAYS}`]);
  });
});

describe("a rebuild keeps what was kept", () => {
  it("a request that names nothing, though its capture comes behind a removed one of its URL", async () => {
    const [asked, near, far] = [DATE, "2020-01-01T00:00:05Z", "2020-01-01T00:00:20Z"];
    const disk = await filled([unlinked(GONE, asked)], [page(GONE, far)], [page(GONE, near)]);
    await remove(disk, { url: GONE, fromMs: Date.parse(far) });
    const wanted = [`request ${GONE}`, `response ${GONE}`];
    for (const step of [rebuild, compact, rebuild, compact]) await step(disk);
    expect(left(disk)).toEqual(wanted);
  });

  it("and what stayed away with an adopted file stays away", async () => {
    const disk = await filled([page(GONE), page(STAYS)]);
    await remove(disk, { url: GONE });
    const named = requestBytes({ uri: GONE, date: DATE, method: "HEAD", concurrentTo: [pageId(GONE)] });
    const before = await exportedTypes(disk, {});
    for (const records of [[named], [page(GONE), unlinked(GONE, DATE)], [unlinked(GONE, DATE), page(GONE)]]) {
      await using writer = openWriter(disk);
      await writer.adopt([makeInput(disk, records, "/holdings")]);
    }
    expect(await exportedTypes(disk, {})).toEqual(before);
    await rebuild(disk);
    expect(await exportedTypes(disk, {})).toEqual(before);
  });
});

describe("a request that stands by itself and came to lie right beside its capture", () => {
  it.each([
    ["behind", [page(GONE), page(OTHER), request(GONE)]],
    ["before", [request(GONE), page(OTHER), page(GONE)]],
  ])("%s it is known wherever it is carried, and goes with it", async (_, records) => {
    const third = "http://third.example/page";
    const disk = await filled([page(third), ...records, page(STAYS)]);
    for (const url of [OTHER, third]) {
      await remove(disk, { url });
      await compact(disk);
    }
    expect(left(disk)).toEqual([`request ${GONE}`, `response ${GONE}`, `response ${STAYS}`]);
    await remove(disk, { url: GONE });
    await compact(disk);
    expect(left(disk)).toEqual([`response ${STAYS}`]);
    expect(await diagnose(disk)).toEqual([]);
  });
});
