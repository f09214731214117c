import { readFileSync } from "node:fs";
import { describe, expect, it } from "vitest";
import type { SurveyReport } from "../../src/pipeline/index.ts";
import { arcFile, response, warcFile, zipFile } from "./archives.ts";
import { holotype, linesOf, put, SAMPLE, SAMPLES, temporaryFolder, withFlippedByte } from "./holotype.ts";

const folder = temporaryFolder();
const BODY = "A content that is worth to be kept once, and no more than that. ".repeat(40);

function surveyed(...args: readonly string[]): SurveyReport {
  return JSON.parse(holotype(["survey", "--json", ...args]).out) as SurveyReport;
}

describe("holotype survey", () => {
  it("tells people what deduplication would save", () => {
    const { exit, out, err } = holotype(["survey", "samples"]);
    expect({ exit, err }).toEqual({ exit: 0, err: "" });
    const lines = linesOf(out);
    expect(lines[0]).toBe("4 files, 262 records, 127 responses");
    expect(lines[1]).toMatch(/^494\.7 kB read of 494\.7 kB; \d+\.\d % of the content decoded$/);
    expect(lines[2]).toMatch(/^sample: 10\.0 % of the contents, \d+ groups of 70, \d+ records read in full$/);
    const rows = lines.slice(4, 13);
    expect(rows[0]).toMatch(/^ +estimate +95 % interval$/);
    const labels = rows.slice(1).map((row) => /^ *(\S.*?) {2,}/.exec(row)?.[1]);
    expect(labels).toEqual([
      "duplicates",
      "across time: the same URL",
      "across location: another URL",
      "bytes of duplicates",
      "bytes saved",
      "across time",
      "across location",
      "bytes after it",
    ]);
    expect(rows[1]).toMatch(/^duplicates +\d+ +\d+ – \d+ {2}\d+\.\d % \(\d+\.\d – \d+\.\d %\) of the responses$/);
    expect(lines.at(-1)).toMatch(/^The sample is small/);
    expect(lines.filter((line) => line.length > 120)).toEqual([]);
  });

  it("tells programs the same as one object", () => {
    const { exit, out } = holotype(["survey", "--json", "samples"]);
    expect(exit).toBe(0);
    expect(linesOf(out)).toHaveLength(1);
    expect(JSON.parse(out)).toMatchObject({
      files: 4,
      skipped: 0,
      bytes: 494_692,
      records: 262,
      responses: 127,
      candidates: 127,
      readThrough: 0,
      sample: { rate: 0.1, seed: 1, clusters: 70 },
    });
  });

  it("finds with all contents what the manifest has twice", () => {
    const columns = linesOf(holotype(["manifest", "samples"]).out).map((line) => line.split("\t"));
    // A chunked copy cannot stand for a plain one.
    const contents = new Set(columns.map((column) => `${column[5]} ${column[9]}`));
    const duplicates = columns.length - contents.size;
    for (const all of ["all", "100%"]) {
      const report = surveyed("--sample", all, "samples");
      expect(report.duplicates.records).toEqual({ value: duplicates, low: duplicates, high: duplicates });
      expect(report.decodedBytes).toBe(report.contentBytes);
    }
  });

  it("says about the truth with every part of it", () => {
    const { value: truth } = surveyed("--sample", "all", "samples").duplicates.records;
    for (const seed of ["1", "2"]) {
      const { low, value, high } = surveyed("--sample", "0.3", "--seed", seed, "samples").duplicates.records;
      expect(low).toBeLessThanOrEqual(truth);
      expect(high).toBeGreaterThanOrEqual(truth);
      expect(value).toBeGreaterThan(truth / 2);
    }
  });

  it("gives the same each time, with any number of threads, and another sample with another seed", () => {
    const once = holotype(["survey", "--json", "samples"]).out;
    expect(holotype(["survey", "--json", "-j", "3", "samples"]).out).toBe(once);
    expect(holotype(["survey", "--json", "--seed", "1", "--sample", "10%", "samples"]).out).toBe(once);
    expect(holotype(["survey", "--json", "--seed", "2", "samples"]).out).not.toBe(once);
  });

  it("reads standard input", () => {
    const { exit, out } = holotype(["survey", "--json", "--sample", "all", "-"], { input: readFileSync(SAMPLE) });
    expect(exit).toBe(0);
    const { duplicates, saved, records, readThrough } = surveyed("--sample", "all", SAMPLE);
    expect(JSON.parse(out)).toMatchObject({ duplicates, saved, records, readThrough: records });
    expect(readThrough).toBe(0);
  });

  it("counts plain, zstd, ARC and WACZ by one rule, and says what cannot be replaced", () => {
    const captures = ["2001", "2002"].map((year) =>
      response("http://a.example/", BODY, { date: `${year}-01-01T00:00:00Z` }),
    );
    const [first, second] = captures;
    put(folder, "1.warc", warcFile([first!], { compression: "none" }));
    put(folder, "2.warc.gz", warcFile([second!]));
    const message = `HTTP/1.1 200 OK\r\n\r\n${BODY}`;
    put(folder, "3.arc.gz", arcFile(1, "3.arc.gz", [{ url: "http://a.example/", mime: "text/plain", block: message }]));
    put(folder, "4.wacz", zipFile({ "archive/4.warc.gz": warcFile([response("http://b.example/", BODY)]) }));
    holotype(["convert", "--to", "zstd", `${folder}/2.warc.gz`, "-o", `${folder}/zstd`]);
    const report = surveyed("--sample", "all", folder);
    expect(report).toMatchObject({ files: 5, responses: 5, kept: { fixed: 2 } });
    expect(report.duplicates.records.value).toBe(2);
    const { out } = holotype(["survey", "--sample", "all", folder]);
    expect(out).toContain("kept as they are, about: ");
  });
});

