/**
 * The order of many keys that begin alike, as addresses do. Keys are compared a few characters at a time, as numbers, from
 * where they begin to differ; comparing whole keys again and again would look at the same beginnings each time.
 */

/** Fewer keys than this are put into order one by one. */
const FEW = 4;
/** Characters in a number: nine bits each, since there is one value more than bytes for the end of a key. */
const CHARACTERS = 5;
const HALF = 2 ** 18;
const LAST_VALUES = 512;

/** The positions of the keys in the order of their bytes; keys are strings of which each character is a byte. */
export function sortKeys(keys: readonly string[]): Uint32Array {
  const order = new Uint32Array(keys.length);
  for (let i = 0; i < order.length; i++) order[i] = i;
  if (!isSorted(keys)) new KeySort(keys, order).run();
  return order;
}

function isSorted(keys: readonly string[]): boolean {
  for (let i = 1; i < keys.length; i++) if (keys[i - 1]! > keys[i]!) return false;
  return true;
}

class KeySort {
  private readonly keys: readonly string[];
  private readonly order: Uint32Array;
  private readonly heads: Float64Array;
  /** Ranges still to be put into order: from, to, and how many characters are known to be the same. */
  private readonly waiting: number[];

  constructor(keys: readonly string[], order: Uint32Array) {
    this.keys = keys;
    this.order = order;
    this.heads = new Float64Array(keys.length);
    this.waiting = [0, keys.length, 0];
  }

  run(): void {
    const { waiting } = this;
    while (waiting.length > 0) {
      const depth = waiting.pop()!;
      const to = waiting.pop()!;
      const from = waiting.pop()!;
      if (to - from <= FEW) this.sortFew(from, to);
      else {
        const shared = this.sharedDepth(from, to, depth);
        this.readHeads(from, to, shared);
        this.sortHeads(from, to, shared);
      }
    }
  }

  /** How many characters all keys of a range have in common. */
  private sharedDepth(from: number, to: number, depth: number): number {
    const { keys, order } = this;
    const first = keys[order[from]!]!;
    let shared = first.length;
    for (let i = from + 1; i < to && shared > depth; i++) {
      const key = keys[order[i]!]!;
      const most = Math.min(shared, key.length);
      let at = depth;
      while (at < most && key.charCodeAt(at) === first.charCodeAt(at)) at++;
      shared = at;
    }
    return shared;
  }

  private readHeads(from: number, to: number, depth: number): void {
    const { keys, order, heads } = this;
    for (let i = from; i < to; i++) heads[i] = head(keys[order[i]!]!, depth);
  }

  /** By the characters that were read; keys that have the same ones wait for the next. */
  private sortHeads(from: number, to: number, depth: number): void {
    const { order, heads } = this;
    let [low, high] = [from, to];
    while (high - low > 1) {
      const pivot = middle(heads[low]!, heads[(low + high) >>> 1]!, heads[high - 1]!);
      let less = low;
      let more = high;
      for (let at = low; at < more; ) {
        const value = heads[at]!;
        if (value === pivot) at++;
        else if (value < pivot) this.exchange(heads, order, at++, less++);
        else this.exchange(heads, order, at, --more);
      }
      // Where the last character is none, the keys have ended and are the same.
      if (more - less > 1 && pivot % LAST_VALUES !== 0) this.waiting.push(less, more, depth + CHARACTERS);
      // The shorter part is done at once, so that there are never many that wait.
      if (less - low < high - more) {
        this.sortHeads(low, less, depth);
        low = more;
      } else {
        this.sortHeads(more, high, depth);
        high = less;
      }
    }
  }

  private exchange(heads: Float64Array, order: Uint32Array, one: number, other: number): void {
    const head = heads[one]!;
    const position = order[one]!;
    heads[one] = heads[other]!;
    order[one] = order[other]!;
    heads[other] = head;
    order[other] = position;
  }

  private sortFew(from: number, to: number): void {
    const { keys, order } = this;
    for (let i = from + 1; i < to; i++) {
      const position = order[i]!;
      const key = keys[position]!;
      let at = i;
      for (; at > from && keys[order[at - 1]!]! > key; at--) order[at] = order[at - 1]!;
      order[at] = position;
    }
  }
}

function middle(one: number, two: number, three: number): number {
  if (one < two) return two < three ? two : Math.max(one, three);
  return one < three ? one : Math.max(two, three);
}

/** The next characters of a key as a number. */
function head(key: string, at: number): number {
  const high = (code(key, at) << 18) | (code(key, at + 1) << 9) | code(key, at + 2);
  return high * HALF + ((code(key, at + 3) << 9) | code(key, at + 4));
}

function code(key: string, at: number): number {
  return at < key.length ? key.charCodeAt(at) + 1 : 0;
}
