/**
 * Runs: rows in order, in blocks, with an index of where each block begins. A run is written once and never changed.
 * Obeys docs/format/catalogue.md.
 */
import { crc32 } from "node:zlib";
import { ArchiveError } from "../base/index.ts";
import type { DiskFile } from "../disk/index.ts";
import { BlockBuilder, BlockReader, type Row, rowsIn, sharedLength } from "./row-block.ts";

const CHECKSUM_SIZE = 4;
const INDEX_ENTRY_SIZE = 10;
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
  private readonly keys: string[] = [];
  private readonly ends: number[] = [];
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
      const isFirst = this.keys.length === 0;
      this.keys.push(isFirst ? "" : key.slice(0, sharedLength(this.last, key) + 1));
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
    this.ends.push(this.written + this.pieceSize - this.start);
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
    const { start, keys, ends, rows } = this;
    const indexAt = this.written + this.pieceSize;
    const heap = Buffer.from(keys.join(""), "latin1");
    const table = Buffer.alloc(4 + INDEX_ENTRY_SIZE * keys.length);
    table.writeUInt32BE(keys.length, 0);
    let keyEnd = 0;
    for (const [i, key] of keys.entries()) {
      keyEnd += key.length;
      table.writeUInt32BE(keyEnd, 4 + INDEX_ENTRY_SIZE * i);
      table.writeUIntBE(ends[i]!, 8 + INDEX_ENTRY_SIZE * i, 6);
    }
    const index = Buffer.concat([table, heap, Buffer.alloc(CHECKSUM_SIZE)]);
    const size = index.length - CHECKSUM_SIZE;
    index.writeUInt32BE(crc32(index.subarray(0, size)), size);
    this.write(index);
    this.flush();
    return { start, indexAt, end: this.written, rows };
  }
}

/** Blocks that were read of late; the oldest go all at once. */
const CACHED_MAX = 4096;

/** A run that is read. Values are parts of blocks, and must not be changed. */
export class Run {
  readonly place: RunPlace;
  private readonly file: DiskFile;
  private readonly index: Buffer;
  private readonly blockCount: number;
  private readonly heapAt: number;
  private cached = new Map<number, Buffer>();
  private cachedBefore = new Map<number, Buffer>();

  constructor(file: DiskFile, place: RunPlace) {
    this.file = file;
    this.place = place;
    this.index = this.readChecked(place.indexAt, place.end);
    this.blockCount = this.index.readUInt32BE(0);
    this.heapAt = 4 + INDEX_ENTRY_SIZE * this.blockCount;
  }

  get size(): number {
    return this.place.end - this.place.start;
  }

  private readChecked(from: number, to: number): Buffer {
    const bytes = Buffer.allocUnsafe(to - from);
    const size = bytes.length - CHECKSUM_SIZE;
    const count = this.file.read(bytes, from);
    const block = bytes.subarray(0, size);
    if (count < bytes.length || crc32(block) !== bytes.readUInt32BE(size)) {
      const file = this.file.path;
      const message = `${file}:${from}: the catalogue is damaged; \`holotype rebuild\` makes it again`;
      throw new ArchiveError("HT_CORRUPT", message, { file, offset: from });
    }
    return block;
  }

  private blockEnd(number: number): number {
    return number < 0 ? 0 : this.index.readUIntBE(8 + INDEX_ENTRY_SIZE * number, 6);
  }

  private block(number: number): Buffer {
    const there = this.cached.get(number) ?? this.cachedBefore.get(number);
    if (there !== undefined) return there;
    const { start } = this.place;
    const block = this.readChecked(start + this.blockEnd(number - 1), start + this.blockEnd(number));
    this.cached.set(number, block);
    if (this.cached.size >= CACHED_MAX) {
      this.cachedBefore = this.cached;
      this.cached = new Map();
    }
    return block;
  }

  /** The first bytes of a block's keys, as far as they tell it apart from the block before. */
  private separator(number: number): string {
    const from = number === 0 ? 0 : this.index.readUInt32BE(4 + INDEX_ENTRY_SIZE * (number - 1));
    const to = this.index.readUInt32BE(4 + INDEX_ENTRY_SIZE * number);
    return this.index.toString("latin1", this.heapAt + from, this.heapAt + to);
  }

  /** The block in which the key is, if it is there. */
  private find(key: string): number {
    let [low, high] = [0, this.blockCount - 1];
    while (low < high) {
      const middle = (low + high + 1) >>> 1;
      if (this.separator(middle) <= key) low = middle;
      else high = middle - 1;
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
