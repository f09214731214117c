/**
 * Lanes over time as SVG: in each lane bars (dark and whole for what was observed, light and thin for what is presumed),
 * ticks and crosses. Silent for screen readers: a table with the same figures stands beside it.
 */
import { html, Markup } from "./markup.ts";
import { axisTicks } from "./time-axis.ts";

export interface LaneBar {
  readonly fromMs: number;
  /** Observed up to here. */
  readonly seenMs: number;
  /** Presumed up to here. */
  readonly toMs: number;
  /** What is read when the pointer rests on it. */
  readonly title: string;
  /** Where it leads: a row of the table. */
  readonly href: string;
}

export interface Lane {
  readonly name: string;
  readonly bars: readonly LaneBar[];
  /** In order. */
  readonly ticksMs: readonly number[];
  /** What its ticks are. */
  readonly kind?: "seen" | "failed" | "other" | undefined;
}

const WIDTH = 1000;
const LANE_HEIGHT = 30;
const BAR_HEIGHT = 14;
/** What was seen once is seen. */
const SEEN_MIN = 5;
const PRESUMED_HEIGHT = 6;
/** Ticks that are closer to each other than this are one. */
const TICK_STEP = 1.25;

export function lanesChart(lanes: readonly Lane[], fromMs: number, toMs: number): Markup {
  const scale = (timeMs: number) =>
    Number(((Math.min(Math.max(timeMs, fromMs), toMs) - fromMs) * (WIDTH / (toMs - fromMs))).toFixed(1));
  const ticks = axisTicks(fromMs, toMs).map(({ timeMs, label }) => ({ x: scale(timeMs), label }));
  const height = lanes.length * LANE_HEIGHT;
  const names = lanes.map(({ name, kind = "seen" }) => html`<li class="${kind}">${name}</li>`);
  return html`<div class="lanes" aria-hidden="true"><ol>${names}</ol>
<svg viewBox="0 0 ${WIDTH} ${height}" width="100%" height="${height}" preserveAspectRatio="none" focusable="false"><path class="grid" d="${ticks.map(({ x }) => `M${x} 0v${height}`).join("")}"/>
${lanes.map((lane, i) => formatLane(lane, i * LANE_HEIGHT, scale))}</svg>
<svg class="axis" width="100%" height="20" focusable="false">${ticks.map(axisLabel)}</svg></div>
`;
}

function formatLane({ bars, ticksMs, kind = "seen" }: Lane, top: number, scale: (timeMs: number) => number): Markup {
  const middle = top + LANE_HEIGHT / 2;
  return html`${bars.map((bar) => formatBar(bar, middle, scale))}${kind === "failed" ? crosses(ticksMs, middle, scale) : strokes(ticksMs, middle, kind, scale)}
`;
}

function formatBar(
  { fromMs, seenMs, toMs, title, href }: LaneBar,
  middle: number,
  scale: (timeMs: number) => number,
): Markup {
  const [x, seen, end] = [scale(fromMs), scale(seenMs), scale(toMs)];
  const width = (size: number) => Number(Math.max(0, size).toFixed(1));
  return html`<a href="${href}" tabindex="-1"><title>${title}</title><rect class="presumed" x="${seen}" y="${middle - PRESUMED_HEIGHT / 2}" width="${width(end - seen)}" height="${PRESUMED_HEIGHT}"/><rect class="observed" x="${x}" y="${middle - BAR_HEIGHT / 2}" width="${width(Math.max(seen - x, SEEN_MIN))}" height="${BAR_HEIGHT}"/></a>`;
}

/** One path for all: thousands of captures are as cheap as a few. */
function strokes(
  ticksMs: readonly number[],
  middle: number,
  kind: string,
  scale: (timeMs: number) => number,
): Markup | undefined {
  const path = places(ticksMs, scale).map((x) => `M${x} ${middle - BAR_HEIGHT / 2 - 3}v${BAR_HEIGHT + 6}`);
  return path.length === 0 ? undefined : html`<path class="tick ${kind}" d="${path.join("")}"/>`;
}

function crosses(ticksMs: readonly number[], middle: number, scale: (timeMs: number) => number): Markup {
  const path = places(ticksMs, scale).map((x) => `M${Number((x - 4).toFixed(1))} ${middle - 4}l8 8m-8 0l8 -8`);
  return html`<path class="tick failed" d="${path.join("")}"/>`;
}

function places(ticksMs: readonly number[], scale: (timeMs: number) => number): number[] {
  const found: number[] = [];
  for (const timeMs of ticksMs) {
    const x = scale(timeMs);
    const last = found.at(-1);
    if (last === undefined || x - last >= TICK_STEP) found.push(x);
  }
  return found;
}

function axisLabel({ x, label }: { readonly x: number; readonly label: string }, i: number): Markup {
  const share = x / WIDTH;
  const anchor = share < 0.05 ? "start" : share > 0.95 ? "end" : "middle";
  return html`<text x="${Number((share * 100).toFixed(2))}%" y="15" text-anchor="${anchor}"${i % 2 === 1 ? new Markup(' class="odd"') : undefined}>${label}</text>`;
}

/** What the shapes of lanes mean; only those that are there. */
export function lanesLegend(kinds: ReadonlySet<"presumed" | "failed" | "other">): Markup {
  const item = (shape: Markup, text: string) =>
    html`<li><svg width="22" height="14" aria-hidden="true" focusable="false">${shape}</svg> ${text}</li>`;
  return html`<ul class="legend">
${item(html`<rect class="observed" width="22" height="14"/>`, "observed: from the first to the last capture that found it")}
${kinds.has("presumed") ? item(html`<rect class="presumed" y="4" width="22" height="6"/>`, "presumed: until a capture found something else") : undefined}
${item(html`<path class="tick seen" d="M11 0v14"/>`, "a capture")}
${kinds.has("failed") ? item(html`<path class="tick failed" d="M7 3l8 8m-8 0l8 -8"/>`, "a failed visit") : undefined}
${kinds.has("other") ? item(html`<path class="tick other" d="M11 0v14"/>`, "a visit that says nothing of the content") : undefined}</ul>`;
}
