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
  /** How many keys that are known, but were not given, lie before the first of each one's like; 0 where that is not known. */
  readonly gaps: Uint32Array;
}

export class KeyOrder {
  private ids = new Map<string, number>();
  /** By their ids. */
  private keys: string[] = [];
  /** Ids in the order of their keys. */
  private sorted = new Uint32Array(0);
  /** Whether most keys were new the last time, though others were known. */
  private wasNew = false;
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
    const isNew = known > 0 && 2 * (this.keys.length - known) > length;
    if (this.keys.length > known) this.takeIn(known);
    const ordered = this.byRank(own);
    // Who brings new keys each time would have them remembered for nothing; once, a crawl may have become larger.
    if (isNew && this.wasNew) this.forget();
    else this.wasNew = isNew;
    return ordered;
  }

  private forget(): void {
    this.ids = new Map();
    this.keys = [];
    this.sorted = new Uint32Array(0);
    this.wasNew = false;
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
    const { length } = own;
    const ordered = emptyOrder(length);
    const starts = counts;
    let at = 0;
    let gap = 0;
    for (let rank = 0; rank < sorted.length; rank++) {
      const id = sorted[rank]!;
      const end = at + counts[id]!;
      starts[id] = at;
      if (at === end) gap++;
      else {
        ordered.gaps[at] = gap;
        gap = 0;
      }
      for (; at < end; at++) {
        ordered.keys[at] = keys[id]!;
        ordered.ends[at] = end;
      }
    }
    for (let i = 0; i < length; i++) ordered.order[starts[own[i]!]!++] = i;
    return ordered;
  }
}

function sortAlone(given: readonly string[]): OrderedKeys {
  const { length } = given;
  const ordered = { ...emptyOrder(length), order: sortKeys(given) };
  const { keys, order, ends } = ordered;
  for (let i = 0; i < length; i++) keys[i] = given[order[i]!]!;
  for (let i = length - 1; i >= 0; i--) ends[i] = i + 1 < length && keys[i + 1] === keys[i] ? ends[i + 1]! : i + 1;
  return ordered;
}

function emptyOrder(length: number) {
  return {
    keys: new Array<string>(length),
    order: new Uint32Array(length),
    ends: new Uint32Array(length),
    gaps: new Uint32Array(length),
  };
}
