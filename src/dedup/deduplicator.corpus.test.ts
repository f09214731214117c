/** The site of known history in ../shared/tools/crawl-site: its first state is the index, its second the crawl. */
import { existsSync, readFileSync } from "node:fs";
import { fileURLToPath } from "node:url";
import { describe, expect, test } from "vitest";
import { MemoryContents } from "../testing/memory-contents.ts";
import { Deduplicator, type NewCapture } from "./deduplicator.ts";
import { HEADER_SCHEMES } from "./header-predictor.ts";
import { type HeaderTally, headerFigures } from "./header-tally.ts";
import type { KnownCapture } from "./known-contents.ts";
import { newOnes } from "./tally.ts";

/** change correctly, change falsely, non-change correct, non-change falsely, missing, unreadable */
function rows(tally: HeaderTally): Record<string, number[]> {
  const row = (scheme: (typeof HEADER_SCHEMES)[number]) => {
    const { silentChanged: _, silentUnchanged: __, ...counts } = tally.total.get(scheme)!;
    return Object.values(counts);
  };
  return Object.fromEntries(tally.schemes.map((scheme) => [scheme, row(scheme)]));
}

const SITE = fileURLToPath(new URL("../../../shared/tools/crawl-site/", import.meta.url));
const isSiteThere = existsSync(`${SITE}truth.tsv`);

describe.skipIf(!isSiteThere)(
  `the site of known history${isSiteThere ? "" : " (skipped: there is no ../shared/tools/crawl-site)"}`,
  async () => {
    const { before, after } = isSiteThere ? await readSite() : { before: [], after: [] };

    test.each(["url", "digest"] as const)("A1: by %s, without text", async (matching) => {
      const deduplicator = new Deduplicator({
        index: new MemoryContents(before),
        matching,
        tryEquivalent: true,
        mimeFilter: { expression: "^text/.*", mode: "blacklist" },
        analysis: "both",
      });
      await deduplicator.decide(after);
      const { total } = deduplicator.duplicates;
      expect(total).toMatchObject({ handled: 161, duplicates: 126, exact: 115, equivalent: 11, elsewhere: 0 });
      expect(newOnes(total)).toBe(35);
      expect(rows(deduplicator.headers)).toEqual({ datestamp: [14, 14, 85, 9, 20, 0], etag: [18, 13, 80, 5, 26, 0] });
      const shares = [...deduplicator.headers.total.values()].map((counts) => {
        const { usefulness, reliability } = headerFigures(counts, 0);
        return [usefulness, reliability].map(({ part, whole }) => ((part / whole) * 100).toFixed(2));
      });
      expect(shares).toEqual([
        ["85.86", "60.87"],
        ["86.02", "78.26"],
      ]);
    });

    test.each(["url", "digest"] as const)("A2: all schemes, by %s", async (matching) => {
      const analysis = HEADER_SCHEMES;
      const settings = { index: new MemoryContents(before), matching, tryEquivalent: true, analysis } as const;
      const plain = new Deduplicator({ ...settings, mimeFilter: { patterns: ["text/*"], mode: "blacklist" } });
      await plain.decide(after);
      expect(rows(plain.headers)).toEqual({
        datestamp: [14, 14, 85, 9, 20, 0],
        etag: [18, 13, 80, 5, 26, 0],
        both: [12, 8, 101, 11, 10, 0],
        either: [20, 45, 64, 3, 10, 0],
      });
      // With the time of the first crawl in the place of its Last-Modified, as the paper has it, nothing changes here.
      for (const dateReference of ["stored", "captured"] as const) {
        const all = new Deduplicator({ ...settings, dateReference });
        await all.decide(after);
        expect(rows(all.headers)).toEqual({
          datestamp: [14, 14, 97, 9, 70, 0],
          etag: [18, 13, 98, 5, 70, 0],
          both: [12, 8, 119, 11, 54, 0],
          either: [20, 51, 76, 3, 54, 0],
        });
      }
    });
  },
);

interface SiteModule {
  documents(): readonly { readonly cls: string; readonly mime: string; readonly path: string }[];
  link(document: unknown, state: number): string;
  isThere(document: unknown, state: number): boolean;
  headers(document: unknown, state: number, switchedMs: number): Readonly<Record<string, string>>;
}

/** URLs, types, sizes and digests by its table of truths, headers as its server makes them. */
async function readSite(): Promise<{ before: KnownCapture[]; after: NewCapture[] }> {
  const site = (await import(`${SITE}docs.mjs`)) as SiteModule;
  const lines = readFileSync(`${SITE}truth.tsv`, "utf8").trim().split("\n").slice(1);
  const truths = new Map(lines.map((line) => [line.split("\t").slice(0, 2).join(" "), line.split("\t")]));
  const before: KnownCapture[] = [];
  const after: NewCapture[] = [];
  for (const document of site.documents()) {
    for (const state of [1, 2]) {
      if (!site.isThere(document, state)) continue;
      const link = site.link(document, state);
      const uri = link.startsWith("http") ? link : `http://site.test:8480${link}`;
      const [, , , mime, size, sha1] = truths.get(`${state} ${uri}`)!;
      const { ETag: etag, "Last-Modified": lastModified } = site.headers(document, state, Date.UTC(2026, 2, 1));
      const shared = {
        uri,
        mime,
        digests: [`sha1:${sha1}`],
        payloadSize: Number(size),
        status: 200,
        framing: undefined,
      };
      const headers = { etag, lastModified };
      if (state === 1) before.push({ ...shared, ...headers, timeMs: Date.UTC(2026, 1, 1), certainty: "claimed" });
      else after.push({ ...shared, headers, date: "2026-03-02T00:00:00Z", length: undefined });
    }
  }
  return { before, after };
}
