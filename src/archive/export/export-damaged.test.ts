/** Exports of archives in which something is damaged, or that hold more than captures. What can be read goes out. */
import { describe, expect, it } from "vitest";
import type { Warning } from "../../base/index.ts";
import type { Disk } from "../../disk/index.ts";
import {
  diagnose,
  FOLDER,
  makeInput,
  openWriter,
  type Visit,
  visitBytes,
  visitId,
} from "../../testing/archive-fixture.ts";
import { readArchive, type SeenRecord } from "../../testing/archive-reading.ts";
import { noise } from "../../testing/capture-text.ts";
import { ForgetfulDisk } from "../../testing/forgetful-disk.ts";
import { SEGMENTED_URL, segments } from "../../testing/segmented-text.ts";
import { segmentPath } from "../segments/segments.ts";
import { type ExportReport, exportArchive } from "./export.ts";
import type { ExportSelection } from "./export-selection.ts";

const SEGMENT = segmentPath(`${FOLDER}/volumes/0/segments`, 1);
const OUTPUT = "/out.warc.gz";

const visit = (name: string): Visit => ({
  uri: `http://${name}.example/`,
  timeMs: Date.UTC(2020, 0, 1),
  payload: noise(name, 900),
});

interface Note {
  readonly type: string;
  readonly id: string;
  readonly uri?: string;
  readonly lines?: readonly string[];
  readonly block?: string;
}

function note({ type, id, uri, lines = [], block = "a: b\r\n" }: Note): Buffer {
  const fields = [
    `WARC-Type: ${type}`,
    `WARC-Record-ID: <urn:test:${id}>`,
    "WARC-Date: 2020-01-01T00:00:00Z",
    ...(uri === undefined ? [] : [`WARC-Target-URI: ${uri}`]),
    ...lines,
    `Content-Length: ${block.length}`,
  ];
  return Buffer.from(`WARC/1.0\r\n${fields.join("\r\n")}\r\n\r\n${block}\r\n\r\n`);
}

function requestOf(of: Visit): Buffer {
  const lines = [`WARC-Concurrent-To: <${visitId(of)}>`, "Content-Type: application/http; msgtype=request"];
  return note({ type: "request", id: `request ${of.uri}`, uri: of.uri, lines, block: "GET / HTTP/1.1\r\n\r\n" });
}

async function archiveOf(kind: "add" | "adopt", ...files: readonly (readonly Buffer[])[]): Promise<ForgetfulDisk> {
  const disk = new ForgetfulDisk();
  for (const records of files) {
    const input = makeInput(disk, records, "/holdings");
    await using writer = openWriter(disk);
    await writer[kind]([input]);
  }
  return disk;
}

function readFile(disk: Disk, path: string): Buffer {
  using file = disk.open(path, "read");
  const bytes = Buffer.alloc(file.size());
  file.read(bytes, 0);
  return bytes;
}

interface Exported {
  readonly report: ExportReport;
  readonly records: readonly SeenRecord[];
  readonly warnings: readonly Warning[];
}

async function exported(disk: Disk, selection: ExportSelection = {}): Promise<Exported> {
  const warnings: Warning[] = [];
  const asked = { output: OUTPUT, format: "warc", selection, description: "test", software: "test" } as const;
  const onWarning = (warning: Warning) => void warnings.push(warning);
  const report = await exportArchive(disk, FOLDER, { ...asked, replace: true, onWarning });
  const read = readArchive(readFile(disk, OUTPUT));
  expect(read.warnings).toEqual([]);
  return { report, records: read.records.slice(1), warnings };
}

/** Changes a byte of a record in the first segment: `at` counts from its beginning, or from its end where it is negative. */
function damage(disk: Disk, isIt: (record: SeenRecord) => boolean, at: number): void {
  const bytes = readFile(disk, SEGMENT);
  const { offset, length } = readArchive(bytes).records.find(isIt)!;
  const position = offset + (at < 0 ? length! : 0) + at;
  using file = disk.open(SEGMENT, "update");
  file.write(Buffer.of(bytes[position]! ^ 1), position);
}

const typesOf = (records: readonly SeenRecord[]) => records.map(({ type }) => type);

