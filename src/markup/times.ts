/** Times as pages show them, in UTC: to the day or to the second, with the exact one for programs. */
import { formatIso } from "../base/index.ts";
import { formatAmount } from "./format.ts";
import { html, type Markup } from "./markup.ts";

const DAY_MS = 86_400_000;
const UNITS = [
  ["year", 365.25 * DAY_MS],
  ["month", 30.44 * DAY_MS],
  ["day", DAY_MS],
  ["hour", 3_600_000],
  ["minute", 60_000],
  ["second", 1000],
] as const;

/** `2014-03-01` */
export function formatDay(timeMs: number): string {
  return formatIso(timeMs).slice(0, 10);
}

/** `2014-03-01 12:30:05` */
export function formatSecond(timeMs: number): string {
  return formatIso(timeMs).slice(0, 19).replace("T", "\u00a0");
}

/** A time to the day, with its second at hand; or to the second. */
export function timeOf(timeMs: number, to: "day" | "second" = "day"): Markup {
  const iso = formatIso(timeMs);
  if (to === "second") return html`<time datetime="${iso}">${formatSecond(timeMs)}</time>`;
  return html`<time datetime="${iso}" title="${formatSecond(timeMs)} UTC">${formatDay(timeMs)}</time>`;
}

/** How long, in its largest fitting unit: `3 days`, `14 months`. From two of a unit on, so that little is rounded away. */
export function formatDuration(ms: number): string {
  if (ms < 1000) return "a moment";
  const [name, unit] = UNITS.find(([, size]) => ms >= 2 * size) ?? UNITS.at(-1)!;
  return formatAmount(Math.round(ms / unit), name);
}
