/** How much there was and how much of it was there already: the statistics of the DeDuplicator's Figure 3. */
import type { HitKind } from "./rules.ts";

export interface TallyCounts {
  handled: number;
  duplicates: number;
  /** Of payloads. */
  bytes: number;
  duplicateBytes: number;
  exact: number;
  equivalent: number;
  elsewhere: number;
}

export interface TalliedCapture {
  readonly host: string | undefined;
  readonly mime: string | undefined;
  readonly bytes: number;
  /** Absent for one that is new. */
  readonly hit: HitKind | undefined;
}

/** So many hosts and media types are told apart; what comes later is counted under `other`. */
const GROUPS_MAX = 10_000;
const OTHER = "other";

function noCounts(): TallyCounts {
  return { handled: 0, duplicates: 0, bytes: 0, duplicateBytes: 0, exact: 0, equivalent: 0, elsewhere: 0 };
}

export class DuplicateTally {
  readonly total = noCounts();
  readonly byHost = new Map<string, TallyCounts>();
  readonly byMime = new Map<string, TallyCounts>();

  add(capture: TalliedCapture): void {
    count(this.total, capture);
    count(groupOf(this.byHost, capture.host ?? OTHER), capture);
    count(groupOf(this.byMime, capture.mime ?? OTHER), capture);
  }
}

function groupOf(groups: Map<string, TallyCounts>, name: string): TallyCounts {
  const own = groups.has(name) || groups.size < GROUPS_MAX ? name : OTHER;
  const there = groups.get(own);
  if (there !== undefined) return there;
  const counts = noCounts();
  groups.set(own, counts);
  return counts;
}

function count(counts: TallyCounts, { bytes, hit }: TalliedCapture): void {
  counts.handled++;
  counts.bytes += bytes;
  if (hit === undefined) return;
  counts.duplicates++;
  counts.duplicateBytes += bytes;
  counts[hit]++;
}
