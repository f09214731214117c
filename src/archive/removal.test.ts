/** What a removal leaves behind, in answers and on the disk. */
import { expect, it } from "vitest";
import { diagnose, FOLDER, makeInput, openReader, openWriter, visitBytes } from "../testing/archive-fixture.ts";
import { noise } from "../testing/capture-text.ts";
import { ForgetfulDisk } from "../testing/forgetful-disk.ts";
import { archivePaths } from "./archive-folder.ts";
import type { WriterOptions } from "./index.ts";
import { listSegments, segmentPath } from "./segments.ts";

const DAY_MS = 86_400_000;
const START_MS = Date.UTC(2020, 0, 1);
const pages = Array.from({ length: 40 }, (_, i) => `http://site-${i % 4}.example/page-${i}`);

async function filled(options: WriterOptions = {}): Promise<ForgetfulDisk> {
  const disk = new ForgetfulDisk();
  await using writer = openWriter(disk, options);
  for (const day of [0, 1, 2]) {
    const records = pages.map((uri, i) => {
      const payload = noise(`${uri} ${i % 3 === 0 ? day : 0}`, 200);
      return visitBytes({ uri, timeMs: START_MS + day * DAY_MS, payload });
    });
    await writer.add([makeInput(disk, records)]);
  }
  return disk;
}

function timelineOf(disk: ForgetfulDisk): Buffer {
  using file = disk.open(`${archivePaths(FOLDER).timeline(1)}/timeline.pages`, "read");
  const bytes = Buffer.alloc(file.size());
  file.read(bytes, 0);
  return bytes;
}

it("leaves every other lifespan as it was, and with a compaction nothing of what was removed", async () => {
  const disk = await filled();
  const gone = new Set(pages.filter((_, i) => i % 4 === 0));
  const lifespans = async () => {
    await using archive = await openReader(disk);
    return pages.map((uri) => archive.history(uri).map(({ birth, end, captures }) => ({ birth, end, captures })));
  };
  const before = await lifespans();
  {
    await using writer = openWriter(disk);
    const { captures } = await writer.remove({ site: "site-0.example" }, { reason: "asked" });
    expect(captures).toBe(30);
  }
  expect(await lifespans()).toEqual(before.map((own, i) => (gone.has(pages[i]!) ? [] : own)));
  expect(timelineOf(disk).includes("site-0")).toBe(true);
  {
    await using writer = openWriter(disk);
    writer.compact();
  }
  expect(timelineOf(disk).includes("site-0")).toBe(false);
  expect(await lifespans()).toEqual(before.map((own, i) => (gone.has(pages[i]!) ? [] : own)));
  expect(await diagnose(disk)).toEqual([]);
});

it("leads a compaction to the segments in which something was, and to no others", async () => {
  const disk = await filled({ segmentSizeBytes: 5000 });
  const folder = archivePaths(FOLDER).segments;
  const sizes = () => new Map(listSegments(disk, folder).map((n) => [n, disk.stat(segmentPath(folder, n))!.sizeBytes]));
  const before = sizes();
  {
    await using writer = openWriter(disk);
    const { captures } = await writer.remove({ url: pages[7], toMs: START_MS + DAY_MS / 2 }, { reason: "asked" });
    expect(captures).toBe(1);
  }
  let looked = 0;
  {
    await using writer = openWriter(disk);
    const { segments } = writer.compact({ onProgress: () => looked++ });
    expect(segments).toBeLessThanOrEqual(1);
  }
  expect(before.size).toBeGreaterThan(6);
  expect(looked).toBe(1);
  {
    await using writer = openWriter(disk);
    looked = 0;
    writer.compact({ all: true, onProgress: () => looked++ });
  }
  expect(looked).toBe(sizes().size);
  expect(await diagnose(disk)).toEqual([]);
});

it("tells of each capture when it is gone, and of as many without removing them", async () => {
  const disk = await filled();
  const told: string[] = [];
  const onCapture = ({ url }: { readonly url: string }) => told.push(url);
  // In portions of four.
  await using writer = openWriter(disk, { commitChangeCount: 40 });
  const tried = await writer.remove({ site: "site-1.example" }, { reason: "", dryRun: true, onCapture });
  const first = told.splice(0).sort();
  const before = writer.state.captures;
  const removed = await writer.remove({ site: "site-1.example" }, { reason: "asked", onCapture });
  expect(removed).toEqual(tried);
  expect(told.sort()).toEqual(first);
  expect(told).toHaveLength(30);
  expect(writer.state.captures).toBe(before - 30);
});
