/** Tells of most keys that are not among those added that they are not: a Bloom filter over keys that are hashed already. */

const BITS_PER_KEY = 10;
const PROBES = 4;
const WORD_BITS = 32;
/** 128 MiB: a filter with more keys than this is good for says less, but never what is not so. */
const BITS_MAX = 2 ** 30;

export class BloomFilter {
  /** As they are kept on disk by those who keep a filter. */
  readonly words: Uint32Array;
  private readonly scale: number;

  /** For at most so many keys, or with the words of one that was kept. */
  constructor(keys: number | Uint32Array) {
    this.words = typeof keys === "number" ? new Uint32Array(BloomFilter.wordCount(keys)) : keys;
    this.scale = (this.words.length * WORD_BITS) / 2 ** 32;
  }

  static wordCount(keys: number): number {
    return Math.ceil(Math.min(BITS_MAX, Math.max(WORD_BITS, keys * BITS_PER_KEY)) / WORD_BITS);
  }

  /** Two numbers of 32 bits that stand for the key; the lowest bit of the second does not count. */
  add(first: number, second: number): void {
    const step = second | 1;
    for (let i = 0, at = first; i < PROBES; i++, at = (at + step) | 0) {
      const bit = Math.floor((at >>> 0) * this.scale);
      this.words[bit >>> 5]! |= 1 << (bit & 31);
    }
  }

  mayHave(first: number, second: number): boolean {
    const step = second | 1;
    for (let i = 0, at = first; i < PROBES; i++, at = (at + step) | 0) {
      const bit = Math.floor((at >>> 0) * this.scale);
      if ((this.words[bit >>> 5]! & (1 << (bit & 31))) === 0) return false;
    }
    return true;
  }
}
