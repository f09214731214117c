/** The report on the paper's own counts, on files, and on what strangers put into them. */
import { gzipSync } from "node:zlib";
import fc from "fast-check";
import { describe, expect, test } from "vitest";
import { formatIso } from "../../base/index.ts";
import { Deduplicator, type DeduplicatorSettings, type KnownCapture, type NewCapture } from "../../dedup/index.ts";
import { captureBytes } from "../../testing/capture-text.ts";
import { putFile } from "../../testing/dedup-trial.ts";
import { ForgetfulDisk } from "../../testing/forgetful-disk.ts";
import { MemoryContents } from "../../testing/memory-contents.ts";
import { readPage } from "../../testing/report-page.ts";
import { formatReportCsv } from "./csv.ts";
import { formatReportPage } from "./page.ts";
import { formatCut, formatPercent, percentOf } from "./percent.ts";
import { reportOn } from "./run.ts";
import { type DigestReport, shapeReport } from "./shape.ts";
import { formatReportText } from "./text.ts";

const SETTINGS: DigestReport["settings"] = {
  against: "INDEX",
  matching: "url",
  equivalent: true,
  mimeFilter: "blacklist ^text/.*",
  dateReference: "captured",
  mirrors: "counted",
};
const SOURCES = { files: 1, captures: 24_000_000, skipped: 0, brokenLines: 0 };

/** The paper's March crawl: of those without a date 817 had changed, as its text says. */
const MARCH = {
  changeFalsely: 203_906,
  nonChangeCorrect: 3_783_013,
  missingUnchanged: 161_378,
  changeCorrectly: 36_058,
  nonChangeFalsely: 3281,
  missingChanged: 817,
  equivalent: 159_357,
  strangers: 2_753_430,
};
const BYTES = 941_110_791_887;
const DISCARDED = 520_523_548_534;

/** Through the doors of the tallies: seven million captures by their numbers. */
function march(): DigestReport {
  const deduplicator = new Deduplicator({ index: new MemoryContents([]), statsPerHost: true });
  const { duplicates, headers } = deduplicator;
  const exact = MARCH.changeFalsely + MARCH.nonChangeCorrect + MARCH.missingUnchanged;
  const fresh = MARCH.changeCorrectly + MARCH.nonChangeFalsely + MARCH.missingChanged + MARCH.strangers;
  const host = "example.is";
  const shared = { host, mime: "image/png" };
  duplicates.add({ ...shared, hit: "exact", bytes: 1, times: exact - 1 });
  duplicates.add({ ...shared, hit: "equivalent", bytes: 0, times: MARCH.equivalent });
  duplicates.add({ ...shared, hit: "exact", bytes: DISCARDED - exact + 1 });
  duplicates.add({ ...shared, hit: undefined, bytes: 0, times: fresh - 1 });
  duplicates.add({ ...shared, hit: undefined, bytes: BYTES - DISCARDED });
  const scheme = "datestamp";
  headers.add({ host, scheme, prediction: "change", changed: true, times: MARCH.changeCorrectly });
  headers.add({ host, scheme, prediction: "change", changed: false, times: MARCH.changeFalsely });
  headers.add({ host, scheme, prediction: "non-change", changed: false, times: MARCH.nonChangeCorrect });
  headers.add({ host, scheme, prediction: "non-change", changed: true, times: MARCH.nonChangeFalsely });
  headers.add({ host, scheme, prediction: "missing", changed: true, times: MARCH.missingChanged });
  headers.add({ host, scheme, prediction: "missing", changed: false, times: MARCH.missingUnchanged });
  headers.newUrls = MARCH.strangers + MARCH.equivalent;
  return shapeReport(deduplicator, SETTINGS, SOURCES);
}

