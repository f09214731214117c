/**
 * Bars as inline SVG without a view box: lengths are percentages, so that they fit every width, and words stand outside
 * as text of the page. Parts differ in pattern as well as in colour.
 */
import { html, type Markup } from "./markup.ts";

export type Fill = "kept" | "saved" | "third";

export interface BarPart {
  readonly value: number;
  readonly fill: Fill;
}

/** Patterns that bars refer to; stands once in the page. */
export const PATTERNS = html`<svg class="patterns" width="0" height="0" aria-hidden="true" focusable="false"><defs>
<pattern id="saved" width="6" height="6" patternUnits="userSpaceOnUse" patternTransform="rotate(45)"><rect class="saved-ground" width="6" height="6"/><rect class="saved-line" width="2" height="6"/></pattern>
<pattern id="third" width="5" height="5" patternUnits="userSpaceOnUse"><rect class="third-ground" width="5" height="5"/><circle class="third-dot" cx="2.5" cy="2.5" r="1.1"/></pattern>
</defs></svg>`;

function percent(value: number, whole: number): string {
  if (!(whole > 0) || !(value > 0)) return "0%";
  return `${Number(Math.min(100, (value / whole) * 100).toFixed(3))}%`;
}

/** What a part is drawn with. */
export const BAR_PAINTS: Readonly<Record<Fill, Markup>> = {
  kept: html`class="kept"`,
  saved: html`class="saved" fill="url(#saved)"`,
  third: html`class="third" fill="url(#third)"`,
};

/** Parts one behind the other, to the scale of `whole`; none is wider than what is left of it. */
function barParts(parts: readonly BarPart[], whole: number): Markup[] {
  const drawn: Markup[] = [];
  let start = 0;
  for (const { value, fill } of parts) {
    const shown = Math.min(Math.max(0, value), Math.max(0, whole - start));
    if (shown > 0) {
      drawn.push(
        html`<rect x="${percent(start, whole)}" width="${percent(shown, whole)}" height="100%" ${BAR_PAINTS[fill]}/>`,
      );
    }
    start += shown;
  }
  return drawn;
}

/** A large bar that stands for itself; `label` says all of it in words. */
export function chartBar(label: string, parts: readonly BarPart[], whole: number): Markup {
  return html`<svg class="chart" role="img" aria-label="${label}" width="100%" height="100%"><rect class="track" width="100%" height="100%"/>${barParts(parts, whole)}</svg>`;
}

/** A small bar under the name in a table; its figures stand in the same row, so it is silent. */
export function rowBar(parts: readonly BarPart[], whole: number): Markup {
  return html`<svg class="row-bar" aria-hidden="true" focusable="false" width="100%" height="10">${barParts(parts, whole)}</svg>`;
}

export function legend(entries: readonly (readonly [Fill, string])[]): Markup {
  const items = entries.map(([fill, text]) => {
    return html`<li><svg width="16" height="12" aria-hidden="true" focusable="false"><rect width="16" height="12" ${BAR_PAINTS[fill]}/></svg> ${text}</li>`;
  });
  return html`<ul class="legend">${items}</ul>`;
}
