/**
 * Decodes the blocks of a Zstandard frame one by one (RFC 8878, section 3.1.1.2), with or without a dictionary, holding
 * no more than the frame's window. For frames too large to be decoded at once, and for what can be saved of broken ones:
 * it is slower than the reference code, but it gives every block before the damage.
 */
import {
  BackwardBits,
  broken,
  buildFseTable,
  type FseTable,
  type HuffmanTable,
  readFseTable,
  readHuffmanStream,
  readHuffmanTable,
  singleSymbol,
} from "./zstd-entropy.ts";

export const BLOCK_HEADER_SIZE = 3;
export const BLOCK_SIZE_MAX = 1 << 17;
const DICTIONARY_MAGIC = 0xec30a437;

/** The three kinds of code that a sequence has, in the order in which their tables stand in a block. */
const KINDS = ["literals", "offset", "match"] as const;
type Kind = (typeof KINDS)[number];

const LIMITS: Readonly<Record<Kind, { readonly logMax: number; readonly symbolMax: number }>> = {
  literals: { logMax: 9, symbolMax: 35 },
  offset: { logMax: 8, symbolMax: 31 },
  match: { logMax: 9, symbolMax: 52 },
};

const ones = (count: number) => new Array<number>(count).fill(1);
const twos = (count: number) => new Array<number>(count).fill(2);
const rares = (count: number) => new Array<number>(count).fill(-1);

const PREDEFINED: Readonly<Record<Kind, FseTable>> = {
  literals: buildFseTable([4, 3, ...twos(11), 1, 1, 1, ...twos(9), 3, 2, ...ones(5), ...rares(4)], 6),
  offset: buildFseTable([...ones(6), 2, 2, 2, ...ones(15), ...rares(5)], 5),
  match: buildFseTable([1, 4, 3, ...twos(6), ...ones(37), ...rares(7)], 6),
};

/** For each code how many extra bits it has, and from these the value it begins at. */
function lengthTable(first: number, plainCount: number, extra: readonly number[]) {
  const bits = [...new Array<number>(plainCount).fill(0), ...extra];
  let base = first;
  const bases = bits.map((count) => {
    const own = base;
    base += 2 ** count;
    return own;
  });
  return { bits, bases };
}

const LITERALS = lengthTable(0, 16, [1, 1, 1, 1, 2, 2, 3, 3, 4, 6, 7, 8, 9, 10, 11, 12, 13, 14, 15, 16]);
const MATCHES = lengthTable(3, 32, [1, 1, 1, 1, 2, 2, 3, 3, 4, 4, 5, 7, 8, 9, 10, 11, 12, 13, 14, 15, 16]);

interface Entropy {
  huffman: HuffmanTable | undefined;
  tables: Partial<Record<Kind, FseTable>>;
  repeats: number[];
}

/** One decoder serves many frames, and keeps its memory: of two windows at most. */
export class BlockDecoder {
  /** The dictionary's content, if there is one, and what has been decoded of the frame behind it. */
  private history: Buffer;
  /** End of what has been decoded, in `history`. */
  private end = 0;
  /** How far back a match may reach: the window, and the dictionary before it. */
  private reach = 0;
  private blockSizeMax = 0;
  /** The dictionary is not at the start of `history`. */
  private slid = true;
  private entropy: Entropy = { huffman: undefined, tables: {}, repeats: [1, 4, 8] };
  private readonly given: Entropy;
  private readonly dictionary: Buffer;
  private readonly literals = Buffer.allocUnsafe(BLOCK_SIZE_MAX);

  /** Throws where the dictionary is not valid. */
  constructor(dictionary?: Uint8Array) {
    const { entropy, content } = readDictionary(Buffer.from(dictionary ?? []));
    this.given = entropy;
    this.dictionary = content;
    // What a frame says of its window costs nothing before there is content for it.
    this.history = Buffer.allocUnsafe(2 * BLOCK_SIZE_MAX + content.length);
  }

  /** A new frame begins. */
  begin(windowSize: number): void {
    const { huffman, tables, repeats } = this.given;
    this.entropy = { huffman, tables: { ...tables }, repeats: [...repeats] };
    this.reach = windowSize + this.dictionary.length;
    this.blockSizeMax = Math.min(windowSize, BLOCK_SIZE_MAX);
    // The dictionary is copied once, and again only where a large frame has pushed it out.
    if (this.slid) this.dictionary.copy(this.history, 0);
    this.slid = false;
    this.end = this.dictionary.length;
  }

