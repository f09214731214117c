import { describe, expect, test } from "vitest";
import { formatIso } from "../base/index.ts";
import { createDice, newSeed } from "../testing/dice.ts";
import { createHistory } from "../testing/document-history.ts";
import { MemoryContents } from "../testing/memory-contents.ts";
import { Deduplicator, type NewCapture, type Verdict } from "./deduplicator.ts";
import type { DeduplicatorLogLine } from "./deduplicator-settings.ts";
import type { HeaderCounts, HeaderTally } from "./header-tally.ts";
import type { KnownCapture } from "./known-contents.ts";
import { newOnes } from "./tally.ts";

const THEN = Date.UTC(2026, 0, 10);
const NOW = Date.UTC(2026, 1, 10);

function known(uri: string, digest: string, more: Partial<KnownCapture> = {}): KnownCapture {
  return { uri, timeMs: THEN, digests: [`sha1:${digest}`], status: 200, certainty: "claimed", ...more };
}

function capture(uri: string, digest: string, more: Partial<NewCapture> = {}): NewCapture {
  const facts = { mime: "image/png", framing: undefined, payloadSize: 100, length: undefined, status: 200 };
  return { uri, date: formatIso(NOW), digests: [`sha1:${digest}`], headers: {}, ...facts, ...more };
}

/** change correctly, change falsely, non-change correct, non-change falsely, missing, unreadable */
function row(counts: HeaderCounts | undefined): number[] {
  const { changeCorrectly, changeFalsely, nonChangeCorrect, nonChangeFalsely, missing, unreadable } = counts!;
  return [changeCorrectly, changeFalsely, nonChangeCorrect, nonChangeFalsely, missing, unreadable];
}

function rows(tally: HeaderTally): Record<string, number[]> {
  return Object.fromEntries(tally.schemes.map((scheme) => [scheme, row(tally.total.get(scheme))]));
}

const kinds = (verdicts: readonly Verdict[]) =>
  verdicts.map((verdict) => (verdict.kind === "kept" ? verdict.reason : verdict.kind === "new" ? "new" : verdict.hit));

describe("a history of 5,000 documents", () => {
  const { before, after, truth } = createHistory(createDice(newSeed()), 5000);
  const settings = {
    tryEquivalent: true,
    mimeFilter: { expression: "^text/.*", mode: "blacklist" },
    analysis: "all",
  } as const;

  test.each([
    ["url", "counted"],
    ["url", "duplicates"],
    ["digest", "counted"],
    ["digest", "duplicates"],
  ] as const)("by %s, mirrors %s: as it was made", async (matching, mirrors) => {
    const index = new MemoryContents(before, { later: matching === "digest" });
    const deduplicator = new Deduplicator({ ...settings, index, matching, mirrors });
    for (let i = 0; i < after.length; i += 700) await deduplicator.decide(after.slice(i, i + 700));
    const { total } = deduplicator.duplicates;
    // By URL nobody looks for mirrors, unless they are wanted.
    const found = matching === "url" && mirrors === "counted" ? 0 : truth.elsewhere;
    const { handled, exact, equivalent, bytes } = truth;
    expect(total).toMatchObject({ handled, bytes, exact, equivalent, elsewhere: found });
    expect(total.duplicates).toBe(exact + equivalent + (mirrors === "duplicates" ? found : 0));
    if (mirrors === "counted") expect(total.duplicateBytes).toBe(truth.duplicateBytes);
    expect(newOnes(total)).toBe(handled - exact - equivalent - found);
    expect(rows(deduplicator.headers)).toEqual(truth.headers);
    expect([...deduplicator.exempt.values()].reduce((sum, count) => sum + count)).toBe(truth.exempt);
    expect(deduplicator.headers.newUrls).toBe(handled - truth.headers.etag.reduce((sum, count) => sum + count));
    expect(Math.min(exact, equivalent, truth.elsewhere, truth.exempt, ...truth.headers.datestamp)).toBeGreaterThan(20);
  });

  test("by host: the parts are the whole", () => {
    const deduplicator = new Deduplicator({ ...settings, index: new MemoryContents(before), statsPerHost: true });
    expect(deduplicator.decide(after)).not.toBeInstanceOf(Promise);
    const { byHost, total } = deduplicator.duplicates;
    expect(byHost.size).toBe(40);
    for (const key of ["handled", "duplicates", "exact", "equivalent", "bytes"] as const) {
      expect([...byHost.values()].reduce((sum, counts) => sum + counts[key], 0)).toBe(total[key]);
    }
    const sums = [0, 0, 0, 0, 0, 0];
    for (const counts of deduplicator.headers.byHost.values()) {
      for (const [i, count] of row(counts.get("either")).entries()) sums[i]! += count;
    }
    expect(sums).toEqual(truth.headers.either);
  });
});