describe("Figure 3", () => {
  test("line by line", () => {
    const [figure] = formatReportText({ ...march(), hosts: undefined }).split("\n\n");
    expect(figure).toBe(`Processor: holotype.Deduplicator
  Function:            Abort processing of duplicate records
                       - Lookup by url in use
  Total handled:       7101240
  Duplicates found:    4307654 60.66%
  Bytes total:         941110791887 (876 GiB)
  Bytes discarded:     520523548534 (484 GiB) 55.31%
  New (no hits):       2793586
  Exact hits:          4148297
  Equivalent hits:     159357
  Timestamp predicts:  (where exact URL hits could be found)
  Change correctly:    36058
  Change falsely:      203906
  Non-change correct:  3783013
  Non-change falsely:  3281
  Missing timestamp:   162195`);
  });

  test("behind it: usefulness and reliability, as the paper computes them and strictly", () => {
    const report = march();
    const [, quality] = formatReportText(report).split("\n\n");
    expect(quality).toBe(`  Quality, datestamp:  4188453 analysed
  Usefulness:          94.89%, strictly 91.19%
  Reliability:         91.66%, strictly 91.83%
  with new documents:  99.89%`);
    const { counts, analysed } = report.headers[0]!;
    const { changeCorrectly, changeFalsely, nonChangeCorrect, nonChangeFalsely, missing } = counts;
    const shares = [changeCorrectly, changeFalsely, nonChangeCorrect, nonChangeFalsely, missing].map((part) =>
      percentOf({ part, whole: analysed }),
    );
    expect(shares).toEqual([0.86, 4.87, 90.32, 0.08, 3.87]);
  });

  /** In the long run all seven million of them, else one in a thousand. */
  const scale = process.env["HOLOTYPE_LONG_RUNS"] === undefined ? 1000 : 1;

  test("the same by deciding about every capture", { timeout: 600_000 }, async () => {
    const then = Date.UTC(2005, 10, 1);
    const state = (name: string): KnownCapture => {
      return { uri: `http://${name}.is/`, timeMs: then, digests: [`sha1:${name}`], certainty: "claimed" };
    };
    const classes = Object.keys(MARCH) as (keyof typeof MARCH)[];
    const known = classes.filter((name) => name !== "equivalent" && name !== "strangers").map(state);
    const index = new MemoryContents([...known, { ...state("equivalent"), uri: "http://www.equivalent.is/" }]);
    const deduplicator = new Deduplicator({ index, tryEquivalent: true, dateReference: "captured" });
    for (const name of classes) {
      const count = Math.round(MARCH[name] / scale);
      const batch: NewCapture[] = Array.from({ length: 1000 }, () => marchCapture(name));
      for (let done = 0; done < count; done += 1000) await deduplicator.decide(batch.slice(0, count - done));
    }
    const { duplicates, headers } = deduplicator;
    const part = (name: keyof typeof MARCH) => Math.round(MARCH[name] / scale);
    const exact = part("changeFalsely") + part("nonChangeCorrect") + part("missingUnchanged");
    expect(duplicates.total).toMatchObject({ exact, equivalent: part("equivalent"), elsewhere: 0 });
    expect(duplicates.total.duplicates).toBe(exact + part("equivalent"));
    expect(duplicates.total.handled).toBe(classes.reduce((sum, name) => sum + part(name), 0));
    expect(headers.total.get("datestamp")).toEqual({
      changeCorrectly: part("changeCorrectly"),
      changeFalsely: part("changeFalsely"),
      nonChangeCorrect: part("nonChangeCorrect"),
      nonChangeFalsely: part("nonChangeFalsely"),
      missing: part("missingChanged") + part("missingUnchanged"),
      unreadable: 0,
      silentChanged: part("missingChanged"),
      silentUnchanged: part("missingUnchanged"),
    });
    expect(headers.newUrls).toBe(part("strangers") + part("equivalent"));
    const told = formatReportText(shapeReport(deduplicator, SETTINGS, SOURCES));
    expect(told).toContain(" 60.66%\n");
  });
});

/** A document of the class: its header and its digest say what its name says. */
function marchCapture(name: keyof typeof MARCH): NewCapture {
  const isChanged = name === "changeCorrectly" || name === "nonChangeFalsely" || name === "missingChanged";
  const day = name.startsWith("change") ? Date.UTC(2006, 1, 1) : Date.UTC(2005, 1, 1);
  return {
    uri: `http://${name}.is/`,
    date: formatIso(Date.UTC(2006, 2, 5)),
    mime: "image/png",
    framing: undefined,
    payloadSize: 100,
    length: undefined,
    digests: [`sha1:${name}${isChanged ? " changed" : ""}`],
    status: 200,
    headers: name.startsWith("missing") ? {} : { lastModified: new Date(day).toUTCString() },
  };
}

