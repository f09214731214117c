/** Files that are added again: after an interruption, while they were still being written, after something has rotted. */
import { gunzipSync } from "node:zlib";
import { describe, expect, it } from "vitest";
import { digestOf, formatDigest, formatIso } from "../../base/index.ts";
import type { Disk } from "../../disk/index.ts";
import type { Input } from "../../pipeline/index.ts";
import {
  capturesOf,
  diagnose,
  exportedTypes,
  FOLDER,
  makeInput,
  openReader,
  openWriter,
  payloadsOf,
  rebuild,
  type Visit,
  visitBytes,
  visitId,
} from "../../testing/archive-fixture.ts";
import { captureBytes, noise, packRecords, recordBytes, requestBytes } from "../../testing/capture-text.ts";
import { ForgetfulDisk } from "../../testing/forgetful-disk.ts";

const SEGMENTS = `${FOLDER}/volumes/0/segments`;
const DATE = "2020-01-01T00:00:00Z";

function visit(page: number, payload = noise(`page ${page}`, 900)): Visit {
  return { uri: `http://a.example/${page}`, timeMs: Date.UTC(2020, 0, page), payload };
}

function noteBytes(of: Visit, type: "request" | "metadata"): Buffer {
  return recordBytes(
    [
      "WARC/1.0",
      `WARC-Type: ${type}`,
      `WARC-Record-ID: <${visitId({ ...of, number: type === "request" ? 7 : 8 })}>`,
      `WARC-Concurrent-To: <${visitId(of)}>`,
      `WARC-Date: ${formatIso(of.timeMs)}`,
      `WARC-Target-URI: ${of.uri}`,
      `Content-Type: ${type === "request" ? "application/http; msgtype=request" : "application/warc-fields"}`,
    ],
    type === "request" ? "GET / HTTP/1.1\r\n\r\n" : `seed: ${of.uri}\r\n`,
  );
}

function bytesOf(disk: Disk, path: string): Buffer {
  using file = disk.open(path, "read");
  const bytes = Buffer.alloc(file.size());
  file.read(bytes, 0);
  return bytes;
}

/** The records of all segments but those that we write ourselves, by type and URI. */
function recordsIn(disk: Disk): string[] {
  const texts = disk
    .list(SEGMENTS)
    .map(({ name }) => gunzipSync(bytesOf(disk, `${SEGMENTS}/${name}`)).toString("latin1"));
  const heads = texts.flatMap((text) =>
    [...text.matchAll(/WARC\/[\d.]+\r?\n(?:[^\r\n]+\r?\n)+/g)].map(([head]) => head),
  );
  const field = (head: string, name: string) => new RegExp(`^${name}: (.*?)\\r?$`, "im").exec(head)?.[1] ?? "";
  const records = heads.map((head) => `${field(head, "WARC-Type")} ${field(head, "WARC-Target-URI")}`);
  return records.filter((record) => record !== "warcinfo " && !record.startsWith("metadata urn:holotype")).sort();
}

function fileInput(disk: Disk, name: string, bytes: Buffer): Input {
  disk.makeFolder("/inputs");
  const path = `/inputs/${name}`;
  using file = disk.open(path, "replace");
  file.write(bytes, 0);
  file.sync();
  return { name: path, path, entries: [], size: bytes.length };
}

async function add(disk: Disk, ...inputs: Input[]) {
  await using writer = openWriter(disk);
  return await writer.add(inputs);
}

describe("a file that was added in part", () => {
  const pages = [1, 2, 3].map((page) => visit(page));
  // The second and the third page are the same: one of them becomes a revisit.
  pages[2] = visit(3, pages[1]!.payload);
  const records = pages.flatMap((page) => [noteBytes(page, "request"), visitBytes(page), noteBytes(page, "metadata")]);
  const wanted = pages
    .flatMap(({ uri }, i) => [`request ${uri}`, `${i === 2 ? "revisit" : "response"} ${uri}`, `metadata ${uri}`])
    .sort();

  it.each(["gzip", "none"] as const)("is completed, wherever it ended when it was added (%s)", async (compression) => {
    const whole = packRecords(records, compression);
    const ending = compression === "gzip" ? "warc.gz" : "warc";
    const ends = records.map((_, i) => packRecords(records.slice(0, i), compression).length);
    for (const end of ends.flatMap((at) => [at, at + 40])) {
      const disk = new ForgetfulDisk();
      if (end > 0) await add(disk, fileInput(disk, `a.${ending}`, whole.subarray(0, end)));
      await add(disk, fileInput(disk, `a.${ending}`, whole));
      expect(recordsIn(disk), `cut at ${end}`).toEqual(wanted);
      expect(await diagnose(disk)).toEqual([]);
      expect(await add(disk, fileInput(disk, `a.${ending}`, whole))).toMatchObject({ known: 3, bytesKept: 0 });
      await rebuild(disk);
      expect(await add(disk, fileInput(disk, `a.${ending}`, whole))).toMatchObject({ known: 3, bytesKept: 0 });
    }
  });

  it("is completed where responses and requests came in files of their own, in any order", async () => {
    const types = [noteBytes, visitBytes] as const;
    for (const order of [
      [0, 1],
      [1, 0],
    ]) {
      const disk = new ForgetfulDisk();
      const inputs = types.map((make) =>
        makeInput(
          disk,
          pages.map((page) => make(page, "request")),
        ),
      );
      for (const i of order) await add(disk, inputs[i]!);
      for (const i of order) expect(await add(disk, inputs[i]!)).toMatchObject({ captures: 0, bytesKept: 0 });
      expect(recordsIn(disk)).toEqual(wanted.filter((record) => !record.startsWith("metadata")));
    }
  });
});

