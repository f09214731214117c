/** Who asks while another one writes: all answers are of one commit, whatever moment it is. */
import { expect, it } from "vitest";
import {
  diagnose,
  FOLDER,
  makeInput,
  openWriter,
  rebuild,
  type Visit,
  visitBytes,
} from "../testing/archive-fixture.ts";
import { noise } from "../testing/capture-text.ts";
import { ForgetfulDisk } from "../testing/forgetful-disk.ts";
import type { ArchiveWriter } from "./archive-writer.ts";

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
