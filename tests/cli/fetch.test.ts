import { existsSync, mkdirSync, readdirSync, readFileSync } from "node:fs";
import { join } from "node:path";
import { afterAll, beforeAll, describe, expect, it } from "vitest";
import { WARCParser } from "warcio";
import { bodyOf, ChangingSite, expectedAnswers, SITE_DOCUMENTS } from "../../src/testing/changing-site.ts";
import { formatCrawlLogLine, parseCrawlLogLine } from "../../src/warc/index.ts";
import { retrievalsOf, runHolotype } from "./fetch-run.ts";
import { ended, linesOf, put, startHolotype, temporaryFolder } from "./holotype.ts";

const folder = temporaryFolder();
const NETWORK = ["--allow-private", "127.0.0.0/8", "--resolve", "site.test:127.0.0.1", "--delay", "0"];
const MIRRORS = SITE_DOCUMENTS.filter(({ kind }) => kind.like !== undefined).length;
let site: ChangingSite;
let list: string;

beforeAll(async () => {
  site = await ChangingSite.start();
  list = put(
    folder,
    "urls.txt",
    `# the whole site\n\n${SITE_DOCUMENTS.map(({ path }) => site.url(path, "site.test")).join("\n")}\n`,
  );
});
afterAll(async () => await site[Symbol.asyncDispose]());

function fetchAll(job: string, ...options: readonly string[]) {
  return runHolotype(["fetch", "-i", list, "-o", join(folder, job), ...NETWORK, ...options]);
}

/** Captures of one URL in one second are one for replay, so the next crawl is to come later. */
function nextSecond(): Promise<void> {
  return new Promise((resolve) => setTimeout(resolve, 1050));
}

function warcFiles(job: string): string[] {
  const names = readdirSync(join(folder, job)).filter((name) => /\.warc\.gz/.test(name));
  return names.map((name) => join(folder, job, name));
}

interface Report {
  readonly totals: { readonly handled: number };
  readonly fetch: {
    readonly outcomes: Readonly<Record<string, number>>;
    readonly revisits: Readonly<Record<string, number>>;
    readonly left: number;
  };
}

function reportOf(job: string): Report {
  return JSON.parse(readFileSync(join(folder, job, "report.json"), "utf8")) as Report;
}

describe("two fetches", () => {
  const { asked, unchanged } = expectedAnswers("both");

  beforeAll(async () => {
    site.state = 1;
    const first = await fetchAll("first", "--origin", "spring");
    expect({ exit: first.exit, out: first.out }).toEqual({ exit: 0, out: "" });
    expect(first.err).toMatch(/^URLs +34 {2}done\nstored +31 /);
    site.state = 2;
    await nextSecond();
    const digests = ["--digests", join(folder, "first", "digests"), "--originals", join(folder, "first")];
    const second = await fetchAll("second", ...digests, "--json");
    expect({ exit: second.exit, err: second.err }).toEqual({ exit: 0, err: "" });
    expect(retrievalsOf(second.out)).toHaveLength(SITE_DOCUMENTS.length);
    expect(JSON.parse(linesOf(second.out).at(-1)!)).toEqual({ report: reportOf("second") });
  });

  it("leave records that are sound and lead to their originals", async () => {
    const jobs = [join(folder, "first"), join(folder, "second")];
    for (const command of ["check", "verify"]) {
      const { exit, out, err } = await runHolotype([command, ...jobs]);
      expect({ exit, err }, out).toEqual({ exit: 0, err: "" });
    }
    const { outcomes, revisits } = reportOf("second").fetch;
    expect(outcomes).toMatchObject({ "not-modified": unchanged.length, failed: 0, predicted: 0 });
    expect(asked.length).toBeGreaterThan(unchanged.length);
    // Their originals were read.
    expect(revisits).toEqual({ proven: outcomes["not-modified"]! + outcomes["duplicate"]!, held: 0, claimed: 0 });
  });

  it("leave files that another tool reads to their end", async () => {
    for (const job of ["first", "second"]) {
      const types: Record<string, number> = {};
      for (const path of warcFiles(job)) {
        const bytes = readFileSync(path);
        for await (const record of new WARCParser([bytes] as unknown as AsyncIterable<Uint8Array>)) {
          const type = record.warcType!;
          types[type] = (types[type] ?? 0) + 1;
          const payload = await record.readFully(true);
          if (type !== "response") continue;
          const document = SITE_DOCUMENTS.find(({ path: own }) => record.warcTargetURI!.endsWith(own))!;
          expect(Buffer.from(payload!)).toEqual(bodyOf(document, job === "first" ? 1 : 2));
        }
      }
      const { outcomes } = reportOf(job).fetch;
      expect(types).toMatchObject({ request: SITE_DOCUMENTS.length, response: outcomes["stored"] });
      expect(types["revisit"]).toBe(outcomes["duplicate"]! + outcomes["not-modified"]!);
    }
  });

  it("leave a crawl.log as Heritrix has it, with origins", () => {
    const lines = linesOf(readFileSync(join(folder, "second", "crawl.log"), "utf8"));
    expect(lines).toHaveLength(SITE_DOCUMENTS.length);
    const entries = lines.map((line) => parseCrawlLogLine(line)!);
    expect(entries.map(formatCrawlLogLine)).toEqual(lines);
    const duplicates = entries.filter(({ duplicate }) => duplicate !== undefined);
    expect(duplicates.filter(({ duplicate }) => duplicate!.kind === "not-modified")).toHaveLength(unchanged.length);
    for (const { duplicate } of duplicates) {
      expect(duplicate!.origin).toMatchObject({ uri: expect.stringMatching(/^http:\/\/site\.test/) as string });
      if (duplicate!.kind === "digest") expect(duplicate!.origin!.text).toBe("spring");
    }
  });

  it("leave an index of their own, and a page", async () => {
    const url = site.url("/etag-only/0", "site.test");
    const { exit, out } = await runHolotype(["digests", "lookup", join(folder, "second", "digests"), url]);
    expect(exit, out).toBe(0);
    expect(out).toContain("spring");
    expect(readFileSync(join(folder, "second", "report.html"), "utf8")).toContain("What became of the URLs");
  });
});