describe("holotype survey with what is not as it should be", () => {
  it("takes a share, and says so", () => {
    for (const sample of ["0%", "10", "200%", "some"]) {
      const { exit, err } = holotype(["survey", `--sample=${sample}`, "samples"]);
      expect({ sample, exit }).toEqual({ sample, exit: 2 });
      expect(err).toContain("--sample takes a share such as 10%, 0.1 or all");
    }
    expect(holotype(["survey", "--seed", "x", "samples"]).exit).toBe(2);
    expect(holotype(["survey"]).exit).toBe(2);
  });

  it("goes on without what is not there, with exit code 3, and has nothing to say of nothing", () => {
    const { exit, out, err } = holotype(["survey", SAMPLE, `${folder}/none.warc.gz`]);
    expect(exit).toBe(3);
    expect(err).toMatch(/^skipped .*none\.warc\.gz.*HT_NOT_FOUND/);
    expect(out).toContain("1 file, 52 records");
    expect(holotype(["survey", `${folder}/none.warc.gz`]).exit).toBe(20);
  });

  it("tells damage that it meets, with exit code 4", () => {
    const hurt = put(folder, "hurt.warc.gz", withFlippedByte(SAMPLE, 60_000));
    const { exit, out, err } = holotype(["survey", "--sample", "all", hurt]);
    expect(exit).toBe(4);
    expect(err).toContain("HT_GZIP_");
    expect(out).toContain("1 file, 52 records");
  });

  it("comes to an end with a file that was cut at any odd place", () => {
    const bytes = readFileSync(SAMPLE);
    const names = [1, 2, 9, 17, 18, 380, 381, 399, 50_001, 97_817, bytes.length - 9, bytes.length - 1].map((size) => {
      return put(folder, `cut-${size}.warc.gz`, bytes.subarray(0, size));
    });
    const report = holotype(["survey", "--json", "--sample", "all", ...names]);
    expect([3, 4]).toContain(report.exit);
    const { records, files } = JSON.parse(report.out) as SurveyReport;
    const listed = linesOf(holotype(["ls", ...names]).out).length;
    expect({ files, records }).toEqual({ files: names.length, records: listed });
    expect(holotype(["survey", "--json", ...names, SAMPLES]).exit).toBeGreaterThanOrEqual(3);
  });
});
