/** From when to when something is known of a site: what its slider reaches over. */
import type { Scope } from "../../../archive/index.ts";
import type { Collection } from "../../collection.ts";

const DAY_MS = 86_400_000;
/** All days that a record can have. */
const [FIRST_DAY, LAST_DAY] = [-814_000, 3_250_000];
/** Where captures may be hidden, so many are looked at. */
const LOOKED_MAX = 5000;

export interface SiteSpan {
  /** Days since 1970: of the first change, and of the last. */
  readonly firstDay: number;
  readonly lastDay: number;
}

export function dayOf(timeMs: number): number {
  return Math.floor(timeMs / DAY_MS);
}

export function endOfDay(day: number): number {
  return (day + 1) * DAY_MS - 1;
}

type Range = Pick<Scope, "from" | "to">;

/** Absent where nothing is known. A timeline knows where nothing changed, so that halving the time takes few looks. */
export async function siteSpan(collection: Collection, range: Range): Promise<SiteSpan | undefined> {
  if (collection.hasRules) return await lookedAt(collection, range);
  const isBy = (day: number) => hasChange(collection, -Infinity, endOfDay(day), range);
  if (!(await isBy(LAST_DAY))) return undefined;
  const isAfter = (day: number) => hasChange(collection, endOfDay(day), endOfDay(LAST_DAY), range);
  const firstDay = await firstThat(FIRST_DAY, LAST_DAY, isBy);
  const lastDay = await firstThat(firstDay, LAST_DAY, async (day) => !(await isAfter(day)));
  return { firstDay, lastDay };
}

async function hasChange(collection: Collection, fromMs: number, toMs: number, range: Range): Promise<boolean> {
  for await (const batch of collection.changes(Math.max(fromMs, FIRST_DAY * DAY_MS), toMs, range))
    if (batch.length > 0) return true;
  return false;
}

/** The first number for which it holds, if it holds for all behind that, and for the last. */
async function firstThat(from: number, to: number, holds: (number: number) => Promise<boolean>): Promise<number> {
  let [low, high] = [from, to];
  while (low < high) {
    const middle = Math.floor((low + high) / 2);
    if (await holds(middle)) high = middle;
    else low = middle + 1;
  }
  return low;
}

async function lookedAt(collection: Collection, range: Range): Promise<SiteSpan | undefined> {
  let [first, last] = [Infinity, -Infinity];
  let looked = 0;
  for await (const batch of collection.captures({ range })) {
    for (const { timeMs } of batch) {
      if (timeMs === undefined) continue;
      first = Math.min(first, timeMs);
      last = Math.max(last, timeMs);
    }
    looked += batch.length;
    if (looked >= LOOKED_MAX) break;
  }
  return first > last ? undefined : { firstDay: dayOf(first), lastDay: dayOf(last) };
}
