/**
 * The order of keys that come again, as those of one crawl do in the next: what was put into order before is known by its
 * rank, and only keys that are new are compared.
 */
import { invariant } from "../base/index.ts";
import { sortKeys } from "./key-sort.ts";

const REMEMBERED_MAX = 1 << 17;
/** For fewer of the keys that are remembered it does not pay to look at the ranks of all. */
const SHARE_LEAST = 1 / 8;

export interface OrderedKeys {
  /** In order. What is remembered is the string that came first, so that to compare it with itself costs nothing. */
  readonly keys: readonly string[];
  /** Where each was given. */
  readonly order: Uint32Array;
  /** Behind the last of each one's like. */
  readonly ends: Uint32Array;
}

export class KeyOrder {
  private ids = new Map<string, number>();
  /** By their ids. */
  private keys: string[] = [];
  /** Ids in the order of their keys. */
  private sorted = new Uint32Array(0);
  private readonly rememberedMax: number;

  constructor(rememberedMax = REMEMBERED_MAX) {
    this.rememberedMax = rememberedMax;
  }

  /** The keys in the order of their bytes. */
  sort(keys: readonly string[]): OrderedKeys {
    const { length } = keys;
    if (length > this.rememberedMax || length < this.keys.length * SHARE_LEAST) return sortAlone(keys);
    if (this.keys.length + length > this.rememberedMax) this.forget();
    const known = this.keys.length;
    const own = new Uint32Array(length);
    for (let i = 0; i < length; i++) own[i] = this.idOf(keys[i]!);
    const isNew = 2 * (this.keys.length - known) > length;
    if (this.keys.length > known) this.takeIn(known);
    const ordered = this.byRank(own);
    // Who brings new keys each time would have them remembered for nothing.
    if (isNew && known > 0) this.forget();
    return ordered;
  }

  private forget(): void {
    this.ids = new Map();
    this.keys = [];
    this.sorted = new Uint32Array(0);
  }

  private idOf(key: string): number {
    const there = this.ids.get(key);
    if (there !== undefined) return there;
    const id = this.keys.length;
    this.ids.set(key, id);
    this.keys.push(key);
    return id;
  }

  /** Puts keys with ids from `first` on among those that are in order. */
  private takeIn(first: number): void {
    const { keys, sorted: old } = this;
    const fresh = sortKeys(keys.slice(first));
    const sorted = new Uint32Array(keys.length);
    // About as many of the old ones lie between two that are new.
    const step = Math.ceil(old.length / fresh.length);
    let from = 0;
    let at = 0;
    for (const position of fresh) {
      const id = first + position;
      const to = this.search(keys[id]!, from, step);
      while (from < to) sorted[at++] = old[from++]!;
      sorted[at++] = id;
    }
    sorted.set(old.subarray(from), at);
    this.sorted = sorted;
  }

  /** Where a key belongs among those that are in order, at or behind a place; it is sought from there in longer steps. */
  private search(key: string, from: number, firstStep: number): number {
    const { keys, sorted } = this;
    let low = from;
    let high = from;
    for (let step = firstStep; high < sorted.length && keys[sorted[high]!]! < key; step *= 2) {
      low = high + 1;
      high = low + step;
    }
    high = Math.min(high, sorted.length);
    while (low < high) {
      const middle = (low + high) >>> 1;
      if (keys[sorted[middle]!]! < key) low = middle + 1;
      else high = middle;
    }
    return low;
  }

  /** Positions in the order of the ids' ranks; those of one key in their own. */
  private byRank(own: Uint32Array): OrderedKeys {
    const { sorted, keys } = this;
    invariant(sorted.length === keys.length, "a key without a rank");
    const counts = new Uint32Array(sorted.length);
    for (let i = 0; i < own.length; i++) counts[own[i]!]!++;
    const starts = counts;
    let start = 0;
    for (let rank = 0; rank < sorted.length; rank++) {
      const id = sorted[rank]!;
      const count = counts[id]!;
      starts[id] = start;
      start += count;
    }
    const order = new Uint32Array(own.length);
    for (let i = 0; i < own.length; i++) order[starts[own[i]!]!++] = i;
    // Each start has moved to the end of its key by now.
    const ends = starts;
    const ordered = { keys: new Array<string>(own.length), order, ends: new Uint32Array(own.length) };
    for (let i = 0; i < own.length; i++) {
      const id = own[order[i]!]!;
      ordered.keys[i] = keys[id]!;
      ordered.ends[i] = ends[id]!;
    }
    return ordered;
  }
}

function sortAlone(given: readonly string[]): OrderedKeys {
  const order = sortKeys(given);
  const { length } = order;
  const keys = new Array<string>(length);
  for (let i = 0; i < length; i++) keys[i] = given[order[i]!]!;
  const ends = new Uint32Array(length);
  for (let i = length - 1; i >= 0; i--) ends[i] = i + 1 < length && keys[i + 1] === keys[i] ? ends[i + 1]! : i + 1;
  return { keys, order, ends };
}
