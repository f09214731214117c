/** A timeline as plain as can be: all visits in a list. What the real one answers must be what follows from this. */
import type { KeyRange } from "../temporal/index.ts";

export interface ModelVisit {
  readonly key: string;
  readonly time: number;
  /** Absent: gone. */
  readonly digest: string | undefined;
}

export interface ModelEntry {
  readonly key: string;
  readonly birth: number;
  readonly end: number | undefined;
  readonly digest: string;
  readonly lastSeen: number;
  readonly visits: number;
}

interface ModelRun extends Omit<ModelEntry, "digest"> {
  readonly digest: string | undefined;
}

export interface ModelEvent {
  readonly key: string;
  readonly time: number;
  readonly isGone: boolean;
  readonly replaced: boolean;
}

function compare(one: ModelVisit, other: ModelVisit): number {
  if (one.time !== other.time) return one.time - other.time;
  return (one.digest ?? "\u{ffff}") < (other.digest ?? "\u{ffff}") ? -1 : 1;
}

export class TimelineModel {
  private readonly known = new Map<string, Map<string, ModelVisit>>();
  /** What was worked out of the visits, until there are others. */
  private readonly worked = new Map<string, readonly ModelRun[]>();
  private sorted: readonly string[] | undefined;

  add(visit: ModelVisit): void {
    const known = this.known.get(visit.key) ?? new Map<string, ModelVisit>();
    known.set(`${visit.time} ${visit.digest}`, visit);
    if (known.size === 1) this.sorted = undefined;
    this.known.set(visit.key, known);
    this.worked.delete(visit.key);
  }

  remove({ key, time, digest }: ModelVisit): void {
    const known = this.known.get(key);
    known?.delete(`${time} ${digest}`);
    if (known?.size === 0) {
      this.known.delete(key);
      this.sorted = undefined;
    }
    this.worked.delete(key);
  }

  copy(): TimelineModel {
    const model = new TimelineModel();
    for (const [key, visits] of this.known) model.known.set(key, new Map(visits));
    return model;
  }

  get keys(): readonly string[] {
    this.sorted ??= [...this.known.keys()].sort();
    return this.sorted;
  }

  keysIn({ from, to }: KeyRange): readonly string[] {
    return this.keys.filter((key) => (from === undefined || key >= from) && (to === undefined || key < to));
  }

  get visitCount(): number {
    return [...this.known.values()].reduce((sum, visits) => sum + visits.size, 0);
  }

  get entryCount(): number {
    return this.keys.reduce((sum, key) => sum + this.history(key).length, 0);
  }

  visits(key: string, from = Number.NEGATIVE_INFINITY, to = Number.POSITIVE_INFINITY): ModelVisit[] {
    const visits = [...(this.known.get(key)?.values() ?? [])].filter(({ time }) => time >= from && time <= to);
    return visits.sort(compare);
  }

  runs(key: string): readonly ModelRun[] {
    const worked = this.worked.get(key);
    if (worked !== undefined) return worked;
    const runs: { -readonly [K in keyof ModelRun]: ModelRun[K] }[] = [];
    for (const { time, digest } of this.visits(key)) {
      const last = runs.at(-1);
      if (last !== undefined && last.digest === digest) {
        last.lastSeen = time;
        last.visits++;
        continue;
      }
      if (last !== undefined) last.end = time;
      runs.push({ key, birth: time, end: undefined, digest, lastSeen: time, visits: 1 });
    }
    this.worked.set(key, runs);
    return runs;
  }

  history(key: string, from = Number.NEGATIVE_INFINITY, to = Number.POSITIVE_INFINITY): ModelEntry[] {
    const isIn = ({ birth, end }: ModelRun) =>
      birth <= to && (end === undefined || end > from || (end === birth && birth >= from));
    return this.runs(key).filter((run): run is ModelEntry => run.digest !== undefined && isIn(run));
  }

  at(key: string, time: number): ModelEntry | undefined {
    const run = this.runs(key).findLast(({ birth }) => birth <= time);
    return run?.digest === undefined ? undefined : (run as ModelEntry);
  }

  slice(time: number, range: KeyRange = {}): ModelEntry[] {
    return this.keysIn(range)
      .map((key) => this.at(key, time))
      .filter((entry) => entry !== undefined);
  }

  span(from: number, to: number, range: KeyRange = {}): ModelEntry[] {
    return this.keysIn(range).flatMap((key) => this.history(key, from, to));
  }

  /** Beginnings and ends in (from, to]. */
  events(from: number, to: number, range: KeyRange = {}): ModelEvent[] {
    return this.keysIn(range).flatMap((key) => {
      const runs = this.runs(key);
      return runs.flatMap(({ birth, digest }, i) =>
        birth > from && birth <= to
          ? [{ key, time: birth, isGone: digest === undefined, replaced: runs[i - 1]?.digest !== undefined }]
          : [],
      );
    });
  }

  nearest(key: string, from: number, to: number, count: number): { before: ModelEntry[]; after: ModelEntry[] } {
    const firsts = (keys: readonly string[]) => keys.flatMap((each) => this.history(each, from, to).slice(0, 1));
    const before = firsts([...this.keysIn({ to: key })].reverse()).slice(0, count);
    return { before, after: firsts(this.keysIn({ from: key })).slice(0, count) };
  }
}
