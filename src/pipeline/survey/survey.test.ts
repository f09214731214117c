import { gzipSync } from "node:zlib";
import { describe, expect, it } from "vitest";
import type { Disk } from "../../disk/index.ts";
import { captureBytes } from "../../testing/capture-text.ts";
import { createDice } from "../../testing/dice.ts";
import { ForgetfulDisk } from "../../testing/forgetful-disk.ts";
import { findInputs } from "../inputs.ts";
import { type SurveyOptions, type SurveyReport, surveyInputs } from "./survey.ts";

function diskWith(files: Readonly<Record<string, Uint8Array>>): Disk {
  const disk = new ForgetfulDisk();
  for (const folder of ["/in", "/scratch"]) disk.makeFolder(folder);
  for (const [name, bytes] of Object.entries(files)) {
    using file = disk.open(`/in/${name}`, "create");
    file.write(bytes, 0);
  }
  return disk;
}

async function surveyOf(disk: Disk, options: Partial<SurveyOptions> = {}): Promise<SurveyReport> {
  const inputs = findInputs(disk, ["/in"], () => {});
  return await surveyInputs(disk, inputs, {
    sample: 1,
    seed: 1,
    threads: 1,
    sorting: { scratchParent: "/scratch" },
    ...options,
  });
}

function capture(uri: string, year: number, payload: Uint8Array | string, chunks?: readonly number[]): Buffer {
  return gzipSync(captureBytes({ uri: `http://example.org/${uri}`, date: `${year}-05-05T05:05:05Z`, payload, chunks }));
}

/**
 * Three crawls: contents that lie in one of them or in all, at one URL or two, and groups that look alike by their
 * beginnings and sizes and are not.
 */
function crawls(contents: number): Record<string, Buffer> {
  const dice = createDice(3);
  const members: Record<number, Buffer[]> = { 2001: [], 2002: [], 2003: [] };
  for (let i = 0; i < contents; i++) {
    const isAlike = i % 3 === 0;
    const begin = createDice(isAlike ? i - (i % 9) : i).bytes(1200);
    const payload = Buffer.concat([begin, Buffer.from(`${i}`.padEnd(isAlike ? 40 : 10 + dice.below(400)))]);
    for (const year of [2001, 2002, 2003]) {
      if (dice.below(3) === 0) continue;
      // Some of those that look alike are what one URL held from year to year.
      const isChanged = isAlike && i % 2 === 0;
      if (isChanged && year !== 2001 + ((i / 3) % 3)) continue;
      members[year]!.push(capture(`${isChanged ? i - (i % 9) : i}`, year, payload));
      if (i % 7 === 0) members[year]!.push(capture(`copy/${i}`, year, payload));
    }
  }
  return Object.fromEntries(Object.entries(members).map(([year, parts]) => [`${year}.warc.gz`, Buffer.concat(parts)]));
}

