/**
 * Runs: rows in order, in blocks, with an index of where each block begins. A run is written once and never changed.
 * Obeys docs/format/catalogue.md.
 */
import { crc32 } from "node:zlib";
import type { DiskFile } from "../disk/index.ts";
import type { BlockCache } from "./block-cache.ts";
import { BlockBuilder, BlockReader, type Row, rowsIn, sharedLength } from "./row-block.ts";
import { damagedRows } from "./row-damage.ts";
import { INDEX_ENTRY_SIZE, INDEX_SIZE_MAX, IndexBuilder } from "./row-index.ts";

const CHECKSUM_SIZE = 4;
/** Of a block with one row, that says of the empty key that it was removed. */
const LEAST_SIZE = 3;
const PIECE_SIZE = 1 << 18;

/** Where a run lies in its file. */
export interface RunPlace {
  readonly start: number;
  readonly indexAt: number;
  readonly end: number;
  readonly rows: number;
}

/** Writes a run to the end of a file, in large pieces. */
export class RunWriter {
  private readonly file: DiskFile;
  private readonly start: number;
  private readonly builder = new BlockBuilder();
  private pieces: Buffer[] = [];
  private pieceSize = 0;
  private written: number;
  private readonly index = new IndexBuilder();
  /** Of the block that is being filled. */
  private separator = "";
  private last = "";
  private rows = 0;

  constructor(file: DiskFile, start: number) {
    this.file = file;
    this.start = start;
    this.written = start;
  }

  /** Keys must come in order. */
  add(key: string, value: Buffer | undefined): void {
    if (this.builder.isEmpty) {
      this.separator = this.index.isEmpty ? "" : key.slice(0, sharedLength(this.last, key) + 1);
    }
    this.builder.add(key, value);
    this.last = key;
    this.rows++;
    if (this.builder.isFull) this.endBlock();
  }

  private endBlock(): void {
    const block = this.builder.take();
    const whole = Buffer.allocUnsafe(block.length + CHECKSUM_SIZE);
    block.copy(whole);
    whole.writeUInt32BE(crc32(block), block.length);
    this.write(whole);
    this.index.add(this.separator, this.written + this.pieceSize - this.start);
  }

  private write(bytes: Buffer): void {
    this.pieces.push(bytes);
    this.pieceSize += bytes.length;
    if (this.pieceSize >= PIECE_SIZE) this.flush();
  }

  private flush(): void {
    this.file.write(Buffer.concat(this.pieces), this.written);
    this.written += this.pieceSize;
    this.pieces = [];
    this.pieceSize = 0;
  }

  /** Where the run lies now; absent where no row was added. */
  finish(): RunPlace | undefined {
    if (this.rows === 0) return undefined;
    if (!this.builder.isEmpty) this.endBlock();
    const { start, rows } = this;
    const indexAt = this.written + this.pieceSize;
    this.write(this.index.finish());
    this.flush();
    return { start, indexAt, end: this.written, rows };
  }
}

/** A run that is read. Values are parts of blocks, and must not be changed. */
export class Run {
  readonly place: RunPlace;
  private readonly file: DiskFile;
  private readonly index: Buffer;
  private readonly blockCount: number;
  private readonly heapAt: number;
  private readonly cache: BlockCache;

  /** HT_CORRUPT where what is there cannot be a run. */
  constructor(file: DiskFile, place: RunPlace, cache: BlockCache) {
    this.file = file;
    this.place = place;
    this.cache = cache;
    this.index = this.readChecked(place.indexAt, place.end);
    this.blockCount = this.index.readUInt32BE(0);
    this.heapAt = 4 + INDEX_ENTRY_SIZE * this.blockCount;
    if (this.blockCount === 0 || this.heapAt > this.index.length)
      throw damagedRows(file.path, "is damaged", place.indexAt);
  }

  get size(): number {
    return this.place.end - this.place.start;
  }

