/** The report as text, in the layout of the paper's Figure 3: its lines, in its order, and ours behind them. */
import type { HeaderScheme } from "../../dedup/index.ts";
import { formatCut, formatPercent, percentOf } from "./percent.ts";
import type { DigestReport, GroupReport, HeaderReport, ReasonCount } from "./shape.ts";

/** What a scheme goes by, and what it misses. */
export const SCHEME_WORDS: Readonly<Record<HeaderScheme, readonly [title: string, header: string]>> = {
  datestamp: ["Timestamp predicts", "timestamp"],
  etag: ["Etag predicts", "Etag"],
  both: ["Timestamp and Etag", "both"],
  either: ["Timestamp or Etag", "both"],
};

const LABEL_SIZE = 21;

function line(label: string, value: string | number): string {
  return `  ${`${label}:`.padEnd(LABEL_SIZE)}${value}`.trimEnd();
}

export function formatReportText(report: DigestReport): string {
  const { totals, settings } = report;
  const lines = [
    "Processor: holotype.Deduplicator",
    line("Function", "Abort processing of duplicate records"),
    `  ${"".padEnd(LABEL_SIZE)}- Lookup by ${settings.matching} in use`,
    line("Total handled", totals.handled),
    line("Duplicates found", `${totals.duplicates} ${formatPercent(report.duplicatesPercent)}`),
    line("Bytes total", `${totals.bytes} (${formatCut(totals.bytes)})`),
    line(
      "Bytes discarded",
      `${totals.duplicateBytes} (${formatCut(totals.duplicateBytes)}) ${formatPercent(report.duplicateBytesPercent)}`,
    ),
    line("New (no hits)", totals.new),
    line("Exact hits", totals.exact),
    line("Equivalent hits", totals.equivalent),
    ...(settings.matching === "digest" || totals.mirror > 0 ? [line("Mirror hits", totals.mirror)] : []),
    ...report.headers.flatMap((headers) => headerLines(headers)),
    ...report.headers.flatMap((headers) => qualityLines(headers)),
    ...remarkLines(report),
    ...hostLines(report.hosts ?? []),
  ];
  return `${lines.join("\n")}\n`;
}

function headerLines({ scheme, counts }: HeaderReport): string[] {
  const [title, header] = SCHEME_WORDS[scheme];
  return [
    line(title, "(where exact URL hits could be found)"),
    line("Change correctly", counts.changeCorrectly),
    line("Change falsely", counts.changeFalsely),
    line("Non-change correct", counts.nonChangeCorrect),
    line("Non-change falsely", counts.nonChangeFalsely),
    line(`Missing ${header}`, counts.missing),
    ...(counts.unreadable === 0 ? [] : [line("Unreadable", counts.unreadable)]),
  ];
}

function qualityLines(headers: HeaderReport): string[] {
  if (headers.analysed === 0) return [];
  const strict = (percent: number | null) => (percent === null ? "" : `, strictly ${formatPercent(percent)}`);
  return [
    "",
    line(`Quality, ${headers.scheme}`, `${headers.analysed} analysed`),
    line("Usefulness", `${formatPercent(headers.usefulness)}${strict(headers.strictUsefulness)}`),
    line("Reliability", `${formatPercent(headers.reliability)}${strict(headers.strictReliability)}`),
    line("with new documents", formatPercent(headers.reliabilityWithNew)),
  ];
}

function remarkLines({ exempt, kept, unanalysed, totals }: DigestReport): string[] {
  const list = (reasons: readonly ReasonCount[]) => reasons.map(({ reason, count }) => `${count} ${reason}`).join(", ");
  const { headersUnknown, incomparable } = unanalysed;
  const remarks = [
    ...(exempt.length === 0 ? [] : [line("Not handled", list(exempt))]),
    ...(kept.length === 0 ? [] : [line("Known but kept", list(kept))]),
    ...(headersUnknown === 0 ? [] : [line("Not analysed", `${headersUnknown} without headers, as in a crawl.log`)]),
    ...(incomparable === 0 ? [] : [line("Not compared", `${incomparable} with digests of another kind`)]),
    ...(totals.responseBytes === 0
      ? []
      : [line("With their headers", `${totals.responseBytes} bytes, ${totals.duplicateResponseBytes} discarded`)]),
  ];
  return remarks.length === 0 ? [] : ["", ...remarks];
}

function hostLines(hosts: readonly GroupReport[]): string[] {
  if (hosts.length === 0) return [];
  const titles = ["host", "handled", "duplicates", "", "bytes", "discarded", "new", "exact", "equivalent", "mirror"];
  const schemes = hosts.find(({ headers }) => headers !== undefined)?.headers ?? [];
  const more = schemes.map(({ scheme }) => scheme);
  const rows = [
    [...titles, ...more],
    ...hosts.map((host) => [
      host.name,
      ...[host.handled, host.duplicates].map(String),
      formatPercent(percentOf({ part: host.duplicates, whole: host.handled })),
      ...[host.bytes, host.duplicateBytes, host.new, host.exact, host.equivalent, host.mirror].map(String),
      ...more.map((scheme) => predictions(host.headers?.find((each) => each.scheme === scheme))),
    ]),
  ];
  const widths = rows[0]!.map((_, i) => rows.reduce((width, row) => Math.max(width, row[i]!.length), 0));
  const format = (row: readonly string[]) =>
    row.map((cell, i) => (i === 0 ? cell.padEnd(widths[i]!) : cell.padStart(widths[i]!))).join("  ");
  const words = "change correctly/falsely, non-change correct/falsely, missing, unreadable";
  return ["", ...rows.map((row) => format(row).trimEnd()), ...(more.length === 0 ? [] : [`(headers: ${words})`])];
}

/** `14/14 85/9 20 0`. */
function predictions(headers: HeaderReport | undefined): string {
  if (headers === undefined) return "-";
  const { changeCorrectly, changeFalsely, nonChangeCorrect, nonChangeFalsely, missing, unreadable } = headers.counts;
  return `${changeCorrectly}/${changeFalsely} ${nonChangeCorrect}/${nonChangeFalsely} ${missing} ${unreadable}`;
}
