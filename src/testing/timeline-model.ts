/** A timeline as plain as can be: all visits in a list. What the real one answers must be what follows from this. */

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

function compare(one: ModelVisit, other: ModelVisit): number {
  if (one.time !== other.time) return one.time - other.time;
  return (one.digest ?? "\u{ffff}") < (other.digest ?? "\u{ffff}") ? -1 : 1;
}

export class TimelineModel {
  private readonly visits = new Map<string, Map<string, ModelVisit>>();

  add(visit: ModelVisit): void {
    const known = this.visits.get(visit.key) ?? new Map<string, ModelVisit>();
    known.set(`${visit.time} ${visit.digest}`, visit);
    this.visits.set(visit.key, known);
  }

  copy(): TimelineModel {
    const model = new TimelineModel();
    for (const [key, visits] of this.visits) model.visits.set(key, new Map(visits));
    return model;
  }

  get keys(): string[] {
    return [...this.visits.keys()].sort();
  }

  get visitCount(): number {
    return [...this.visits.values()].reduce((sum, visits) => sum + visits.size, 0);
  }

  runs(key: string): ModelRun[] {
    const runs: { -readonly [K in keyof ModelRun]: ModelRun[K] }[] = [];
    for (const { time, digest } of [...(this.visits.get(key)?.values() ?? [])].sort(compare)) {
      const last = runs.at(-1);
      if (last !== undefined && last.digest === digest) {
        last.lastSeen = time;
        last.visits++;
        continue;
      }
      if (last !== undefined) last.end = time;
      runs.push({ key, birth: time, end: undefined, digest, lastSeen: time, visits: 1 });
    }
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

  slice(time: number): ModelEntry[] {
    return this.keys.map((key) => this.at(key, time)).filter((entry) => entry !== undefined);
  }

  span(from: number, to: number): ModelEntry[] {
    return this.keys.flatMap((key) => this.history(key, from, to));
  }

  /** Beginnings and ends in (from, to]. */
  events(from: number, to: number): { key: string; time: number; isGone: boolean; replaced: boolean }[] {
    return this.keys.flatMap((key) => {
      const runs = this.runs(key);
      return runs.flatMap(({ birth, digest }, i) =>
        birth > from && birth <= to
          ? [{ key, time: birth, isGone: digest === undefined, replaced: runs[i - 1]?.digest !== undefined }]
          : [],
      );
    });
  }
}
