/** How much there was and how much of it was there already: the statistics of the DeDuplicator's Figure 3. */
import type { HitKind } from "./rules.ts";

export interface TallyCounts {
  handled: number;
  /** Those that are not stored again. */
  duplicates: number;
  /** Of payloads. */
  bytes: number;
  duplicateBytes: number;
  /** Of whole answers, their headers included, as far as that is known. */
  responseBytes: number;
  duplicateResponseBytes: number;
  /** Captures whose content is known, by where it was found. All other captures are new. */
  exact: number;
  equivalent: number;
  elsewhere: number;
}

export interface TalliedCapture {
  readonly host: string | undefined;
  readonly mime: string | undefined;
  readonly bytes: number;
  readonly responseBytes?: number | undefined;
  /** Absent for one that is new. */
  readonly hit: HitKind | undefined;
  /** Its content is known, and it is stored all the same. */
  readonly kept?: boolean | undefined;
  /** How many captures it stands for; 1 unless it says so. */
  readonly times?: number | undefined;
}

/** So many hosts and media types are told apart; what comes later is counted under `other`. */
const GROUPS_MAX = 10_000;
const OTHER = "other";

function noCounts(): TallyCounts {
  return {
    handled: 0,
    duplicates: 0,
    bytes: 0,
    duplicateBytes: 0,
    responseBytes: 0,
    duplicateResponseBytes: 0,
    exact: 0,
    equivalent: 0,
    elsewhere: 0,
  };
}

export class DuplicateTally {
  readonly total = noCounts();
  readonly byHost = new Map<string, TallyCounts>();
  readonly byMime = new Map<string, TallyCounts>();
  private readonly hosts: boolean;

  constructor(options: { readonly hosts?: boolean | undefined } = {}) {
    this.hosts = options.hosts ?? true;
  }

  add(capture: TalliedCapture): void {
    count(this.total, capture);
    if (this.hosts) count(groupOf(this.byHost, capture.host, noCounts), capture);
    count(groupOf(this.byMime, capture.mime, noCounts), capture);
  }
}

/** The counts of a name, in a map that does not grow without end. */
export function groupOf<T>(groups: Map<string, T>, name: string | undefined, create: (name: string) => T): T {
  const own = name !== undefined && (groups.has(name) || groups.size < GROUPS_MAX) ? name : OTHER;
  const there = groups.get(own);
  if (there !== undefined) return there;
  const counts = create(own);
  groups.set(own, counts);
  return counts;
}

/** Captures with no content that is known. */
export function newOnes({ handled, exact, equivalent, elsewhere }: TallyCounts): number {
  return handled - exact - equivalent - elsewhere;
}

function count(counts: TallyCounts, { bytes, responseBytes = 0, hit, kept, times = 1 }: TalliedCapture): void {
  counts.handled += times;
  counts.bytes += bytes * times;
  counts.responseBytes += responseBytes * times;
  if (hit === undefined) return;
  counts[hit] += times;
  if (kept === true) return;
  counts.duplicates += times;
  counts.duplicateBytes += bytes * times;
  counts.duplicateResponseBytes += responseBytes * times;
}
