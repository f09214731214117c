/** The tables of a deduplication report. */
import {
  barHead,
  dataTable,
  foreign,
  formatAmount,
  formatNumber,
  formatShare,
  furtherRows,
  html,
  type Markup,
  type MarkupValue,
  size,
  type TableRow,
} from "../../markup/index.ts";
import type { FileRow, FileTable, OtherFiles, Share, ShareRow, ShareTable } from "./shape.ts";

/** Rows of a table that are shown at once, and those that are shown on request; `report.json` may have more. */
const ROWS_OPEN = 15;
const ROWS_SHOWN = 100;

function count(value: number, atLeast = false): string {
  return (atLeast ? "\u2265\u00a0" : "") + formatNumber(value);
}

function savedHead(name: MarkupValue, savedBytes: number, whole: number): Markup {
  return barHead(name, [{ value: savedBytes, fill: "saved" }], whole);
}

interface ShareTableWords {
  readonly caption: string;
  readonly title: string;
  /** What stands for a name that is not there. */
  readonly none: string;
  /** One and many of them. */
  readonly noun: readonly [string, string];
  readonly kind: "bars" | "bars short";
  readonly rowsOpen?: number | undefined;
}

/** A table of shares with bars for the bytes saved, its rest, its sum, and what of it is not exact. */
export function shareTable(table: ShareTable, totals: Share, words: ShareTableWords): Markup {
  const open = table.rows.slice(0, words.rowsOpen ?? ROWS_OPEN);
  const more = table.rows.slice(open.length, ROWS_SHOWN);
  const whole = Math.max(...open.map(({ savedBytes }) => savedBytes), 0);
  const titles = [words.title, "saved", "of their bytes", "replaced", "records", "payload"];
  const named = (row: ShareRow): TableRow => {
    const name = row.name === "-" ? html`<span class="none">${words.none}</span>` : foreign(row.name, 120);
    return { head: savedHead(name, row.savedBytes, whole), cells: shareCells(row, row.atLeast) };
  };
  const rows = open.map(named);
  const rest = restOf(table, open.length);
  if (rest !== undefined) {
    const [one, many] = words.noun;
    const about = table.others === undefined ? "" : "about ";
    const names = `${about}${formatAmount(rest.names, `other ${one}`, `other ${many}`)}`;
    rows.push({ head: names, cells: shareCells(rest), isRest: true });
  }
  const total = { head: "all", cells: shareCells(totals) };
  const inexact = table.rows.slice(0, ROWS_SHOWN).some(({ atLeast }) => atLeast);
  return html`${dataTable({ caption: words.caption, kind: words.kind, titles, rows, total })}${
    inexact
      ? html`<p class="note">There were more ${words.noun[1]} than are kept in memory. Where \u2265 stands, the name had been counted among the others for a while: the figures are at least so large.</p>`
      : undefined
  }${furtherRows(more.length, table.rows.length - open.length - more.length, words.noun[1], () =>
    dataTable({ caption: `${words.caption}, continued`, kind: words.kind, titles, rows: more.map(named) }),
  )}`;
}

function shareCells(share: Share, atLeast = false): MarkupValue[] {
  return [
    size(share.savedBytes, atLeast),
    formatShare(share.savedBytes, share.recordBytes),
    count(share.replaced, atLeast),
    count(share.records, atLeast),
    size(share.payloadBytes, atLeast),
  ];
}

type MutableShare = { -readonly [K in keyof Share]: number };

function restOf(table: ShareTable, shown: number): (Share & { names: number }) | undefined {
  const hidden = table.rows.slice(shown);
  if (hidden.length === 0) return table.others;
  const { names = 0, ...start } = table.others ?? NOTHING;
  const sum: MutableShare = { ...start };
  for (const row of hidden) {
    for (const key of Object.keys(NOTHING) as (keyof Share)[]) sum[key] += row[key];
  }
  // A name that says `atLeast` is counted among the others already.
  return { ...sum, names: names + hidden.filter(({ atLeast }) => !atLeast).length };
}

const NOTHING: Share & { names?: number } = {
  records: 0,
  recordBytes: 0,
  payloadBytes: 0,
  duplicates: 0,
  duplicateBytes: 0,
  replaced: 0,
  savedBytes: 0,
};

export function fileTable(table: FileTable, totals: OtherFiles): Markup {
  const open = table.rows.slice(0, ROWS_OPEN);
  const more = table.rows.slice(open.length, ROWS_SHOWN);
  const whole = Math.max(...open.map(({ savedBytes }) => savedBytes), 0);
  const titles = ["file", "saved", "of its bytes", "before", "after", "replaced", "records"];
  const named = (row: FileRow): TableRow => {
    const { input, output } = row;
    const isRenamed = output !== undefined && lastSegment(output) !== lastSegment(input);
    const written = isRenamed ? html`<span class="fine">written to ${foreign(output, 160)}</span>` : undefined;
    return { head: savedHead([foreign(input, 160), written], row.savedBytes, whole), cells: fileCells(row) };
  };
  const rows = open.map(named);
  const files = totals.files - open.length;
  if (files > 0) {
    const rest = { ...totals, files };
    for (const row of open) {
      rest.bytesBefore -= row.bytesBefore;
      rest.bytesAfter -= row.bytesAfter;
      rest.savedBytes -= row.savedBytes;
      rest.records -= row.records;
      rest.replaced -= row.replaced;
    }
    rows.push({ head: formatAmount(files, "other file"), cells: fileCells(rest), isRest: true });
  }
  const total = { head: "all", cells: fileCells(totals) };
  const caption = "Bytes saved by file, the largest first";
  return html`${dataTable({ caption, kind: "bars long", titles, rows, total })}${furtherRows(
    more.length,
    table.rows.length - open.length - more.length,
    "files",
    () => dataTable({ caption: `${caption}, continued`, kind: "bars long", titles, rows: more.map(named) }),
  )}`;
}

function lastSegment(path: string): string {
  return path.slice(Math.max(path.lastIndexOf("/"), path.lastIndexOf("\\")) + 1);
}

function fileCells(row: Omit<OtherFiles, "files">): MarkupValue[] {
  return [
    size(row.savedBytes),
    formatShare(row.savedBytes, row.bytesBefore),
    size(row.bytesBefore),
    size(row.bytesAfter),
    count(row.replaced),
    count(row.records),
  ];
}