  /** Decodes a block, its header included. The answer is valid until the next call. */
  decode(block: Buffer): Buffer {
    const header = block.readUIntLE(0, BLOCK_HEADER_SIZE);
    const size = header >> 3;
    if (size > this.blockSizeMax) throw broken("a block is too large");
    this.makeRoom();
    const start = this.end;
    const type = (header >> 1) & 3;
    if (type === 0) this.end += block.copy(this.history, start, BLOCK_HEADER_SIZE, BLOCK_HEADER_SIZE + size);
    else if (type === 1) this.history.fill(block[BLOCK_HEADER_SIZE]!, start, (this.end += size));
    else if (type === 2) this.decodeCompressed(block.subarray(BLOCK_HEADER_SIZE, BLOCK_HEADER_SIZE + size));
    else throw broken("a block of a reserved type");
    return this.history.subarray(start, this.end);
  }

  /** Makes sure of room for one more block behind the window. */
  private makeRoom(): void {
    const { history, end, reach } = this;
    if (end + BLOCK_SIZE_MAX <= history.length) return;
    const full = reach + Math.max(reach >> 1, BLOCK_SIZE_MAX);
    if (end >= full) {
      history.copyWithin(0, end - reach, end);
      this.end = reach;
      this.slid = true;
    } else {
      this.history = Buffer.allocUnsafe(Math.min(2 * history.length, full + BLOCK_SIZE_MAX));
      history.copy(this.history, 0, 0, end);
    }
  }

  private decodeCompressed(bytes: Buffer): void {
    const literals = this.readLiterals(bytes);
    let at = literals.end;
    if (at >= bytes.length) throw broken("a block is cut off");
    let count = bytes[at++]!;
    if (count >= 128) {
      const [high, low] = [bytes[at], bytes[at + 1]];
      if (high === undefined || (count === 255 && low === undefined)) throw broken("a block is cut off");
      at += count === 255 ? 2 : 1;
      count = count === 255 ? high + (low! << 8) + 0x7f00 : ((count - 128) << 8) + high;
    }
    if (count === 0) {
      if (at !== bytes.length) throw broken("bytes behind a block's literals");
      this.append(literals.content, 0, literals.content.length, this.end + this.blockSizeMax);
    } else this.readSequences(bytes, at, count, literals.content);
  }

  private readLiterals(bytes: Buffer): { content: Buffer; end: number } {
    const type = bytes[0]! & 3;
    const format = (bytes[0]! >> 2) & 3;
    if (type < 2) {
      const headerSize = [1, 2, 1, 3][format]!;
      if (bytes.length < headerSize) throw broken("a block is cut off");
      const size = bytes.readUIntLE(0, headerSize) >> (headerSize === 1 ? 3 : 4);
      const end = headerSize + (type === 0 ? size : 1);
      if (size > this.blockSizeMax || end > bytes.length) throw broken("the literals are too many");
      if (type === 0) return { content: bytes.subarray(headerSize, end), end };
      return { content: this.literals.subarray(0, size).fill(bytes[headerSize]!), end };
    }
    const headerSize = [3, 3, 4, 5][format]!;
    if (bytes.length < headerSize) throw broken("a block is cut off");
    const width = [10, 10, 14, 18][format]!;
    const header = bytes.readUIntLE(0, headerSize);
    const size = Math.floor(header / 16) % 2 ** width;
    const end = headerSize + Math.floor(header / 2 ** (4 + width));
    if (size > this.blockSizeMax || end > bytes.length) throw broken("the literals are too many");
    let at = headerSize;
    if (type === 2) {
      const read = readHuffmanTable(bytes, at, end);
      this.entropy.huffman = read.table;
      at = read.end;
    }
    if (this.entropy.huffman === undefined) throw broken("literals without a Huffman table");
    const content = this.literals.subarray(0, size);
    if (format === 0) readHuffmanStream(this.entropy.huffman, bytes, at, end, content);
    else this.readFourStreams(this.entropy.huffman, bytes, at, end, content);
    return { content, end };
  }

  private readFourStreams(table: HuffmanTable, bytes: Buffer, from: number, to: number, content: Buffer): void {
    if (from + 6 > to) throw broken("a block is cut off");
    const share = (content.length + 3) >> 2;
    if (3 * share > content.length) throw broken("too few literals for four streams");
    let at = from + 6;
    for (let i = 0; i < 4; i++) {
      const end = i === 3 ? to : at + bytes.readUInt16LE(from + 2 * i);
      if (end > to) throw broken("a block is cut off");
      const part = content.subarray(i * share, i === 3 ? content.length : (i + 1) * share);
      readHuffmanStream(table, bytes, at, end, part);
      at = end;
    }
  }

