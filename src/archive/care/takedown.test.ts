/** What a takedown leaves in the segments, read by other means than our own: nothing of what was removed. */
import { describe, expect, it } from "vitest";
import { digestOf, formatDigest } from "../../base/index.ts";
import type { Input } from "../../pipeline/index.ts";
import {
  diagnose,
  exportedTypes,
  FOLDER,
  makeInput,
  openReader,
  openWriter,
  payloadsOf,
  rebuild,
} from "../../testing/archive-fixture.ts";
import {
  captureBytes,
  idOf,
  noise,
  packRecords,
  recordBytes,
  requestBytes,
  revisitBytes,
} from "../../testing/capture-text.ts";
import { ForgetfulDisk } from "../../testing/forgetful-disk.ts";
import { type PlainRecord, segmentRecords } from "../../testing/plain-records.ts";
import type { RemoveReport, Selection } from "../index.ts";

const DATE = "2020-01-01T00:00:00Z";
const LATER = "2020-01-01T01:00:00Z";
const GONE = "http://gone.example/page";
const STAYS = "http://stays.example/page";
const SHARED = noise("shared", 900);

const page = (uri: string, date = DATE, lines: readonly string[] = []) =>
  captureBytes({ uri, date, payload: noise(`${uri} ${date}`, 700), lines });
const pageId = (uri: string, date = DATE) => idOf(`response ${uri} ${date}`);
const shared = (uri: string, date: string) => captureBytes({ uri, date, payload: SHARED });

function note(type: string, uri: string | undefined, lines: readonly string[] = [], date = DATE): Buffer {
  const target = uri === undefined ? [] : [`WARC-Target-URI: ${uri}`];
  const id = `WARC-Record-ID: <${idOf(`${type} ${uri} ${date} ${lines.join()}`)}>`;
  return recordBytes(["WARC/1.0", `WARC-Type: ${type}`, id, `WARC-Date: ${date}`, ...target, ...lines], `of ${uri}`);
}

async function filled(...files: readonly (readonly Uint8Array[])[]): Promise<ForgetfulDisk> {
  const disk = new ForgetfulDisk();
  await using writer = openWriter(disk);
  for (const records of files) await writer.add([makeInput(disk, records)]);
  return disk;
}

async function remove(disk: ForgetfulDisk, selection: Selection): Promise<RemoveReport> {
  await using writer = openWriter(disk);
  return await writer.remove(selection, { reason: "a test" });
}

async function compact(disk: ForgetfulDisk) {
  await using writer = openWriter(disk);
  return writer.compact();
}

async function add(disk: ForgetfulDisk, input: Input, readmit = false) {
  await using writer = openWriter(disk);
  return await writer.add([input], { readmit });
}

/** What is left, as text: types and URIs, sorted. */
function left(disk: ForgetfulDisk): string[] {
  return segmentRecords(disk, FOLDER)
    .map(({ type, uri }) => `${type} ${uri}`)
    .sort();
}

/** Whatever is left that names it in its header or its block. */
function naming(disk: ForgetfulDisk, text: string): PlainRecord[] {
  return segmentRecords(disk, FOLDER).filter(({ head, block }) => head.includes(text) || block.includes(text));
}

/** The same whether the catalogue is the one that was there, or was rebuilt between the steps. */
async function takeDown(disk: ForgetfulDisk, selection: Selection): Promise<RemoveReport> {
  const other = disk.reopen({ data: "keep", names: "keep", seed: 0 });
  const report = await remove(disk, selection);
  await compact(disk);
  await remove(other, selection);
  await rebuild(other);
  await compact(other);
  expect(left(other)).toEqual(left(disk));
  for (const each of [disk, other]) expect(await diagnose(each)).toEqual([]);
  const before = left(disk);
  await rebuild(disk);
  await compact(disk);
  expect(left(disk)).toEqual(before);
  return report;
}