describe("records that have much in common", () => {
  const one = { uri: "http://a.example/", date: DATE, payload: noise("one", 700), id: "urn:uuid:1" };
  it.each([
    ["another URI of the same key", { ...one, uri: "http://www.a.example/" }],
    ["another status", { ...one, status: "404 Not Found" }],
    ["another HTTP header", { ...one, http: ["X-Cache: HIT"] }],
    ["another payload under one digest", { ...one, payload: noise("two", 700), digest: "wrong" as const }],
    ["another id", { ...one, id: "urn:uuid:2" }],
    ["another end of the HTTP header", { ...one, http: ["X-Empty: "] }],
  ])("are different records with %s", async (_, other) => {
    const disk = new ForgetfulDisk();
    const inputs = [one, other].map((each) => makeInput(disk, [captureBytes(each)]));
    for (const input of inputs) expect(await add(disk, input)).toMatchObject({ captures: 1, known: 0 });
    await rebuild(disk);
    await using archive = await openReader(disk);
    expect(await capturesOf(archive, one.uri)).toHaveLength(2);
  });

  const chunked = { ...one, payload: noise("large", 1_200_000), chunks: [400_000] };
  const small = { ...one, chunks: [100] };
  it.each([
    ["other chunks", small, { ...small, chunks: [101] }],
    ["an extension of chunk sizes", small, { ...small, chunkExtension: ";x=1" }],
    ["another trailer", { ...small, trailer: "A: 1\r\n\r\n" }, { ...small, trailer: "A: 2\r\n\r\n" }],
    ["other chunks of a large body", chunked, { ...chunked, chunks: [400_001] }],
    [
      "another extension in a large body",
      { ...chunked, chunkExtension: ";x=1" },
      { ...chunked, chunkExtension: ";x=2" },
    ],
  ])("are different records with %s, in any order", async (_, first, second) => {
    const both = [captureBytes(first), captureBytes(second)];
    for (const order of [both, both.toReversed()]) {
      const disk = new ForgetfulDisk();
      const inputs = order.map((each) => makeInput(disk, [each]));
      for (const input of inputs) expect(await add(disk, input)).toMatchObject({ captures: 1, known: 0 });
      for (const isRebuilt of [false, true]) {
        if (isRebuilt) await rebuild(disk);
        for (const input of inputs) expect(await add(disk, input)).toMatchObject({ known: 1, bytesKept: 0 });
        await using archive = await openReader(disk);
        expect(await payloadsOf(archive, one.uri)).toEqual([first.payload, first.payload]);
      }
      const types = await exportedTypes(disk, {});
      expect(types.filter((type) => type === "response" || type === "revisit")).toHaveLength(2);
    }
  });

  it("are one where a revisit took the place of one, whoever wrote it", async () => {
    const digestText = formatDigest(digestOf("sha1", one.payload));
    const revisit = captureBytes({ ...small, type: "revisit", payload: "", chunks: [], digestText });
    for (const order of [
      [captureBytes(small), revisit],
      [revisit, captureBytes(small)],
    ]) {
      const disk = new ForgetfulDisk();
      for (const bytes of order) await add(disk, makeInput(disk, [bytes]));
      await rebuild(disk);
      await using archive = await openReader(disk);
      expect(await capturesOf(archive, one.uri)).toHaveLength(1);
    }
  });

  it("are removed together, and do not come back in another form", async () => {
    const disk = new ForgetfulDisk();
    const [first, second] = [small, { ...small, chunks: [101] }].map((each) => makeInput(disk, [captureBytes(each)]));
    await add(disk, first!);
    {
      await using writer = openWriter(disk);
      await writer.remove({ url: one.uri }, { reason: "asked" });
    }
    expect(await add(disk, second!)).toMatchObject({ captures: 0, removed: 1 });
  });

  it("are different records where they are no captures, too", async () => {
    const disk = new ForgetfulDisk();
    const note = (text: string) =>
      recordBytes(
        [
          "WARC/1.0",
          "WARC-Type: conversion",
          "WARC-Record-ID: <urn:uuid:c>",
          `WARC-Date: ${DATE}`,
          `WARC-Target-URI: ${one.uri}`,
        ],
        text,
      );
    for (const text of ["one", "two", "one"]) await add(disk, makeInput(disk, [note(text)]));
    expect(recordsIn(disk)).toEqual([`conversion ${one.uri}`, `conversion ${one.uri}`]);
  });
});

