/** Who asks while another one writes: all answers are of one commit, whatever moment it is. */
import { expect, it, vi } from "vitest";
import { digestOf } from "../../base/index.ts";
import type { OpenMode } from "../../disk/index.ts";
import {
  capturesOf,
  diagnose,
  FOLDER,
  historyOf,
  makeInput,
  openReader,
  openWriter,
  payloadOf,
  rebuild,
  type Visit,
  visitBytes,
} from "../../testing/archive-fixture.ts";
import { captureBytes, noise, packRecords } from "../../testing/capture-text.ts";
import { ForgetfulDisk } from "../../testing/forgetful-disk.ts";
import type { ArchiveWriter } from "../archive-writer.ts";
import { ArchiveCore } from "../core/archive-core.ts";
import { exportArchive } from "../export/export.ts";
import type { Archive } from "./archive.ts";
import type { Capture } from "./capture.ts";

const PAGES = 8;

/** Every third page stays as it was, and is a duplicate from the second crawl on. */
function visitOf(crawl: number, page: number): Visit {
  const payload = noise(`page ${page} ${page % 3 === 0 ? "" : crawl}`, 500);
  return { uri: `http://a.example/${page}`, timeMs: Date.UTC(2020, crawl, 1, page), payload };
}

function crawlBytes(crawl: number): Buffer[] {
  return Array.from({ length: PAGES }, (_, page) => visitBytes(visitOf(crawl, page)));
}

/** Takes the disk as it is after each operation that changes what others see. */
async function momentsOf(run: (disk: ForgetfulDisk, write: Write) => Promise<void>): Promise<Moment[]> {
  const moments: Moment[] = [];
  const disk: ForgetfulDisk = new ForgetfulDisk({
    onOperation: () => {
      const last = disk.operations.log.at(-1);
      if (last === undefined || !/^(write|rename|remove|truncate) /.test(last)) return;
      moments.push({ last, left: disk.reopen({ data: "keep", names: "keep", seed: 0 }) });
    },
  });
  await run(disk, async (work) => {
    await using writer = openWriter(disk, { segmentSizeBytes: 3000 });
    await work(writer);
  });
  return moments;
}

type Write = (work: (writer: ArchiveWriter) => unknown) => Promise<void>;

interface Moment {
  readonly last: string;
  readonly left: ForgetfulDisk;
}

it("finds catalogue and timeline as of one commit at any moment of a writer", { timeout: 60_000 }, async () => {
  let first = 0;
  const moments = await momentsOf(async (disk, write) => {
    for (const crawl of [0, 1]) await write((writer) => writer.add([makeInput(disk, crawlBytes(crawl))]));
    first = disk.operations.log.length;
    await write((writer) => writer.add([makeInput(disk, crawlBytes(2))]));
    await write((writer) => writer.remove({ url: visitOf(0, 3).uri }, { reason: "a test" }));
    await write((writer) => writer.compact());
    await rebuild(disk);
  });
  let count = 0;
  for (const { last, left } of moments) {
    if (left.stat("/archive/archive.json") === undefined || count++ < first / 2) continue;
    expect(await diagnose(left, false), last).toEqual([]);
  }
  expect(count).toBeGreaterThan(50);
});

it("gives out no number of a segment twice, for who still reads by it", async () => {
  const disk = new ForgetfulDisk();
  const segments = () => disk.list(`${FOLDER}/volumes/0/segments`).map(({ name }) => name);
  const write = async (work: (writer: ArchiveWriter) => unknown) => {
    await using writer = openWriter(disk);
    await work(writer);
  };
  await write((writer) => writer.add([makeInput(disk, crawlBytes(0))]));
  const before = segments();
  await write(async (writer) => {
    for (let page = 0; page < PAGES; page++) await writer.remove({ url: visitOf(0, page).uri }, { reason: "a test" });
    writer.compact();
  });
  await rebuild(disk);
  await write((writer) => writer.add([makeInput(disk, crawlBytes(1))]));
  expect(segments().filter((name) => before.includes(name))).toEqual([]);
  await write((writer) => writer.compact({ all: true }));
  expect(await diagnose(disk)).toEqual([]);
});

const CRAWLS = 5;

/** What a crawl found of a page. */
async function captureOf(archive: Archive, crawl: number, page: number): Promise<Capture> {
  const { uri, timeMs } = visitOf(crawl, page);
  return (await archive.at(uri, timeMs))!.capture;
}

/** Some crawls in small segments, from which one page was removed. */
async function removedFrom(): Promise<ForgetfulDisk> {
  const disk = new ForgetfulDisk();
  await using writer = openWriter(disk, { segmentSizeBytes: 3000 });
  for (let crawl = 0; crawl < CRAWLS; crawl++) await writer.add([makeInput(disk, crawlBytes(crawl))]);
  await writer.remove({ url: visitOf(0, 4).uri }, { reason: "a test" });
  return disk;
}

function compact(disk: ForgetfulDisk): void {
  const writer = openWriter(disk, { segmentSizeBytes: 3000 });
  expect(writer.compact().segments).toBeGreaterThan(1);
  // Closes at once, and has nothing to wait for.
  void writer[Symbol.asyncDispose]();
}

it("reads what it knows in the segments that a compaction carried it to", async () => {
  const disk = await removedFrom();
  await using early = await openReader(disk);
  compact(disk);
  await rebuild(disk);
  for (let crawl = 0; crawl < CRAWLS; crawl++) {
    for (const page of [0, 1, 2, 3, 5, 6, 7]) {
      const { uri, payload } = visitOf(crawl, page);
      const capture = await captureOf(early, crawl, page);
      await using opened = await early.open(capture);
      expect(opened.head).toContain(`WARC-Target-URI: ${uri}\r\n`);
      expect(await payloadOf(early, capture)).toEqual(payload);
    }
  }
});

