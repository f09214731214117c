/** Times as CDX has them: 14 digits in a row, and 1 to 14 of them as a bound. */
import { formatIso } from "../../base/index.ts";
import { type Parameters, quoted, refusal } from "./parameters.ts";

/** The first of the year 0. */
const FIRST_SECOND = -62_167_219_200;
/** The last one with a year of four digits. */
const LAST_SECOND = Date.UTC(9999, 11, 31, 23, 59, 59) / 1000;
export const FIRST_MS = FIRST_SECOND * 1000;
export const LAST_MS = LAST_SECOND * 1000 + 999;

/** 14 digits, whatever the time: one beyond what they can say becomes the first or last that they can. */
export function timestampOf(timeMs: number): string {
  const iso = formatIso(Math.min(LAST_MS, Math.max(FIRST_MS, timeMs)));
  return (
    iso.slice(0, 4) + iso.slice(5, 7) + iso.slice(8, 10) + iso.slice(11, 13) + iso.slice(14, 16) + iso.slice(17, 19)
  );
}

/** Up to 17, of which the last three are milliseconds and do not count. */
const DIGITS = /^\d{1,17}$/;
const LOW = "00000101000000";
const HIGH = "99991231235959";

/**
 * Bounds are compared with timestamps as texts, so that the 31st of a month that has 30 days means its end. Times with later
 * texts are later, and the bound is found by halving.
 */
function lastSecondWhere(isBefore: (timestamp: string) => boolean): number {
  let [low, high] = [FIRST_SECOND - 1, LAST_SECOND];
  while (low < high) {
    const middle = Math.ceil((low + high) / 2);
    if (isBefore(timestampOf(middle * 1000))) low = middle;
    else high = middle - 1;
  }
  return low;
}

function bound(digits: string, padding: string): string {
  return (digits + padding.slice(digits.length)).slice(0, 14);
}

/** The first time that is not before these digits. */
export function earliestOf(digits: string): number {
  const text = bound(digits, LOW);
  return (lastSecondWhere((timestamp) => timestamp < text) + 1) * 1000;
}

/** The last time that is not after them. */
export function latestOf(digits: string): number {
  const text = bound(digits, HIGH);
  return lastSecondWhere((timestamp) => timestamp <= text) * 1000 + 999;
}

export function digitsIn(parameters: Parameters, name: string): string | undefined {
  const text = parameters.text(name);
  if (text !== undefined && !DIGITS.test(text))
    throw refusal(`${name} is a time of 1 to 14 digits, not ${quoted(text)}`);
  return text;
}

/** The span of time that is asked for. What has no date is in no span, not even in this widest one. */
export function spanIn(parameters: Parameters): { readonly fromMs: number; readonly toMs: number } {
  const [from, to] = [digitsIn(parameters, "from"), digitsIn(parameters, "to")];
  return {
    fromMs: from === undefined ? Number.MIN_SAFE_INTEGER : earliestOf(from),
    toMs: to === undefined ? Number.MAX_SAFE_INTEGER : latestOf(to),
  };
}