describe("exemptions", () => {
  const index = new MemoryContents([known("http://a.org/x", "A"), known("http://a.org/robots.txt", "R")]);
  const empty = "3I42H3S6NNFQ2MSVX7XZKYAYSCX5QBYJ";

  test.each<[string, NewCapture]>([
    ["robots", capture("http://a.org/robots.txt", "R")],
    ["dns", capture("dns:a.org", "A", { status: 1 })],
    ["status", capture("http://a.org/x", "A", { status: -6 })],
    ["status", capture("http://a.org/x", "A", { status: 404 })],
    ["status", capture("http://a.org/x", "A", { status: 304 })],
    ["empty", capture("http://a.org/x", "A", { payloadSize: 0 })],
    ["empty", capture("http://a.org/x", empty, { payloadSize: undefined })],
    ["no-digest", capture("http://a.org/x", "A", { digests: [] })],
    ["mime", capture("http://a.org/x", "A", { mime: "text/html" })],
  ])("%s", (reason, given) => {
    const deduplicator = new Deduplicator({ index, mimeFilter: { patterns: ["text/*"], mode: "blacklist" } });
    expect(deduplicator.decide([given])).toEqual([{ kind: "kept", reason }]);
    expect(deduplicator.duplicates.total.handled).toBe(0);
    expect([...deduplicator.exempt]).toEqual([[reason, 1]]);
  });

  test("nothing is asked where it is switched off", () => {
    const asked = new MemoryContents([known("http://a.org/x", "A")]);
    const deduplicator = new Deduplicator({ index: asked, enabled: false });
    expect(deduplicator.decide([capture("http://a.org/x", "A")])).toEqual([{ kind: "kept", reason: "disabled" }]);
    expect(asked.calls).toBe(0);
  });

  test("errors and files called robots.txt further down are documents, if they are wanted", () => {
    const deeper = known("http://a.org/x/robots.txt", "R");
    const deduplicator = new Deduplicator({ index: new MemoryContents([deeper]), errors: true });
    const verdicts = deduplicator.decide([capture("http://a.org/x/robots.txt", "R", { status: 404 })]);
    expect(kinds(verdicts as Verdict[])).toEqual(["exact"]);
  });

  test.each([
    ["blacklist", ["image/png", undefined]],
    ["whitelist", ["text/html", "TEXT/plain"]],
  ] as const)("%s", async (mode, handled) => {
    const deduplicator = new Deduplicator({ index, mimeFilter: { expression: "text/.*", mode } });
    const types = ["image/png", "text/html", "TEXT/plain", undefined];
    await deduplicator.decide(types.map((mime) => capture("http://a.org/y", "Y", { mime })));
    expect(deduplicator.duplicates.total.handled).toBe(2);
    expect([...deduplicator.duplicates.byMime.keys()]).toEqual(handled.map((mime) => mime ?? "other"));
  });

  test("an expression has to match the whole type, and has to be one", async () => {
    const deduplicator = new Deduplicator({ index, mimeFilter: { expression: "text", mode: "blacklist" } });
    await deduplicator.decide([capture("http://a.org/y", "Y", { mime: "text/html" })]);
    expect(deduplicator.duplicates.total.handled).toBe(1);
    const broken = { index, mimeFilter: { expression: "(", mode: "blacklist" } } as const;
    expect(() => new Deduplicator(broken)).toThrow(expect.objectContaining({ code: "HT_USAGE" }));
  });
});

