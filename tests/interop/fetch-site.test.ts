/**
 * The site of known history in ../shared/tools/crawl-site, fetched in its first state and again in its second, with every
 * scheme. The counts were computed from the generator of the site, and agree with the DeDuplicator of 2006.
 */
import { existsSync, readFileSync } from "node:fs";
import { join } from "node:path";
import { fileURLToPath } from "node:url";
import { afterAll, beforeAll, describe, expect, it } from "vitest";
import { retrievalsOf, runHolotype, type ServerProcess, startServer } from "../cli/fetch-run.ts";
import { put, temporaryFolder } from "../cli/holotype.ts";

const SITE = fileURLToPath(new URL("../../../shared/tools/crawl-site", import.meta.url));
const isThere = existsSync(SITE);
if (!isThere) process.stderr.write("skipped: there is no ../shared/tools/crawl-site\n");

const folder = temporaryFolder();
const HOSTS = ["site.test", "www.site.test"].flatMap((host) => ["--resolve", `${host}:127.0.0.1`]);
const COMMON = [...HOSTS, "--allow-private", "127.0.0.0/8", "--delay", "0", "--json"];
const NOT_TEXT = ["--not-mime-regex", "^text/.*"];

let site: ServerProcess;

async function setState(state: number): Promise<void> {
  const answer = await fetch(`http://127.0.0.1:${site.port}/__state/${state}`, { method: "POST" });
  expect(answer.status).toBe(200);
}

/** The URLs of a state, in a file. */
function listOf(state: number): string {
  const lines = readFileSync(join(SITE, "truth.tsv"), "utf8").split("\n");
  const urls = lines.filter((line) => line.startsWith(`${state}\t`)).map((line) => line.split("\t")[1]!);
  return put(folder, `state${state}.txt`, `${urls.map((url) => url.replace(":8480", `:${site.port}`)).join("\n")}\n`);
}

let jobs = 0;

async function fetchSecond(...options: readonly string[]) {
  const job = join(folder, `job-${++jobs}`);
  const args = ["fetch", "-i", listOf(2), "-o", job, "--digests", join(folder, "first", "digests"), ...COMMON];
  const { exit, out, err } = await runHolotype([...args, ...options]);
  expect({ exit, err }).toEqual({ exit: 0, err: "" });
  const retrievals = retrievalsOf(out);
  expect(retrievals).toHaveLength(223);
  const report = JSON.parse(readFileSync(join(job, "report.json"), "utf8")) as Report;
  return { job, retrievals, report };
}

interface Report {
  readonly totals: Readonly<Record<string, number>>;
  readonly headers: readonly {
    readonly scheme: string;
    readonly usefulness: number | null;
    readonly reliability: number | null;
    readonly counts: Readonly<Record<string, number>>;
  }[];
}

function countsOf({ headers }: Report, scheme: string): number[] {
  const { counts } = headers.find((each) => each.scheme === scheme)!;
  return ["changeCorrectly", "changeFalsely", "nonChangeCorrect", "nonChangeFalsely", "missing"].map(
    (name) => counts[name]!,
  );
}

