/** Times of captures as they stand in URLs and headers. */
import type { Capture } from "../../archive/index.ts";
import { formatTimestamp } from "../../base/index.ts";

/** What answers as a memento is raw, as long as there are no pages. */
const MEMENTO_FORM = "id_";

/**
 * 14 digits, or 17 where another capture of the URL is of the same second. All of `others` are captures of the URL; it
 * does not matter if the capture itself is among them.
 */
export function stampOf(capture: Capture, others: readonly (Capture | undefined)[] = []): string {
  const timeMs = capture.timeMs!;
  const second = Math.floor(timeMs / 1000);
  const isShared = others.some(
    (other) => other?.timeMs !== undefined && other.timeMs !== timeMs && Math.floor(other.timeMs / 1000) === second,
  );
  return isShared ? longStamp(timeMs) : formatTimestamp(timeMs);
}

export function longStamp(timeMs: number): string {
  return formatTimestamp(timeMs) + String(timeMs - 1000 * Math.floor(timeMs / 1000)).padStart(3, "0");
}

/** `Thu, 31 May 2007 20:35:00 GMT` */
export function httpDate(timeMs: number): string {
  return new Date(timeMs).toUTCString();
}

/** What comes before the URL in the address of a memento, after the collection. */
export function mementoPath(stamp: string, form: string = MEMENTO_FORM): string {
  return `${stamp}${form}/`;
}