  /** Lengths are held against what can be before any memory is taken for them. */
  private readChecked(from: number, to: number): Buffer {
    const size = to - from - CHECKSUM_SIZE;
    if (size >= LEAST_SIZE && size <= INDEX_SIZE_MAX) {
      const bytes = Buffer.allocUnsafe(size + CHECKSUM_SIZE);
      const count = this.file.read(bytes, from);
      const block = bytes.subarray(0, size);
      if (count === bytes.length && crc32(block) === bytes.readUInt32BE(size)) return block;
    }
    throw damagedRows(this.file.path, "is damaged", from);
  }

  private blockEnd(number: number): number {
    return number < 0 ? 0 : this.index.readUIntBE(8 + INDEX_ENTRY_SIZE * number, 6);
  }

  private block(number: number): Buffer {
    const { start, indexAt } = this.place;
    const at = start + this.blockEnd(number - 1);
    const there = this.cache.get(at);
    if (there !== undefined) return there;
    const end = start + this.blockEnd(number);
    if (end > indexAt) throw damagedRows(this.file.path, "is damaged", at);
    const block = this.readChecked(at, end);
    this.cache.put(at, block);
    return block;
  }

  /** Whether all keys of a block are behind this one, as its separator tells: what tells them apart from those before. */
  private isBehind(number: number, key: string): boolean {
    const { index, heapAt } = this;
    const end = heapAt + index.readUInt32BE(4 + INDEX_ENTRY_SIZE * number);
    let at = heapAt + (number === 0 ? 0 : index.readUInt32BE(4 + INDEX_ENTRY_SIZE * (number - 1)));
    for (let i = 0; at < end; i++, at++) {
      const difference = index[at]! - key.charCodeAt(i);
      // No number where the key is shorter.
      if (difference !== 0) return !(difference < 0);
    }
    return false;
  }

  /** The block in which the key is, if it is there. */
  private find(key: string): number {
    let [low, high] = [0, this.blockCount - 1];
    while (low < high) {
      const middle = (low + high + 1) >>> 1;
      if (this.isBehind(middle, key)) high = middle - 1;
      else low = middle;
    }
    return low;
  }

  /** Absent where the run says nothing of the key; a row without a value where it was removed. */
  get(key: string): { readonly value: Buffer | undefined } | undefined {
    const reader = new BlockReader(this.block(this.find(key)));
    return reader.seek(key)?.isEqual === true ? { value: reader.value() } : undefined;
  }

  /** The first row that is not before `key`. */
  firstFrom(key: string): Row | undefined {
    const number = this.find(key);
    const reader = new BlockReader(this.block(number));
    if (reader.seek(key) !== undefined) return reader.row();
    if (number + 1 >= this.blockCount) return undefined;
    const next = new BlockReader(this.block(number + 1));
    next.next();
    return next.row();
  }

  /** The last row that is before `key`. */
  lastBefore(key: string): Row | undefined {
    const number = this.find(key);
    const index = new BlockReader(this.block(number)).seek(key)?.index;
    if (index === 0) return number === 0 ? undefined : rowsIn(this.block(number - 1)).at(-1);
    const reader = new BlockReader(this.block(number));
    for (let left = index ?? Number.POSITIVE_INFINITY; left > 0 && reader.next(); left--);
    return reader.row();
  }

  /** Rows from the first key on and before the other, in order. */
  *rows(from: string, to: string): Generator<Row> {
    for (let number = this.find(from); number < this.blockCount; number++) {
      for (const row of rowsIn(this.block(number))) {
        if (row.key >= to) return;
        if (row.key >= from) yield row;
      }
    }
  }

  /** The same from the last of them back. */
  *rowsBack(from: string, to: string): Generator<Row> {
    for (let number = this.find(to); number >= 0; number--) {
      for (const row of rowsIn(this.block(number)).reverse()) {
        if (row.key < from) return;
        if (row.key < to) yield row;
      }
    }
  }
}
