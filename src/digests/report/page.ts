/** The report as one page of HTML, in the look of the report that `dedup` writes. */
import {
  type BarPart,
  barHead,
  chartBar,
  dataTable,
  foreign,
  formatAmount,
  formatBytes,
  formatNumber,
  formatPage,
  furtherRows,
  html,
  legend,
  type Markup,
  type MarkupValue,
  type PageSection,
  size,
  type TableRow,
} from "../../markup/index.ts";
import { formatCut, formatPercent, percentOf } from "./percent.ts";
import { explainReason } from "./reasons.ts";
import type { DigestReport, DuplicateFigures, GroupReport, HeaderReport, ReasonCount } from "./shape.ts";

const ROWS_OPEN = 15;
const ROWS_SHOWN = 100;

/** `first` are sections of whoever made the captures. */
export function formatReportPage(report: DigestReport, first: readonly PageSection[] = []): string {
  return formatPage({
    kind: "report of the DeDuplicator",
    ...headlineOf(report),
    figure: hitsFigure(report.totals),
    sections: [...first, ...sectionsOf(report)],
    footer:
      "Shares are rounded to two decimals. Sizes are in thousands, 1 kB is 1,000 bytes; GiB are of 1,024 and cut off at the point, as in the paper.",
  });
}

function headlineOf({ totals, duplicatesPercent, duplicateBytesPercent }: DigestReport): {
  title: string;
  lead: string;
} {
  const { handled, duplicates, duplicateBytes, bytes } = totals;
  if (handled === 0) return { title: "Nothing handled", lead: "No capture was one that the settings handle." };
  if (duplicates === 0) {
    return { title: "No duplicates", lead: `None of ${formatAmount(handled, "capture")} has a content that is known.` };
  }
  return {
    title: `${formatPercent(duplicatesPercent)} duplicates`,
    lead: `${formatNumber(duplicates)} of ${formatAmount(handled, "capture")} hold what an earlier crawl has stored: ${formatBytes(duplicateBytes)} of ${formatBytes(bytes)}, ${formatPercent(duplicateBytesPercent)}.`,
  };
}

/** What was found, and by which kind of hit. */
function hitsFigure(totals: DuplicateFigures): Markup {
  const { handled, exact, equivalent, mirror } = totals;
  const label = `exact hits ${exact}, equivalent hits ${equivalent}, mirror hits ${mirror}, of ${handled} captures`;
  const share = (count: number) => formatPercent(percentOf({ part: count, whole: handled }));
  const parts: BarPart[] = [
    { value: exact, fill: "saved" },
    { value: equivalent + mirror, fill: "third" },
    { value: totals.new, fill: "kept" },
  ];
  return html`<figure><div class="stack">${chartBar(label, parts, handled)}</div>${legend([
    ["saved", `exact hits: ${formatNumber(exact)}, ${share(exact)}`],
    ["third", `equivalent and mirror hits: ${formatNumber(equivalent + mirror)}, ${share(equivalent + mirror)}`],
    ["kept", `new: ${formatNumber(totals.new)}, ${share(totals.new)}`],
  ])}</figure>`;
}

function sectionsOf(report: DigestReport): PageSection[] {
  const { hosts, headers, exempt, kept } = report;
  const sections: (PageSection | undefined)[] = [
    { id: "totals", title: "In figures", body: totalsTables(report) },
    headers.length === 0
      ? undefined
      : {
          id: "headers",
          title: "Were the headers right?",
          intro:
            "For documents whose own URL is in the index: what their headers said before the body was read, against what the digest said then.",
          body: headersSection(report),
        },
    hosts === undefined
      ? undefined
      : { id: "hosts", title: "By host", body: groupTable(hosts, "host", "hosts", report.totals) },
    {
      id: "mimes",
      title: "By media type",
      body: groupTable(report.mimes, "media type", "media types", report.totals),
    },
    exempt.length + kept.length === 0
      ? undefined
      : { id: "reasons", title: "What was left as it is, and why", body: reasonsSection(exempt, kept) },
    { id: "done", title: "What was done", body: settingsTable(report) },
  ];
  return sections.filter((section) => section !== undefined);
}