it("says of what was removed since, bytes and all, that it was, and of a lost segment that it is lost", async () => {
  const disk = await removedFrom();
  await using early = await openReader(disk);
  {
    await using writer = openWriter(disk, { segmentSizeBytes: 3000 });
    await writer.remove({ url: visitOf(0, 5).uri }, { reason: "a test" });
    writer.compact();
  }
  const removed = await captureOf(early, 0, 5);
  await expect(payloadOf(early, removed)).rejects.toMatchObject({ code: "HT_CHANGED" });
  await using late = await openReader(disk);
  const lost = await captureOf(late, 0, 6);
  disk.remove(lost.file);
  await expect(payloadOf(late, lost)).rejects.toMatchObject({ code: "HT_LOST" });
});

/** Compacts when a segment is asked for in this way for the first time. */
function compactOn(disk: ForgetfulDisk, call: "stat" | "open"): { readonly isDone: boolean } & Disposable {
  const original = disk[call].bind(disk) as (path: string, mode: OpenMode) => never;
  let isDone = false;
  const spy = vi.spyOn(disk, call).mockImplementation((path: string, mode: OpenMode) => {
    if (!isDone && path.endsWith(".warc.gz")) {
      isDone = true;
      compact(disk);
    }
    return original(path, mode);
  });
  return {
    get isDone() {
      return isDone;
    },
    [Symbol.dispose]: () => {
      spy.mockRestore();
    },
  };
}

it.each(["warc", "wacz"] as const)("goes on with an export (%s) while segments go away under it", async (format) => {
  const disk = await removedFrom();
  const mime = (each: string | undefined) => each !== "image/png";
  const options = { format, selection: { mime }, description: "test", software: "test" };
  {
    using compaction = compactOn(disk, "open");
    const { captures, record, revisit } = await exportArchive(disk, FOLDER, { ...options, output: `/one.${format}` });
    expect(compaction.isDone).toBe(true);
    expect(captures).toBe(CRAWLS * (PAGES - 1));
    // Of three pages all crawls found the same.
    expect({ record, revisit }).toEqual({ record: captures - 3 * (CRAWLS - 1), revisit: 3 * (CRAWLS - 1) });
  }
});

it("lets the doctor find nothing wrong with what is being written, or carried elsewhere", async () => {
  const disk = await removedFrom();
  {
    // Records that are flushed and not committed.
    using core = ArchiveCore.open(disk, FOLDER, {});
    const record = packRecords([visitBytes(visitOf(CRAWLS, 0))]);
    core.segment.append((sink) => sink.write(Buffer.concat([record, record.subarray(0, 40)])));
    core.segment.sync();
    expect(await diagnose(disk)).toEqual([]);
  }
  for (const call of ["stat", "open"] as const) {
    using compaction = compactOn(disk, call);
    expect(await diagnose(disk)).toEqual([]);
    expect(compaction.isDone).toBe(true);
    await using writer = openWriter(disk, { segmentSizeBytes: 3000 });
    await writer.remove({ url: visitOf(0, 5).uri }, { reason: "a test" });
  }
});

it("answers as of one commit until it is told to follow, and ends as it began what has begun", async () => {
  const disk = new ForgetfulDisk();
  const add = async (crawl: number) => {
    await using writer = openWriter(disk);
    await writer.add([makeInput(disk, crawlBytes(crawl))]);
  };
  await add(0);
  await using archive = await openReader(disk);
  const { uri, payload } = visitOf(0, 1);
  const begun = archive.history(uri)[Symbol.asyncIterator]();
  await using opened = await archive.open(await captureOf(archive, 0, 1));
  await add(1);
  expect(await historyOf(archive, uri)).toHaveLength(1);
  const early = await begun.next();
  expect([await archive.refresh(), await archive.refresh()]).toEqual([true, false]);
  expect(await historyOf(archive, uri)).toHaveLength(2);
  expect(early.value).toHaveLength(1);
  expect((await begun.next()).done).toBe(true);
  const chunks: Uint8Array[] = [];
  for await (const chunk of opened.payload()) chunks.push(chunk);
  expect(Buffer.concat(chunks)).toEqual(payload);
});

it("follows each of two captures that differ in nothing but their payloads", async () => {
  const disk = new ForgetfulDisk();
  const [gone, one, two] = ["gone", "one", "two"].map((name) => noise(name, 900)) as [Buffer, Buffer, Buffer];
  const shared = {
    uri: "http://a.example/",
    date: "2020-01-05T00:00:00Z",
    id: "urn:uuid:one",
    digest: "wrong",
  } as const;
  await using writer = openWriter(disk);
  await writer.add([
    makeInput(disk, [
      captureBytes({ uri: "http://gone.example/", date: shared.date, payload: gone }),
      ...[one, two].map((payload) => captureBytes({ ...shared, payload })),
    ]),
  ]);
  await using archive = await openReader(disk);
  const found = await capturesOf(archive, shared.uri);
  await writer.remove({ url: "http://gone.example/" }, { reason: "a test" });
  writer.compact();
  const payloads = await Promise.all(found.map((capture) => payloadOf(archive, capture)));
  expect(payloads.map((payload) => digestOf("sha256", payload).hex)).toEqual(found.map(({ sha256 }) => sha256));
  expect(payloads).toHaveLength(2);
  expect(payloads).toEqual(expect.arrayContaining([one, two]));
});