describe("numbers", () => {
  test.each([
    [55.31, DISCARDED, BYTES],
    [0.01, 1, 20_000],
    [0, 1, 20_001],
    [100, 7, 7],
    [33.33, 1, 3],
    [66.67, 2, 3],
    [50, Number.MAX_SAFE_INTEGER - 1, 2 * (Number.MAX_SAFE_INTEGER - 1)],
  ])("%d percent, rounded half up: %d of %d", (percent, part, whole) => {
    expect(percentOf({ part, whole })).toBe(percent);
  });

  test("a share of nothing is none", () => {
    expect(percentOf({ part: 0, whole: 0 })).toBeUndefined();
    expect(formatPercent(null)).toBe("-");
  });

  test.each([
    ["0 B", 0],
    ["1023 B", 1023],
    ["1 KiB", 2047],
    ["876 GiB", BYTES],
    ["484 GiB", DISCARDED],
    ["2048 GiB", 2 ** 41],
  ])("%s", (text, bytes) => {
    expect(formatCut(bytes)).toBe(text);
  });
});

const DIGEST = "sha1:AAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAA";
const logLine = (uri: string, digest = DIGEST, rest = "- -") =>
  `2026-02-10T00:00:00.000Z   200        100 ${uri} L http://a.org/ image/png #001 20260210000000000+5 ${digest} ${rest}`;

function known(uri: string, more: Partial<KnownCapture> = {}): KnownCapture {
  return { uri, timeMs: Date.UTC(2026, 0, 1), digests: [DIGEST], certainty: "claimed", ...more };
}

async function report(files: Readonly<Record<string, string | Buffer>>, settings: Partial<DeduplicatorSettings> = {}) {
  const disk = new ForgetfulDisk();
  for (const [name, bytes] of Object.entries(files)) putFile(disk, `/${name}`, Buffer.from(bytes as string));
  const index = new MemoryContents([known("http://a.org/x"), known("http://www.a.org/y")]);
  const skipped: string[] = [];
  const lines: string[] = [];
  const names = Object.keys(files).map((name) => `/${name}`);
  const made = await reportOn(
    disk,
    names,
    { index, ...settings },
    {
      against: "INDEX",
      onSkip: ({ name, error }) => void skipped.push(`${name} ${error.code}`),
      onBrokenLine: (name, line) => void lines.push(`${name} ${line}`),
    },
  );
  return { ...made, skipped, lines };
}

describe("sources", () => {
  const log = [logLine("http://a.org/x"), logLine("http://a.org/y"), logLine("http://a.org/z")].join("\n");

  test("a crawl.log, plain or compressed, whatever it is called", async () => {
    for (const [name, bytes] of [
      ["crawl.log", log],
      ["log.gz", gzipSync(log)],
      ["odd.warc", log],
    ] as const) {
      const { totals, unanalysed, sources } = await report({ [name]: bytes }, { tryEquivalent: true });
      expect(totals).toMatchObject({ handled: 3, duplicates: 2, exact: 1, equivalent: 1, new: 1, bytes: 300 });
      expect(unanalysed.headersUnknown).toBe(1);
      expect(sources).toEqual({ files: 1, captures: 3, skipped: 0, brokenLines: 0 });
    }
  });

  test("lines that are none are told by their number, and the others are read", async () => {
    const broken = `${logLine("http://a.org/x")}\nwhat is this\n\n${logLine("http://a.org/z")}\n{"no": "line"}\n`;
    const { totals, lines, sources } = await report({ "crawl.log": broken });
    expect(lines).toEqual(["/crawl.log 2", "/crawl.log 5"]);
    expect(totals.handled).toBe(2);
    expect(sources).toMatchObject({ brokenLines: 2, skipped: 0 });
  });

  test("what is neither a log nor an archive is skipped", async () => {
    const noise = "no line of a log\n".repeat(5000);
    const { skipped, sources, totals } = await report({
      "notes.txt": noise,
      "long.bin": "x".repeat(1 << 20),
      "crawl.log": log,
    });
    expect(skipped).toEqual(["/notes.txt HT_FORMAT_UNKNOWN", "/long.bin HT_FORMAT_UNKNOWN"]);
    expect(totals.handled).toBe(3);
    expect(sources.brokenLines).toBe(1000);
  });

  test("cut off answers are kept, and no media type is none", async () => {
    const cut = logLine("http://a.org/x", DIGEST, "- lenTrunc");
    const untyped = logLine("http://a.org/y").replace("image/png", "no-type");
    const { kept, mimes } = await report({ "crawl.log": `${cut}\n${untyped}` });
    expect(kept).toEqual([{ reason: "truncated", count: 1 }]);
    expect(mimes.map(({ name }) => name)).toEqual(["image/png", "other"]);
  });

  test("records: digests computed, headers read, revisits taken at their word", async () => {
    const date = "2026-02-10T00:00:00Z";
    const shared = { date, payload: "hello", mime: "image/png" };
    const one = captureBytes({
      ...shared,
      uri: "http://a.org/1",
      http: ['ETag: "1"', "Last-Modified: Thu, 01 Jan 2026 00:00:00 GMT"],
    });
    const two = captureBytes({ ...shared, uri: "http://a.org/2", http: ['ETag: "2"'], chunks: [2] });
    const sha1 = "sha1:VL2MMHO4YXUKFWV63YHTWSBM3GXKSQ2N";
    const revisit = captureBytes({
      ...shared,
      type: "revisit",
      uri: "http://a.org/3",
      payload: "",
      contentLength: 5,
      digestText: sha1,
    });
    const states = ["1", "2", "3"].map((name) => known(`http://a.org/${name}`, { digests: [sha1], etag: '"1"' }));
    const { totals, headers } = await report(
      { "a.warc": Buffer.concat([one, two, revisit]) },
      { index: new MemoryContents(states), analysis: "both" },
    );
    expect(totals).toMatchObject({ handled: 3, duplicates: 3, exact: 3, bytes: 15, duplicateBytes: 15 });
    expect(totals.responseBytes).toBeGreaterThan(15);
    expect(headers.map(({ counts }) => Object.values(counts).slice(0, 6))).toEqual([
      [0, 0, 1, 0, 2, 0],
      [0, 1, 1, 0, 1, 0],
    ]);
  });
});