describe("records that belong to a removed capture go with it", () => {
  it("a request and metadata that name it, and stand elsewhere", async () => {
    const disk = await filled([
      note("metadata", GONE, [`WARC-Refers-To: <${pageId(GONE)}>`]),
      page(STAYS),
      page(GONE),
      page(STAYS, LATER),
      requestBytes({ uri: GONE, date: DATE, concurrentTo: [pageId(GONE)], http: ["Cookie: secret"] }),
    ]);
    expect(naming(disk, "gone.example")).toHaveLength(3);
    expect(await takeDown(disk, { url: GONE })).toMatchObject({ captures: 1 });
    expect(left(disk)).toEqual([`response ${STAYS}`, `response ${STAYS}`]);
  });

  it("a request and metadata that name nothing, by URL and time; those of others stay", async () => {
    const disk = await filled(
      [requestBytes({ uri: GONE, date: DATE }), requestBytes({ uri: STAYS, date: DATE }), page(STAYS), page(GONE)],
      [note("metadata", GONE), note("metadata", STAYS), requestBytes({ uri: GONE, date: LATER }), page(GONE, LATER)],
    );
    const toMs = Date.parse(DATE) + 60_000;
    expect(await takeDown(disk, { url: GONE, toMs })).toMatchObject({ captures: 1, notes: 2 });
    const mine = [`metadata ${STAYS}`, `request ${GONE}`, `request ${STAYS}`, `response ${GONE}`, `response ${STAYS}`];
    expect(left(disk)).toEqual(mine);
    expect(naming(disk, "gone.example").map(({ date }) => date)).toEqual([LATER, LATER]);
  });

  it("one of another URL that names it, and one that it names", async () => {
    const named = idOf("metadata urn:x:named 2020-01-01T00:00:00Z ");
    const disk = await filled([
      page(GONE, DATE, [`WARC-Concurrent-To: <${named}>`]),
      page(STAYS),
      note("metadata", "urn:x:named"),
      note("conversion", "urn:x:naming", [`WARC-Refers-To: <${pageId(GONE)}>`]),
      note("metadata", undefined, [`WARC-Concurrent-To: <${pageId(GONE)}>`]),
      note("metadata", "urn:x:stays", [`WARC-Refers-To: <${pageId(STAYS)}>`]),
    ]);
    expect(await remove(disk, { url: GONE })).toMatchObject({ captures: 1, notes: 3 });
    await compact(disk);
    expect(left(disk)).toEqual(["metadata urn:x:stays", `response ${STAYS}`]);
  });

  it("a request that nobody answered, and a continuation", async () => {
    const first = page(GONE, DATE, ["WARC-Segment-Number: 1"]);
    const segment = [`WARC-Segment-Origin-ID: <${pageId(GONE)}>`, "WARC-Segment-Number: 2"];
    const disk = await filled([
      first,
      page(STAYS),
      note("continuation", undefined, segment, LATER),
      requestBytes({ uri: `${GONE}/other`, date: LATER }),
      note("a-type-of-its-own", GONE, [], LATER),
    ]);
    const other = disk.reopen({ data: "keep", names: "keep", seed: 0 });
    await remove(other, { site: "gone.example" });
    // They are out of every answer at once.
    expect(await exportedTypes(other, {})).toEqual(["warcinfo", "response"]);
    expect(await takeDown(disk, { site: "gone.example" })).toMatchObject({ captures: 1, notes: 3 });
    expect(left(disk)).toEqual([`response ${STAYS}`]);
  });

  it("what crawlers file about it under other URIs, and what another method found", async () => {
    const resource = (uri: string) => captureBytes({ type: "resource", uri, date: DATE, payload: noise(uri, 300) });
    const http = ["Content-Type: application/x-www-form-urlencoded"];
    const post = captureBytes({ uri: GONE, date: LATER, payload: noise("posted", 500) });
    const disk = await filled([
      ...["dns:", "DnS:", "urn:pageinfo:https://", "screenshot:http://", "urn:text:http://www."].map((prefix) =>
        resource(`${prefix}gone.example`),
      ),
      ...["dns:", "urn:pageinfo:https://"].map((prefix) => resource(`${prefix}stays.example`)),
      post,
      requestBytes({ uri: GONE, date: LATER, method: "POST", body: "a=b", http, concurrentTo: [pageId(GONE, LATER)] }),
    ]);
    const method = `${GONE}?__wb_method=POST&a=b`;
    await using writer = openWriter(disk);
    expect(await writer.remove({ url: method }, { reason: "", dryRun: true })).toMatchObject({ captures: 1 });
    expect(await writer.remove({ site: "gone.example" }, { reason: "a test" })).toMatchObject({ captures: 6 });
    writer.compact();
    expect(left(disk)).toEqual(["resource dns:stays.example", "resource urn:pageinfo:https://stays.example"]);
  });

  it("and they do not come back with their file, nor with one that has only them", async () => {
    const request = requestBytes({ uri: GONE, date: DATE, http: ["Cookie: secret"] });
    const told = requestBytes({ uri: GONE, date: DATE, method: "HEAD", concurrentTo: [pageId(GONE)] });
    const records = [page(STAYS), request, page(STAYS, LATER), page(GONE)];
    const disk = await filled(records);
    await takeDown(disk, { url: GONE });
    for (const again of [records, [request], [told], [page(GONE), page(STAYS), request]])
      await add(disk, makeInput(disk, again));
    expect(naming(disk, "gone.example")).toEqual([]);
  });
});

