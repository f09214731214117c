/** Changes that are not committed yet, over the rows that are: whoever reads through it sees both as one. */
import type { Pair, StoreView } from "./ordered-store.ts";

export class RowChanges implements StoreView {
  private base: StoreView;
  private values = new Map<string, Buffer | undefined>();
  private keys = new SortedKeys();
  /** Keys that are not in order yet: few ranges are about them. */
  private later: string[] = [];
  private readonly laterFrom: string | undefined;
  private byteCount = 0;

  /** Keys from `laterFrom` on are put into order only when a range is asked for that may hold one of them. */
  constructor(base: StoreView, laterFrom?: string) {
    this.base = base;
    this.laterFrom = laterFrom;
  }

  get size(): number {
    return this.values.size;
  }

  /** About how much they take. */
  get bytes(): number {
    return this.byteCount;
  }

  /** An absent value says that the row is gone. */
  put(key: string, value: Buffer | undefined): void {
    if (!this.values.has(key)) {
      if (this.laterFrom !== undefined && key >= this.laterFrom) this.later.push(key);
      else this.keys.add(key);
    }
    this.values.set(key, value);
    this.byteCount += key.length + (value?.length ?? 0);
  }

  /** Before anything is asked for up to this key. */
  private putInOrder(to: string): void {
    if (this.later.length > 0 && to > this.laterFrom!) for (const key of this.later.splice(0)) this.keys.add(key);
  }

  get(key: string): Buffer | undefined {
    const value = this.values.get(key);
    return value !== undefined || this.values.has(key) ? value : this.base.get(key);
  }

  first(from: string, to: string, backwards = false): Pair | undefined {
    this.putInOrder(to);
    const changed = backwards ? this.keys.before(to) : this.keys.from(from);
    const isInRange = changed !== undefined && changed >= from && changed < to;
    if (!isInRange) return this.base.first(from, to, backwards);
    return this.range(from, to, backwards).next().value as Pair | undefined;
  }

  /** Rows that are put while it goes on may be among what it gives, or not. */
  *range(from: string, to: string, backwards = false): Generator<Pair> {
    this.putInOrder(to);
    const changed = backwards ? this.keys.back(from, to) : this.keys.forth(from, to);
    let next = changed.next();
    if (next.done === true) {
      yield* this.base.range(from, to, backwards);
      return;
    }
    for (const pair of this.base.range(from, to, backwards)) {
      while (next.done !== true && (backwards ? next.value > pair.key : next.value < pair.key)) {
        const own = this.pairOf(next.value);
        next = changed.next();
        if (own !== undefined) yield own;
      }
      if (next.done !== true && next.value === pair.key) {
        const own = this.pairOf(pair.key);
        next = changed.next();
        if (own !== undefined) yield own;
      } else yield pair;
    }
    for (; next.done !== true; next = changed.next()) {
      const own = this.pairOf(next.value);
      if (own !== undefined) yield own;
    }
  }

  private pairOf(key: string): Pair | undefined {
    const value = this.values.get(key);
    return value && { key, value };
  }

  /** All changes; from then on there are none, and what is read is what was committed with them. */
  take(commit: (changes: ReadonlyMap<string, Buffer | undefined>) => StoreView): void {
    this.base = commit(this.values);
    this.values = new Map();
    this.keys = new SortedKeys();
    this.later = [];
    this.byteCount = 0;
  }
}

const CHUNK_MAX = 256;

/** Keys in order, in chunks of some hundred: one more moves no more than a chunk. */
class SortedKeys {
  private readonly chunks: string[][] = [];

  add(key: string): void {
    const at = this.chunkOf(key);
    const chunk = this.chunks[at];
    if (chunk === undefined) {
      this.chunks.push([key]);
      return;
    }
    chunk.splice(lowerBound(chunk, key), 0, key);
    if (chunk.length > CHUNK_MAX) this.chunks.splice(at + 1, 0, chunk.splice(CHUNK_MAX / 2));
  }

  /** The last chunk that begins no later than the key; the first where there is none. */
  private chunkOf(key: string): number {
    let [low, high] = [0, this.chunks.length];
    while (low < high) {
      const middle = (low + high) >>> 1;
      if (this.chunks[middle]![0]! <= key) low = middle + 1;
      else high = middle;
    }
    return Math.max(0, low - 1);
  }

  /** By the key each time: chunks may change between two of them. */
  *forth(from: string, to: string): Generator<string, undefined> {
    for (let key = this.from(from); key !== undefined && key < to; key = this.from(`${key}\0`)) yield key;
  }

  /** The first key that is not before this one. */
  from(key: string): string | undefined {
    const at = this.chunkOf(key);
    const chunk = this.chunks[at];
    if (chunk === undefined) return undefined;
    return chunk[lowerBound(chunk, key)] ?? this.chunks[at + 1]?.[0];
  }

  *back(from: string, to: string): Generator<string, undefined> {
    for (let key = this.before(to); key !== undefined && key >= from; key = this.before(key)) yield key;
  }

  /** The last key before this one. */
  before(key: string): string | undefined {
    const at = this.chunkOf(key);
    const chunk = this.chunks[at];
    return chunk?.[lowerBound(chunk, key) - 1] ?? this.chunks[at - 1]?.at(-1);
  }
}

/** Where the key is, or would be. */
function lowerBound(keys: readonly string[], key: string): number {
  let [low, high] = [0, keys.length];
  while (low < high) {
    const middle = (low + high) >>> 1;
    if (keys[middle]! < key) low = middle + 1;
    else high = middle;
  }
  return low;
}