describe.skipIf(!isThere)("the site of known history", () => {
  beforeAll(async () => {
    const args = (port: number) => [String(port), "1", "2"];
    site = await startServer(join(SITE, "site.mjs"), args, "127.0.0.1", { SITE_HOSTS: "127.0.0.1" });
    const first = await runHolotype(["fetch", "-i", listOf(1), "-o", join(folder, "first"), "--equivalent", ...COMMON]);
    expect({ exit: first.exit, err: first.err }).toEqual({ exit: 0, err: "" });
    await setState(2);
    // What an index claims has to be older, by the second.
    await new Promise((resolve) => setTimeout(resolve, 1100));
  });
  afterAll(async () => await site[Symbol.asyncDispose]());

  it.each([
    { by: "url", options: ["--match", "url", "--equivalent"] },
    { by: "digest", options: ["--match", "digest"] },
  ])("gives the counts of the paper's processor, by $by", async ({ options }) => {
    const { report } = await fetchSecond("--audit", "100%", ...NOT_TEXT, ...options);
    expect(report.totals).toMatchObject({
      handled: 161,
      duplicates: 126,
      exact: 115,
      equivalent: 11,
      mirror: 0,
      new: 35,
    });
    expect(countsOf(report, "datestamp")).toEqual([14, 14, 85, 9, 20]);
    expect(countsOf(report, "etag")).toEqual([18, 13, 80, 5, 26]);
    expect(countsOf(report, "both")).toEqual([12, 8, 101, 11, 10]);
    expect(countsOf(report, "either")).toEqual([20, 45, 64, 3, 10]);
    const shares = (scheme: string) => {
      const { usefulness, reliability } = report.headers.find((each) => each.scheme === scheme)!;
      return [usefulness, reliability];
    };
    expect(shares("datestamp")).toEqual([85.86, 60.87]);
    expect(shares("etag")).toEqual([86.02, 78.26]);
  });

  it("gives the counts of all documents", async () => {
    const { report } = await fetchSecond("--audit", "1");
    expect(countsOf(report, "datestamp")).toEqual([14, 14, 97, 9, 70]);
    expect(countsOf(report, "etag")).toEqual([18, 13, 98, 5, 70]);
    expect(countsOf(report, "both")).toEqual([12, 8, 119, 11, 54]);
    expect(countsOf(report, "either")).toEqual([20, 51, 76, 3, 54]);
  });

  it.each([
    { scheme: "etag", options: [], asked: 134, unchanged: 103, wrong: 5 },
    { scheme: "datestamp", options: [], asked: 134, unchanged: 106, wrong: 9 },
    { scheme: "both", options: [], asked: 150, unchanged: 119, wrong: 5 },
    { scheme: "either", options: [], asked: 150, unchanged: 119, wrong: 5 },
    { scheme: "etag", options: NOT_TEXT, asked: 116, unchanged: 85, wrong: 5 },
    { scheme: "datestamp", options: NOT_TEXT, asked: 122, unchanged: 94, wrong: 9 },
    { scheme: "both", options: NOT_TEXT, asked: 132, unchanged: 101, wrong: 5 },
    { scheme: "either", options: NOT_TEXT, asked: 132, unchanged: 101, wrong: 5 },
  ])("is asked on condition by $scheme $options", async ({ scheme, options, asked, unchanged, wrong }) => {
    const { retrievals, job } = await fetchSecond("--scheme", scheme, ...options);
    const confirmed = retrievals.filter(({ outcome }) => outcome === "not-modified");
    expect(retrievals.filter((retrieval) => retrieval.asked !== undefined)).toHaveLength(asked);
    expect(confirmed).toHaveLength(unchanged);
    expect(confirmed.filter(({ status }) => status !== 304)).toEqual([]);
    // The server says of these that nothing has changed, and is wrong.
    const changed = /\/(?:img-chg|img-stale|bin-none-chg|pdf-lm-stale|pdf-etag-stale|page-chg|back)\//;
    expect(confirmed.filter(({ url }) => changed.test(url))).toHaveLength(wrong);
    if (options.length > 0) return;
    const verified = await runHolotype(["verify", job, "--originals", join(folder, "first")]);
    expect(verified.exit, verified.out).toBe(0);
    expect(verified.out).toMatch(/all holds/);
  });

  it.each(["datestamp", "etag", "both", "either"] as const)(
    "is predicted by %s when only headers are read",
    async (scheme) => {
      const { retrievals, report } = await fetchSecond("--by", "abort", "--scheme", scheme, ...NOT_TEXT);
      const predicted = retrievals.filter(({ outcome }) => outcome === "predicted");
      const expected = { datestamp: 85 + 9, etag: 80 + 5, both: 101 + 11, either: 64 + 3 };
      expect(predicted).toHaveLength(expected[scheme]);
      expect(report.totals["handled"]).toBe(161 - expected[scheme]);
    },
  );
});
