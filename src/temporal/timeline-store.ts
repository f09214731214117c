/**
 * What a timeline takes and answers, wherever it is kept. The one of this room answers at once; one behind a network
 * may give promises and streams that wait, and runs the same suite (src/testing/timeline-suite.ts). Whoever asks through
 * these interfaces awaits all answers, which costs nothing where there is nothing to wait for.
 */
import type { TimelineFinding } from "./check.ts";
import type { TimelineEntry, TimelineEvent } from "./entry.ts";
import type { KeyRange } from "./query.ts";
import type { Totals } from "./slot.ts";

export type Answer<T> = T | Promise<T>;
export type Answers<T> = Iterable<T> | AsyncIterable<T>;

/** One visit of a key; the digest is absent where the key was found to be gone. */
export interface TimelineVisit {
  readonly time: number;
  readonly digest: string | undefined;
}

/** The keys nearest to one, each with the first of its entries in the span. */
export interface NearestEntries {
  /** From the nearest on. */
  readonly before: readonly TimelineEntry[];
  readonly after: readonly TimelineEntry[];
}

/** A timeline as of one commit. Streams are in the order of keys and times, and go on behind a key with a range. */
export interface TimelineReader {
  readonly info: Totals;
  at(key: string, time: number): Answer<TimelineEntry | undefined>;
  history(key: string, from?: number, to?: number): Answer<readonly TimelineEntry[]>;
  visits(key: string, from?: number, to?: number): Answers<TimelineVisit>;
  slice(time: number, range?: KeyRange): Answers<TimelineEntry>;
  countSlice(time: number, range?: KeyRange): Answer<number>;
  span(from: number, to: number, range?: KeyRange): Answers<TimelineEntry>;
  events(from: number, to: number, range?: KeyRange): Answers<TimelineEvent>;
  nearest(key: string, from: number, to: number, count: number): Answer<NearestEntries>;
  check(): Answers<TimelineFinding>;
}

/** One writer's timeline. What is inserted is there for others after a commit, and all of it at once. */
export interface TimelineStore {
  insert(key: string | Uint8Array, time: number, value: Uint8Array, digest: Uint8Array): Answer<void>;
  end(key: string | Uint8Array, time: number): Answer<void>;
  /** It is as if these visits of these keys had never been heard of. */
  remove(visits: ReadonlyMap<string, readonly TimelineVisit[]>): Answer<void>;
  /** Durable when it is done. */
  commit(): Answer<unknown>;
  snapshot(): Answer<TimelineReader & (Disposable | AsyncDisposable)>;
}
