/** The studies of crawls as text for people, and as a table for spreadsheets. */
import { formatIso } from "../base/index.ts";
import type { CrawlStudyResult, StudiedCrawl } from "../dedup/index.ts";
import { csvLine, formatForeign } from "../markup/index.ts";
import { formatNumber, formatSize } from "./talk.ts";

const MIMES_SHOWN = 10;

export function formatCrawls({ crawls, contents, newBytes, sameSizeChance }: CrawlStudyResult): string {
  const head = [
    "first capture",
    "files",
    "URLs",
    "pages",
    "bytes",
    "in crawl",
    "last crawl",
    "URLs kept",
    "new",
    "saved",
  ];
  const rows = crawls.map((crawl) => [...cellsOf(crawl), formatForeign(crawl.name)]);
  const parts = [
    table([[...head, "crawl"], ...rows]),
    `${formatNumber(contents)} distinct contents, ${formatSize(newBytes)}\n`,
  ];
  if (sameSizeChance !== undefined)
    parts.push(`two different contents have the same size with a chance of ${formatChance(sameSizeChance)}\n`);
  const last = crawls.at(-1);
  if (last !== undefined) parts.push(...sectionsOf(last));
  return parts.join("");
}

function cellsOf(crawl: StudiedCrawl): string[] {
  const { firstMs, files, urls, pages, bytes, duplicatesWithin, inPrevious, urlsInPrevious, newContents } = crawl;
  return [
    firstMs === undefined ? "-" : formatIso(firstMs).slice(0, 10),
    ...[files, urls, pages].map(formatNumber),
    formatSize(bytes),
    percent(duplicatesWithin, pages),
    inPrevious === undefined ? "-" : percent(inPrevious, pages),
    urlsInPrevious === undefined ? "-" : percent(urlsInPrevious, urls),
    formatNumber(newContents),
    percent(crawl.repeatedBytes, bytes),
  ];
}

/** What is told of the last crawl only; --json and --csv have it of each. */
function sectionsOf({ name, inEarlier, mimes, pages, urls, bytes }: StudiedCrawl): string[] {
  const sections: string[] = [];
  const shown = formatForeign(name);
  if (inEarlier.length > 0) {
    const rows = inEarlier.map((each) => [
      formatNumber(each.pages),
      percent(each.pages, pages),
      formatForeign(each.crawl),
    ]);
    sections.push(`\npages of ${shown} whose content an earlier crawl had:\n${table(rows)}`);
  }
  const rows = mimes.slice(0, MIMES_SHOWN).map((each) => {
    const shares = [percent(each.urls, urls), percent(each.bytes, bytes)];
    return [formatNumber(each.urls), shares[0]!, formatSize(each.bytes), shares[1]!, formatForeign(each.mime)];
  });
  if (rows.length > 0) sections.push(`\nmedia types of ${shown}, in URLs and in bytes:\n${table(rows)}`);
  return sections;
}

/** Columns to the right, but for the last one. */
function table(rows: readonly (readonly string[])[]): string {
  const widths = (rows[0] ?? []).map((_, column) => Math.max(...rows.map((row) => row[column]!.length)));
  const line = (row: readonly string[]) =>
    row.map((cell, column) => (column === row.length - 1 ? cell : cell.padStart(widths[column]!))).join("  ");
  return rows.map((row) => `${line(row)}\n`).join("");
}

function percent(part: number, whole: number): string {
  return whole === 0 ? "-" : `${((100 * part) / whole).toFixed(1)} %`;
}

function formatChance(chance: number): string {
  return chance === 0 ? "0" : `1 in ${formatNumber(Math.round(1 / chance))}`;
}

const COLUMNS = [
  "files",
  "captures",
  "urls",
  "pages",
  "bytes",
  "contents",
  "duplicatesWithin",
  "inPrevious",
  "urlsInPrevious",
  "newContents",
  "newBytes",
  "repeatedPages",
  "repeatedBytes",
] as const satisfies readonly (keyof StudiedCrawl)[];

/** A row for each crawl, and behind it one for each earlier crawl and each media type. */
export function formatCrawlsCsv({ crawls }: CrawlStudyResult): string {
  const row = (kind: string, crawl: string, of: string, figures: Partial<StudiedCrawl>) => {
    const times = [figures.firstMs, figures.lastMs].map((timeMs) => timeMs && formatIso(timeMs));
    return csvLine([kind, crawl, of, ...times, ...COLUMNS.map((column) => figures[column])]);
  };
  const lines = [csvLine(["row", "crawl", "of", "first", "last", ...COLUMNS])];
  for (const crawl of crawls) {
    lines.push(row("crawl", crawl.name, "", crawl));
    for (const each of crawl.inEarlier) lines.push(row("earlier crawl", crawl.name, each.crawl, { pages: each.pages }));
    for (const { mime, urls, pages, bytes } of crawl.mimes)
      lines.push(row("media type", crawl.name, mime, { urls, pages, bytes }));
  }
  return lines.join("");
}