describe("a fetch into an archive", () => {
  const archive = join(folder, "archive");

  it("adds as it goes, and asks the archive the next time", async () => {
    site.state = 1;
    const first = await fetchAll("into-1", "--archive", archive);
    expect(first.exit, first.err).toBe(0);
    expect(warcFiles("into-1")).toEqual([]);
    site.state = 2;
    await nextSecond();
    const second = await fetchAll("into-2", "--archive", archive);
    expect(second.exit, second.err).toBe(0);
    const { unchanged } = expectedAnswers("both");
    const { outcomes, revisits } = reportOf("into-2").fetch;
    expect(outcomes["not-modified"]).toBe(unchanged.length);
    expect(revisits).toEqual({ proven: outcomes["not-modified"]! + outcomes["duplicate"]!, held: 0, claimed: 0 });
    const examined = await runHolotype(["doctor", "--archive", archive]);
    expect(examined.exit, examined.out).toBe(0);
    const stats = await runHolotype(["stats", "--archive", archive, "--json"]);
    expect(JSON.parse(linesOf(stats.out)[0]!)).toMatchObject({ captures: 2 * SITE_DOCUMENTS.length, pending: 0 });
    const history = await runHolotype(["history", site.url("/changed/0", "site.test"), "--archive", archive, "--json"]);
    expect(linesOf(history.out)).toHaveLength(2);
    const same = await runHolotype(["history", site.url("/same/0", "site.test"), "--archive", archive, "--json"]);
    expect(linesOf(same.out)).toHaveLength(1);
    expect(JSON.parse(linesOf(same.out)[0]!)).toMatchObject({ captures: 2 });
  });

  it("does not refer to what only an index claims", async () => {
    const other = join(folder, "other-archive");
    const { exit, err } = await fetchAll("into-3", "--archive", other, "--digests", join(folder, "first", "digests"));
    expect(exit, err).toBe(0);
    const { outcomes, revisits } = reportOf("into-3").fetch;
    expect(outcomes).toMatchObject({ "not-modified": 0, duplicate: MIRRORS });
    expect(revisits["claimed"]).toBe(0);
  });
});

describe("predictions", () => {
  it("are observations neither for add nor for verify", async () => {
    site.state = 1;
    expect((await fetchAll("seen")).exit).toBe(0);
    await nextSecond();
    const digests = ["--digests", join(folder, "seen", "digests")];
    const second = await fetchAll("predicted", ...digests, "--by", "abort", "--write-predicted", "--scheme", "etag");
    expect(second.exit, second.err).toBe(0);
    const { outcomes } = reportOf("predicted").fetch;
    expect(outcomes["predicted"]).toBeGreaterThan(0);
    for (const command of ["check", "verify"]) {
      const { exit, out } = await runHolotype([command, join(folder, "seen"), join(folder, "predicted")]);
      expect(exit, out).toBe(0);
    }
    const archive = join(folder, "of-predictions");
    const added = await runHolotype(["add", join(folder, "seen"), join(folder, "predicted"), "--archive", archive]);
    expect(added.exit, added.err).toBe(0);
    const history = await runHolotype(["history", site.url("/same/0", "site.test"), "--archive", archive, "--json"]);
    // The first fetch is the one observation.
    expect(linesOf(history.out).map((line) => (JSON.parse(line) as { captures: number }).captures)).toEqual([1]);
  });
});