function totalsTables({ totals, duplicatesPercent, duplicateBytesPercent, newUrls }: DigestReport): Markup {
  const table = (caption: string, rows: readonly (readonly [string, string])[]) =>
    dataTable({
      caption,
      kind: "figures",
      titles: ["what", "exactly"],
      rows: rows.map(([head, value]) => ({ head, cells: [value] })),
    });
  const cut = (bytes: number) => `${formatNumber(bytes)} (${formatCut(bytes)})`;
  return html`<div class="side-by-side">${table("Captures", [
    ["total handled", formatNumber(totals.handled)],
    ["duplicates found", `${formatNumber(totals.duplicates)} (${formatPercent(duplicatesPercent)})`],
    ["new (no hits)", formatNumber(totals.new)],
    ["of URLs that are not in the index", formatNumber(newUrls)],
  ])}${table("Hits", [
    ["exact", formatNumber(totals.exact)],
    ["equivalent", formatNumber(totals.equivalent)],
    ["mirror", formatNumber(totals.mirror)],
  ])}${table("Bytes of payloads", [
    ["total", cut(totals.bytes)],
    ["discarded", cut(totals.duplicateBytes)],
    ["share", formatPercent(duplicateBytesPercent)],
    ...(totals.responseBytes === 0
      ? []
      : [
          ["with their headers", formatNumber(totals.responseBytes)] as const,
          ["discarded with headers", formatNumber(totals.duplicateResponseBytes)] as const,
        ]),
  ])}</div>`;
}

const SCHEMES = {
  datestamp: ["Last-Modified", "It is later than what the index has."],
  etag: ["ETag", "It is another text."],
  both: ["both", "Change only where the two agree on it; a header that is missing agrees."],
  either: ["either", "One is enough; a header that is missing is one."],
} as const;

function headersSection({ headers, unanalysed }: DigestReport): Markup {
  const whole = Math.max(...headers.map(({ analysed }) => analysed), 0);
  const rows = headers.map((each): TableRow => {
    const [name, words] = SCHEMES[each.scheme];
    const head = html`${name}<span class="fine">${words}</span>`;
    return { head: barHead(head, partsOf(each), whole), cells: countCells(each) };
  });
  const shares = headers.map((each): TableRow => {
    const { counts, analysed } = each;
    const all = [counts.changeCorrectly, counts.changeFalsely, counts.nonChangeCorrect, counts.nonChangeFalsely];
    const cells = [...all, counts.missing, counts.unreadable].map((part) =>
      formatPercent(percentOf({ part, whole: analysed })),
    );
    return { head: SCHEMES[each.scheme][0], cells };
  });
  const quality = headers.map((each): TableRow => {
    const cells = [
      each.usefulness,
      each.strictUsefulness,
      each.reliability,
      each.strictReliability,
      each.reliabilityWithNew,
    ];
    return { head: SCHEMES[each.scheme][0], cells: cells.map(formatPercent) };
  });
  const counted = [
    "change correctly",
    "change falsely",
    "non-change correct",
    "non-change falsely",
    "missing",
    "unreadable",
  ];
  const { headersUnknown, incomparable } = unanalysed;
  return html`${legend([
    ["saved", "right"],
    ["third", "wrong"],
    ["kept", "said nothing"],
  ])}${dataTable({ caption: "Predictions by scheme", kind: "bars short", titles: ["scheme", ...counted], rows })}
${dataTable({ caption: "The same in percent of those analysed", kind: "plain", titles: ["scheme", ...counted], rows: shares })}
${dataTable({
  caption: "Usefulness: unchanged documents that need not be downloaded. Reliability: changed ones that are",
  kind: "plain",
  titles: ["scheme", "usefulness", "strictly", "reliability", "strictly", "with new documents"],
  rows: quality,
})}<p class="note">The plain figures leave out documents whose headers said nothing, as the paper does; the strict ones count them as downloaded. The last column counts every document whose URL is not in the index as changed.</p>${
    headersUnknown === 0
      ? undefined
      : html`<p class="note">${formatAmount(headersUnknown, "known document")} could not be analysed: a crawl.log has no headers.</p>`
  }${
    incomparable === 0
      ? undefined
      : html`<p class="note">${formatAmount(incomparable, "known document")} could not be analysed: the digests are of another kind.</p>`
  }`;
}

function partsOf({ counts }: HeaderReport): BarPart[] {
  return [
    { value: counts.changeCorrectly + counts.nonChangeCorrect, fill: "saved" },
    { value: counts.changeFalsely + counts.nonChangeFalsely, fill: "third" },
    { value: counts.missing + counts.unreadable, fill: "kept" },
  ];
}