describe("a payload that others share", () => {
  const others = [1, 2, 3].map((i) => shared(`http://stays.example/${i}`, `2020-02-0${4 - i}T00:00:00Z`));

  it("becomes the record of the earliest capture that stays, and revisits refer to that", async () => {
    const digest = formatDigest(digestOf("sha1", SHARED));
    const theirs = revisitBytes({
      uri: "http://third.example/",
      date: LATER,
      digest,
      refersTo: { uri: GONE, date: DATE },
    });
    const disk = await filled([shared(GONE, DATE), page(STAYS)], [...others, theirs]);
    const before = segmentRecords(disk, FOLDER).filter(({ isOurs }) => isOurs);
    expect(before.map(({ refersToUri }) => refersToUri)).toEqual([GONE, GONE, GONE]);
    expect(await takeDown(disk, { url: GONE })).toMatchObject({ captures: 1, contents: 0, revisits: 1 });
    const after = segmentRecords(disk, FOLDER);
    const heir = after.find(({ uri }) => uri === "http://stays.example/3")!;
    expect([heir.type, heir.block.includes(SHARED)]).toEqual(["response", true]);
    const ours = after.filter(({ isOurs }) => isOurs);
    expect(ours.map(({ refersToUri, names }) => [refersToUri, ...names])).toEqual(
      [1, 2].map(() => ["http://stays.example/3", heir.id]),
    );
    expect(naming(disk, "gone.example").map(({ uri }) => uri)).toEqual(["http://third.example/"]);
    await using archive = await openReader(disk);
    for (const uri of ["http://stays.example/1", "http://stays.example/3", "http://third.example/"])
      expect(await payloadsOf(archive, uri)).toEqual([SHARED]);
  });

  it("comes out of the archive as it went in", async () => {
    const disk = await filled([shared(GONE, DATE)], others);
    await takeDown(disk, { url: GONE });
    const [heir] = segmentRecords(disk, FOLDER).filter(({ type }) => type === "response");
    const [, , third] = others;
    expect(Buffer.concat([Buffer.from(heir!.head, "latin1"), heir!.block, Buffer.from("\r\n\r\n")])).toEqual(third);
  });

  it("is whole again in a revisit that may not refer to the new record", async () => {
    const twin = captureBytes({
      uri: "http://stays.example/3",
      date: "2020-02-01T00:00:00Z",
      payload: SHARED,
      id: "urn:x:twin",
    });
    const disk = await filled([shared(GONE, DATE)], [...others, twin]);
    await takeDown(disk, { url: GONE });
    const records = segmentRecords(disk, FOLDER);
    expect(records.filter(({ type }) => type === "response").map(({ uri }) => uri)).toEqual([
      "http://stays.example/3",
      "http://stays.example/3",
    ]);
    expect(naming(disk, "gone.example")).toEqual([]);
  });

  it("moves from one to the next, each in its framing, with what stands beside it", async () => {
    const chunked = [1, 2].map((i) =>
      captureBytes({
        uri: `http://chunked.example/${i}`,
        date: `2020-03-0${i}T00:00:00Z`,
        payload: SHARED,
        chunks: [100],
      }),
    );
    const asked = others.flatMap((bytes, i) => {
      const [uri, date] = [`http://stays.example/${i + 1}`, `2020-02-0${3 - i}T00:00:00Z`];
      return [bytes, requestBytes({ uri, date, concurrentTo: [pageId(uri, date)] })];
    });
    const disk = await filled([shared(GONE, DATE)], [...asked, ...chunked]);
    for (const url of [GONE, "http://stays.example/3", "http://chunked.example/1"]) await takeDown(disk, { url });
    const records = segmentRecords(disk, FOLDER).map(({ type, uri, refersToUri }) =>
      [type, uri, refersToUri].join(" ").trim(),
    );
    expect(records.sort()).toEqual([
      "request http://stays.example/1",
      "request http://stays.example/2",
      "response http://chunked.example/2",
      "response http://stays.example/2",
      "revisit http://stays.example/1 http://stays.example/2",
    ]);
    await using archive = await openReader(disk);
    for (const uri of ["http://stays.example/1", "http://chunked.example/2"])
      expect(await payloadsOf(archive, uri)).toEqual([SHARED]);
  });
});

