/** Ranges of keys that people ask for. */
import type { KeyRange } from "./query.ts";

/** All keys that begin so. */
export function prefixRange(prefix: string): KeyRange {
  // The first key behind them: the last byte that can be counted up, counted up.
  const at = prefix.search(/[^\xff]\xff*$/);
  if (prefix === "" || at < 0) return { from: prefix };
  return { from: prefix, to: prefix.slice(0, at) + String.fromCharCode(prefix.charCodeAt(at) + 1) };
}

/** The rest of a range behind a key, for a stream that goes on where another one ended. */
export function rangeBehind(key: string, range: KeyRange = {}): KeyRange {
  return { ...range, from: `${key}\0` };
}
