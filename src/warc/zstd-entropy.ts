/**
 * The entropy coding of Zstandard (RFC 8878, section 4): bits read backwards, FSE tables, Huffman trees. Everything is
 * checked against what is there: broken bytes throw a plain `Error`, and never cost more than sound ones.
 */

/** Without a trace: it is always caught, and where every few bytes are broken the traces would take most of the time. */
export function broken(what: string): Error {
  const { stackTraceLimit } = Error;
  Error.stackTraceLimit = 0;
  const error = new Error(`zstd: ${what}`);
  Error.stackTraceLimit = stackTraceLimit;
  return error;
}

/** Bits `from..from+count` of little-endian bytes that begin at `base`; count is at most 31. */
function bitsAt(bytes: Uint8Array, base: number, from: number, count: number): number {
  if (count === 0) return 0;
  const at = base + (from >> 3);
  const shift = from & 7;
  let value = (bytes[at]! | (bytes[at + 1]! << 8) | (bytes[at + 2]! << 16) | (bytes[at + 3]! << 24)) >>> shift;
  if (shift + count > 32) value |= bytes[at + 4]! << (32 - shift);
  return value & (2 ** count - 1);
}

/** Bits read from the end of a stretch of bytes to its beginning; the highest set bit of the last byte marks the end. */
export class BackwardBits {
  /** Bits not yet read; below zero once more were asked for than there are. */
  left: number;
  private readonly bytes: Uint8Array;
  private readonly base: number;

  constructor(bytes: Uint8Array, from: number, to: number) {
    const last = to > from ? bytes[to - 1]! : 0;
    if (last === 0) throw broken("a bit stream without its end mark");
    this.bytes = bytes;
    this.base = from;
    this.left = (to - from) * 8 - 1 - Math.clz32(last) + 24;
  }

  /** The next `count` bits without taking them; zeros stand behind the last. */
  peek(count: number): number {
    const from = this.left - count;
    if (from >= 0) return bitsAt(this.bytes, this.base, from, count);
    return this.left <= 0 ? 0 : bitsAt(this.bytes, this.base, 0, this.left) << -from;
  }

  read(count: number): number {
    const value = this.peek(count);
    this.left -= count;
    return value;
  }
}

/** A decoding table: in state `s` stands `symbols[s]`, and the next state is `bases[s]` and `counts[s]` further bits. */
export interface FseTable {
  readonly log: number;
  readonly symbols: Uint8Array;
  readonly counts: Uint8Array;
  readonly bases: Uint16Array;
}

/** A table that has one symbol and takes no bits. */
export function singleSymbol(symbol: number): FseTable {
  return { log: 0, symbols: Uint8Array.of(symbol), counts: new Uint8Array(1), bases: new Uint16Array(1) };
}

export function buildFseTable(distribution: ArrayLike<number>, log: number): FseTable {
  const size = 1 << log;
  const symbols = new Uint8Array(size);
  const next = new Uint16Array(distribution.length);
  let high = size - 1;
  for (let symbol = 0; symbol < distribution.length; symbol++) {
    const count = distribution[symbol]!;
    if (count === -1) symbols[high--] = symbol;
    next[symbol] = Math.abs(count);
  }
  const step = (size >> 1) + (size >> 3) + 3;
  let at = 0;
  for (let symbol = 0; symbol < distribution.length; symbol++) {
    for (let i = 0; i < distribution[symbol]!; i++) {
      symbols[at] = symbol;
      do at = (at + step) & (size - 1);
      while (at > high);
    }
  }
  if (at !== 0) throw broken("an FSE table that does not come out even");
  const counts = new Uint8Array(size);
  const bases = new Uint16Array(size);
  for (let state = 0; state < size; state++) {
    const turn = next[symbols[state]!]!;
    next[symbols[state]!] = turn + 1;
    const count = log - (31 - Math.clz32(turn));
    counts[state] = count;
    bases[state] = (turn << count) - size;
  }
  return { log, symbols, counts, bases };
}

/** Reads the description of an FSE table; `end` is behind its last byte. */
export function readFseTable(
  bytes: Uint8Array,
  from: number,
  to: number,
  logMax: number,
  symbolMax: number,
): { table: FseTable; end: number } {
  const bitCount = (to - from) * 8;
  let at = 0;
  const take = (count: number): number => {
    const value = bitsAt(bytes, from, at, count);
    at += count;
    if (at > bitCount + 7) throw broken("an FSE table is cut off");
    return value;
  };
  const log = take(4) + 5;
  if (log > logMax) throw broken("an FSE table is too large");
  const distribution: number[] = [];
  let remaining = (1 << log) + 1;
  let threshold = 1 << log;
  let width = log + 1;
  while (remaining > 1 && distribution.length <= symbolMax) {
    const most = 2 * threshold - 1 - remaining;
    let value = bitsAt(bytes, from, at, width - 1);
    if (value < most) take(width - 1);
    else {
      value = take(width);
      if (value >= threshold) value -= most;
    }
    const count = value - 1;
    remaining -= Math.abs(count);
    distribution.push(count);
    if (count === 0) {
      for (let zeros = 3; zeros === 3; ) {
        zeros = take(2);
        for (let i = 0; i < zeros; i++) distribution.push(0);
        if (distribution.length > symbolMax + 1) throw broken("an FSE table has too many symbols");
      }
    }
    while (remaining < threshold) {
      width--;
      threshold >>= 1;
    }
  }
  const end = from + ((at + 7) >> 3);
  if (remaining !== 1 || end > to) throw broken("an FSE table is not valid");
  return { table: buildFseTable(distribution, log), end };
}

