/** Every CDX, CDXJ and crawl.log file of the corpus: each line is read, or it is said here why not, and written again. */
import { existsSync, readFileSync } from "node:fs";
import { fileURLToPath } from "node:url";
import { gunzipSync } from "node:zlib";
import { describe, expect, test } from "vitest";
import {
  CDX_11,
  type CdxLayout,
  detectCdxLayout,
  formatCdxHeader,
  formatCdxLine,
  parseCdxHeader,
  parseCdxLine,
} from "./cdx-line.ts";
import { formatCdxjLine, parseCdxjHeader, parseCdxjLine } from "./cdxj-line.ts";
import { formatCrawlLogLine, parseCrawlLogLine } from "./crawl-log-line.ts";

const CORPUS = fileURLToPath(new URL("../../../shared/corpus", import.meta.url));
const present = existsSync(`${CORPUS}/INDEX.tsv`);
const why = present ? "" : ` (skipped: there is no ${CORPUS})`;

function filesOf(kind: string): readonly string[] {
  if (!present) return [];
  const rows = readFileSync(`${CORPUS}/INDEX.tsv`, "utf8")
    .split("\n")
    .map((row) => row.split("\t"));
  const paths = rows
    .filter((row) => row[5] === kind)
    .map(([repo, , path]) => `real/${repo!.replace("/", "__")}/${path}`);
  return [...new Set(paths)];
}

function linesOf(path: string): readonly string[] {
  const lines = readFileSync(`${CORPUS}/${path}`, "utf8").split("\n");
  return lines.map((line) => line.replace(/\r$/, "")).filter((line) => line !== "");
}

interface Tally {
  headers: number;
  read: number;
  same: number;
  /** The line numbers, from 1, of what is not an entry. */
  unread: number[];
}

/** What a file gives other than "every line is read and written as it was", and why. */
interface Exception {
  readonly unread?: readonly number[];
  /** How many lines are written as they were; all that are read, unless it is said here. */
  readonly same?: number;
  readonly why: string;
}

function check(path: string, tally: Tally, exceptions: Readonly<Record<string, Exception>>): void {
  const exception = Object.entries(exceptions).find(([end]) => path.endsWith(end))?.[1];
  expect(tally.unread, exception?.why).toEqual(exception?.unread ?? []);
  expect(tally.same, exception?.why).toBe(exception?.same ?? tally.read);
}

function tallyCdx(lines: readonly string[]): Tally {
  const tally: Tally = { headers: 0, read: 0, same: 0, unread: [] };
  let layout: CdxLayout | undefined;
  for (const [i, line] of lines.entries()) {
    const header = parseCdxHeader(line);
    if (header !== undefined) {
      tally.headers++;
      layout = header;
      expect(formatCdxHeader(header).trim()).toBe(line.trim());
      continue;
    }
    layout ??= detectCdxLayout(line);
    const entry = layout && parseCdxLine(line, layout);
    if (layout === undefined || entry === undefined) {
      tally.unread.push(i + 1);
      continue;
    }
    tally.read++;
    const again = formatCdxLine(entry, layout);
    expect(parseCdxLine(again, layout)).toEqual(entry);
    if (again === line) tally.same++;
  }
  return tally;
}

const CDX_EXCEPTIONS = {
  "/notcdx.cdx": { unread: [1], why: "prose, to test what is not CDX" },
  "/bad-lines.cdx": { unread: [3, 4], why: "6 and 19 fields under a header of 9" },
  "/valid2.cdx": { unread: [1, 2], why: "CDXJ under another name" },
  "/IAH-20080610152754-00000-test.cdx": { same: 0, why: "ISO times, which become digits" },
} satisfies Record<string, Exception>;

describe.skipIf(!present)(`CDX files of the corpus${why}`, () => {
  const files = filesOf("cdx");
  test("are there", () => expect(files.length).toBeGreaterThan(25));

  test.each(files)("%s", (path) => {
    const lines = linesOf(path);
    const tally = tallyCdx(lines);
    expect(tally.headers + tally.read + tally.unread.length).toBe(lines.length);
    check(path, tally, CDX_EXCEPTIONS);
  });

  test("zipnum: a line ends with its gzip member, which has no line end", () => {
    const folder = `${CORPUS}/real/webrecorder__pywb/sample_archive/zipcdx`;
    const bytes = readFileSync(`${folder}/zipnum-sample.cdx.gz`);
    const blocks = readFileSync(`${folder}/zipnum-sample.idx`, "utf8")
      .trim()
      .split("\n")
      .map((line) => line.split("\t"));
    const lines = blocks.flatMap(([, , offset, length]) =>
      gunzipSync(bytes.subarray(Number(offset), Number(offset) + Number(length)))
        .toString()
        .trim()
        .split("\n"),
    );
    expect(tallyCdx(lines)).toEqual({ headers: 0, read: 188, same: 188, unread: [] });
    // Without the members, two lines run together to one of 21 fields, which is not taken for one of 11.
    const glued = gunzipSync(bytes)
      .toString()
      .trim()
      .split("\n")
      .filter((line) => line.split(" ").length === 21);
    expect(
      glued.filter((line) => parseCdxLine(line, CDX_11) !== undefined || detectCdxLayout(line) !== undefined),
    ).toEqual([]);
    expect(glued).toHaveLength(37);
  });
});

