import { expect, test } from "vitest";
import type { ManifestLine } from "../manifest-line.ts";
import { DedupStatistics } from "./dedup-statistics.ts";
import { formatReportJson } from "./shape.ts";

const METADATA = {
  versions: { holotype: "0.2.0" },
  startedAt: "2024-06-12T16:41:00Z",
  finishedAt: "2024-06-12T16:42:00Z",
  settings: { threads: 2 },
};

function line(facts: Partial<ManifestLine> = {}): ManifestLine {
  return {
    file: "one.warc.gz",
    offset: 381,
    length: 1000,
    uri: "http://cabinet.example/",
    date: "2009-05-14T09:30:02Z",
    digest: "sha1:Q6KK63MQX3SG4WVOYFCRGT2EKDGJO2WZ",
    payloadSize: 2000,
    status: 200,
    mime: "text/html",
    framing: "plain",
    id: "urn:uuid:1",
    flags: [],
    extension: 0,
    copy: undefined,
    original: undefined,
    ...facts,
  };
}

const ORIGINAL = { kind: "original" } as const;
const DUPLICATE = { kind: "duplicate", copy: 2 } as const;

test("a beetle at two places in two crawls", () => {
  const statistics = new DedupStatistics();
  const place = {
    uri: "http://cabinet.example/",
    date: "2009-05-14T09:30:02Z",
    id: "urn:uuid:1",
    file: "one",
    offset: 3,
  };
  const again = line({ date: "2013-09-03T14:05:02Z", original: place, offset: 500 });
  const elsewhere = line({ uri: "http://www.cabinet.example/press", date: "2013-09-03T14:06:00Z", original: place });
  statistics.addRecord(line(), ORIGINAL);
  statistics.addRecord(again, DUPLICATE);
  statistics.addRecord(elsewhere, { kind: "duplicate", copy: 3 });
  statistics.addRecord(line({ digest: "sha1:X", flags: ["damaged"] }), { kind: "kept", reason: "damaged" });
  statistics.addRewritten(again, 1000, 300);
  statistics.addLeft(elsewhere, "saving");
  statistics.addFile({
    input: "one.warc.gz",
    output: "out/one.warc.gz",
    bytesBefore: 5000,
    bytesAfter: 4300,
    records: 8,
    replaced: 1,
  });
  const report = statistics.finish(METADATA);
  expect(report.totals).toMatchObject({ records: 4, payloads: 1, duplicates: 2, replaced: 1, left: 1, kept: 1 });
  expect(report.totals).toMatchObject({ bytesBefore: 5000, bytesAfter: 4300, savedBytes: 700, payloadBytes: 8000 });
  expect(report.acrossTime).toEqual({ duplicates: 1, duplicateBytes: 1000, replaced: 1, savedBytes: 700 });
  expect(report.acrossLocation).toEqual({ duplicates: 1, duplicateBytes: 1000, replaced: 0, savedBytes: 0 });
  expect(report.byHost.rows.map(({ name, savedBytes }) => [name, savedBytes])).toEqual([
    ["cabinet.example", 700],
    ["www.cabinet.example", 0],
  ]);
  expect(report.byYear.rows.map(({ name, records }) => [name, records])).toEqual([
    ["2009", 2],
    ["2013", 2],
  ]);
  expect(report.copies[2]).toEqual({
    from: 3,
    to: 5,
    payloads: 1,
    records: 3,
    payloadBytes: 6000,
    repeatedBytes: 4000,
  });
  expect(report.largest).toEqual([
    {
      savedBytes: 700,
      payloadBytes: 2000,
      uri: "http://cabinet.example/",
      date: "2013-09-03T14:05:02Z",
      file: "one.warc.gz",
      offset: 500,
      originalUri: "http://cabinet.example/",
      originalDate: "2009-05-14T09:30:02Z",
    },
  ]);
  expect(report.left).toEqual([{ reason: "saving", records: 1, recordBytes: 1000, payloadBytes: 2000 }]);
  expect(report.kept).toEqual([{ reason: "damaged", records: 1, recordBytes: 1000, payloadBytes: 2000 }]);
  expect(report.metadata).toEqual(METADATA);
});

test("nothing is a report too", () => {
  const report = new DedupStatistics().finish(METADATA);
  expect(Object.values(report.totals).every((value) => value === 0)).toBe(true);
  expect(report.byHost).toEqual({ rows: [], others: undefined });
});

