/** Tells of most keys that are not in a run that they are not, without looking: a Bloom filter, kept in memory only. */

const BITS_PER_KEY = 10;
const PROBES = 4;
/** 32 MiB: a run with more keys than this is good for has a filter that says less, but never what is not so. */
const BITS_MAX = 2 ** 28;

/** Two numbers that stand for a key; the second is odd. */
export interface KeyHash {
  readonly first: number;
  readonly second: number;
}

export function hashKey(key: string): KeyHash {
  let [first, second] = [0x811c9dc5, 0x9747b28c];
  for (let i = 0; i < key.length; i++) {
    const code = key.charCodeAt(i);
    first = Math.imul(first ^ code, 0x01000193);
    second = Math.imul(second + code, 0x5bd1e995) ^ (second >>> 15);
  }
  return { first: first ^ (first >>> 16), second: second | 1 };
}

export class KeyFilter {
  private readonly bits: Uint32Array;
  private readonly mask: number;

  /** For at most so many keys. */
  constructor(keys: number) {
    const size = Math.min(BITS_MAX, 2 ** Math.ceil(Math.log2(Math.max(32, keys * BITS_PER_KEY))));
    this.bits = new Uint32Array(size / 32);
    this.mask = size - 1;
  }

  add({ first, second }: KeyHash): void {
    for (let i = 0, at = first; i < PROBES; i++, at = (at + second) | 0) {
      this.bits[(at & this.mask) >>> 5]! |= 1 << (at & 31);
    }
  }

  mayHave({ first, second }: KeyHash): boolean {
    for (let i = 0, at = first; i < PROBES; i++, at = (at + second) | 0) {
      if ((this.bits[(at & this.mask) >>> 5]! & (1 << (at & 31))) === 0) return false;
    }
    return true;
  }
}
