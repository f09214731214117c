/** Records that belong together, in segments that are full after a few of them. */
import { expect, it } from "vitest";
import { formatIso } from "../../base/index.ts";
import {
  all,
  diagnose,
  exportedTypes,
  FOLDER,
  makeInput,
  openReader,
  openWriter,
  rebuild,
  type Visit,
  visitBytes,
  visitId,
} from "../../testing/archive-fixture.ts";
import { readArchive } from "../../testing/archive-reading.ts";
import { noise } from "../../testing/capture-text.ts";
import { ForgetfulDisk } from "../../testing/forgetful-disk.ts";
import { ArchiveCore } from "../core/archive-core.ts";
import { exportArchive } from "../export/export.ts";

const CRAWLS = 3;
const VISITS = 20;

function visitOf(crawl: number, page: number): Visit {
  const timeMs = Date.UTC(2020, crawl, 1, page);
  // Every third page stays as it was, and is a duplicate from the second crawl on.
  const payload = noise(`page ${page} ${page % 3 === 0 ? "" : crawl}`, 400 + 37 * page);
  return { uri: `http://a.example/${page}`, timeMs, payload };
}

/** A record that belongs to the visit. */
function noteBytes(visit: Visit, type: "request" | "metadata"): Buffer {
  const block = type === "request" ? "GET / HTTP/1.1\r\n\r\n" : "seed: \r\n";
  const lines = [
    "WARC/1.1",
    `WARC-Type: ${type}`,
    `WARC-Record-ID: <${visitId({ ...visit, number: type === "request" ? 7 : 8 })}>`,
    `WARC-Concurrent-To: <${visitId(visit)}>`,
    `WARC-Date: ${formatIso(visit.timeMs)}`,
    `WARC-Target-URI: ${visit.uri}`,
    `Content-Type: ${type === "request" ? "application/http; msgtype=request" : "application/warc-fields"}`,
    `Content-Length: ${block.length}`,
  ];
  return Buffer.from(`${lines.join("\r\n")}\r\n\r\n${block}\r\n\r\n`);
}

async function smallSegments(segmentSizeBytes: number): Promise<ForgetfulDisk> {
  const disk = new ForgetfulDisk();
  await using writer = openWriter(disk, { segmentSizeBytes });
  for (let crawl = 0; crawl < CRAWLS; crawl++) {
    const visits = Array.from({ length: VISITS }, (_, page) => visitOf(crawl, page));
    const records = visits.flatMap((visit) => [
      noteBytes(visit, "request"),
      visitBytes(visit),
      noteBytes(visit, "metadata"),
    ]);
    await writer.add([makeInput(disk, records)]);
  }
  return disk;
}

/** Types of the records that an export of one page of one crawl holds, in order. */
function exported(disk: ForgetfulDisk, crawl: number, page: number): Promise<string[]> {
  const { uri, timeMs } = visitOf(crawl, page);
  return exportedTypes(disk, { url: uri, fromMs: timeMs, toMs: timeMs });
}

async function crawls(disk: ForgetfulDisk): Promise<{ name: string; captures: number }[]> {
  await using archive = await openReader(disk);
  return (await all(archive.stats("crawl"))).map(({ name, captures }) => ({ name, captures }));
}

it.each([1000, 1500, 2500, 4000])("keeps what belongs to a capture with it: segments of %d bytes", async (size) => {
  const disk = await smallSegments(size);
  expect(disk.list(`${FOLDER}/volumes/0/segments`).length).toBeGreaterThan(CRAWLS);
  expect(await diagnose(disk)).toEqual([]);
  for (let crawl = 0; crawl < CRAWLS; crawl++) {
    for (let page = 0; page < VISITS; page++) {
      const types = await exported(disk, crawl, page);
      expect(types.slice(-3)).toEqual(["request", "response", "metadata"]);
    }
  }
});

it.each([1000, 2500])(
  "knows of each capture in which file it came, whatever went: segments of %d bytes",
  async (size) => {
    const disk = await smallSegments(size);
    {
      await using writer = openWriter(disk, { segmentSizeBytes: size });
      for (const page of [1, 2, 7, 13]) {
        await writer.remove({ url: visitOf(0, page).uri, toMs: Date.UTC(2020, 0, 20) }, { reason: "test" });
      }
      expect(writer.compact().segments).toBeGreaterThan(1);
    }
    const before = await crawls(disk);
    expect(before.map(({ captures }) => captures)).toEqual([VISITS - 4, VISITS, VISITS]);
    expect(await diagnose(disk)).toEqual([]);
    await rebuild(disk);
    expect(await crawls(disk)).toEqual(before);
    for (const page of [0, 3, 19]) {
      expect((await exported(disk, 1, page)).slice(-3)).toEqual(["request", "response", "metadata"]);
    }
  },
);

it("says of a capture that leads out of its segment that it does, and how to mend it", async () => {
  const disk = await smallSegments(4000);
  {
    using core = ArchiveCore.open(disk, FOLDER, {});
    const [one] = core.catalogue.allCaptures();
    const { key, row } = one!;
    core.catalogue.putCapture(key, row, { ...row, before: row.place.offset + 1 });
    core.commits.commit();
  }
  expect(await diagnose(disk)).toEqual([
    expect.stringMatching(/^HT_CORRUPT .* outside of its segment; `holotype rebuild`/),
  ]);
  const [output, description, software] = ["/all.warc.gz", "test", "test"];
  const all = exportArchive(disk, FOLDER, { output, format: "warc", selection: {}, description, software });
  // What belongs to it cannot be found; the capture can.
  expect(await all).toMatchObject({ captures: 60, left: 0, mended: 1 });
  await rebuild(disk);
  expect(await diagnose(disk)).toEqual([]);
});

it("begins a segment anew of which a crash left nothing whole", async () => {
  const disk = await smallSegments(1 << 20);
  const path = `${FOLDER}/volumes/0/segments/000002.warc.gz`;
  {
    using file = disk.open(path, "create");
    file.write(Buffer.from("1f8b0800", "hex"), 0);
  }
  {
    await using writer = openWriter(disk);
    await writer.add([makeInput(disk, [visitBytes(visitOf(CRAWLS, 0))])]);
  }
  using file = disk.open(path, "read");
  const bytes = Buffer.alloc(file.size());
  file.read(bytes, 0);
  expect(readArchive(bytes).records.map(({ type }) => type)).toEqual(["warcinfo", "metadata", "revisit"]);
  expect(await diagnose(disk)).toEqual([]);
});