test("the report is plain data", () => {
  const statistics = new DedupStatistics();
  statistics.addRecord(line({ uri: "http://\ud800/" }), ORIGINAL);
  statistics.addRewritten(line({ uri: undefined, date: undefined }), 10, 3);
  statistics.addFile({ input: "x", bytesBefore: 1, bytesAfter: 2, records: 1, replaced: 0 });
  const report = statistics.finish(METADATA);
  expect(JSON.parse(formatReportJson(report))).toEqual(report);
});

test("a digest with two contents is a collision, and two payloads", () => {
  const statistics = new DedupStatistics();
  for (const extension of [0, 0, 1, 2]) statistics.addRecord(line({ extension }), ORIGINAL);
  statistics.addRecord(line({ digest: "sha1:other" }), ORIGINAL);
  const report = statistics.finish(METADATA);
  expect(report.collisions).toEqual({ digests: 1, payloads: 3, resolvedRecords: 5 });
  expect(report.totals.payloads).toBe(4);
  expect(report.copies.map(({ payloads }) => payloads)).toEqual([3, 1, 0, 0, 0, 0]);
});

test("a hundred thousand hosts take a bounded table, and those that matter are in it", () => {
  const statistics = new DedupStatistics({ namesMax: 500, rowsMax: 100 });
  const large = Array.from({ length: 20 }, (_, i) => `http://large${i}.example/`);
  const original = { uri: "http://x.example/", date: "2009", id: undefined, file: undefined, offset: undefined };
  for (let i = 0; i < 100_000; i++) {
    statistics.addRecord(line({ uri: `http://h${i}.example/`, digest: `sha1:${i}` }), ORIGINAL);
    if (i % 50 !== 0) continue;
    const copy = line({ uri: large[(i / 50) % large.length]!, digest: `sha1:${i}`, original });
    statistics.addRecord(copy, DUPLICATE);
  }
  // Small ones save as well, in a crowd that comes before the large ones do.
  for (let i = 0; i < 100_000; i += 10)
    statistics.addRewritten(line({ uri: `http://h${i}.example/`, original }), 420, 400);
  for (let i = 0; i < 2000; i++) statistics.addRewritten(line({ uri: large[i % large.length]!, original }), 1000, 400);
  const { byHost, totals } = statistics.finish(METADATA);
  expect(byHost.rows.length).toBe(100);
  const first = byHost.rows.slice(0, 20);
  expect(first.map(({ name }) => `http://${name}/`).sort()).toEqual([...large].sort());
  for (const row of first) expect(row).toMatchObject({ records: 100, savedBytes: 60_000, atLeast: false });
  const all = [...byHost.rows, byHost.others!];
  const sum = (key: "records" | "savedBytes" | "replaced") => all.reduce((bytes, row) => bytes + row[key], 0);
  expect(sum("records")).toBe(totals.records);
  expect(sum("replaced")).toBe(totals.replaced);
  expect(sum("savedBytes")).toBe(totals.replacedBytesBefore - totals.replacedBytesAfter);
  expect(byHost.others!.names).toBeGreaterThan(95_000);
  expect(byHost.others!.names).toBeLessThanOrEqual(100_020);
});

test("a host that comes late and often is found, and says that it may have been there before", () => {
  const statistics = new DedupStatistics({ namesMax: 10, rowsMax: 10 });
  const add = (host: string, length: number) =>
    statistics.addRecord(line({ uri: `http://${host}.example/`, length }), DUPLICATE);
  for (let i = 0; i < 10; i++) add(`big${i}`, 1000);
  for (let round = 0; round < 100; round++) {
    add("often", 900);
    for (let i = 0; i < 25; i++) add(`crowd${round}-${i}`, 1);
  }
  const { byHost } = statistics.finish(METADATA);
  const often = byHost.rows.find(({ name }) => name === "often.example");
  expect(often).toMatchObject({ atLeast: true });
  expect(often!.duplicates).toBeGreaterThan(90);
});

test("long texts are cut", () => {
  const statistics = new DedupStatistics();
  const long = line({ uri: `http://a.example/${"x".repeat(300_000)}`, mime: "m".repeat(300_000) });
  statistics.addRecord(long, DUPLICATE);
  statistics.addRewritten(long, 1000, 1);
  const text = formatReportJson(statistics.finish(METADATA));
  expect(text.length).toBeLessThan(20_000);
  expect(text).toContain("xxx…");
});
