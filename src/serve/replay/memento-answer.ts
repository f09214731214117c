/** What the raw form and that of the replay worker have in common: which capture, its notes, its tag. */
import type { Capture, OpenedCapture } from "../../archive/index.ts";
import { ArchiveError } from "../../base/index.ts";
import { archivedUrl } from "../archived-url.ts";
import { type AskedTime, parseAskedTime } from "../asked-time.ts";
import type { Collection } from "../collection.ts";
import type { AskedContent } from "../route.ts";
import { LATEST, type TimeSense } from "./choose.ts";
import { type Picked, pick } from "./redirects.ts";

/** A URL and a time, as a target names them. */
export interface AskedMemento {
  readonly url: string;
  readonly time: AskedTime;
  readonly sense: TimeSense;
  /** What stands before the time, so that redirects stay with it: empty, or `as-of/`. */
  readonly prefix: string;
}

/** HT_USAGE for a time or a URL that is none. */
export function askedMemento({ found }: Pick<AskedContent, "found">): AskedMemento {
  const { ts = "", asOf } = found;
  const time = ts === "" ? LATEST : parseAskedTime(ts);
  const isValid = asOf !== undefined;
  return { url: askedUrl(found["url"]), time, sense: isValid ? "valid" : "nearest", prefix: isValid ? "as-of/" : "" };
}

export function askedUrl(raw: string | undefined): string {
  const url = archivedUrl(raw ?? "");
  if (url === undefined) throw new ArchiveError("HT_USAGE", "no URL, or too long a one, in the address");
  return url;
}

/** HT_NOT_FOUND or HT_BLOCKED where there is nothing to be seen. */
export async function pickMemento(collection: Collection, asked: AskedMemento): Promise<Picked> {
  const { url, time, sense } = asked;
  const picked = await pick(collection, url, time, sense);
  if (picked !== undefined) return picked;
  throw await nothingSeen(collection, url, sense);
}

/** Longer than any two captures are apart. */
const FOREVER_MS = 1e15;

/** As `pickMemento`; where the URL was never captured, of one that scripts only made look different, the nearest in time. */
export async function pickAlike(collection: Collection, asked: AskedMemento): Promise<Picked> {
  const { url, time, sense } = asked;
  const picked = await pick(collection, url, time, sense);
  if (picked !== undefined) return picked;
  let [nearest, distance]: [Picked | undefined, number] = [undefined, Number.POSITIVE_INFINITY];
  for (const other of await collection.alike(url)) {
    const found = await pick(collection, other, time, sense);
    const timeMs = found?.capture.timeMs ?? Number.POSITIVE_INFINITY;
    // What came later is for want of anything else.
    const isLate = sense === "pinned" && timeMs > time.ms;
    const apart = Math.abs(timeMs - time.ms) + (isLate ? FOREVER_MS : 0);
    if (apart < distance) [nearest, distance] = [found, apart];
  }
  if (nearest === undefined) throw await nothingSeen(collection, url, sense);
  return nearest;
}

export async function nothingSeen(collection: Collection, url: string, sense: TimeSense): Promise<ArchiveError> {
  if ((await collection.hidden({ url })) === "block")
    return new ArchiveError("HT_BLOCKED", `access to the captures of ${url} is blocked`);
  const then = sense === "valid" ? " from that time or before" : "";
  return new ArchiveError("HT_NOT_FOUND", `no capture of ${url} in ${collection.name}${then}`);
}

/** What a reader should know of the bytes; they are given all the same. */
export function notesOf(capture: Capture, opened: OpenedCapture): string[] {
  const { flags } = capture;
  const notes: string[] = [];
  if (opened.missing !== undefined) notes.push(`incomplete: ${opened.missing}`);
  else if (flags.includes("cut-off") || capture.class === "truncated") notes.push("truncated when it was captured");
  if (flags.includes("digest-lies")) notes.push("its record claims another digest");
  if (capture.class === "failed") notes.push("a failed visit");
  if (capture.class === "part") notes.push("a part of the whole");
  return notes;
}