describe("captures of several segments", () => {
  const parts = (uri: string, date = DATE) => {
    const id = pageId(uri, date);
    const lines = [`WARC-Segment-Origin-ID: <${id}>`, "WARC-Segment-Number: 2", "WARC-Segment-Total-Length: 1000"];
    const first = captureBytes({ uri, date, payload: SHARED, contentLength: 912, lines: ["WARC-Segment-Number: 1"] });
    return [first, note("continuation", uri, lines, date)] as const;
  };

  it("go with all of them; others of the same content stay whole", async () => {
    const [gone, stays] = [parts(GONE), parts(STAYS, LATER)];
    const disk = await filled([gone[0], page(`${STAYS}/2`), stays[0], stays[1]], [gone[1]]);
    const read = async () => {
      await using archive = await openReader(disk);
      return await payloadsOf(archive, STAYS);
    };
    const before = await read();
    expect(before[0]!.length).toBeGreaterThan(SHARED.length);
    await takeDown(disk, { url: GONE });
    expect(left(disk)).toEqual([`continuation ${STAYS}`, `response ${STAYS}`, `response ${STAYS}/2`]);
    expect(await read()).toEqual(before);
  });
});

describe("adopted files", () => {
  it("keep their bytes, and are named; what we wrote about them does not stay", async () => {
    const disk = new ForgetfulDisk();
    const file = makeInput(disk, [shared(GONE, DATE), page(STAYS)], "/holdings");
    {
      await using writer = openWriter(disk);
      await writer.adopt([file]);
      await writer.add([makeInput(disk, [shared("http://stays.example/1", LATER)])]);
    }
    expect(naming(disk, "gone.example")).toHaveLength(1);
    expect(await remove(disk, { url: GONE })).toMatchObject({ captures: 1, contents: 0, adopted: [file.path] });
    await compact(disk);
    expect(left(disk)).toEqual(["response http://stays.example/1"]);
    expect(naming(disk, "gone.example")).toEqual([]);
    expect(disk.stat(file.path)!.sizeBytes).toBe(file.size);
    expect(await diagnose(disk)).toEqual([]);
  });
});

