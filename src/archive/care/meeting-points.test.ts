/** Where healing, takedown, compaction and crashes meet: nothing alive goes, nothing removed stays. */
import { expect, it } from "vitest";
import {
  capturesOf,
  FOLDER,
  makeInput,
  openReader,
  openWriter,
  payloadsOf,
  rebuild,
} from "../../testing/archive-fixture.ts";
import { captureBytes, idOf, noise, packRecords, requestBytes, revisitBytes } from "../../testing/capture-text.ts";
import { ForgetfulDisk } from "../../testing/forgetful-disk.ts";
import type { Capture } from "../asking/capture.ts";

const DATE = "2020-01-01T00:00:00Z";
const NEXT = "2020-01-02T00:00:00Z";
const GONE = "http://gone.example/page";
const STAYS = "http://stays.example/page";
const PAYLOAD = noise("shared", 900);

const page = (uri: string, date = DATE) => captureBytes({ uri, date, payload: noise(`${uri} ${date}`, 700) });
const shared = (uri: string, date: string, lines: readonly string[] = []) =>
  captureBytes({ uri, date, payload: PAYLOAD, lines });
const request = (uri: string, date = DATE) =>
  requestBytes({ uri, date, concurrentTo: [idOf(`response ${uri} ${date}`)] });

async function add(
  disk: ForgetfulDisk,
  records: readonly Uint8Array[],
  trustOriginals = false,
  segmentSizeBytes = 1e6,
) {
  await using writer = openWriter(disk, { segmentSizeBytes });
  return await writer.add([makeInput(disk, records)], { trustOriginals });
}

async function filled(...files: readonly (readonly Uint8Array[])[]): Promise<ForgetfulDisk> {
  const disk = new ForgetfulDisk();
  for (const records of files) await add(disk, records);
  return disk;
}

async function takeDown(disk: ForgetfulDisk, toMs?: number): Promise<void> {
  await using writer = openWriter(disk);
  await writer.remove({ url: GONE, toMs }, { reason: "a test" });
  writer.compact();
}

async function compact(disk: ForgetfulDisk): Promise<void> {
  await using writer = openWriter(disk);
  writer.compact();
}

/** Where the record of a URL's first capture lies. */
async function member(disk: ForgetfulDisk, uri: string) {
  await using archive = await openReader(disk);
  const [{ file, offset, length }] = (await capturesOf(archive, uri)) as [Capture];
  return { file, offset, length };
}

function flip(disk: ForgetfulDisk, path: string, at: number): void {
  using file = disk.open(path, "update");
  const byte = Buffer.alloc(1);
  file.read(byte, at);
  byte[0]! ^= 0x55;
  file.write(byte, at);
  file.sync();
}

async function rot(disk: ForgetfulDisk, uri: string, fromEnd = 60): Promise<void> {
  const { file, offset, length } = await member(disk, uri);
  flip(disk, file, offset + length - fromEnd);
}

async function payloads(disk: ForgetfulDisk, uri: string): Promise<Buffer[]> {
  await using archive = await openReader(disk);
  return await payloadsOf(archive, uri);
}

/** Whether a record is in some segment, as it came. */
function isThere(disk: ForgetfulDisk, record: Buffer): boolean {
  return isIn(disk, packRecords([record]));
}

function isIn(disk: ForgetfulDisk, wanted: Buffer): boolean {
  const folder = `${FOLDER}/volumes/0/segments`;
  return disk.list(folder).some(({ name }) => bytesOf(disk, `${folder}/${name}`).includes(wanted));
}

function bytesOf(disk: ForgetfulDisk, path: string): Buffer {
  using file = disk.open(path, "read");
  const bytes = Buffer.alloc(file.size());
  file.read(bytes, 0);
  return bytes;
}

it("keeps the request of a capture that stands far before it, beside a removed one of its URL", async () => {
  const [first, second] = ["2020-01-01T00:00:10Z", "2020-01-01T00:00:40Z"];
  const disk = await filled([request(GONE, second), page(STAYS), page(GONE, first), page(GONE, second)]);
  await takeDown(disk, Date.parse(first) + 1000);
  await rebuild(disk);
  await compact(disk);
  expect(isThere(disk, request(GONE, second))).toBe(true);
});

