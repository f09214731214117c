/**
 * Captured redirects. One leads to the archived target, at the time that was asked for, so that a chain of answers has one
 * time; for that time it is known where every URL leads, and an answer that would come back to where the chain has been
 * leads nowhere.
 */
import { archiveKey, type Capture } from "../../archive/index.ts";
import type { AskedTime } from "../asked-time.ts";
import type { Collection } from "../collection.ts";
import { type Chosen, choose, type TimeSense } from "./choose.ts";

export interface Picked extends Chosen {
  /** Where it leads, for a redirect that leads on. */
  readonly target: string | undefined;
}

/** Longer chains count as going round. */
const HOPS_MAX = 20;

/** As `choose`; a redirect that comes back to its own URL is given only by its exact time, or where nothing else is there. */
export async function pick(
  collection: Collection,
  url: string,
  time: AskedTime,
  sense: TimeSense,
): Promise<Picked | undefined> {
  const chosen = await choose(collection, url, time, sense);
  if (chosen === undefined) return undefined;
  const target = targetOf(chosen.capture);
  if (target === undefined) return { ...chosen, target };
  if (!(await comesBack(collection, url, target, time, sense))) return { ...chosen, target };
  const other = chosen.isExact ? undefined : await choose(collection, url, time, sense, (each) => !targetOf(each));
  return { ...(other ?? chosen), target: undefined };
}

/** The absolute URL that a captured redirect leads to; absent for what is none, or leads out of the web. */
export function targetOf({ status = 0, location, url }: Capture): string | undefined {
  if (status < 300 || status > 399 || status === 304 || location === undefined) return undefined;
  try {
    const target = new URL(location, url);
    return /^(?:https?|ftp):$/.test(target.protocol) ? target.href : undefined;
  } catch {
    return undefined;
  }
}

async function comesBack(
  collection: Collection,
  start: string,
  target: string,
  time: AskedTime,
  sense: TimeSense,
): Promise<boolean> {
  const startKey = archiveKey(start);
  const visited = new Set<string>();
  for (let [url, hop]: [string | undefined, number] = [target, 0]; url !== undefined; hop++) {
    const key = archiveKey(url);
    if (key === startKey || hop === HOPS_MAX) return true;
    if (visited.has(key)) return false;
    visited.add(key);
    const next: Chosen | undefined = await choose(collection, url, time, sense);
    url = next && targetOf(next.capture);
  }
  return false;
}
