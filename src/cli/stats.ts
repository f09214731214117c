import { type ArchiveTotals, type Figures, STATS_GROUPS } from "../archive/index.ts";
import { ArchiveError, formatIso } from "../base/index.ts";
import type { CrawlStudyResult } from "../dedup/index.ts";
import { writeStandardOutput } from "../disk/index.ts";
import { ARCHIVE_OPTION, archiveFolder, openToAsk, requireWords } from "./archive-option.ts";
import { type Command, parseChoice } from "./command.ts";
import { formatCrawlsPage } from "./crawls-page.ts";
import { formatCrawls, formatCrawlsCsv } from "./crawls-text.ts";
import { LineOutput } from "./manifest-text.ts";
import { writeReport } from "./output-access.ts";
import { formatCount, formatNumber, formatSize } from "./talk.ts";

export const stats: Command = {
  name: "stats",
  purpose: "Tell how much is in the archive, and how much of it was there already.",
  usage: "[--by crawl|host|mime|year | --crawls]",
  details: `Captures, distinct contents, bytes of the payloads of all captures, and bytes of the payloads that are kept. A
content counts in the group of its original, the record that holds it for all others: so the groups add up, and tell
what each of them brought. With --by crawl each file that was added is a group.

With --crawls, figures for each crawl, a set of files with a name (see holotype add), in the order of their first
captures: URLs, pages (captures with a content) and their bytes; the share of pages that are duplicates within the
crawl; of pages whose content the crawl before had; of URLs that it had; contents that no earlier crawl had; and the
share of bytes that keeping each content once saves. For the last crawl also how many pages each earlier crawl had, and
media types; --json, --csv and --html give these for other crawls too.`,
  options: {
    ...ARCHIVE_OPTION,
    by: { type: "string", value: "WHAT", help: `figures for each ${STATS_GROUPS.join(", ")} too` },
    crawls: { type: "boolean", help: "compare crawls: duplicates within and between them, URLs that persist" },
    html: { type: "string", value: "FILE", help: "with --crawls: write the report as a page too" },
    csv: { type: "string", value: "FILE", help: "with --crawls: write the report as a table too" },
  },
  exits: "20 no archive",
  examples: [
    "holotype add samples --archive /tmp/cabinet",
    "holotype stats --archive /tmp/cabinet",
    "holotype stats --archive /tmp/cabinet --by crawl",
    "holotype stats --archive /tmp/cabinet --crawls",
  ],
  async run(args) {
    requireWords(stats, args, 0);
    const by = args.text("by") === undefined ? undefined : parseChoice("by", args.text("by"), STATS_GROUPS);
    const json = args.flag("json");
    const crawls = args.flag("crawls");
    const [page, csv] = [args.text("html"), args.text("csv")];
    if (crawls && by !== undefined) throw new ArchiveError("HT_USAGE", "--by or --crawls, not both");
    if (!crawls && (page ?? csv) !== undefined) throw new ArchiveError("HT_USAGE", "--html and --csv need --crawls");
    await using archive = await openToAsk(args);
    if (crawls) {
      const study = await archive.crawls();
      if (page !== undefined) writeReport(page, formatCrawlsPage(study), archive.access);
      if (csv !== undefined) writeReport(csv, formatCrawlsCsv(study), archive.access);
      writeStandardOutput(json ? toJsonLines(study) : formatCrawls(study));
      return 0;
    }
    const output = new LineOutput();
    if (by !== undefined) {
      if (!json) output.write(formatRow("captures", "contents", "seen", "kept", by));
      for await (const groups of archive.stats(by)) {
        for (const { name, ...figures } of groups)
          output.write(json ? JSON.stringify({ [by]: name, ...figures }) : formatFigures(figures, name));
      }
    }
    const totals = await archive.totals();
    if (json) output.write(JSON.stringify({ archive: archiveFolder(args), ...totals }));
    else if (by !== undefined) output.write(formatFigures(totals, "total"));
    output.flush();
    if (!json && by === undefined) writeStandardOutput(formatTotals(totals));
    return 0;
  },
};

/** One line for each crawl, and one for all. */
function toJsonLines({ crawls, ...all }: CrawlStudyResult): string {
  const dated = crawls.map(({ firstMs, lastMs, name, ...figures }) => {
    const [first, last] = [firstMs, lastMs].map((timeMs) => timeMs && formatIso(timeMs));
    return { crawl: name, first, last, ...figures };
  });
  return [...dated, all].map((each) => `${JSON.stringify(each)}\n`).join("");
}

function formatRow(captures: string, contents: string, seen: string, kept: string, name: string): string {
  return `${captures.padStart(12)}${contents.padStart(12)}${seen.padStart(11)}${kept.padStart(11)}  ${name}`;
}

function formatFigures({ captures, contents, bytesSeen, bytesKept }: Figures, name: string): string {
  const counts = [captures, contents].map(formatNumber) as [string, string];
  return formatRow(...counts, formatSize(bytesSeen), formatSize(bytesKept), name);
}

function formatTotals(totals: ArchiveTotals): string {
  const { captures, contents, bytesSeen, bytesKept, pending, segments, segmentBytes, adopted, adoptedBytes } = totals;
  const share = bytesSeen === 0 ? 0 : 1 - bytesKept / bytesSeen;
  const rows: [string, string][] = [
    ["captures", formatNumber(captures)],
    ["contents", formatNumber(contents)],
    ["payloads", `${formatSize(bytesSeen)} seen, ${formatSize(bytesKept)} kept (${(share * 100).toFixed(1)} % saved)`],
    ["on disk", `${formatSize(segmentBytes)} in ${formatCount(segments, "segment")}`],
  ];
  if (adopted > 0) rows.push(["adopted", `${formatSize(adoptedBytes)} in ${formatCount(adopted, "file")} elsewhere`]);
  if (pending > 0) rows.push(["pending", `${formatCount(pending, "revisit")} without an original`]);
  return rows.map(([name, value]) => `${name.padEnd(12)}${value}\n`).join("");
}