const CDXJ_EXCEPTIONS = {
  "/5mementos.cdxj": { unread: [7, 8, 9, 10, 11], why: "a TimeMap: time and JSON without a key, and `=` in the JSON" },
  "/httpbin-resource.cdxj": { same: 0, why: "another order of keys, no blanks in the JSON" },
  "/missing-status-text.cdxj": { same: 0, why: "another order of keys, no blanks in the JSON" },
  "/valid.cdxj": { same: 0, why: "js-wacz writes numbers and no blanks" },
  "/valid2.cdx": { same: 0, why: "js-wacz writes numbers and no blanks" },
} satisfies Record<string, Exception>;

describe.skipIf(!present)(`CDXJ files of the corpus${why}`, () => {
  const files = [...filesOf("cdxj"), ...filesOf("cdx").filter((path) => path.endsWith("/valid2.cdx"))];
  test("are there", () => expect(files.length).toBeGreaterThan(10));

  test.each(files)("%s", (path) => {
    const tally: Tally = { headers: 0, read: 0, same: 0, unread: [] };
    for (const [i, line] of linesOf(path).entries()) {
      const entry = parseCdxjLine(line);
      if (entry !== undefined) {
        tally.read++;
        const again = formatCdxjLine(entry);
        expect(parseCdxjLine(again)).toEqual(entry);
        if (again === line) tally.same++;
      } else if (parseCdxjHeader(line) !== undefined) tally.headers++;
      else tally.unread.push(i + 1);
    }
    check(path, tally, CDXJ_EXCEPTIONS);
  });
});

const LOG_EXCEPTIONS = {
  "/invalid-crawl.log": { unread: [2, 4], why: "a size of xyz, and a line of 4 fields" },
  "/crawl-log-dedup-annotations.part.log": { unread: [1], why: "the header of the ARC record that held the log" },
} satisfies Record<string, Exception>;

/** What is not of the dialect that we write: the label of sha1 and the source tag, both missing in old logs. */
function modernise(line: string): string {
  const labelled = line.replace(/^((?:\S+ +){9})([A-Z2-7]{32})(?= )/, "$1sha1:$2");
  return labelled.replace(/^((?:\S+ +){10})(\S+)$/, "$1- $2");
}

describe.skipIf(!present)(`crawl.log files of the corpus${why}`, () => {
  const derived = ["derived/crawl-log-dedup-annotations.part.log", "derived/crawl-log-json-extra.part.log"];
  const files = [...filesOf("crawl-log"), ...derived];
  const [browsertrix, heritrix] = [true, false].map((is) => files.filter((path) => path.includes("/wr-") === is));
  test("are there", () => expect(heritrix!.length).toBeGreaterThan(12));

  test.each(heritrix!)("%s", (path) => {
    const tally: Tally = { headers: 0, read: 0, same: 0, unread: [] };
    for (const [i, line] of linesOf(path).entries()) {
      const entry = parseCrawlLogLine(line);
      if (entry === undefined) {
        tally.unread.push(i + 1);
        continue;
      }
      tally.read++;
      if (formatCrawlLogLine(entry) === modernise(line)) tally.same++;
      expect(entry.digest === undefined).toBe(line.split(/ +/)[9] === "-");
      expect(entry.duplicate === undefined).toBe(!line.includes("duplicate:"));
    }
    check(path, tally, LOG_EXCEPTIONS);
  });

  test("the origins of duplicates", () => {
    const entries = linesOf(derived[0]!).map((line) => parseCrawlLogLine(line)?.duplicate?.origin);
    const origins = entries.filter((origin) => origin !== undefined);
    expect(origins.length).toBeGreaterThan(20);
    for (const origin of origins)
      expect(origin).toMatchObject({ file: expect.stringMatching(/\.arc$/), offset: expect.any(Number) });
  });

  test("JSON lines of Kafka are read, and written as lines that say the same", () => {
    const lines = linesOf("derived/crawl-log-kafka.part.jsonl");
    const entries = lines.map((line) => parseCrawlLogLine(line));
    expect(entries.filter((entry) => entry !== undefined)).toHaveLength(lines.length);
    for (const entry of entries) expect(parseCrawlLogLine(formatCrawlLogLine(entry!))).toEqual(entry);
    expect(entries.filter((entry) => entry?.duplicate?.kind === "digest")).toHaveLength(5);
    expect(entries.filter((entry) => entry?.digest === undefined)).toHaveLength(10);
  });

  test.each(browsertrix!)("%s is a log of browsertrix, and no line of it is read", (path) => {
    expect(linesOf(path).filter((line) => parseCrawlLogLine(line) !== undefined)).toEqual([]);
  });
});