describe("a survey of several files", () => {
  const page = "<p>one specimen</p>".repeat(100);

  it("tells duplicates in time from those in place", async () => {
    const disk = diskWith({
      "a.warc.gz": Buffer.concat([capture("a", 2001, page), capture("b", 2002, page), capture("c", 2003, "else")]),
      "b.warc.gz": Buffer.concat([capture("b", 2003, page), capture("a", 2004, page), capture("d", 2005, "other")]),
    });
    const report = await surveyOf(disk);
    expect(report).toMatchObject({ files: 2, skipped: 0, records: 6, responses: 6, candidates: 6 });
    expect(report.duplicates.records).toEqual({ value: 3, low: 3, high: 3 });
    expect(report.duplicates.recordsRate.value).toBeCloseTo(0.5);
    // The first at b is a copy of that at a; the second at b came later at the same URL, and so did the second at a.
    expect(report.otherUrl.records.value).toBe(1);
    expect(report.sameUrl.records.value).toBe(2);
    expect(report.after.value).toBe(report.bytes - report.saved.value);
    expect(report.sameUrl.saved.value + report.otherUrl.saved.value).toBe(report.saved.value);
  });

  it.each([
    ["by URI and date", "WARC-Refers-To-Target-URI: http://example.org/b\r\nWARC-Refers-To-Date: 2002-05-05T05:05:05Z"],
    ["by the URI that it shares", "WARC-Payload-Digest: md5:cut"],
  ])("leaves a duplicate where a revisit refers to it: %s", async (_, fields) => {
    const lines = ["WARC/1.0", "WARC-Type: revisit", "WARC-Target-URI: http://example.org/b"];
    const rest = ["WARC-Date: 2009-05-05T05:05:05Z", fields, "Content-Length: 0"];
    const revisit = gzipSync(`${[...lines, ...rest].join("\r\n")}\r\n\r\n\r\n\r\n`);
    const disk = diskWith({
      "a.warc.gz": Buffer.concat([capture("a", 2001, page), capture("b", 2002, page), capture("c", 2003, page)]),
      "b.warc.gz": revisit,
    });
    const report = await surveyOf(disk);
    expect(report.revisits).toBe(1);
    expect(report.duplicates.records).toEqual({ value: 1, low: 1, high: 1 });
    expect(report.kept).toEqual({ referred: 1 });
  });

  it("does not mistake one content's URLs for another's", async () => {
    const [one, two] = ["one ", "two "].map((text) => text.repeat(300));
    const disk = diskWith({
      "a.warc.gz": Buffer.concat([capture("a", 2001, one!), capture("b", 2002, one!)]),
      "b.warc.gz": Buffer.concat([capture("b", 2001, two!), capture("a", 2002, two!)]),
    });
    const report = await surveyOf(disk);
    expect(report.otherUrl.records.value).toBe(2);
    expect(report.sameUrl.records.value).toBe(0);
  });

  it("suggests by openings alone what may be replaced, and never too little", async () => {
    const message = `HTTP/1.1 200 OK\r\n\r\n${page}`;
    const arc = `http://example.org/a 192.0.2.1 20000505050505 text/html ${message.length}\n${message}\n`;
    const warc = Buffer.concat([capture("a", 2001, page), capture("b", 2002, page)]);
    const blind = { sample: 1e-9 };
    const withArc = await surveyOf(diskWith({ "a.arc.gz": gzipSync(arc), "b.warc.gz": warc }), blind);
    expect(withArc.duplicates.records).toEqual({ value: 2, low: 0, high: 2 });
    const arcs = await surveyOf(diskWith({ "a.arc.gz": gzipSync(arc), "b.arc.gz": gzipSync(arc) }), blind);
    expect(arcs.duplicates.records).toEqual({ value: 0, low: 0, high: 0 });
    const without = await surveyOf(diskWith({ "b.warc.gz": warc }), blind);
    expect(without.duplicates.records).toEqual({ value: 1, low: 0, high: 1 });
  });

  it("follows the rules of deduplication: framing, damage, what has no length of its own, what lies in an ARC", async () => {
    const hurt = capture("hurt", 2002, page);
    hurt[hurt.length - 6]! ^= 1;
    const shared = ["x", "y"].map((uri) =>
      captureBytes({ uri: `http://example.org/${uri}`, date: "2002-05-05T05:05:05Z", payload: page }),
    );
    const message = Buffer.from(`HTTP/1.1 200 OK\r\n\r\n${page}`);
    const arc = `http://example.org/arc 192.0.2.1 20030505050505 text/html ${message.length}\n${message.toString()}\n`;
    const disk = diskWith({
      "a.warc.gz": Buffer.concat([
        capture("a", 2001, page),
        capture("chunked", 2001, page, [100]),
        hurt,
        gzipSync(Buffer.concat(shared)),
        capture("empty", 2001, ""),
        capture("empty", 2002, ""),
        capture("a", 2001, page),
      ]),
      "b.arc.gz": gzipSync(arc),
    });
    const report = await surveyOf(disk);
    expect(report).toMatchObject({ responses: 9, candidates: 5 });
    expect(report.duplicates.records.value).toBe(0);
    expect(report.kept).toEqual({ damaged: 1, fixed: 1, "same-capture": 1 });
    expect(report.saved).toEqual({ value: 0, low: 0, high: 0 });
  });

  it("is right on average over all samples, also where the copies lie in different files and where not all that looks alike is", async () => {
    const disk = diskWith(crawls(90));
    const truth = await surveyOf(disk);
    // Enough of it is hidden from those who look at beginnings only.
    const blind = await surveyOf(disk, { sample: 1e-9 });
    expect(blind.duplicates.records.value).toBeGreaterThan(1.1 * truth.duplicates.records.value);
    const seeds = 120;
    const reports: SurveyReport[] = [];
    for (let seed = 0; seed < seeds; seed++) reports.push(await surveyOf(disk, { sample: 0.4, seed }));
    const figures: ((report: SurveyReport) => { value: number; low: number; high: number })[] = [
      (report) => report.duplicates.records,
      (report) => report.duplicates.bytes,
      (report) => report.saved,
      (report) => report.sameUrl.records,
      (report) => report.otherUrl.records,
    ];
    for (const figure of figures) {
      const goal = figure(truth).value;
      const values = reports.map((report) => figure(report).value);
      const mean = values.reduce((sum, value) => sum + value, 0) / seeds;
      const variance = values.reduce((sum, value) => sum + (value - mean) ** 2, 0) / (seeds - 1);
      expect(variance).toBeGreaterThan(0);
      expect(Math.abs(mean - goal)).toBeLessThan(3 * Math.sqrt(variance / seeds));
      const covering = reports.filter((report) => figure(report).low <= goal && goal <= figure(report).high);
      expect(covering.length / seeds).toBeGreaterThanOrEqual(0.88);
    }
  });

  it("gives the same in little memory, and each time", async () => {
    const disk = diskWith(crawls(60));
    const scratchParent = "/scratch";
    for (const [sample, memoryBytes] of [
      [1, 20_000],
      [0.1, 5_000],
    ] as const) {
      const report = await surveyOf(disk, { sample });
      expect(await surveyOf(disk, { sample, sorting: { memoryBytes, scratchParent } })).toEqual(report);
      expect(await surveyOf(disk, { sample })).toEqual(report);
    }
    const [one, other] = [await surveyOf(disk, { sample: 0.5 }), await surveyOf(disk, { sample: 0.5, seed: 2 })];
    expect(other.sample.recordsRead).not.toBe(one.sample.recordsRead);
  });

  it("skips what is no archive, and tells the damage it meets", async () => {
    const cut = capture("a", 2002, page);
    const disk = diskWith({
      "a.warc.gz": capture("a", 2001, page),
      "b.warc.gz": cut.subarray(0, cut.length - 20),
      "c.warc": Buffer.from("no archive at all\n".repeat(9)),
    });
    const skipped: string[] = [];
    const codes: string[] = [];
    const report = await surveyOf(disk, {
      onSkip: ({ name }) => skipped.push(name),
      onWarning: ({ code }) => codes.push(code),
    });
    expect(report).toMatchObject({ files: 3, skipped: 1, records: 2 });
    expect(skipped).toEqual(["/in/c.warc"]);
    expect(codes).toEqual(expect.arrayContaining(["HT_GZIP_TRUNCATED"]));
    expect(report.duplicates.records.value).toBe(0);
  });

  it("has nothing to say of nothing", async () => {
    const report = await surveyOf(diskWith({ "empty.warc": Buffer.alloc(0) }));
    expect(report).toMatchObject({ files: 1, records: 0, after: { value: 0, low: 0, high: 0 } });
    expect(report.duplicates.recordsRate).toEqual({ value: 0, low: 0, high: 0 });
  });
});
