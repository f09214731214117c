/** Readers and writers have the last commit of an archive, or are refused: never an earlier one. */
import { expect, it } from "vitest";
import type { Disk } from "../../disk/index.ts";
import {
  diagnose,
  FOLDER,
  historyOf,
  makeInput,
  openReader,
  openWriter,
  rebuild,
  type Visit,
  visitBytes,
} from "../../testing/archive-fixture.ts";
import { noise } from "../../testing/capture-text.ts";
import { ForgetfulDisk } from "../../testing/forgetful-disk.ts";
import { archivePaths, lastCatalogue, listTimelines } from "../segments/archive-folder.ts";

const URL = "http://a.example/";
const paths = archivePaths(FOLDER);
const visit = (day: number): Visit => ({
  uri: URL,
  timeMs: Date.UTC(2020, 0, day),
  payload: noise(`day ${day}`, 900),
});

async function add(disk: Disk, day: number): Promise<void> {
  await using writer = openWriter(disk);
  await writer.add([makeInput(disk, [visitBytes(visit(day))])]);
}

async function births(disk: Disk): Promise<number[]> {
  await using archive = await openReader(disk);
  return (await historyOf(archive, URL)).map(({ birth }) => new Date(birth).getUTCDate());
}

function bytesOf(disk: Disk, path: string): Buffer {
  using file = disk.open(path, "read");
  const bytes = Buffer.alloc(file.size());
  file.read(bytes, 0);
  return bytes;
}

function put(disk: Disk, path: string, bytes: Buffer): void {
  using file = disk.open(path, "replace");
  file.write(bytes, 0);
}

const timelineFile = (disk: Disk) => `${paths.timeline(listTimelines(disk, FOLDER)[0]!)}/timeline.pages`;
const catalogueFile = (disk: Disk) => `${paths.catalogue(lastCatalogue(disk, FOLDER))}/catalogue.rows`;

it.each(["timeline", "catalogue"] as const)("a flipped bit in a slot of the %s takes nothing back", async (which) => {
  const [slotSize, fileOf] = which === "timeline" ? ([512, timelineFile] as const) : ([1024, catalogueFile] as const);
  for (const slot of [0, 1]) {
    const disk = new ForgetfulDisk();
    for (const day of [1, 2, 3]) await add(disk, day);
    const path = fileOf(disk);
    const bytes = bytesOf(disk, path);
    bytes[slot * slotSize + 20]! ^= 4;
    put(disk, path, bytes);
    expect(await births(disk)).toEqual([1, 2, 3]);
    await add(disk, 4);
    expect(await births(disk)).toEqual([1, 2, 3, 4]);
    expect(await diagnose(disk)).toEqual([]);
  }
});

it("an earlier timeline in its place is refused by readers and writers, and made again by a rebuild", async () => {
  const disk = new ForgetfulDisk();
  for (const day of [1, 2]) await add(disk, day);
  const path = timelineFile(disk);
  const before = bytesOf(disk, path);
  for (const day of [3, 4]) await add(disk, day);
  expect(timelineFile(disk)).toBe(path);
  put(disk, path, before);
  const refused = { code: "HT_CORRUPT", message: expect.stringContaining("holotype rebuild") as string };
  await expect(births(disk)).rejects.toMatchObject({ code: "HT_CORRUPT" });
  expect(() => openWriter(disk)).toThrow(expect.objectContaining(refused));
  expect(bytesOf(disk, path).equals(before)).toBe(true);
  await rebuild(disk);
  expect(await births(disk)).toEqual([1, 2, 3, 4]);
});

it("a catalogue of which little is left is no empty archive", async () => {
  for (const left of [0, 1, 100, 1024, 2047, 2048, 2100]) {
    const disk = new ForgetfulDisk();
    for (const day of [1, 2]) await add(disk, day);
    const path = catalogueFile(disk);
    put(disk, path, bytesOf(disk, path).subarray(0, left));
    await expect(births(disk), `${left} bytes`).rejects.toMatchObject({ code: "HT_CORRUPT" });
    expect(() => openWriter(disk), `${left} bytes`).toThrow(expect.objectContaining({ code: "HT_CORRUPT" }));
    await rebuild(disk);
    expect(await births(disk)).toEqual([1, 2]);
  }
});
