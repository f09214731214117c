/** The parts of a report's page, in the order in which they are read. */
import {
  type BarPart,
  barHead,
  chartBar,
  dataTable,
  foreign,
  formatAmount,
  formatBytes,
  formatNumber,
  formatShare,
  formatSpan,
  furtherRows,
  html,
  legend,
  type Markup,
  type MarkupValue,
  size,
  type TableRow,
} from "../../markup/index.ts";
import { explainReason } from "./reasons.ts";
import type {
  CopyClass,
  DedupReport,
  DuplicateShare,
  LargestDuplicate,
  ReasonRow,
  ReportSetting,
  ReportTotals,
} from "./shape.ts";

/** What the report says, in a few words and in a sentence. */
export function headlineOf(totals: ReportTotals): { title: string; lead: string } {
  const { savedBytes, bytesBefore, replaced, duplicates, records } = totals;
  const amongst = `of ${formatAmount(records, "record")} with a payload`;
  if (replaced > 0 && savedBytes > 0) {
    const share = formatShare(savedBytes, bytesBefore);
    return {
      title: `${formatBytes(savedBytes)} saved`,
      lead: `That is ${share} of the ${formatBytes(bytesBefore)} in ${formatAmount(totals.files, "file")}. ${formatNumber(replaced)} ${amongst} held one that was there already; in the place of each stands a revisit now, which refers to the record that holds it.`,
    };
  }
  if (replaced > 0) {
    return {
      title: "Nothing saved",
      lead: `${formatNumber(replaced)} ${amongst} were replaced by revisits, but the files did not get smaller by it.`,
    };
  }
  if (duplicates > 0) {
    return {
      title: `${formatAmount(duplicates, "duplicate")} found, none replaced`,
      lead: `${formatNumber(duplicates)} ${amongst} hold one that was there already. They take ${formatBytes(totals.duplicateBytes)} in the files; replacing them would save something less than that.`,
    };
  }
  return { title: "No duplicates found", lead: `None ${amongst} can be replaced by a revisit.` };
}

export function beforeAfter({ bytesBefore, bytesAfter, savedBytes }: ReportTotals): Markup {
  const whole = Math.max(bytesBefore, bytesAfter);
  const before = `Before: ${formatBytes(bytesBefore)}`;
  const saved = savedBytes < 0 ? `grown by ${formatBytes(-savedBytes)}` : `${formatBytes(savedBytes)} saved`;
  const after = `After: ${formatBytes(bytesAfter)}, ${saved}`;
  const afterParts = [
    { value: bytesAfter, fill: "kept" },
    { value: savedBytes, fill: "saved" },
  ] as const;
  return html`<figure>
<div class="pair"><span class="what">before</span><div class="bar">${chartBar(before, [{ value: bytesBefore, fill: "kept" }], whole)}</div><span class="value">${formatBytes(bytesBefore)}</span></div>
<div class="pair"><span class="what">after</span><div class="bar">${chartBar(after, afterParts, whole)}</div><span class="value">${formatBytes(bytesAfter)}</span></div>
${legend([
  ["kept", "bytes of the files"],
  ["saved", `saved: ${formatBytes(savedBytes)}, ${formatShare(savedBytes, bytesBefore)}`],
])}</figure>`;
}

/** Every figure of the totals, exactly. */
export function totalsTables(totals: ReportTotals): Markup {
  const table = (caption: string, rows: readonly (readonly [string, number])[]) =>
    dataTable({
      caption,
      kind: "figures",
      titles: ["what", "exactly"],
      rows: rows.map(([head, value]) => ({ head, cells: [formatNumber(value)] })),
    });
  return html`<div class="side-by-side">${table("Files", [
    ["files", totals.files],
    ["records in them", totals.fileRecords],
    ["bytes before", totals.bytesBefore],
    ["bytes after", totals.bytesAfter],
    ["bytes saved", totals.savedBytes],
  ])}${table("Records with a payload", [
    ["responses, resources", totals.records],
    ["their bytes in the files", totals.recordBytes],
    ["bytes of payloads", totals.payloadBytes],
    ["different payloads", totals.payloads],
    ["originals", totals.originals],
    ["kept otherwise", totals.kept],
  ])}${table("Duplicates", [
    ["duplicates found", totals.duplicates],
    ["their bytes in the files", totals.duplicateBytes],
    ["replaced by revisits", totals.replaced],
    ["bytes of the replaced", totals.replacedBytesBefore],
    ["bytes of the revisits", totals.replacedBytesAfter],
    ["left after all", totals.left],
  ])}</div>`;
}

