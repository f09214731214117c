/**
 * A timeline over the model, in memory, that answers everything later: what a backend behind a network would look like.
 * It runs the suite so that the suite asks nothing that only ours can answer.
 */
import { ArchiveError } from "../base/index.ts";
import {
  keyText,
  TIME_MAX,
  type TimelineEntry,
  type TimelineReader,
  type TimelineStore,
  type TimelineVisit,
  VALUE_SIZE_MAX,
} from "../temporal/index.ts";
import { type ModelEntry, TimelineModel } from "./timeline-model.ts";

function entryOf(entry: ModelEntry): TimelineEntry {
  return { ...entry, value: Buffer.from(`value of ${entry.digest}`, "latin1"), isWhole: true };
}

async function* later<T>(values: readonly T[]): AsyncGenerator<T> {
  for (const value of values) yield await Promise.resolve(value);
}

function soon<T>(make: () => T): Promise<T> {
  return Promise.resolve().then(make);
}

function readerOf(model: TimelineModel): TimelineReader & AsyncDisposable {
  return {
    info: { keys: model.keys.length, entries: model.entryCount, visits: model.visitCount },
    at: (key, time) =>
      soon(() => {
        const entry = model.at(key, time);
        return entry === undefined ? undefined : entryOf(entry);
      }),
    history: (key, from, to) => soon(() => model.history(key, from, to).map(entryOf)),
    visits: (key, from, to) => later(model.visits(key, from, to).map(({ time, digest }) => ({ time, digest }))),
    slice: (time, range) => later(model.slice(time, range).map(entryOf)),
    countSlice: (time, range) => soon(() => model.slice(time, range).length),
    span: (from, to, range) => later(model.span(from, to, range).map(entryOf)),
    events: (from, to, range) =>
      later(
        model.events(from, to, range).map(({ key, time, isGone, replaced }) => {
          const run = model.runs(key).find(({ birth, digest }) => birth === time && (digest === undefined) === isGone)!;
          return { ...entryOf({ ...run, digest: run.digest ?? "" }), isGone, replaced };
        }),
      ),
    nearest: (key, from, to, count) =>
      soon(() => {
        const { before, after } = model.nearest(key, from, to, count);
        return { before: before.map(entryOf), after: after.map(entryOf) };
      }),
    check: () => later([]),
    [Symbol.asyncDispose]: () => soon(() => undefined),
  };
}

export class MemoryTimeline implements TimelineStore {
  private committed = new TimelineModel();
  private readonly waiting: ((model: TimelineModel) => void)[] = [];

  insert(key: string | Uint8Array, time: number, value: Uint8Array, digest: Uint8Array): Promise<void> {
    return soon(() => {
      if (digest.length !== 1) throw new ArchiveError("HT_USAGE", `a digest of ${digest.length} bytes`);
      if (value.length > VALUE_SIZE_MAX) throw new ArchiveError("HT_TOO_LARGE", `a value of ${value.length} bytes`);
      this.add(key, time, Buffer.from(digest).toString("latin1"));
    });
  }

  end(key: string | Uint8Array, time: number): Promise<void> {
    return soon(() => this.add(key, time, undefined));
  }

  private add(key: string | Uint8Array, time: number, digest: string | undefined): void {
    if (!Number.isInteger(time) || Math.abs(time) > TIME_MAX) throw new ArchiveError("HT_USAGE", `not a time: ${time}`);
    const visit = { key: keyText(key), time, digest };
    this.waiting.push((model) => model.add(visit));
  }

  remove(visits: ReadonlyMap<string, readonly TimelineVisit[]>): Promise<void> {
    return soon(() => {
      for (const [key, own] of visits)
        for (const visit of own) this.waiting.push((model) => model.remove({ key: keyText(key), ...visit }));
    });
  }

  commit(): Promise<void> {
    return soon(() => {
      const next = this.committed.copy();
      for (const change of this.waiting.splice(0)) change(next);
      this.committed = next;
    });
  }

  snapshot(): Promise<TimelineReader & AsyncDisposable> {
    return soon(() => readerOf(this.committed));
  }
}
