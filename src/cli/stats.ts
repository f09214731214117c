import { type ArchiveTotals, type Figures, STATS_GROUPS } from "../archive/index.ts";
import { writeStandardOutput } from "../disk/index.ts";
import { ARCHIVE_OPTION, archiveFolder, openToAsk, requireWords } from "./archive-option.ts";
import { type Command, parseChoice } from "./command.ts";
import { LineOutput } from "./manifest-text.ts";
import { formatCount, formatNumber, formatSize } from "./talk.ts";

export const stats: Command = {
  name: "stats",
  purpose: "Tell how much is in the archive, and how much of it was there already.",
  usage: "[--by crawl|host|mime|year]",
  details: `Captures, distinct contents, bytes of the payloads of all captures, and bytes of the payloads that are kept. A
content counts in the group of its original, the record that holds it for all others: so the groups add up, and tell
what each of them brought. A crawl is a file that was added.`,
  options: {
    ...ARCHIVE_OPTION,
    by: { type: "string", value: "WHAT", help: `figures for each ${STATS_GROUPS.join(", ")} too` },
  },
  exits: "20 no archive",
  examples: [
    "holotype add samples --archive /tmp/cabinet",
    "holotype stats --archive /tmp/cabinet",
    "holotype stats --archive /tmp/cabinet --by crawl",
  ],
  async run(args) {
    requireWords(stats, args, 0);
    const by = args.text("by") === undefined ? undefined : parseChoice("by", args.text("by"), STATS_GROUPS);
    await using archive = await openToAsk(args);
    const json = args.flag("json");
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