describe("fetch", () => {
  it("ends cleanly when it is told to, and goes on", async () => {
    site.delayMs = 30;
    const args = ["fetch", "-i", list, "-o", join(folder, "stopped"), ...NETWORK, "--json"];
    const child = startHolotype(args);
    let out = "";
    child.stdout.on("data", (piece: Buffer) => {
      if (out === "") child.kill("SIGTERM");
      out += piece.toString();
    });
    const { exit } = await ended(child);
    site.delayMs = 0;
    expect(exit).toBe(130);
    expect(readdirSync(join(folder, "stopped")).filter((name) => name.endsWith(".open"))).toEqual([]);
    const told = retrievalsOf(out).length;
    expect(told).toBeGreaterThan(0);
    const again = await runHolotype(args);
    expect(again.exit).toBe(0);
    expect(retrievalsOf(again.out)).toHaveLength(SITE_DOCUMENTS.length - told);
    expect(reportOf("stopped").fetch).toMatchObject({ left: 0, retrievals: SITE_DOCUMENTS.length });
  });

  it("refuses a folder that is another job's, in use, or something else", async () => {
    const other = await fetchAll("first", "--audit", "5%");
    expect({ exit: other.exit, err: other.err }).toEqual({
      exit: 2,
      err: expect.stringMatching(/job\.json: this folder holds another job \(audit, origin differ\)/) as string,
    });
    mkdirSync(join(folder, "foreign"));
    put(join(folder, "foreign"), "notes.txt", "mine");
    expect((await fetchAll("foreign")).exit).toBe(2);
    expect(readdirSync(join(folder, "foreign"))).toEqual(["notes.txt"]);
    expect((await fetchAll("foreign/notes.txt")).err).toMatch(/notes\.txt: not a folder\n$/);
    site.delayMs = 100;
    const running = fetchAll("busy");
    while (!existsSync(join(folder, "busy", "crawl.log"))) await new Promise((resolve) => setTimeout(resolve, 20));
    expect((await fetchAll("busy")).exit).toBe(21);
    site.delayMs = 0;
    expect((await running).exit).toBe(0);
  });

  it("ends with 3 where a URL failed, and names it", async () => {
    const url = "http://site.test:1/";
    const { exit, err, out } = await runHolotype(["fetch", url, "-o", join(folder, "failed"), ...NETWORK, "--json"]);
    expect({ exit, err }).toEqual({ exit: 3, err: "" });
    expect(retrievalsOf(out)).toMatchObject([{ url, status: -2, outcome: "failed", failure: "connect-failed" }]);
    const text = await runHolotype(["fetch", "http://10.1.2.3/", "-o", join(folder, "private")]);
    expect(text.exit).toBe(3);
    const reason = "every address of the host is private or reserved (address-refused; see --allow-private)";
    expect(linesOf(text.err)[0]).toBe(`failed http://10.1.2.3/: ${reason}`);
    // Nothing was compared, so there are no figures.
    expect(text.err).not.toContain("Processor");
  });

  it.each([
    { why: "no URL", args: ["-o", "x"] },
    { why: "no folder", args: ["http://a.example/"] },
    { why: "no such scheme", args: ["http://a.example/", "-o", "x", "--scheme", "crc"] },
    { why: "no share", args: ["http://a.example/", "-o", "x", "--audit", "5 of 100"] },
    { why: "predictions of conditional requests", args: ["http://a.example/", "-o", "x", "--write-predicted"] },
    { why: "white and black", args: ["http://a.example/", "-o", "x", "--mime", "a/b", "--not-mime", "c/d"] },
    { why: "no range of addresses", args: ["http://a.example/", "-o", "x", "--allow-private", "home"] },
    { why: "no pair", args: ["http://a.example/", "-o", "x", "--resolve", "a.example"] },
    { why: "no seconds", args: ["http://a.example/", "-o", "x", "--delay", "a while"] },
  ])("does not understand $why", async ({ args }) => {
    const { exit, out, err } = await runHolotype(["fetch", ...args]);
    expect({ exit, out }).toEqual({ exit: 2, out: "" });
    expect(linesOf(err)).toEqual([expect.stringMatching(/^holotype: \S/)]);
    expect(existsSync("x")).toBe(false);
  });

  it("wants the index that it is to compare with", async () => {
    expect((await fetchAll("never", "--digests", join(folder, "no-index"))).exit).toBe(20);
    // The folder of the job is easily taken for its index.
    const hint = await fetchAll("never", "--digests", join(folder, "first"));
    expect(hint.err).toContain(`did you mean ${join(folder, "first", "digests")}?`);
    const list = await runHolotype(["fetch", "-i", join(folder, "no-list"), "-o", join(folder, "never")]);
    expect({ exit: list.exit, err: list.err }).toEqual({
      exit: 20,
      err: `holotype: ${join(folder, "no-list")}: no such file\n`,
    });
    expect(existsSync(join(folder, "never"))).toBe(false);
  });
});
