/** What a removal leaves behind, in answers and on the disk. */
import { expect, it } from "vitest";
import { ArchiveError, digestOf, formatDigest } from "../../base/index.ts";
import {
  diagnose,
  FOLDER,
  makeInput,
  openReader,
  openWriter,
  rebuild,
  visitBytes,
} from "../../testing/archive-fixture.ts";
import { historyOf } from "../../testing/asked-archive.ts";
import { noise, revisitBytes } from "../../testing/capture-text.ts";
import { ForgetfulDisk } from "../../testing/forgetful-disk.ts";
import type { WriterOptions } from "../index.ts";
import { appendJournal, type JournalEntry } from "../journal/journal.ts";
import { archivePaths } from "../segments/archive-folder.ts";
import { listSegments, segmentPath } from "../segments/segments.ts";

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
    const histories = await Promise.all(pages.map((uri) => historyOf(archive, uri)));
    return histories.map((own) => own.map(({ birth, end, captures }) => ({ birth, end, captures })));
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
    const { captures } = await writer.remove({ url: pages[9], toMs: START_MS + DAY_MS / 2 }, { reason: "asked" });
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

it("leaves no payload behind that nothing has, whenever the power went", async () => {
  const secret = noise("secret", 3000);
  const records = [
    visitBytes({ uri: pages[0]!, timeMs: START_MS, payload: secret }),
    visitBytes({ uri: pages[1]!, timeMs: START_MS, payload: noise("other", 500) }),
  ];
  const before = new ForgetfulDisk();
  {
    await using writer = openWriter(before);
    await writer.add([makeInput(before, records)]);
  }
  for (let stopAt = 1, stopped = true; stopped; stopAt++) {
    const disk = before.reopen({ data: "keep", names: "keep", seed: 0 }, { stopAt });
    try {
      await using writer = openWriter(disk);
      await writer.remove({ url: pages[0] }, { reason: "asked" });
    } catch (error) {
      if (!disk.operations.stopped) throw error;
    }
    ({ stopped } = disk.operations);
    for (const data of ["drop", "keep"] as const) {
      const after = disk.reopen({ data, names: "keep", seed: stopAt });
      await using writer = openWriter(after);
      await writer.remove({ url: pages[0] }, { reason: "asked" });
      expect(writer.state, `stopped at ${stopAt}`).toMatchObject({ captures: 1, contents: 1 });
    }
  }
});

it("by its payload goes on where the power went, though what is left may have nothing to have it from", async () => {
  const payload = noise("shared", 300);
  const { hex: sha256 } = digestOf("sha256", payload);
  const before = new ForgetfulDisk();
  {
    await using writer = openWriter(before);
    const digest = formatDigest(digestOf("sha1", payload));
    const revisit = revisitBytes({ uri: pages[1]!, date: "2020-01-02T00:00:00Z", digest });
    await writer.add([makeInput(before, [visitBytes({ uri: pages[0]!, timeMs: START_MS, payload }), revisit])]);
  }
  for (let stopAt = 1, stopped = true; stopped; stopAt++) {
    const disk = before.reopen({ data: "keep", names: "keep", seed: 0 }, { stopAt });
    try {
      // In portions of one capture.
      await using writer = openWriter(disk, { commitChangeCount: 10 });
      await writer.remove({ sha256 }, { reason: "asked" });
    } catch (error) {
      if (!disk.operations.stopped) throw error;
    }
    ({ stopped } = disk.operations);
    await using writer = openWriter(disk.reopen({ data: "keep", names: "keep", seed: stopAt }));
    await writer.remove({ sha256 }, { reason: "asked" });
    expect(writer.state, `stopped at ${stopAt}`).toMatchObject({ captures: 0, contents: 0, pending: 0 });
  }
});

it("refuses entries of its journal that it does not know, and changes nothing", async () => {
  const removed = { url: pages[0]!, date: "2020-01-01T00:00:00Z", sha256: null, id: null };
  for (const [entry, code] of [
    [{ kind: "embargo", captures: [removed] }, "HT_FORMAT_TOO_NEW"],
    [{}, "HT_CORRUPT"],
  ] as const) {
    const disk = await filled();
    appendJournal(disk, archivePaths(FOLDER).journal, { entries: 0 }, [entry as unknown as JournalEntry]);
    expect(() => openWriter(disk)).toThrow(expect.objectContaining({ code }));
    await expect(rebuild(disk)).rejects.toMatchObject({ code });
    await using archive = await openReader(disk);
    expect(await historyOf(archive, pages[0]!)).not.toEqual([]);
  }
});

it("removes nothing more once an entry of the journal was written by halves", async () => {
  const full = (await filled()).reopen({ data: "keep", names: "keep", seed: 0 });
  {
    await using writer = openWriter(full);
    const open = full.open.bind(full);
    full.open = (...asked) => {
      const file = open(...asked);
      const write = file.write.bind(file);
      file.write = (bytes, at) => {
        write(bytes.subarray(0, bytes.length >> 1), at);
        throw new ArchiveError("HT_NO_SPACE", "no space");
      };
      return file;
    };
    await expect(writer.remove({ url: pages[0] }, { reason: "asked" })).rejects.toMatchObject({ code: "HT_NO_SPACE" });
    full.open = open;
    await expect(writer.remove({ url: pages[0] }, { reason: "asked" })).rejects.toMatchObject({ code: "HT_NO_SPACE" });
  }
  {
    await using writer = openWriter(full);
    expect(await writer.remove({ url: pages[0] }, { reason: "asked" })).toMatchObject({ captures: 3 });
  }
  expect(await diagnose(full)).toEqual([]);
});
