/**
 * Columns over time as inline SVG. Places are percentages, so that it fits every width; its words are text of the picture,
 * and the figures stand in a table beside it.
 */
import { BAR_PAINTS, type BarPart } from "./charts.ts";
import { html, type Markup } from "./markup.ts";

export interface Column {
  readonly label: string;
  /** From the ground up. */
  readonly parts: readonly BarPart[];
}

export interface ColumnChart {
  /** Says all of it in words. */
  readonly label: string;
  readonly columns: readonly Column[];
  readonly format: (value: number) => string;
}

const TICKS_MAX = 4;
const LABELS_MAX = 8;
/** Of the picture's height, in percent: room for a label above the highest column and for those below. */
const [TOP, GROUND] = [6, 90];
/** How much of its place a column takes. */
const COLUMN_SHARE = 0.82;

export function columnChart({ label, columns, format }: ColumnChart): Markup {
  const highest = Math.max(0, ...columns.map(({ parts }) => sumOf(parts)));
  const ticks = ticksUpTo(highest);
  const whole = Math.max(highest, ticks.at(-1) ?? 0);
  const y = (value: number) => GROUND - (whole === 0 ? 0 : (value / whole) * (GROUND - TOP));
  const width = 100 / Math.max(1, columns.length);
  const lines = ticks.map(
    (tick) =>
      html`<line class="grid" x1="0" x2="100%" y1="${percent(y(tick))}" y2="${percent(y(tick))}"/><text class="tick" x="0" y="${percent(y(tick))}" dy="-3">${format(tick)}</text>`,
  );
  const every = Math.ceil(columns.length / LABELS_MAX);
  const drawn = columns.map(({ label: name, parts }, i) => {
    const left = i * width + (width * (1 - COLUMN_SHARE)) / 2;
    let below = 0;
    const pieces = parts.map(({ value, fill }) => {
      const [low, high] = [y(below), y(below + value)];
      below += value;
      return value > 0
        ? html`<rect x="${percent(left)}" width="${percent(width * COLUMN_SHARE)}" y="${percent(high)}" height="${percent(low - high)}" ${BAR_PAINTS[fill]}/>`
        : undefined;
    });
    const isNamed = i % every === 0;
    const text = isNamed
      ? html`<text class="tick" x="${percent(i * width + width / 2)}" y="100%" dy="-4" text-anchor="middle">${name}</text>`
      : undefined;
    return [pieces, text];
  });
  return html`<svg class="columns-chart" role="img" aria-label="${label}" width="100%" height="240">${lines}${drawn}<line class="ground" x1="0" x2="100%" y1="${percent(GROUND)}" y2="${percent(GROUND)}"/></svg>`;
}

function sumOf(parts: readonly BarPart[]): number {
  return parts.reduce((sum, { value }) => sum + value, 0);
}

function percent(value: number): string {
  return `${Number(value.toFixed(3))}%`;
}

/** Round numbers from nothing up to about the highest. */
function ticksUpTo(highest: number): number[] {
  if (!(highest > 0)) return [];
  const rough = highest / TICKS_MAX;
  const power = 10 ** Math.floor(Math.log10(rough));
  const step = [1, 2, 2.5, 5, 10].map((factor) => factor * power).find((each) => each >= rough) ?? rough;
  return Array.from({ length: Math.floor(highest / step) }, (_, i) => (i + 1) * step);
}
