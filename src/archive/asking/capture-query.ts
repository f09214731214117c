/** Which captures are asked for, and in which order. */
import { ArchiveError } from "../../base/index.ts";
import { keyRange } from "../../url/index.ts";
import { archiveKey, FIRST_MS, LAST_MS, momentKey, timeOf } from "../catalogue/capture-key.ts";
import { Flag, has } from "../catalogue/capture-row.ts";
import { type CatalogueView, type FoundCapture, LAST_KEY } from "../catalogue/catalogue-view.ts";
import { PAUSE, PAUSE_ROWS } from "./pause.ts";

export interface CaptureQuery {
  /** Captures of this URL; or of all below it, of its host, or of its host and those below that. */
  readonly url?: string | undefined;
  readonly match?: "exact" | "prefix" | "host" | "domain" | undefined;
  /** Keys from the one on and before the other, instead of a URL. */
  readonly range?: { readonly from?: string | undefined; readonly to?: string | undefined } | undefined;
  readonly fromMs?: number | undefined;
  readonly toMs?: number | undefined;
  /** `closest` is for one URL: the nearest to `closestMs` first. */
  readonly order?: "forwards" | "backwards" | "closest" | undefined;
  readonly closestMs?: number | undefined;
  /** Goes on behind the capture with this cursor. Not with `closest`. */
  readonly after?: string | undefined;
  readonly limit?: number | undefined;
}

/** With pauses where many rows in a row are not in the span of time. */
export function* findCaptures(catalogue: CatalogueView, query: CaptureQuery): Generator<FoundCapture | typeof PAUSE> {
  const { limit = Number.POSITIVE_INFINITY } = query;
  let [count, skipped] = [0, 0];
  for (const found of query.order === "closest" ? closest(catalogue, query) : inOrder(catalogue, query)) {
    if (!isInSpan(found, query)) {
      if (++skipped % PAUSE_ROWS === 0) yield PAUSE;
      continue;
    }
    if (count++ === limit) return;
    yield found;
  }
}

/** Within what rows have room for. */
function clamped(timeMs: number): number {
  return Math.min(LAST_MS, Math.max(FIRST_MS, Math.floor(timeMs)));
}

/** What has no place in time is there where no time is asked for. */
function isInSpan({ timeMs, row }: FoundCapture, { fromMs, toMs }: CaptureQuery): boolean {
  if (fromMs === undefined && toMs === undefined) return true;
  return !has(row, Flag.undated) && timeMs >= (fromMs ?? FIRST_MS) && timeMs <= (toMs ?? LAST_MS);
}

function inOrder(catalogue: CatalogueView, query: CaptureQuery): Iterable<FoundCapture> {
  const { url, match = "exact", range = {}, fromMs, toMs, order, after } = query;
  const backwards = order === "backwards";
  if (url !== undefined && match === "exact" && after === undefined) {
    // Of one URL, its span of time is a range of rows.
    const key = archiveKey(url);
    const [from, to] = [clamped(fromMs ?? FIRST_MS), clamped(toMs ?? LAST_MS)];
    return catalogue.capturesIn(momentKey(key, from), momentKey(key, to + 1), backwards);
  }
  const { from, to } = url === undefined ? { from: range.from ?? "", to: range.to ?? LAST_KEY } : rangeOf(url, match);
  const first = after === undefined || backwards ? from : `${after}\0`;
  const end = after === undefined || !backwards ? to : after;
  // Among many URLs, the answer to another method stands under its own alone.
  const isOne = url !== undefined && match === "exact";
  return isOne ? catalogue.capturesIn(first, end, backwards) : catalogue.rowsIn(first, end, backwards);
}

function rangeOf(
  url: string,
  match: NonNullable<CaptureQuery["match"]>,
): { readonly from: string; readonly to: string } {
  if (match !== "exact") return keyRange(url, match);
  const key = archiveKey(url);
  return { from: `${key}\0`, to: `${key}\x01` };
}

/** Two walks from the middle, of which the nearer one goes on. */
function* closest(catalogue: CatalogueView, { url, closestMs }: CaptureQuery): Generator<FoundCapture> {
  if (url === undefined || closestMs === undefined)
    throw new ArchiveError("HT_USAGE", "the closest captures are those of one URL to one time");
  const key = archiveKey(url);
  const dated = function* (captures: Iterable<FoundCapture>) {
    for (const found of captures) if (!has(found.row, Flag.undated)) yield found;
  };
  const middle = momentKey(key, clamped(closestMs) + 1);
  const back = dated(catalogue.capturesIn(momentKey(key, FIRST_MS), middle, true));
  const forth = dated(catalogue.capturesIn(middle, momentKey(key, LAST_MS + 1)));
  let [before, after] = [back.next(), forth.next()];
  while (before.done !== true || after.done !== true) {
    const isBefore =
      after.done === true ||
      (before.done !== true && closestMs - timeOf(before.value.key) <= timeOf(after.value.key) - closestMs);
    if (isBefore) {
      yield before.value as FoundCapture;
      before = back.next();
    } else {
      yield after.value as FoundCapture;
      after = forth.next();
    }
  }
}