describe("what strangers write", () => {
  const hostile = [
    'http://a.org/"><script>alert(1)</script>',
    "http://=cmd|' /C calc'!A0/",
    "http://\u202eevil.org/",
    "not a url",
    `http://${"x".repeat(5000)}.org/`,
  ];
  const settings = { statsPerHost: true, analysis: "all", tryEquivalent: true } as const;

  test("stays text", async () => {
    const log = hostile
      .map((uri) => logLine(uri.replaceAll(" ", "%20")))
      .join("\n")
      .replace("image/png", "=1+<b>");
    const made = await report({ "crawl.log": log }, settings);
    const page = readPage(formatReportPage(made));
    expect(page.tags.map(({ name }) => name)).not.toContain("script");
    expect(page.text).toContain("=1+<b>");
    const csv = formatReportCsv(made);
    expect(csv).not.toMatch(/,"?[=+@]/);
    expect(csv.split("\r\n")[0]!.split(",")).toHaveLength(2 + 10 + 4 * 6);
    expect(JSON.parse(JSON.stringify(made))).toMatchObject({ report: "deduplicator", version: 1 });
  });

  test("whatever it is, the page is well formed and the counts add up", async () => {
    const uri = fc
      .string({ unit: "binary", minLength: 1, maxLength: 30 })
      .map((text) => `http://${text.replace(/[\s\0]/g, "")}/`);
    await fc.assert(
      fc.asyncProperty(fc.array(uri, { maxLength: 8 }), async (uris) => {
        const index = new MemoryContents(uris.slice(0, 3).map((each) => known(each)));
        const deduplicator = new Deduplicator({ ...settings, index });
        await deduplicator.decide(uris.map((each) => ({ ...marchCapture("strangers"), uri: each, mime: each })));
        const made = shapeReport(deduplicator, SETTINGS, SOURCES);
        expect(readPage(formatReportPage(made)).text).toContain("total handled");
        expect((made.hosts ?? []).reduce((sum, { handled }) => sum + handled, 0)).toBe(made.totals.handled);
        expect(formatReportText(made)).toContain("Total handled:");
        expect(formatReportCsv(made).split("\r\n").length).toBe(3 + (made.hosts ?? []).length + made.mimes.length);
      }),
      { numRuns: 20 },
    );
  });
});

describe("the page", () => {
  test("has every figure of the report", () => {
    const { text } = readPage(formatReportPage(march()));
    for (const figure of ["7,101,240", "4,307,654", "60.66%", "941,110,791,887", "876 GiB", "55.31%", "2,793,586"]) {
      expect(text).toContain(figure);
    }
    for (const figure of ["4,148,297", "159,357", "36,058", "203,906", "3,783,013", "3,281", "162,195"]) {
      expect(text).toContain(figure);
    }
    for (const share of ["94.89%", "91.66%", "91.19%", "91.83%", "90.32%"]) expect(text).toContain(share);
  });

  test("is a page also where there was nothing", async () => {
    const { text } = readPage(formatReportPage(await report({ "crawl.log": "" })));
    expect(text).toContain("Nothing handled");
  });
});