describe("a record that has rotted", () => {
  const page = visit(1);
  const elsewhere: Visit = { uri: "http://b.example/", timeMs: Date.UTC(2021, 0, 1), payload: page.payload };

  /** Changes a byte of the payload, in the middle of the last record. */
  function rot(disk: Disk): void {
    const path = `${SEGMENTS}/000001.warc.gz`;
    using file = disk.open(path, "update");
    const at = file.size() - 500;
    const byte = Buffer.alloc(1);
    file.read(byte, at);
    byte[0]! ^= 255;
    file.write(byte, at);
    file.sync();
  }

  it("is healed when its file is added again", async () => {
    const disk = new ForgetfulDisk();
    const input = makeInput(disk, [visitBytes(page)]);
    await add(disk, input);
    rot(disk);
    expect((await diagnose(disk)).length).toBeGreaterThan(0);
    expect(await add(disk, input)).toMatchObject({ captures: 0, known: 0, healed: 1 });
    await using archive = await openReader(disk);
    expect(await payloadsOf(archive, page.uri)).toEqual([page.payload]);
    expect(await add(disk, input)).toMatchObject({ known: 1, healed: 0, bytesKept: 0 });
  });

  it("is no original of a duplicate: that stays whole, and holds the payload from then on", async () => {
    const disk = new ForgetfulDisk();
    await add(disk, makeInput(disk, [visitBytes(page)]));
    rot(disk);
    expect(await add(disk, makeInput(disk, [visitBytes(elsewhere)]))).toMatchObject({ captures: 1, duplicates: 0 });
    const later: Visit = { ...elsewhere, timeMs: Date.UTC(2022, 0, 1) };
    expect(await add(disk, makeInput(disk, [visitBytes(later)]))).toMatchObject({ captures: 1, duplicates: 1 });
    await using archive = await openReader(disk);
    expect(await payloadsOf(archive, elsewhere.uri)).toEqual([page.payload, page.payload]);
  });

  it("is no original either where its file ends before it", async () => {
    const disk = new ForgetfulDisk();
    const held = makeInput(disk, [visitBytes(page)], "/holdings");
    {
      await using writer = openWriter(disk);
      await writer.adopt([held]);
    }
    {
      using file = disk.open(held.path, "update");
      file.truncate(200);
    }
    expect(await add(disk, makeInput(disk, [visitBytes(elsewhere)]))).toMatchObject({ captures: 1, duplicates: 0 });
    await using archive = await openReader(disk);
    expect(await payloadsOf(archive, elsewhere.uri)).toEqual([page.payload]);
  });

  it("is believed in where that was asked for", async () => {
    const disk = new ForgetfulDisk();
    await add(disk, makeInput(disk, [visitBytes(page)]));
    rot(disk);
    await using writer = openWriter(disk);
    const report = await writer.add([makeInput(disk, [visitBytes(elsewhere)])], { trustOriginals: true });
    expect(report).toMatchObject({ duplicates: 1 });
  });
});