const HUFFMAN_BITS_MAX = 11;
const WEIGHT_LOG_MAX = 6;
const WEIGHT_COUNT_MAX = 255;

export interface HuffmanTable {
  readonly bits: number;
  readonly symbols: Uint8Array;
  readonly counts: Uint8Array;
}

export function readHuffmanTable(bytes: Uint8Array, from: number, to: number): { table: HuffmanTable; end: number } {
  if (from >= to) throw broken("a Huffman table is cut off");
  const header = bytes[from]!;
  const direct = header >= 128;
  const end = from + 1 + (direct ? (header - 126) >> 1 : header);
  if (end > to) throw broken("a Huffman table is cut off");
  const weights: number[] = [];
  if (direct) {
    for (let i = 0; i < header - 127; i++) weights.push((bytes[from + 1 + (i >> 1)]! >> (i % 2 === 0 ? 4 : 0)) & 15);
  } else readWeights(bytes, from + 1, end, weights);
  return { table: buildHuffmanTable(weights), end };
}

/** Two states take turns until the bits run out; the state that did not get its bits has one more symbol in the other. */
function readWeights(bytes: Uint8Array, from: number, to: number, weights: number[]): void {
  const { table, end } = readFseTable(bytes, from, to, WEIGHT_LOG_MAX, WEIGHT_COUNT_MAX);
  const bits = new BackwardBits(bytes, end, to);
  let state = bits.read(table.log);
  let other = bits.read(table.log);
  if (bits.left < 0) throw broken("Huffman weights are cut off");
  for (;;) {
    weights.push(table.symbols[state]!);
    if (weights.length > WEIGHT_COUNT_MAX) throw broken("too many Huffman weights");
    state = table.bases[state]! + bits.read(table.counts[state]!);
    if (bits.left < 0) break;
    [state, other] = [other, state];
  }
  weights.push(table.symbols[other]!);
}

function buildHuffmanTable(weights: number[]): HuffmanTable {
  let sum = 0;
  for (const weight of weights) {
    if (weight > HUFFMAN_BITS_MAX) throw broken("a Huffman weight is too large");
    if (weight > 0) sum += 1 << (weight - 1);
  }
  if (sum === 0 || weights.length > WEIGHT_COUNT_MAX) throw broken("a Huffman table without symbols");
  const bits = 32 - Math.clz32(sum);
  const left = (1 << bits) - sum;
  if (bits > HUFFMAN_BITS_MAX || (left & (left - 1)) !== 0) throw broken("a Huffman table that does not come out even");
  // The last weight is not written: it is what makes the sum a power of two.
  const all = [...weights, 32 - Math.clz32(left)];
  const symbols = new Uint8Array(1 << bits);
  const counts = new Uint8Array(1 << bits);
  let at = 0;
  for (let weight = 1; weight <= bits; weight++) {
    all.forEach((own, symbol) => {
      if (own !== weight) return;
      symbols.fill(symbol, at, at + (1 << (weight - 1)));
      counts.fill(bits + 1 - weight, at, at + (1 << (weight - 1)));
      at += 1 << (weight - 1);
    });
  }
  return { bits, symbols, counts };
}

/** Decodes one stream of Huffman codes into all of `output`. */
export function readHuffmanStream(
  table: HuffmanTable,
  bytes: Uint8Array,
  from: number,
  to: number,
  output: Uint8Array,
): void {
  const bits = new BackwardBits(bytes, from, to);
  const { symbols, counts, bits: width } = table;
  const mask = (1 << width) - 1;
  let { left } = bits;
  let i = 0;
  // A code and the bits beside it in its first byte fit in three bytes, which are there while that many are left.
  for (; i < output.length && left >= 24 + width; i++) {
    const at = from + ((left - width) >> 3);
    const three = bytes[at]! | (bytes[at + 1]! << 8) | (bytes[at + 2]! << 16);
    const code = (three >> ((left - width) & 7)) & mask;
    output[i] = symbols[code]!;
    left -= counts[code]!;
  }
  bits.left = left;
  for (; i < output.length; i++) {
    const code = bits.peek(width);
    output[i] = symbols[code]!;
    bits.left -= counts[code]!;
  }
  if (bits.left !== 0) throw broken("a Huffman stream does not come out even");
}