it("takes down the request of a removed capture from a segment in which another record has rotted", async () => {
  const disk = await filled([request(GONE), page(GONE), page(STAYS), page("http://other.example/")]);
  {
    await using writer = openWriter(disk);
    await writer.remove({ url: GONE }, { reason: "a test" });
  }
  await rot(disk, STAYS);
  await rebuild(disk, { acceptLoss: true });
  await compact(disk);
  expect(isThere(disk, request(GONE))).toBe(false);
});

it("compacts where a record has to stay and the request before it goes", async () => {
  const disk = new ForgetfulDisk();
  await add(disk, [request(GONE), shared(GONE, DATE)], false, 1000);
  await add(disk, [shared(STAYS, NEXT)]);
  await rot(disk, STAYS, 20);
  await takeDown(disk);
  expect(isThere(disk, request(GONE))).toBe(false);
});

it("lets no payload go for a record that it has just healed, though originals are trusted", async () => {
  const disk = await filled([shared(GONE, DATE)]);
  await rot(disk, GONE);
  expect(await add(disk, [shared(GONE, DATE)], true)).toMatchObject({ healed: 1 });
  await add(disk, [shared(STAYS, NEXT)], true);
  expect(await payloads(disk, STAYS)).toEqual([PAYLOAD]);
});

it("heals what others refer to, though it is truncated", async () => {
  const truncated = shared(GONE, DATE, ["WARC-Truncated: length"]);
  const disk = await filled([truncated, revisitBytes({ uri: STAYS, date: NEXT, refersTo: { uri: GONE, date: DATE } })]);
  await rot(disk, GONE);
  expect(await add(disk, [truncated])).toMatchObject({ healed: 1 });
  expect(await payloads(disk, STAYS)).toEqual([PAYLOAD]);
});

it("keeps the only readable record of a payload where what else has it has rotted", async () => {
  const other = "http://other.example/";
  const revisit = revisitBytes({ uri: other, date: "2020-01-03T00:00:00Z", refersTo: { uri: STAYS, date: NEXT } });
  const disk = await filled([shared(GONE, DATE)], [shared(STAYS, NEXT, ["WARC-Truncated: length"]), revisit]);
  await rot(disk, STAYS);
  await takeDown(disk);
  expect(await payloads(disk, other)).toEqual([PAYLOAD]);
});

it("keeps a request that names nothing with the visit of its own time", async () => {
  const [first, second] = [DATE, "2020-01-01T00:00:30Z"];
  const unlinked = (date: string) => requestBytes({ uri: GONE, date });
  const disk = await filled([unlinked(first), page(GONE, first), unlinked(second), page(GONE, second)]);
  await takeDown(disk, Date.parse(first) + 1000);
  expect([first, second].map((date) => isThere(disk, unlinked(date)))).toEqual([false, true]);
});

it("heals a request that stands by itself", async () => {
  const records = [request(GONE), page(STAYS), page(GONE)];
  const disk = await filled(records);
  const path = `${FOLDER}/volumes/0/segments/000001.warc.gz`;
  flip(disk, path, bytesOf(disk, path).indexOf(packRecords([records[0]!])) + 120);
  expect(isThere(disk, records[0]!)).toBe(false);
  await add(disk, records);
  expect(isThere(disk, records[0]!)).toBe(true);
  expect(await add(disk, records)).toMatchObject({ known: 2, bytesKept: 0 });
});

it("takes down a record that rots after it was removed, though everything is rebuilt before it is compacted", async () => {
  const disk = await filled([page(GONE), page(STAYS)]);
  const rotten = await member(disk, GONE);
  {
    await using writer = openWriter(disk);
    await writer.remove({ url: GONE }, { reason: "a test" });
  }
  // In the checksum: the rest of it could be read.
  flip(disk, rotten.file, rotten.offset + rotten.length - 3);
  await rebuild(disk, { acceptLoss: true });
  await compact(disk);
  const bytes = packRecords([page(GONE)]);
  expect(isIn(disk, bytes.subarray(0, bytes.length - 8))).toBe(false);
  expect(await payloads(disk, STAYS)).toHaveLength(1);
});
