/** What a removal leaves behind, in answers and on the disk. */
import { expect, it } from "vitest";
import { diagnose, FOLDER, makeInput, openReader, openWriter, visitBytes } from "../testing/archive-fixture.ts";
import { noise } from "../testing/capture-text.ts";
import { ForgetfulDisk } from "../testing/forgetful-disk.ts";
import { archivePaths } from "./archive-folder.ts";

const DAY_MS = 86_400_000;
const START_MS = Date.UTC(2020, 0, 1);
const pages = Array.from({ length: 40 }, (_, i) => `http://site-${i % 4}.example/page-${i}`);

async function filled(): Promise<ForgetfulDisk> {
  const disk = new ForgetfulDisk();
  await using writer = openWriter(disk);
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
    expect(captures).toHaveLength(30);
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
