/** Times as people read them on pages. All are UTC. */
import { formatIso } from "../../base/index.ts";

/** `2014-03-01`. */
export function formatDay(timeMs: number): string {
  return formatIso(timeMs).replace(/T.*$/s, "");
}

/** `2014-03-01 12:30:05`. */
export function formatSecond(timeMs: number): string {
  return formatIso(timeMs).replace("T", " ").replace(/(?:\.\d+)?Z$/, "");
}

const [DAY_MS, HOUR_MS, MINUTE_MS] = [86_400_000, 3_600_000, 60_000];
const YEAR_DAYS = 365.25;

/** How long something lasted, in its largest unit: `3 years`, `12 days`, `5 hours`. */
export function formatLength(ms: number): string {
  const days = ms / DAY_MS;
  if (days >= 2 * YEAR_DAYS) return count(days / YEAR_DAYS, "year");
  if (days >= 62) return count(days / (YEAR_DAYS / 12), "month");
  if (days >= 1) return count(days, "day");
  if (ms >= HOUR_MS) return count(ms / HOUR_MS, "hour");
  return ms >= MINUTE_MS ? count(ms / MINUTE_MS, "minute") : "less than a minute";
}

function count(value: number, noun: string): string {
  const whole = Math.floor(value);
  return `${whole}\u00a0${noun}${whole === 1 ? "" : "s"}`;
}
