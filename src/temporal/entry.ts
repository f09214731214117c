/** What answers consist of: entries and events, as they are read from leaves, and streams of them. */
import type { AliveRun, Leaf } from "./leaf.ts";
import { FOREVER } from "./node.ts";
import { lastSeen, type Run, visitCount } from "./run.ts";

/**
 * What a key held, and for how long. Entries of slices read some of it only when it is asked for, since there are many of
 * them: take fields by name, or all of them with `toJSON`; a spread would lose those.
 */
export interface TimelineEntry {
  readonly key: string;
  readonly birth: number;
  /** When something else was found, or nothing; absent as long as that is not known. */
  readonly end: number | undefined;
  /** Each character one byte. */
  readonly digest: string;
  readonly value: Uint8Array;
  /** The last visit that found it. Of a slice: as far as the page tells that was read for it, see `isWhole`. */
  readonly lastSeen: number;
  /** Visits that found it, the first included. */
  readonly visits: number;
  /** False where end, last visit and number of visits are only those up to some later time, as slices tell them. */
  readonly isWhole: boolean;
}

/** Something that began, or the end of something. */
export interface TimelineEvent extends TimelineEntry {
  /** Whether the key held something else right before. */
  readonly replaced: boolean;
  /** Nothing began: the key was found to be gone. */
  readonly isGone: boolean;
}

/** Absent for a run that says "gone", unless that is asked for. */
export function entryOf(
  key: string,
  runs: readonly Run[],
  index: number,
  pageEnd: number,
  withGone = false,
): TimelineEntry | undefined {
  const run = runs[index]!;
  if (run.digest === undefined && !withGone) return undefined;
  const next = runs[index + 1];
  return {
    key,
    birth: run.start,
    end: next?.start,
    digest: run.digest ?? "",
    value: run.value,
    lastSeen: lastSeen(run),
    visits: visitCount(run),
    isWhole: next !== undefined || pageEnd === FOREVER,
  };
}

const alive: AliveRun = { at: 0, reference: 0, start: 0, isGone: false, next: undefined };

/** An entry of a slice: what few ask for is read from the page when somebody does. */
class AliveEntry implements TimelineEntry {
  readonly key: string;
  readonly birth: number;
  readonly end: number | undefined;
  readonly isWhole: boolean;
  private readonly leaf: Leaf;
  private readonly at: number;
  private readonly reference: number;
  private read: ReturnType<Leaf["aliveAt"]> | undefined;

  constructor(leaf: Leaf, key: string, { at, reference, start, next }: AliveRun, pageEnd: number) {
    this.key = key;
    this.birth = start;
    this.end = next;
    this.isWhole = next !== undefined || pageEnd === FOREVER;
    this.leaf = leaf;
    this.at = at;
    this.reference = reference;
  }

  private get run(): ReturnType<Leaf["aliveAt"]> {
    this.read ??= this.leaf.aliveAt(this.at, this.reference);
    return this.read;
  }

  get digest(): string {
    return this.run.digest;
  }

  get value(): Uint8Array {
    return this.run.value;
  }

  get lastSeen(): number {
    return this.run.lastSeen;
  }

  get visits(): number {
    return this.run.visits;
  }

  /** All of it, as plain data. */
  toJSON(): TimelineEntry {
    const { key, birth, end, isWhole } = this;
    return { key, birth, end, ...this.run, isWhole };
  }
}

/** The entry that is alive in a page at a moment; absent where there is none. */
export function aliveEntry(leaf: Leaf, index: number, time: number, pageEnd: number): TimelineEntry | undefined {
  return isAlive(leaf, index, time) ? new AliveEntry(leaf, leaf.keys[index]!, alive, pageEnd) : undefined;
}

/** The same for one key. */
export function aliveEntryOf(leaf: Leaf, key: string, time: number, pageEnd: number): TimelineEntry | undefined {
  const body = leaf.find(key);
  const isThere = body !== undefined && leaf.findAlive(body.at, body.end, time, alive) && !alive.isGone;
  return isThere ? new AliveEntry(leaf, key, alive, pageEnd) : undefined;
}

/** Whether something is alive in a page at a moment. */
export function isAlive(leaf: Leaf, index: number, time: number): boolean {
  return leaf.findAlive(leaf.bodyAt(index), leaf.entryAt(index + 1), time, alive) && !alive.isGone;
}

/** Streams in the order of keys and births as one. */
export function* mergeEntries<T extends TimelineEntry>(
  streams: readonly Generator<T>[],
  backwards: boolean,
): Generator<T> {
  if (streams.length === 1) {
    yield* streams[0]!;
    return;
  }
  const heads = streams.map((stream) => ({ stream, next: stream.next() })).filter(({ next }) => next.done !== true);
  while (heads.length > 0) {
    let first = 0;
    for (let i = 1; i < heads.length; i++) {
      if (isBefore(heads[i]!.next.value as T, heads[first]!.next.value as T, backwards)) first = i;
    }
    const head = heads[first]!;
    yield head.next.value as T;
    head.next = head.stream.next();
    if (head.next.done === true) heads.splice(first, 1);
  }
}

function isBefore(one: TimelineEntry, other: TimelineEntry, backwards: boolean): boolean {
  return one.key === other.key ? one.birth < other.birth : one.key < other.key !== backwards;
}
