import { readFileSync } from "node:fs";
import { join } from "node:path";
import { beforeAll, describe, expect, it } from "vitest";
import type { DigestReport } from "../../src/digests/index.ts";
import { holotype, linesOf, put, SAMPLES, temporaryFolder } from "./holotype.ts";

const folder = temporaryFolder();
const index = join(folder, "index");
const before = join(SAMPLES, "cabinet-2013.warc.gz");
const after = join(SAMPLES, "cabinet-2018.warc.gz");

beforeAll(() => {
  expect(holotype(["digests", "build", before, "-o", index, "--equivalent", "--etag"]).exit).toBe(0);
});

function report(...args: readonly string[]): DigestReport {
  const { exit, out, err } = holotype(["digests", "report", after, "--against", index, "--json", ...args]);
  expect({ exit, err }).toEqual({ exit: 0, err: "" });
  return JSON.parse(out) as DigestReport;
}

describe("holotype digests report", () => {
  it("tells people and programs the same, and writes a page and a table", () => {
    const [html, csv] = [join(folder, "report.html"), join(folder, "report.csv")];
    const args = [
      "digests",
      "report",
      after,
      "--against",
      index,
      "--equivalent",
      "--per-host",
      "--html",
      html,
      "--csv",
      csv,
    ];
    const { exit, out, err } = holotype(args);
    expect({ exit, err }).toEqual({ exit: 0, err: "" });
    const { totals, headers, hosts, mimes } = report("--equivalent", "--per-host");
    const lines = linesOf(out);
    expect(lines.slice(0, 3)).toEqual([
      "Processor: holotype.Deduplicator",
      "  Function:            Abort processing of duplicate records",
      "                       - Lookup by url in use",
    ]);
    expect(lines[3]).toBe(`  Total handled:       ${totals.handled}`);
    expect(lines[8]).toBe(`  Exact hits:          ${totals.exact}`);
    expect(totals.new + totals.exact + totals.equivalent + totals.mirror).toBe(totals.handled);
    expect(totals.duplicates).toBeGreaterThan(0);
    expect(headers.map(({ scheme }) => scheme)).toEqual(["datestamp", "etag"]);
    expect(readFileSync(html, "utf8")).toContain("report of the DeDuplicator");
    expect(linesOf(readFileSync(csv, "utf8")).length).toBe(2 + hosts!.length + mimes.length);
  });

  it("takes each setting of Figure 2", () => {
    const all = report("--analysis", "all");
    expect(all.headers).toHaveLength(4);
    expect(report("--analysis", "none").headers).toEqual([]);
    expect(report("--scheme", "either").headers.map(({ scheme }) => scheme)).toEqual(["either"]);
    const text = report("--mime-regex", "^text/.*", "--filter", "whitelist").totals.handled;
    const rest = report("--mime", "text/*", "--filter", "blacklist").totals.handled;
    expect(text + rest).toBe(all.totals.handled);
    expect(Math.min(text, rest)).toBeGreaterThan(0);
    const digest = report("--matching", "digest", "--equivalent");
    expect(digest.totals.exact).toBe(all.totals.exact);
    expect(digest.settings).toMatchObject({ matching: "digest", equivalent: true });
    expect(report("--last-modified", "captured").settings.dateReference).toBe("captured");
    const mirrored = report("--matching", "digest", "--mirrors").totals;
    expect(mirrored.duplicates).toBe(mirrored.exact + mirrored.equivalent + mirrored.mirror);
    expect(report("--errors").totals.handled).toBeGreaterThan(all.totals.handled);
  });

  it("logs as much as it is told to", () => {
    const logged = (level: string) =>
      holotype(["digests", "report", after, "--against", index, "--log-level", level]).err.split("\n").length;
    expect(logged("off")).toBe(1);
    expect(logged("warning")).toBeGreaterThan(1);
    expect(logged("info")).toBeGreaterThan(logged("warning"));
    expect(logged("debug")).toBeGreaterThan(logged("info"));
  });

  const line = (uri: string) =>
    `2026-02-10T00:00:00.000Z   200        100 ${uri} L - image/png #001 20260210000000000+5 sha1:AAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAA - -`;

  it("reads a crawl.log, from standard input too, and names lines that are none", () => {
    const log = Buffer.from(`${line("http://a.org/")}\nno line\n${line("http://b.org/")}\n`);
    const path = put(folder, "crawl.log", log);
    for (const [name, input] of [
      [path, undefined],
      ["-", log],
    ] as const) {
      const args = ["digests", "report", name, "--against", index];
      const { exit, out, err } = holotype(args, input === undefined ? {} : { input });
      expect({ exit, err }).toEqual({ exit: 4, err: `${name}:2: not a line of a crawl.log\n` });
      expect(out).toContain("  Total handled:       2\n");
    }
  });

  it("skips what is neither a log nor an archive, and what is not there", () => {
    const noise = put(folder, "noise.txt", Buffer.from("this is nothing"));
    const { exit, out, err } = holotype(["digests", "report", noise, after, "--against", index]);
    expect(exit).toBe(4);
    expect(err).toContain("HT_FORMAT_UNKNOWN");
    expect(out).toContain("Total handled:");
    const gone = holotype(["digests", "report", join(folder, "gone.warc"), after, "--against", index]);
    expect(gone).toMatchObject({ exit: 3, err: expect.stringContaining("HT_NOT_FOUND") as string });
  });

  it.each([
    [2, ["digests", "report", after]],
    [2, ["digests", "report", "--against", index]],
    [20, ["digests", "report", after, "--against", join(folder, "none")]],
    [20, ["digests", "report", join(folder, "gone.warc"), "--against", index]],
    [2, ["digests", "report", after, "--against", index, "--matching", "guess"]],
    [2, ["digests", "report", after, "--against", index, "--mime-regex", "("]],
    [2, ["digests", "report", after, "--against", index, "--scheme", "datestamp,etag"]],
  ])("ends with %d for %j", (exit, args) => {
    expect(holotype(args).exit).toBe(exit);
  });

  it("refuses what the index cannot be asked, before it reads anything", () => {
    const plain = join(folder, "plain");
    expect(holotype(["digests", "build", before, "-o", plain, "--index", "url"]).exit).toBe(0);
    for (const option of [["--equivalent"], ["--matching", "digest"]]) {
      const { exit, err } = holotype(["digests", "report", after, "--against", plain, ...option]);
      expect({ exit, err }).toEqual({ exit: 2, err: expect.stringContaining("cannot be searched by") as string });
    }
  });
});
