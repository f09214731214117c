/** What real crawlers wrote of the site of known history, in ../shared/corpus/crawl: logs and records of two states. */
import { existsSync } from "node:fs";
import { fileURLToPath } from "node:url";
import { describe, expect, test } from "vitest";
import { formatDigest } from "../../base/index.ts";
import { type KnownCapture, timeOfDate } from "../../dedup/index.ts";
import { nodeDisk } from "../../disk/index.ts";
import { findInputs, readGivenLines } from "../../pipeline/index.ts";
import { ForgetfulDisk } from "../../testing/forgetful-disk.ts";
import { MemoryContents } from "../../testing/memory-contents.ts";
import { fileSource, parseCrawlLogLine, WarcReader } from "../../warc/index.ts";
import { buildIndex } from "../build.ts";
import { DigestIndex } from "../digest-index.ts";
import { InputSource } from "../input-source.ts";
import { SETTINGS_DEFAULT } from "../settings.ts";
import { recordCaptures } from "./record-captures.ts";
import { reportOn } from "./run.ts";

const CORPUS = fileURLToPath(new URL("../../../../shared/corpus/crawl/", import.meta.url));
const isThere = existsSync(CORPUS);

function knownOf(log: string): KnownCapture[] {
  const known: KnownCapture[] = [];
  for (const line of readGivenLines(nodeDisk, `${CORPUS}${log}`)) {
    const entry = parseCrawlLogLine(line);
    if (entry?.digest === undefined) continue;
    const { uri, timeMs, status, digest } = entry;
    known.push({ uri, timeMs, status, digests: [formatDigest(digest)], certainty: "claimed" });
  }
  return known;
}

/** A response may come under several URLs; those of a file are known with their headers. */
function knownFrom(file: string): KnownCapture[] {
  using input = nodeDisk.open(`${CORPUS}${file}`, "read");
  const known: KnownCapture[] = [];
  for (const capture of recordCaptures(new WarcReader(fileSource(input, file)), () => {})) {
    const { uri, date, status, digests, headers } = capture;
    if (capture.payloadSize === 0) continue;
    known.push({ uri: uri!, timeMs: timeOfDate(date)!, status, digests, ...headers, certainty: "claimed" });
  }
  return known;
}

const SETTINGS = {
  tryEquivalent: true,
  mimeFilter: { expression: "^text/.*", mode: "blacklist" },
  analysis: "both",
} as const;

describe.skipIf(!isThere)(`crawls of known history${isThere ? "" : " (skipped: there is no ../shared/corpus)"}`, () => {
  test.each([
    ["url", "warc.gz"],
    ["digest", "warc.gz"],
    ["url", "crawl.log"],
    ["digest", "crawl.log"],
  ] as const)("Heritrix against the log of state 1, by %s, from its %s", async (matching, kind) => {
    const before = knownOf("heritrix/state1.crawl.log");
    const settings = { ...SETTINGS, index: new MemoryContents(before), matching };
    const file = `${CORPUS}heritrix/state2.${kind}`;
    const { totals, sources, headers, unanalysed } = await reportOn(nodeDisk, [file], settings, { against: "state 1" });
    expect(sources).toMatchObject({ files: 1, skipped: 0, brokenLines: 0 });
    // With big.bin and sitemap.xml, which it came by. It reached half of the site with www.
    expect(totals).toMatchObject({ handled: 163, duplicates: 128, new: 35, mirror: 0 });
    expect(totals.exact + totals.equivalent).toBe(128);
    const urls = new Set(before.flatMap(({ uri, status }) => (status === 200 ? [uri] : [])));
    const again = [...readGivenLines(nodeDisk, `${CORPUS}heritrix/state2.crawl.log`)].map(parseCrawlLogLine);
    const known = again.filter(
      (entry) =>
        entry?.status === 200 && !/^text|^unknown/.test(entry.mime!) && urls.has(entry.uri) && entry.size !== 0,
    );
    const analysed = kind === "crawl.log" ? unanalysed.headersUnknown : headers[0]!.analysed;
    expect(analysed).toBe(known.filter((entry) => !entry!.uri.endsWith("/robots.txt")).length);
    // The log that it was compared with has no ETags.
    expect(headers[1]!.counts.missing).toBe(headers[1]!.analysed);
  });

  test("warcprox against wget's records of state 1: all headers known", async () => {
    const settings = { ...SETTINGS, index: new MemoryContents(knownFrom("wget/s1.warc.gz")) };
    const file = `${CORPUS}warcprox/state2-dedup-hex.warc.gz`;
    const report = await reportOn(nodeDisk, [file], settings, { against: "state 1" });
    // A1 of the site, and big.bin.
    const { totals, headers } = report;
    expect(totals).toMatchObject({ handled: 162, duplicates: 127, exact: 116, equivalent: 11, new: 35, mirror: 0 });
    expect(headers.map(({ counts }) => Object.values(counts).slice(0, 6))).toEqual([
      [14, 14, 86, 9, 20, 0],
      [18, 13, 81, 5, 26, 0],
    ]);
    expect(headers.map(({ reliability }) => reliability)).toEqual([60.87, 78.26]);
  });

  test.each(["url", "digest"] as const)("the same against a digest index, by %s", async (matching) => {
    const disk = new ForgetfulDisk();
    disk.makeFolder("/index");
    const inputs = findInputs(nodeDisk, [`${CORPUS}wget/s1.warc.gz`], () => {});
    const settings = { ...SETTINGS_DEFAULT, equivalent: true, validators: true };
    await buildIndex(
      disk,
      "/index/d",
      inputs.map((input) => new InputSource(nodeDisk, input)),
      { settings },
    );
    await using index = DigestIndex.open(disk, "/index/d");
    const all = { ...SETTINGS, analysis: "all", index, matching } as const;
    const file = `${CORPUS}warcprox/state2-dedup-hex.warc.gz`;
    const { totals, headers } = await reportOn(nodeDisk, [file], all, { against: "/index/d" });
    expect(totals).toMatchObject({ handled: 162, duplicates: 127, exact: 116, equivalent: 11, new: 35, mirror: 0 });
    expect(headers.map(({ counts }) => Object.values(counts).slice(0, 6))).toEqual([
      [14, 14, 86, 9, 20, 0],
      [18, 13, 81, 5, 26, 0],
      [12, 8, 102, 11, 10, 0],
      [20, 45, 65, 3, 10, 0],
    ]);
  });

  test("wget's revisits of chunked answers have digests of their own kind", async () => {
    const settings = { ...SETTINGS, index: new MemoryContents(knownFrom("wget/s1.warc.gz")) };
    const { totals } = await reportOn(nodeDisk, [`${CORPUS}wget/s2.warc.gz`], settings, { against: "state 1" });
    // The six of chunked-same are over the chunks, so that nothing here has them; those of empty redirects are known.
    expect(totals).toMatchObject({ handled: 162, duplicates: 121, exact: 110, equivalent: 11, new: 41 });
  });

  test("a crawl.log of warcprox reads whole", async () => {
    const settings = { ...SETTINGS, index: new MemoryContents([]) };
    const file = `${CORPUS}warcprox/two-states.crawl.log`;
    const { sources, totals } = await reportOn(nodeDisk, [file], settings, { against: "nothing" });
    expect(sources).toEqual({ files: 1, captures: 534, skipped: 0, brokenLines: 0 });
    expect(totals).toMatchObject({ handled: 324, duplicates: 0, new: 324 });
  });
});