function countCells({ counts }: HeaderReport): MarkupValue[] {
  const { changeCorrectly, changeFalsely, nonChangeCorrect, nonChangeFalsely, missing, unreadable } = counts;
  return [changeCorrectly, changeFalsely, nonChangeCorrect, nonChangeFalsely, missing, unreadable].map(formatNumber);
}

function groupTable(groups: readonly GroupReport[], noun: string, nouns: string, totals: DuplicateFigures): Markup {
  const [open, more] = [groups.slice(0, ROWS_OPEN), groups.slice(ROWS_OPEN, ROWS_SHOWN)];
  const whole = Math.max(...open.map(({ handled }) => handled), 0);
  const schemes = groups.find(({ headers }) => headers !== undefined)?.headers?.map(({ scheme }) => scheme) ?? [];
  const titles = [
    noun,
    "handled",
    "duplicates",
    "share",
    "discarded",
    "of their bytes",
    ...schemes.flatMap((scheme) => [`${SCHEMES[scheme][0]}: usefulness`, "reliability"]),
  ];
  const row = (group: GroupReport): TableRow => {
    const parts: BarPart[] = [
      { value: group.duplicates, fill: "saved" },
      { value: group.handled - group.duplicates, fill: "kept" },
    ];
    const headers = schemes.flatMap((scheme) => {
      const own = group.headers?.find((each) => each.scheme === scheme);
      return [own?.usefulness, own?.reliability].map(formatPercent);
    });
    return { head: barHead(foreign(group.name, 120), parts, whole), cells: [...shareCells(group), ...headers] };
  };
  const caption = `Captures by ${noun}, the most first`;
  const rest = groups.length - open.length - more.length;
  const total = { head: "all", cells: [...shareCells(totals), ...schemes.flatMap(() => ["", ""])] };
  return html`${legend([
    ["saved", "duplicates"],
    ["kept", "all other captures"],
  ])}${dataTable({ caption, kind: "bars", titles, rows: open.map(row), total })}${furtherRows(
    more.length,
    rest,
    nouns,
    () => dataTable({ caption: `${caption}, continued`, kind: "bars", titles, rows: more.map(row) }),
  )}`;
}

function shareCells(figures: DuplicateFigures): MarkupValue[] {
  const { handled, duplicates, bytes, duplicateBytes } = figures;
  return [
    formatNumber(handled),
    formatNumber(duplicates),
    formatPercent(percentOf({ part: duplicates, whole: handled })),
    size(duplicateBytes),
    formatPercent(percentOf({ part: duplicateBytes, whole: bytes })),
  ];
}

function reasonsSection(exempt: readonly ReasonCount[], kept: readonly ReasonCount[]): Markup {
  const table = (caption: string, rows: readonly ReasonCount[]) =>
    rows.length === 0
      ? undefined
      : dataTable({
          caption,
          kind: "plain",
          titles: ["reason", "captures"],
          rows: rows.map(({ reason, count }) => ({
            head: html`${reason}<span class="fine">${explainReason(reason)}</span>`,
            cells: [formatNumber(count)],
          })),
        });
  return html`${table("Captures that were not handled", exempt)}${table("Captures whose content is known, and that are kept", kept)}`;
}

function settingsTable({ settings, sources }: DigestReport): Markup {
  const rows: readonly (readonly [string, MarkupValue])[] = [
    ["against", foreign(settings.against)],
    ["lookup by", settings.matching],
    ["equivalent URLs tried", settings.equivalent ? "yes" : "no"],
    ["media types", settings.mimeFilter === null ? "all" : foreign(settings.mimeFilter)],
    [
      "Last-Modified is compared with",
      settings.dateReference === "stored" ? "the stored one" : "the time of the crawl",
    ],
    ["mirrors are", settings.mirrors],
    ["files", formatNumber(sources.files)],
    ["captures in them", formatNumber(sources.captures)],
    ["files skipped", formatNumber(sources.skipped)],
    ["lines that could not be read", formatNumber(sources.brokenLines)],
  ];
  return dataTable({
    caption: "Settings and sources",
    kind: "plain",
    titles: ["what", "value"],
    texts: [1],
    rows: rows.map(([head, value]) => ({ head, cells: [value] })),
  });
}