  private readTables(bytes: Buffer, from: number): number {
    const modes = bytes[from];
    if (modes === undefined || (modes & 3) !== 0) throw broken("the modes of a block are not valid");
    let at = from + 1;
    KINDS.forEach((kind, i) => {
      const { logMax, symbolMax } = LIMITS[kind];
      const mode = (modes >> (6 - 2 * i)) & 3;
      if (mode === 0) this.entropy.tables[kind] = PREDEFINED[kind];
      else if (mode === 1) {
        const symbol = bytes[at++];
        if (symbol === undefined || symbol > symbolMax) throw broken("a code is not valid");
        this.entropy.tables[kind] = singleSymbol(symbol);
      } else if (mode === 2) {
        const read = readFseTable(bytes, at, bytes.length, logMax, symbolMax);
        this.entropy.tables[kind] = read.table;
        at = read.end;
      } else if (this.entropy.tables[kind] === undefined) throw broken("a table is repeated that was never there");
    });
    return at;
  }

  private readSequences(bytes: Buffer, from: number, count: number, literals: Buffer): void {
    const bits = new BackwardBits(bytes, this.readTables(bytes, from), bytes.length);
    const { literals: lengths, offset: offsets, match: matches } = this.entropy.tables as Record<Kind, FseTable>;
    const limit = this.end + this.blockSizeMax;
    let lengthState = bits.read(lengths.log);
    let offsetState = bits.read(offsets.log);
    let matchState = bits.read(matches.log);
    let used = 0;
    for (let i = 0; i < count; i++) {
      const offsetCode = offsets.symbols[offsetState]!;
      const matchCode = matches.symbols[matchState]!;
      const lengthCode = lengths.symbols[lengthState]!;
      const offsetValue = 2 ** offsetCode + bits.read(offsetCode);
      const matchSize = MATCHES.bases[matchCode]! + bits.read(MATCHES.bits[matchCode]!);
      const literalSize = LITERALS.bases[lengthCode]! + bits.read(LITERALS.bits[lengthCode]!);
      if (i < count - 1) {
        lengthState = lengths.bases[lengthState]! + bits.read(lengths.counts[lengthState]!);
        matchState = matches.bases[matchState]! + bits.read(matches.counts[matchState]!);
        offsetState = offsets.bases[offsetState]! + bits.read(offsets.counts[offsetState]!);
      }
      if (bits.left < 0) throw broken("the sequences are cut off");
      this.append(literals, used, used + literalSize, limit);
      used += literalSize;
      this.repeat(this.resolveOffset(offsetValue, literalSize), matchSize, limit);
    }
    if (bits.left !== 0) throw broken("the sequences do not come out even");
    this.append(literals, used, literals.length, limit);
  }

  /** Small values stand for one of the last three offsets. */
  private resolveOffset(value: number, literalSize: number): number {
    const { repeats } = this.entropy;
    const index = value > 3 ? 3 : value - (literalSize === 0 ? 0 : 1);
    if (index === 0) return repeats[0]!;
    const offset = value > 3 ? value - 3 : index === 3 ? repeats[0]! - 1 : repeats[index]!;
    if (index > 1) repeats[2] = repeats[1]!;
    repeats[1] = repeats[0]!;
    repeats[0] = offset;
    return offset;
  }

  private append(literals: Buffer, from: number, to: number, limit: number): void {
    if (to > literals.length || this.end + to - from > limit) throw broken("the literals are too many");
    // Most stretches are so short that a call costs more than a loop.
    if (to - from > 32) this.end += literals.copy(this.history, this.end, from, to);
    else for (let at = from; at < to; at++) this.history[this.end++] = literals[at]!;
  }

  /** Copies `size` bytes from `offset` back; where they overlap, the copy repeats itself. */
  private repeat(offset: number, size: number, limit: number): void {
    const { history } = this;
    if (offset <= 0 || offset > this.end || this.end + size > limit) throw broken("a match reaches too far");
    const from = this.end - offset;
    if (offset >= size && size > 32) history.copyWithin(this.end, from, from + size);
    else for (let i = 0; i < size; i++) history[this.end + i] = history[from + i]!;
    this.end += size;
  }
}

/** A dictionary is tables and content behind a magic number, or content alone. */
function readDictionary(bytes: Buffer): { entropy: Entropy; content: Buffer } {
  const entropy: Entropy = { huffman: undefined, tables: {}, repeats: [1, 4, 8] };
  if (bytes.length < 8 || bytes.readUInt32LE(0) !== DICTIONARY_MAGIC) return { entropy, content: bytes };
  const huffman = readHuffmanTable(bytes, 8, bytes.length);
  entropy.huffman = huffman.table;
  let at = huffman.end;
  for (const kind of ["offset", "match", "literals"] as const) {
    const read = readFseTable(bytes, at, bytes.length, LIMITS[kind].logMax, LIMITS[kind].symbolMax);
    entropy.tables[kind] = read.table;
    at = read.end;
  }
  if (at + 12 > bytes.length) throw broken("the dictionary is cut off");
  entropy.repeats = [0, 4, 8].map((more) => bytes.readUInt32LE(at + more));
  return { entropy, content: bytes.subarray(at + 12) };
}