describe("verdicts", () => {
  const original = { uri: "http://a.org/first", date: "2025-01-01T00:00:00Z", id: "urn:uuid:1" };
  const index = new MemoryContents([
    known("http://a.org/x", "A", { original, framing: "chunked", origin: "crawl-7" }),
    known("http://www.a.org/y?s=1", "B", { original, framing: "plain" }),
    known("http://b.org/z", "C"),
  ]);

  test.each([
    [["exact", "equivalent", "new", "new"], { tryEquivalent: true }],
    [["exact", "new", "new", "new"], {}],
    [["exact", "equivalent", "elsewhere", "new"], { tryEquivalent: true, mirrors: "duplicates" }],
    [["exact", "equivalent", "mirror", "new"], { tryEquivalent: true, matching: "digest" }],
    [["exact", "mirror", "mirror", "new"], { matching: "digest" }],
    [["exact", "elsewhere", "elsewhere", "new"], { matching: "digest", mirrors: "duplicates" }],
    [["framing", "equivalent", "no-original", "new"], { tryEquivalent: true, mirrors: "duplicates", revisits: true }],
  ] as const)("%j", (expected, settings) => {
    const captures = ["x A", "y B", "z C", "x D"].map((text) => {
      const [path, digest] = text.split(" ");
      return capture(`http://a.org/${path}`, digest!, { framing: "plain" });
    });
    expect(kinds(new Deduplicator({ index, ...settings }).decide(captures) as Verdict[])).toEqual(expected);
  });

  test("a chunked answer may refer to a chunked original", () => {
    const chunked = capture("http://a.org/x", "A", { framing: "chunked" });
    const [verdict] = new Deduplicator({ index, revisits: true }).decide([chunked]) as Verdict[];
    expect(verdict).toMatchObject({ kind: "duplicate", hit: "exact", certainty: "claimed", original: { original } });
  });

  test.each([
    ["index", "crawl-7"],
    ["processor", "ours"],
    ["none", undefined],
  ] as const)("origin by %s is %s", (originHandling, origin) => {
    const settings = { index, originHandling, origin: "ours" };
    const [verdict] = new Deduplicator(settings).decide([capture("http://a.org/x", "A")]) as Verdict[];
    expect(verdict).toMatchObject({ kind: "duplicate", origin });
  });

  test.each<[string, Partial<NewCapture>]>([
    ["truncated", { truncated: true }],
    ["damaged", { damaged: true }],
    ["no-date", { date: undefined }],
    ["out-of-reach", { date: formatIso(THEN) }],
    ["out-of-reach", { date: "2020-01-01T00:00:00Z" }],
  ])("%s keeps a capture whose content is known", (reason, flaw) => {
    const plain = new MemoryContents([known("http://a.org/x", "A")]);
    const deduplicator = new Deduplicator({ index: plain });
    expect(kinds(deduplicator.decide([capture("http://a.org/x", "A", flaw)]) as Verdict[])).toEqual([reason]);
    expect(deduplicator.duplicates.total).toMatchObject({ handled: 1, exact: 1, duplicates: 0, duplicateBytes: 0 });
    expect([...deduplicator.kept]).toEqual([[reason, 1]]);
  });

  test("an original of our own may be of the same second, of another URL", () => {
    const own = known("http://b.org/", "A", { certainty: "proven", timeMs: NOW });
    const settings = { index: new MemoryContents([own]), mirrors: "duplicates" } as const;
    const verdicts = new Deduplicator(settings).decide([capture("http://a.org/", "A"), capture("http://b.org/", "A")]);
    expect(kinds(verdicts as Verdict[])).toEqual(["elsewhere", "same-capture"]);
  });

  test("one digest and two sizes are two payloads, where the size was measured", () => {
    const sized = (certainty: KnownCapture["certainty"]) =>
      new MemoryContents([known("http://a.org/x", "A", { payloadSize: 99, certainty })]);
    const decide = (certainty: KnownCapture["certainty"]) =>
      kinds(new Deduplicator({ index: sized(certainty) }).decide([capture("http://a.org/x", "A")]) as Verdict[]);
    expect(decide("held")).toEqual(["size"]);
    expect(decide("claimed")).toEqual(["exact"]);
  });

  test.each([true, false])("originals are proven before they are relied upon; answers later: %s", async (later) => {
    const certainties = {
      "http://a.org/1": "proven",
      "http://a.org/2": "claimed",
      "http://a.org/3": undefined,
    } as const;
    const captures = Object.keys(certainties).map((uri) => known(uri, "A", { certainty: "held" }));
    const proof = ({ uri }: KnownCapture) => certainties[uri as keyof typeof certainties];
    const deduplicator = new Deduplicator({ index: new MemoryContents(captures, { later, proof }), proves: true });
    const verdicts = await deduplicator.decide(Object.keys(certainties).map((uri) => capture(uri, "A")));
    expect(verdicts).toMatchObject([
      { kind: "duplicate", certainty: "proven" },
      { kind: "duplicate", certainty: "claimed" },
      { kind: "kept", reason: "disproven" },
    ]);
    expect(deduplicator.duplicates.total).toMatchObject({ handled: 3, duplicates: 2, exact: 3 });
  });

  test("an index that cannot be searched so is refused", () => {
    const urls = new MemoryContents([], { answers: ["url"] });
    expect(() => new Deduplicator({ index: urls, matching: "digest" })).toThrow(/cannot be searched by digest/);
    expect(() => new Deduplicator({ index: urls, tryEquivalent: true })).toThrow(/equivalent URL/);
    expect(() => new Deduplicator({ index: urls, mirrors: "duplicates" })).not.toThrow();
  });

  test("a source is asked once or twice a batch, not once a capture", async () => {
    const counted = new MemoryContents([known("http://a.org/x", "A")]);
    const batch = Array.from({ length: 50 }, (_, i) => capture(`http://a.org/${i}`, `N${i}`));
    await new Deduplicator({ index: counted, tryEquivalent: true }).decide(batch);
    expect(counted.calls).toBe(2);
  });

  test("the log says as much as its level", async () => {
    const says = async (logLevel: "off" | "warning" | "info" | "debug") => {
      const lines: DeduplicatorLogLine[] = [];
      const onLog = (line: DeduplicatorLogLine) => lines.push(line);
      const headers = { lastModified: "Thu, 01 Jan 2026 00:00:00 GMT" };
      const deduplicator = new Deduplicator({ index, logLevel, onLog });
      await deduplicator.decide([capture("http://a.org/x", "A"), capture("http://a.org/x", "D", { headers })]);
      return lines.map(({ level, message }) => `${level}: ${message}`);
    };
    expect(await says("off")).toEqual([]);
    expect(await says("warning")).toEqual(["warning: changed, and its headers (datestamp) deny it"]);
    expect(await says("info")).toContain("info: duplicate (exact) of http://a.org/x");
    expect(await says("debug")).toHaveLength(3);
  });
});