describe("a readmission", () => {
  const request = requestBytes({ uri: GONE, date: DATE, http: ["Cookie: secret"] });
  const named = note("metadata", GONE, [`WARC-Refers-To: <${pageId(GONE)}>`]);
  const records = [request, page(STAYS), page(GONE), page(STAYS, LATER), named];

  it.each([
    ["as it was", [0, 1, 2, 3, 4]],
    ["the capture last", [4, 0, 1, 3, 2]],
    ["the capture first", [2, 1, 3, 4, 0]],
    ["all side by side", [1, 3, 0, 2, 4]],
  ])("brings everything back, before and after a compaction: %s", async (_, order) => {
    const disk = await filled(records);
    const before = left(disk);
    const again = () =>
      makeInput(
        disk,
        order.map((i) => records[i]!),
      );
    for (const isCompacted of [false, true]) {
      await remove(disk, { url: GONE });
      if (isCompacted) await compact(disk);
      await add(disk, again(), true);
      await compact(disk);
      expect(left(disk)).toEqual(before);
      await rebuild(disk);
      await compact(disk);
      expect(left(disk)).toEqual(before);
      expect(await add(disk, again())).toMatchObject({ captures: 0, known: 3 });
      expect(left(disk)).toEqual(before);
    }
    expect(await diagnose(disk)).toEqual([]);
  });

  it("is found by a rebuild, whatever its date is like", async () => {
    const odd = captureBytes({ uri: GONE, date: "20200101000000", payload: SHARED });
    const undated = captureBytes({ uri: `${GONE}/2`, date: "yesterday", payload: noise("undated", 300) });
    const disk = await filled([odd, undated]);
    await remove(disk, { site: "gone.example" });
    await compact(disk);
    expect(await add(disk, makeInput(disk, [odd, undated]), true)).toMatchObject({ captures: 2 });
    await rebuild(disk);
    await using archive = await openReader(disk);
    expect(await archive.counts()).toMatchObject({ captures: 2 });
  });
});

describe("a record that has rotted", () => {
  /** Changes bytes in the middle of the record of a URL. */
  function rot(disk: ForgetfulDisk, isHead = false): void {
    const path = `${FOLDER}/volumes/0/segments/000001.warc.gz`;
    using file = disk.open(path, "update");
    const bytes = Buffer.alloc(file.size());
    file.read(bytes, 0);
    const member = packRecords([page(GONE)]);
    const at = bytes.indexOf(member);
    expect(at).toBeGreaterThan(0);
    file.write(Buffer.alloc(30, 0x55), isHead ? at : at + member.length / 2);
    file.sync();
  }

  const request = (uri: string) => requestBytes({ uri, date: DATE, concurrentTo: [pageId(uri)] });

  it.each([false, true])("can be removed, and its segment compacted; its header too: %s", async (isHead) => {
    const first = [request(STAYS), page(STAYS), request(GONE), page(GONE), page(STAYS, LATER)];
    const disk = await filled(first);
    rot(disk, isHead);
    expect(await remove(disk, { url: GONE })).toMatchObject({ captures: 1 });
    expect(await compact(disk)).toMatchObject({ segments: 1 });
    expect(left(disk)).toEqual([`request ${STAYS}`, `response ${STAYS}`, `response ${STAYS}`]);
    expect(await diagnose(disk)).toEqual([]);
  });

  it("and was not removed stays as it is, and does not keep what was removed", async () => {
    const other = "http://other.example/page";
    const disk = await filled([request(other), page(other), request(GONE), page(GONE), page(STAYS)]);
    rot(disk);
    await remove(disk, { url: other });
    const report = await compact(disk);
    expect(report).toMatchObject({ segments: 1, damaged: [`${FOLDER}/volumes/0/segments/000001.warc.gz`] });
    await using archive = await openReader(disk);
    expect(await archive.counts()).toMatchObject({ captures: 2 });
    expect(await payloadsOf(archive, STAYS)).toHaveLength(1);
    await expect(payloadsOf(archive, GONE)).rejects.toMatchObject({ code: "HT_CORRUPT" });
    using file = disk.open(`${FOLDER}/volumes/0/segments/000002.warc.gz`, "read");
    const bytes = Buffer.alloc(file.size());
    file.read(bytes, 0);
    expect(bytes.includes(packRecords([page(other)]))).toBe(false);
    expect(bytes.includes(packRecords([request(other)]))).toBe(false);
    expect(bytes.includes(packRecords([request(GONE)]))).toBe(true);
  });
});
