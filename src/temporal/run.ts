/**
 * Runs: a key's content from the first visit that found it until the first that found another. Runs are made of visits
 * and of nothing else, in the order of their times, so that it does not matter in which order they became known.
 *
 * A page holds of a run what falls into its own stretch of time. What began before is carried into it: with its true
 * start, and how many visits there were before and when the last.
 */

/** One visit: at this time the key held this content, or nothing. */
export interface Visit {
  readonly time: number;
  /** Each character one byte. Absent where the key was found to be gone. */
  readonly digest: string | undefined;
  readonly value: Uint8Array;
}

export interface Run {
  readonly start: number;
  readonly digest: string | undefined;
  readonly value: Uint8Array;
  /** Visits before the page begins; 0 for a run that began in it. */
  before: number;
  /** The last of those. */
  lastBefore: number;
  /** In the page, in order. Of a run that began in it the first is its start. */
  readonly visits: number[];
}

/** What is alive where one stretch of time ends and the next begins; absent where the key was not known before. */
export type Carry = Run | undefined;

export function lastSeen(run: Run): number {
  return run.visits.at(-1) ?? run.lastBefore;
}

/** Visits of the run up to the end of its page. */
export function visitCount(run: Run): number {
  return run.before + run.visits.length;
}

/** The run as the page behind gets it. */
export function carriedOn(run: Run): Run {
  const { start, digest, value } = run;
  return { start, digest, value, before: visitCount(run), lastBefore: lastSeen(run), visits: [] };
}

/** Whether a page behind would see no difference. */
export function sameCarry(one: Carry, other: Carry): boolean {
  if (one === undefined || other === undefined) return one === other;
  return (
    one.start === other.start &&
    one.digest === other.digest &&
    visitCount(one) === visitCount(other) &&
    lastSeen(one) === lastSeen(other) &&
    Buffer.compare(one.value, other.value) === 0
  );
}

/** Contents of one moment have an order too, whichever was heard of first: that of their digests, and gone is last. */
export function compareVisits(one: Visit, other: Visit): number {
  if (one.time !== other.time) return one.time - other.time;
  if (one.digest === other.digest) return 0;
  if (one.digest === undefined) return 1;
  if (other.digest === undefined) return -1;
  return one.digest < other.digest ? -1 : 1;
}

/** The runs that visits come to, in a page whose carried run is `carry`. A visit that is known already changes nothing. */
export function collapse(carry: Carry, visits: readonly Visit[]): Run[] {
  const runs: Run[] = carry === undefined ? [] : [{ ...carry, visits: [] }];
  let last = runs[0];
  let before: Visit | undefined;
  for (const visit of visits) {
    if (before !== undefined && compareVisits(before, visit) === 0) continue;
    before = visit;
    if (last !== undefined && last.digest === visit.digest) {
      last.visits.push(visit.time);
      continue;
    }
    const { time, digest, value } = visit;
    last = { start: time, digest, value, before: 0, lastBefore: time, visits: [time] };
    runs.push(last);
  }
  return runs;
}

/** The visits of runs that lie in their page. All of a run have its value. */
export function visitsOf(runs: readonly Run[]): Visit[] {
  const visits: Visit[] = [];
  for (const { digest, value, visits: times } of runs) for (const time of times) visits.push({ time, digest, value });
  return visits;
}

/** The run that is carried into the page, if one is. */
export function carryOf(runs: readonly Run[]): Carry {
  const [first] = runs;
  return first === undefined || first.before === 0 ? undefined : first;
}

/** Adds visits, given in order, to runs; and takes those out of them that are to be forgotten. */
export function changeVisits(
  runs: readonly Run[],
  added: readonly Visit[],
  forgotten: readonly Pick<Visit, "time" | "digest">[],
  carry: Carry,
): Run[] {
  const names = new Set(forgotten.map(nameOf));
  const all = visitsOf(runs);
  const kept = names.size === 0 ? all : all.filter((visit) => !names.has(nameOf(visit)));
  // New ones stand behind known ones of the same moment and content, so those keep their values.
  return collapse(carry, [...kept, ...added].sort(compareVisits));
}

function nameOf({ time, digest }: Pick<Visit, "time" | "digest">): string {
  return digest === undefined ? `${time}` : `${time} ${digest}`;
}

/** The part of runs in [start, end), as a page with that stretch has it. */
export function clipRuns(runs: readonly Run[], start: number, end: number): Run[] {
  const clipped: Run[] = [];
  for (const run of runs) {
    const visits = run.visits.filter((time) => time >= start && time < end);
    if (run.start >= end) break;
    const earlier = run.visits.filter((time) => time < start);
    const before = run.before + earlier.length;
    if (before === 0) {
      if (visits.length > 0) clipped.push({ ...run, visits });
      continue;
    }
    const lastBefore = earlier.at(-1) ?? run.lastBefore;
    // Of those that began before, only the last is alive where the stretch begins.
    if (clipped.length > 0 && clipped[0]!.before > 0 && clipped[0]!.visits.length === 0) clipped.length = 0;
    clipped.push({ ...run, before, lastBefore, visits });
  }
  return clipped;
}