export function acrossSection(report: DedupReport): Markup {
  const kinds: readonly (readonly [string, string, DuplicateShare, "kept" | "saved" | "third"])[] = [
    ["across time", "Captured before at the same URL.", report.acrossTime, "saved"],
    [
      "across location",
      "Captured before only at other URLs: copies, mirrors, moved pages.",
      report.acrossLocation,
      "third",
    ],
    ["not told", "The URL of the original is not known.", report.acrossUnknown, "kept"],
  ];
  const shown = kinds.filter(([name, , share]) => name !== "not told" || share.duplicates + share.replaced > 0);
  const { totals } = report;
  const isReplaced = totals.replaced > 0;
  const weight = (share: DuplicateShare) => Math.max(0, isReplaced ? share.savedBytes : share.duplicateBytes);
  const whole = shown.reduce((sum, [, , share]) => sum + weight(share), 0);
  const measure = isReplaced ? "bytes saved" : "bytes of duplicates";
  const told = shown.map(([name, , share]) => `${name} ${formatBytes(weight(share))}`).join(", ");
  const rows = shown.map(([name, words, share]): TableRow => {
    return { head: [name, html`<span class="fine">${words}</span>`], cells: acrossCells(share, weight(share), whole) };
  });
  const sum = {
    duplicates: totals.duplicates,
    duplicateBytes: totals.duplicateBytes,
    replaced: totals.replaced,
    savedBytes: totals.replacedBytesBefore - totals.replacedBytesAfter,
  };
  return html`<figure><div class="stack">${chartBar(
    `${measure}: ${told}`,
    shown.map(([, , share, fill]) => ({ value: weight(share), fill })),
    whole,
  )}</div>${legend(shown.map(([name, , share, fill]) => [fill, `${name}: ${formatShare(weight(share), whole)} of the ${measure}`]))}</figure>
${dataTable({
  caption: "Duplicates across time and across location",
  kind: "plain",
  titles: ["duplicates", "found", "their bytes", "replaced", "saved", `of the ${measure}`],
  rows,
  total: { head: "all", cells: acrossCells(sum, whole, whole) },
})}`;
}

function acrossCells(share: DuplicateShare, weight: number, whole: number): MarkupValue[] {
  return [
    formatNumber(share.duplicates),
    size(share.duplicateBytes),
    formatNumber(share.replaced),
    size(share.savedBytes),
    formatShare(weight, whole),
  ];
}

export function copiesSection(copies: readonly CopyClass[]): Markup {
  const whole = Math.max(...copies.map(({ payloadBytes }) => payloadBytes), 0);
  const rows = copies.map((row): TableRow => {
    const first = row.payloadBytes - row.repeatedBytes;
    const parts: BarPart[] = [
      { value: first, fill: "kept" },
      { value: row.repeatedBytes, fill: "saved" },
    ];
    return { head: barHead(copyWords(row), parts, whole), cells: copyCells(row) };
  });
  const all = { payloads: 0, records: 0, payloadBytes: 0, repeatedBytes: 0 };
  for (const row of copies) {
    all.payloads += row.payloads;
    all.records += row.records;
    all.payloadBytes += row.payloadBytes;
    all.repeatedBytes += row.repeatedBytes;
  }
  return html`${legend([
    ["kept", "each payload once"],
    ["saved", "the same again"],
  ])}${dataTable({
    caption: "Payloads by the number of records that hold them",
    kind: "bars short",
    titles: ["held by", "payloads", "records", "bytes", "each once", "the same again"],
    rows,
    total: { head: "all", cells: copyCells(all) },
  })}<p class="note">Bytes of payloads, unpacked. Records that were cut off, split, damaged or empty are not counted here.</p>`;
}

function copyWords({ from, to }: CopyClass): string {
  if (to === undefined) return `over ${formatAmount(from - 1, "record")}`;
  return from === to ? formatAmount(from, "record") : `${from}\u2013${to}\u00a0records`;
}

function copyCells(row: Pick<CopyClass, "payloads" | "records" | "payloadBytes" | "repeatedBytes">): MarkupValue[] {
  return [
    formatNumber(row.payloads),
    formatNumber(row.records),
    size(row.payloadBytes),
    size(row.payloadBytes - row.repeatedBytes),
    size(row.repeatedBytes),
  ];
}

const LARGEST_OPEN = 15;