describe("the analysis", () => {
  test("a URL's own digest decides, even where an equivalent URL has the content", () => {
    const index = new MemoryContents([known("http://a.org/x", "A"), known("http://www.a.org/x", "B")]);
    const deduplicator = new Deduplicator({ index, tryEquivalent: true });
    const headers = { lastModified: "Sun, 01 Feb 2026 00:00:00 GMT" };
    const verdicts = deduplicator.decide([capture("http://a.org/x", "B", { headers })]);
    expect(kinds(verdicts as Verdict[])).toEqual(["equivalent"]);
    expect(rows(deduplicator.headers)).toEqual({ datestamp: [1, 0, 0, 0, 0, 0] });
  });

  test("the newest entry of a URL counts", async () => {
    const index = new MemoryContents([
      known("http://a.org/x", "A", { timeMs: THEN - 1e9 }),
      known("http://a.org/x", "B", { timeMs: THEN }),
    ]);
    const deduplicator = new Deduplicator({ index });
    const headers = { lastModified: new Date(THEN - 1000).toUTCString() };
    await deduplicator.decide([capture("http://a.org/x", "B", { headers })]);
    expect(rows(deduplicator.headers)).toEqual({ datestamp: [0, 0, 1, 0, 0, 0] });
  });

  test("what cannot be analysed is counted apart", async () => {
    const index = new MemoryContents([known("http://a.org/x", "A"), known("http://a.org/404", "A", { status: 404 })]);
    const deduplicator = new Deduplicator({ index });
    await deduplicator.decide([
      capture("http://a.org/x", "A", { headers: undefined }),
      capture("http://a.org/x", "A", { digests: ["sha256:00"] }),
      capture("http://a.org/x", "B", { truncated: true }),
      capture("http://a.org/x", "B", { status: 301 }),
      capture("http://a.org/404", "B"),
      capture("http://a.org/new", "B"),
    ]);
    expect(rows(deduplicator.headers)).toEqual({ datestamp: [0, 0, 0, 0, 0, 0] });
    expect(deduplicator.unanalysed).toEqual({ headersUnknown: 1, incomparable: 1 });
    expect(deduplicator.headers.newUrls).toBe(2);
  });
});
