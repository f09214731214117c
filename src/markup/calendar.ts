/** A calendar of counts: a table of years and months, each with its number in words and in shade. */
import { formatNumber } from "./format.ts";
import { html, type Markup } from "./markup.ts";

const MONTHS = ["Jan", "Feb", "Mar", "Apr", "May", "Jun", "Jul", "Aug", "Sep", "Oct", "Nov", "Dec"] as const;

export interface MonthCount {
  /** What the calendar is of. */
  readonly count: number;
  /** What was looked at: months without are empty, months with, but without a count, have a dot. */
  readonly looks: number;
}

export interface Calendar {
  readonly caption: string;
  /** By `year * 12 + month`, the first month being 0. */
  readonly months: ReadonlyMap<number, MonthCount>;
  /** Where a month leads. */
  readonly link: (year: number, month: number) => string;
  /** What a month with a count is called: `3 changes, 12 captures`. */
  readonly describe: (count: MonthCount) => string;
}

/** The lightest shade is for one, the darkest for many. */
function shadeOf(count: number): number {
  return count >= 10 ? 4 : count >= 4 ? 3 : count >= 2 ? 2 : 1;
}

export function calendarTable({ caption, months, link, describe }: Calendar): Markup {
  const years = [...new Set([...months.keys()].map((month) => Math.floor(month / 12)))].sort(
    (one, other) => one - other,
  );
  const cell = (year: number, month: number): Markup => {
    const found = months.get(12 * year + month);
    if (found === undefined) return html`<td></td>`;
    const text = describe(found);
    if (found.count === 0)
      return html`<td><span class="quiet-month" title="${text}">\u00b7<span class="unseen">${text}</span></span></td>`;
    return html`<td class="shade-${shadeOf(found.count)}"><a href="${link(year, month)}" title="${text}">${formatNumber(found.count)}<span class="unseen"> (${MONTHS[month]} ${year}: ${text})</span></a></td>`;
  };
  const rows = years.map(
    (
      year,
    ) => html`<tr><th scope="row">${String(year).padStart(4, "0")}</th>${MONTHS.map((_, month) => cell(year, month))}</tr>
`,
  );
  return html`<div class="scroll" role="region" aria-label="${caption}" tabindex="0"><table class="calendar"><caption>${caption}</caption>
<thead><tr><th scope="col">Year</th>${MONTHS.map((name) => html`<th scope="col">${name}</th>`)}</tr></thead>
<tbody>${rows}</tbody></table></div>
`;
}
