/** Which capture a URL and a time mean. docs/decisions/0034 says why. */
import type { Capture, CaptureQuery } from "../../archive/index.ts";
import { isVisit } from "../access/allowed-lifespans.ts";
import type { AskedTime } from "../asked-time.ts";
import type { Collection } from "../collection.ts";

/**
 * `nearest`: the capture nearest in time. `valid`: the one that found what was there at that time. `pinned`: the same, and
 * where nothing is known from then or before, the first one after it: the parts of a page come seconds after the page.
 */
export type TimeSense = "nearest" | "valid" | "pinned";

export interface Chosen {
  readonly capture: Capture;
  /** It is of the very second, or millisecond, that was asked for. */
  readonly isExact: boolean;
}

/** The last moment that a time in a URL can be. */
const LATEST_MS = 253_402_300_799_999;
export const LATEST: AskedTime = { ms: LATEST_MS, exact: undefined, text: "" };

/** Most often it is one of the first; a batch of a thousand need not be made for it. */
const FEW = 4;
const EXACT_MAX = 1000;

/**
 * The capture that is meant; absent where there is none that may be seen. States and confirmations come first, others only
 * by their exact time or where there is nothing else. `accepts` says which captures count at all.
 */
export async function choose(
  collection: Collection,
  url: string,
  time: AskedTime,
  sense: TimeSense,
  accepts: (capture: Capture) => boolean = () => true,
): Promise<Chosen | undefined> {
  if (sense !== "nearest") {
    const toMs = time.exact?.toMs ?? time.ms;
    // Answers to other methods have no lifespans: the last one counts.
    const isOtherMethod = (each: Capture) => each.class === "other-method" && each.url !== url;
    const isAfter = (each: Capture) => isVisit(each) && accepts(each);
    const capture =
      (await collection.at(url, toMs))?.capture ??
      (await firstOf(collection, { url, order: "backwards", toMs }, isOtherMethod)) ??
      (sense === "pinned" ? await firstOf(collection, { url, fromMs: toMs + 1 }, isAfter) : undefined);
    if (capture === undefined || !accepts(capture)) return undefined;
    return { capture, isExact: isOf(capture, time) };
  }
  const exact = await chooseExact(collection, url, time, accepts);
  if (exact !== undefined) return { capture: exact, isExact: true };
  const order = { url, order: "closest", closestMs: time.ms } as const;
  const capture =
    (await firstOf(collection, order, (each) => isVisit(each) && accepts(each))) ??
    (await firstOf(collection, order, (each) => each.timeMs !== undefined && accepts(each)));
  return capture && { capture, isExact: isOf(capture, time) };
}

function isOf({ timeMs }: Capture, { exact }: AskedTime): boolean {
  return exact !== undefined && timeMs !== undefined && timeMs >= exact.fromMs && timeMs <= exact.toMs;
}

async function chooseExact(
  collection: Collection,
  url: string,
  { exact }: AskedTime,
  accepts: (capture: Capture) => boolean,
): Promise<Capture | undefined> {
  if (exact === undefined) return undefined;
  let [best, bestRank]: [Capture | undefined, number] = [undefined, 0];
  for await (const batch of collection.captures({ url, ...exact, limit: EXACT_MAX })) {
    for (const capture of batch) {
      const rank = accepts(capture) ? exactRank(capture, url) : 0;
      if (rank > bestRank) [best, bestRank] = [capture, rank];
    }
  }
  return best;
}

/** Its very URL comes first, also where another spelling has a better capture: that is how each of them is reached. */
function exactRank(capture: Capture, url: string): number {
  const isSame = capture.url === url;
  if (isVisit(capture)) return isSame ? 4 : 2;
  return isSame ? 3 : capture.class === "redirect-to-self" ? 0 : 1;
}

/** The first capture of a query that is as it is wanted. */
export async function firstOf(
  collection: Collection,
  query: CaptureQuery,
  isWanted: (capture: Capture) => boolean,
): Promise<Capture | undefined> {
  let count = 0;
  for await (const batch of collection.captures({ ...query, limit: FEW })) {
    const found = batch.find(isWanted);
    if (found !== undefined) return found;
    count += batch.length;
  }
  if (count < FEW) return undefined;
  for await (const batch of collection.captures(query)) {
    const found = batch.find(isWanted);
    if (found !== undefined) return found;
  }
  return undefined;
}
