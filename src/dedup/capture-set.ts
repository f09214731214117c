/**
 * A set of captures that forgets nothing and may take a stranger for a member: a Bloom filter that grows by layers, each
 * twice as large as the one before. It answers for hundreds of millions of captures in memory, so it is for questions
 * where a false yes costs little, as "must this record stay as it is?".
 */
const HASHES = 4;
const BITS_MIN = 18;
const BITS_FIRST_MAX = 28;
const BITS_MAX = 31;
/** With so many bits a member, one stranger in 900 is taken for one, in each layer that is full. */
const BITS_A_MEMBER = 20;
/** Two sets of so many members take 1.5 GB. */
const MEMBERS_MAX = 300_000_000;

interface Layer {
  readonly words: Uint32Array;
  readonly mask: number;
}

export class CaptureSet {
  /** The last one is being filled. */
  private readonly layers: Layer[] = [];
  private readonly membersMax: number;
  /** How many members all layers have room for. */
  private room = 0;
  private one = 0;
  private two = 0;
  size = 0;

  /** Room for about so many members to begin with; where more come, it grows until it has room for `membersMax`. */
  constructor(members = Number.POSITIVE_INFINITY, membersMax = MEMBERS_MAX) {
    const bits = Math.max(BITS_MIN, Math.ceil(Math.log2(members * BITS_A_MEMBER)));
    this.membersMax = membersMax;
    this.grow(Math.min(Number.isFinite(bits) ? BITS_MAX : BITS_FIRST_MAX, bits));
  }

  private grow(bits: number): void {
    this.layers.push({ words: new Uint32Array(2 ** bits / 32), mask: 2 ** bits - 1 });
    this.room += Math.floor(2 ** bits / BITS_A_MEMBER);
  }

  /** More members came than it may have room for: strangers are taken for members more and more often. */
  get isOverfull(): boolean {
    return this.size > this.room;
  }

  /** Adds a key; true where it was there before, or may have been. */
  add(key: string): boolean {
    if (this.has(key)) return true;
    if (this.size >= this.room && this.room < this.membersMax) {
      this.grow(Math.min(BITS_MAX, Math.log2(this.layers.at(-1)!.mask + 1) + 1));
    }
    const { words, mask } = this.layers.at(-1)!;
    for (let i = 0; i < HASHES; i++) {
      const bit = this.bit(i, mask);
      words[bit >>> 5]! |= 1 << (bit & 31);
    }
    this.size++;
    return false;
  }

  has(key: string): boolean {
    this.hash(key);
    for (const layer of this.layers) if (this.isIn(layer)) return true;
    return false;
  }

  private isIn({ words, mask }: Layer): boolean {
    for (let i = 0; i < HASHES; i++) {
      const bit = this.bit(i, mask);
      if ((words[bit >>> 5]! & (1 << (bit & 31))) === 0) return false;
    }
    return true;
  }

  private bit(i: number, mask: number): number {
    return ((this.one + Math.imul(i, this.two)) >>> 0) & mask;
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
