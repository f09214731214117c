/**
 * A set of captures that forgets nothing and may take a stranger for a member: a Bloom filter. It answers for any number
 * of captures in memory fixed beforehand, so it is for questions where a false yes costs little, as "must this record
 * stay as it is?".
 */
const HASHES = 4;
const BITS_MIN = 18;
const BITS_MAX = 28;
/** With so many bits a member, one stranger in 250 is taken for one. */
const BITS_A_MEMBER = 13;

export class CaptureSet {
  private readonly words: Uint32Array;
  private readonly mask: number;
  private one = 0;
  private two = 0;
  size = 0;

  /** Room for about so many members: at most 20 million, which take 32 MB. */
  constructor(members = Number.POSITIVE_INFINITY) {
    const bits = Math.min(BITS_MAX, Math.max(BITS_MIN, Math.ceil(Math.log2(members * BITS_A_MEMBER))));
    this.words = new Uint32Array(2 ** bits / 32);
    this.mask = 2 ** bits - 1;
  }

  /** Adds a key; true where it was there before, or may have been. */
  add(key: string): boolean {
    this.hash(key);
    let there = true;
    for (let i = 0; i < HASHES; i++) {
      const bit = this.bit(i);
      const word = this.words[bit >>> 5]!;
      if ((word & (1 << (bit & 31))) !== 0) continue;
      this.words[bit >>> 5] = word | (1 << (bit & 31));
      there = false;
    }
    this.size++;
    return there;
  }

  has(key: string): boolean {
    if (this.size === 0) return false;
    this.hash(key);
    for (let i = 0; i < HASHES; i++) {
      const bit = this.bit(i);
      if ((this.words[bit >>> 5]! & (1 << (bit & 31))) === 0) return false;
    }
    return true;
  }

  private bit(i: number): number {
    return ((this.one + Math.imul(i, this.two)) >>> 0) & this.mask;
  }

  /** Two hashes of 32 bits, each stirred by other odd factors and mixed at the end. */
  private hash(key: string): void {
    let one = 0x9e3779b1;
    let two = 0x85ebca6b;
    for (let i = 0; i < key.length; i++) {
      const code = key.charCodeAt(i);
      one = Math.imul(one ^ code, 0x01000193);
      two = Math.imul(two ^ code, 0x5bd1e995);
      two ^= two >>> 15;
    }
    this.one = mix(one);
    this.two = mix(two) | 1;
  }
}

function mix(value: number): number {
  let mixed = value ^ (value >>> 16);
  mixed = Math.imul(mixed, 0x7feb352d);
  mixed ^= mixed >>> 15;
  mixed = Math.imul(mixed, 0x846ca68b);
  return (mixed ^ (mixed >>> 16)) >>> 0;
}