export function largestSection(largest: readonly LargestDuplicate[]): Markup {
  if (largest.length === 0) return html`<p class="none">No duplicate was replaced.</p>`;
  const table = (caption: string, rows: readonly LargestDuplicate[]) =>
    dataTable({
      caption,
      kind: "largest",
      titles: ["capture", "its original", "saved", "payload"],
      texts: [1],
      rows: rows.map(largestRow),
    });
  const more = largest.slice(LARGEST_OPEN);
  const caption = "Duplicates that saved most";
  return html`${table(caption, largest.slice(0, LARGEST_OPEN))}${furtherRows(more.length, 0, "duplicates", () =>
    table(`${caption}, continued`, more),
  )}`;
}

function largestRow(row: LargestDuplicate): TableRow {
  const place = html`<span class="fine">${foreign(row.date, 40)}, in ${foreign(row.file, 160)} at ${formatNumber(row.offset)}</span>`;
  const isSame = row.originalUri !== undefined && row.originalUri === row.uri;
  const original = html`${isSame ? "the same URL" : foreign(row.originalUri)}<span class="fine">${foreign(row.originalDate, 40)}</span>`;
  return { head: [foreign(row.uri), place], cells: [original, size(row.savedBytes), size(row.payloadBytes)] };
}

export function keptSection({ kept, left }: DedupReport): Markup {
  const table = (caption: string, rows: readonly ReasonRow[]) =>
    dataTable({
      caption,
      kind: "plain",
      titles: ["reason", "records", "bytes in the files", "payload"],
      rows: rows.map((row) => {
        const words = explainReason(row.reason);
        const head = [foreign(row.reason), words === undefined ? undefined : html`<span class="fine">${words}</span>`];
        return { head, cells: [formatNumber(row.records), size(row.recordBytes), size(row.payloadBytes)] };
      }),
    });
  return html`${
    kept.length === 0
      ? html`<p class="none">Every record was an original or a duplicate.</p>`
      : table("Records that are neither original nor duplicate, by reason", kept)
  }${left.length === 0 ? undefined : html`<h3>Duplicates left after all</h3>${table("Duplicates that were planned and left as they are, by reason", left)}`}`;
}

export function doneSection({ metadata, collisions }: DedupReport): Markup {
  const { versions, startedAt, finishedAt, settings, proofs = [] } = metadata;
  const span = formatSpan(startedAt, finishedAt);
  const run: (readonly [string, MarkupValue])[] = [
    ["began", foreign(startedAt)],
    ["ended", foreign(finishedAt)],
    ...(span === undefined ? [] : [["took", span] as const]),
    ...Object.entries(versions).map(([name, version]) => [name, foreign(version)] as const),
  ];
  const pairs = (caption: string, titles: readonly string[], rows: readonly (readonly [string, MarkupValue])[]) =>
    dataTable({
      caption,
      kind: "plain",
      titles,
      texts: [1],
      rows: rows.map(([name, value]) => ({ head: foreign(name), cells: [value] })),
    });
  const asked = Object.entries(settings).map(([name, value]) => [name, formatSetting(value)] as const);
  return html`${pairs("The run", ["what", "value"], run)}
<h3>Settings</h3>${asked.length === 0 ? html`<p class="none">All as they are by default.</p>` : pairs("What was asked for", ["setting", "value"], asked)}
<h3>Proof</h3><ul class="proofs">${proofs.map((proof) => html`<li>${foreign(proof, 2000)}</li>`)}<li>${collisionWords(collisions)}</li></ul>`;
}

function formatSetting(value: ReportSetting): MarkupValue {
  if (typeof value === "boolean") return value ? "yes" : "no";
  if (typeof value === "number") return formatNumber(value);
  if (typeof value === "string") return foreign(value);
  return value.length === 0
    ? html`<span class="none">none</span>`
    : value.map((item, i) => [i === 0 ? "" : ", ", foreign(item)]);
}

function collisionWords({ digests, payloads, resolvedRecords }: DedupReport["collisions"]): string {
  if (resolvedRecords === 0) return "Payloads with one digest were taken for the same; their bytes were not compared.";
  const compared = `Payloads with one digest were compared, over ${formatAmount(resolvedRecords, "record")}`;
  if (digests === 0) return `${compared}: no digest stands for two different payloads.`;
  const stand = digests === 1 ? "digest stands" : "digests stand";
  return `${compared}: ${formatNumber(digests)} ${stand} for different payloads, ${formatNumber(payloads)} together. These were told apart.`;
}