describe("an export of a damaged archive", () => {
  const [one, other] = [visit("one"), visit("other")];
  const records = [requestOf(one), visitBytes(one), visitBytes(other)];

  it("has a capture whose request cannot be read", async () => {
    const disk = await archiveOf("add", records);
    damage(disk, ({ type }) => type === "request", 40);
    const { report, records: out, warnings } = await exported(disk);
    expect(report).toMatchObject({ captures: 2, left: 0, mended: 1 });
    expect(typesOf(out)).toEqual(["response", "response"]);
    expect(warnings.map(({ message }) => message)).toEqual([
      expect.stringMatching(/^the capture of http:\/\/one\.example\/ .*; exported as far as it can be read$/),
    ]);
    expect(await diagnose(disk)).not.toEqual([]);
  });

  it("has one whose checksum fails, and whose payload is right", async () => {
    const disk = await archiveOf("add", records);
    damage(disk, ({ uri, type }) => type === "response" && uri === one.uri, -6);
    const { report, records: out } = await exported(disk);
    expect(report).toMatchObject({ captures: 2, left: 0, mended: 1 });
    expect(typesOf(out)).toEqual(["request", "response", "response"]);
  });

  it("has all others where one cannot be read", async () => {
    const disk = await archiveOf("add", records);
    damage(disk, ({ uri, type }) => type === "response" && uri === one.uri, 300);
    const { report, records: out, warnings } = await exported(disk);
    expect(report).toMatchObject({ captures: 1, left: 1, mended: 0 });
    expect(out.map(({ uri }) => uri)).toEqual([other.uri]);
    expect(warnings[0]!.message).toMatch(/skipped$/);
  });

  it("has those of other segments where one is gone", async () => {
    const disk = new ForgetfulDisk();
    await using writer = openWriter(disk, { segmentSizeBytes: 1500 });
    await writer.add([makeInput(disk, [visitBytes(one), visitBytes(visit("two")), visitBytes(other)])]);
    disk.remove(SEGMENT);
    const { report } = await exported(disk, { range: {} });
    expect(report.captures).toBeGreaterThan(0);
    expect(report.captures + report.left).toBe(3);
    expect(report.left).toBeGreaterThan(0);
  });

  it("fails where nothing can be read", async () => {
    const disk = await archiveOf("add", [visitBytes(one)]);
    damage(disk, ({ type }) => type === "response", 300);
    await expect(exported(disk, { url: one.uri })).rejects.toMatchObject({ code: "HT_CORRUPT" });
  });
});

describe.each(["add", "adopt"] as const)("records that belong to no capture: %s", (kind) => {
  const one = visit("one");
  const notes = [
    note({ type: "warcinfo", id: "info", block: "software: crawler/1\r\nrobots: obey\r\n" }),
    requestOf(one),
    visitBytes(one),
    note({ type: "request", id: "loose", uri: "http://loose.example/", block: "GET / HTTP/1.1\r\n\r\n" }),
    note({ type: "conversion", id: "converted", uri: "http://loose.example/", lines: ["Content-Type: text/plain"] }),
    note({ type: "metadata", id: "told", uri: "urn:crawl:1" }),
    note({
      type: "continuation",
      id: "rest",
      uri: "http://loose.example/",
      lines: ["WARC-Segment-Origin-ID: <urn:x>", "WARC-Segment-Number: 2"],
    }),
    note({ type: "curious", id: "odd" }),
  ];

  it("go out with everything", async () => {
    const { report, records } = await exported(await archiveOf(kind, notes));
    expect(typesOf(records)).toEqual([
      "request",
      "response",
      "warcinfo",
      "request",
      "conversion",
      "metadata",
      "continuation",
      "curious",
    ]);
    const unlinked = { warcinfo: 1, request: 1, conversion: 1, metadata: 1, continuation: 1, other: 1 };
    expect(report).toMatchObject({ captures: 1, unlinked, unselected: {}, left: 0 });
  });

  it("are counted where a selection leaves them out", async () => {
    const disk = await archiveOf(kind, notes);
    const { report, records } = await exported(disk, { url: one.uri });
    expect(typesOf(records)).toEqual(["request", "response"]);
    const unselected = { warcinfo: 1, request: 1, conversion: 1, metadata: 1, continuation: 1, other: 1 };
    expect(report).toMatchObject({ unlinked: {}, unselected });
  });

  it("go out where there is no capture at all", async () => {
    const { records } = await exported(await archiveOf(kind, [notes[0]!, notes[5]!]));
    expect(typesOf(records)).toEqual(["warcinfo", "metadata"]);
  });

  it("do not go out where their capture was removed", async () => {
    const alone = note({ type: "metadata", id: "alone", uri: one.uri });
    const disk = await archiveOf(kind, notes, [alone]);
    expect(typesOf((await exported(disk)).records).filter((type) => type === "metadata")).toHaveLength(2);
    {
      await using writer = openWriter(disk);
      await writer.remove({ url: one.uri }, { reason: "a test" });
    }
    const { records } = await exported(disk);
    expect(records.filter(({ uri }) => uri === one.uri)).toEqual([]);
    expect(records).toHaveLength(6);
  });
});

describe.each(["add", "adopt"] as const)("a segmented capture: %s", (kind) => {
  const [first, second, third] = segments();

  it.each([{}, { url: SEGMENTED_URL }])("goes out with all its segments: %j", async (selection) => {
    const { report, records } = await exported(await archiveOf(kind, [first, second], [third]), selection);
    expect(typesOf(records)).toEqual(["response", "continuation", "continuation"]);
    expect(report).toMatchObject({ captures: 1, incomplete: 0, unlinked: {}, unselected: {} });
  });

  it("says that one is missing, and goes out with the others", async () => {
    const { report, records, warnings } = await exported(await archiveOf(kind, [first], [third]));
    expect(typesOf(records)).toEqual(["response", "continuation"]);
    expect(report).toMatchObject({ captures: 1, incomplete: 1 });
    expect(warnings.map(({ code }) => code)).toEqual(["HT_RECORD_TRUNCATED"]);
  });
});
