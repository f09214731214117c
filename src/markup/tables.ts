/** Tables of a report. Bars stand under the names in them, so that a chart and its figures are one thing. */
import { type BarPart, rowBar } from "./charts.ts";
import { formatAmount, formatBytes, formatNumber } from "./format.ts";
import { html, type Markup, type MarkupValue } from "./markup.ts";

export interface TableRow {
  /** The cell that names the row. */
  readonly head: MarkupValue;
  readonly cells: readonly MarkupValue[];
  /** What has no row of its own. */
  readonly isRest?: boolean | undefined;
}

export interface DataTable {
  readonly caption: string;
  /** How it looks; `short` and `long` are of names beside the bars. */
  readonly kind: "bars" | "bars short" | "bars long" | "plain" | "figures" | "largest";
  /** Titles of the columns; all but the first, and those in `texts`, are of numbers. */
  readonly titles: readonly string[];
  readonly texts?: readonly number[] | undefined;
  readonly rows: readonly TableRow[];
  readonly total?: TableRow | undefined;
}

export function dataTable({ caption, kind, titles, texts, rows, total }: DataTable): Markup {
  const number = (column: number) =>
    column === 0 || texts?.includes(column) === true ? undefined : html` class="number"`;
  const heads = titles.map((title, i) => html`<th scope="col"${number(i)}>${title}</th>`);
  const line = ({ head, cells, isRest }: TableRow) => {
    const values = cells.map((cell, i) => html`<td${number(i + 1)}>${cell}</td>`);
    return html`<tr${isRest === true ? html` class="rest"` : undefined}><th scope="row">${head}</th>${values}</tr>
`;
  };
  const foot = total === undefined ? undefined : html`<tfoot>${line(total)}</tfoot>`;
  return html`<div class="scroll" role="region" aria-label="${caption}" tabindex="0"><table class="${kind}"><caption>${caption}</caption>
<thead><tr>${heads}</tr></thead>
<tbody>${rows.map(line)}</tbody>${foot}</table></div>
`;
}

/** A size for the eye, with the exact number of bytes at hand. */
export function size(bytes: number, atLeast = false): Markup {
  return html`<span title="${formatAmount(bytes, "byte")}">${atLeast ? "\u2265\u00a0" : ""}${formatBytes(bytes)}</span>`;
}

/** The head of a row with a bar: beside the name, or under it where there is little room. */
export function barHead(name: MarkupValue, parts: readonly BarPart[], whole: number): Markup {
  return html`<div class="named"><span>${name}</span>${rowBar(parts, whole)}</div>`;
}

/** Rows on request, and a word on those that only `report.json` has. */
export function furtherRows(shown: number, inJson: number, noun: string, table: () => Markup): Markup | undefined {
  if (shown === 0) return undefined;
  const rest =
    inJson > 0 ? html`<p class="note">${formatNumber(inJson)} more ${noun} are in report.json.</p>` : undefined;
  return html`<details><summary>${formatNumber(shown)} more ${noun}</summary>${table()}${rest}</details>`;
}
