/** The time in a URL, `/<coll>/<time>/<url>`: 1 to 14 digits, or 17. */
import { ArchiveError, parseTimestamp } from "../base/index.ts";

export interface AskedTime {
  /** What is near to it is asked for: the last moment of a short time, the first of a second. */
  readonly ms: number;
  /** What it names exactly: a second or a millisecond. Absent for a short time. */
  readonly exact: { readonly fromMs: number; readonly toMs: number } | undefined;
  /** As it stood in the URL. */
  readonly text: string;
}

/** How a year is filled up that lacks digits, as pywb does it. */
const YEAR_END = "2999";

/** HT_USAGE where the digits are no time. */
export function parseAskedTime(digits: string): AskedTime {
  const { length } = digits;
  const padded = length < 4 ? digits + YEAR_END.slice(length) : digits;
  const timeMs = length === 15 || length === 16 || length > 17 ? undefined : parseTimestamp(padded, "end");
  if (timeMs === undefined) {
    const message = `not a time: ${digits.slice(0, 40)} (1 to 14 digits, as in 20140131235959, or 17)`;
    throw new ArchiveError("HT_USAGE", message);
  }
  const ms = length === 14 ? 1000 * Math.floor(timeMs / 1000) : timeMs;
  return { ms, exact: length >= 14 ? { fromMs: ms, toMs: timeMs } : undefined, text: digits };
}