describe("records about sources of another archive", () => {
  it("are records like any other, and change nothing in what captures come from", async () => {
    const [other, disk] = [new ForgetfulDisk(), new ForgetfulDisk()];
    for (const page of [1, 2]) await add(other, makeInput(other, [visitBytes(visit(page))]));
    const segment = bytesOf(other, `${SEGMENTS}/000001.warc.gz`);
    await add(disk, makeInput(disk, [visitBytes(visit(3))]));
    const input = fileInput(disk, "segment.warc.gz", segment);
    await add(disk, input, makeInput(disk, [visitBytes(visit(4))]));
    const crawls = async () => {
      await using archive = await openReader(disk);
      const captures = await Promise.all([1, 2, 3, 4].map((page) => capturesOf(archive, visit(page).uri)));
      return captures.map(([capture]) => capture!.source);
    };
    const before = await crawls();
    expect(before.slice(0, 2)).toEqual([input.name, input.name]);
    expect(new Set(before).size).toBe(3);
    await rebuild(disk);
    expect(await crawls()).toEqual(before);
    const text = gunzipSync(bytesOf(disk, `${SEGMENTS}/000001.warc.gz`)).toString("latin1");
    // Three of ours, and the two that came.
    expect(text.match(/^WARC-Target-URI: urn:holotype:source:/gm)).toHaveLength(5);
    expect(await add(disk, input)).toMatchObject({ known: 2, bytesKept: 0 });
  });

  it("are none of ours where they are copies of ours", async () => {
    const disk = new ForgetfulDisk();
    for (const page of [1, 2]) await add(disk, makeInput(disk, [visitBytes(visit(page))]));
    const copy = bytesOf(disk, `${SEGMENTS}/000001.warc.gz`);
    await add(disk, fileInput(disk, "copy.warc.gz", Buffer.concat([copy, packRecords([visitBytes(visit(3))])])));
    const source = async () => {
      await using archive = await openReader(disk);
      return (await capturesOf(archive, visit(3).uri))[0]!.source;
    };
    expect(await source()).toBe("/inputs/copy.warc.gz");
    await rebuild(disk);
    expect(await source()).toBe("/inputs/copy.warc.gz");
  });
});

it("keeps odd records byte for byte in segments of their own", async () => {
  const disk = new ForgetfulDisk();
  const sound = visitBytes(visit(1));
  const text = (page: number) => visitBytes(visit(page)).toString("latin1");
  const odd = [
    text(2).replace("WARC/1.0", "WARC/0.9"),
    text(3).replace("WARC-Date", "a line without a colon\r\nWARC-Date"),
    text(4).replace(/^[^]*?\r\n\r\n/, (head) => head.replaceAll("\r\n", "\n")),
  ].map((each) => Buffer.from(each, "latin1"));
  const request = requestBytes({ uri: "http://a.example/2", date: formatIso(visit(2).timeMs) });
  await add(disk, makeInput(disk, [sound, request, ...odd, visitBytes(visit(5))]));
  expect(
    disk
      .list(SEGMENTS)
      .map(({ name }) => name)
      .sort(),
  ).toEqual(["000001.odd.warc.gz", "000001.warc.gz"]);
  const oddText = gunzipSync(bytesOf(disk, `${SEGMENTS}/000001.odd.warc.gz`)).toString("latin1");
  for (const each of odd) expect(oddText).toContain(each.toString("latin1"));
  const plain = gunzipSync(bytesOf(disk, `${SEGMENTS}/000001.warc.gz`)).toString("latin1");
  expect(plain.match(/^WARC-Type: response/gm)).toHaveLength(2);
  const uris = [1, 2, 3, 4, 5].map((page) => visit(page).uri);
  const read = async () => {
    await using archive = await openReader(disk);
    return await Promise.all(uris.map((uri) => payloadsOf(archive, uri)));
  };
  const before = await read();
  expect(before.map((payloads) => payloads.length)).toEqual([1, 1, 1, 1, 1]);
  expect(await diagnose(disk)).toEqual([]);
  await rebuild(disk);
  expect(await read()).toEqual(before);
  await add(disk, makeInput(disk, [odd[0]!, visitBytes(visit(6))]));
  expect(disk.list(SEGMENTS)).toHaveLength(2);
});

it("keeps the description of an ARC file once, though everything was made again from its WARC form", async () => {
  const disk = new ForgetfulDisk();
  const block = "1 0 test\nURL IP-address Archive-date Content-type Archive-length\n";
  const lines = ["20200101000000", "-"].map(
    (date, i) => `filedesc://${i}.arc 0.0.0.0 ${date} text/plain ${block.length}\n${block}\n`,
  );
  const inputs = lines.map((text, i): Input => {
    const path = `/${i}.arc`;
    using file = disk.open(path, "create");
    file.write(Buffer.from(text), 0);
    return { name: path, path, entries: [], size: text.length };
  });
  const add = async () => {
    await using writer = openWriter(disk);
    return await writer.add(inputs);
  };
  await add();
  const before = recordsIn(disk);
  await rebuild(disk);
  expect(await add()).toMatchObject({ bytesKept: 0 });
  expect(recordsIn(disk)).toEqual(before);
});
