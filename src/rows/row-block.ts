/**
 * Blocks: some rows, one behind the other, each key told as what it has more than the one before it. Obeys
 * docs/format/catalogue.md.
 */
import { ArchiveError } from "../base/index.ts";

/** A block is complete when it has grown to this: small ones are searched faster, large ones have shorter keys. */
export const BLOCK_SIZE = 2048;
export const KEY_SIZE_MAX = 1 << 16;
/** So that the count in front of it, which is larger by one, has four bytes at most. */
export const VALUE_SIZE_MAX = 2 ** 28 - 2;

/** Puts rows together to blocks. */
export class BlockBuilder {
  private bytes = Buffer.allocUnsafeSlow(4 * BLOCK_SIZE);
  private size = 0;
  private last = "";

  get isEmpty(): boolean {
    return this.size === 0;
  }

  get isFull(): boolean {
    return this.size >= BLOCK_SIZE;
  }

  /** Keys must come in order. An absent value says that the key was removed. */
  add(key: string, value: Buffer | undefined): void {
    const shared = this.size === 0 ? 0 : sharedLength(this.last, key);
    const own = key.length - shared;
    this.reserve(own + (value?.length ?? 0) + 24);
    this.count(shared);
    this.count(own);
    for (let i = shared; i < key.length; i++) this.bytes[this.size++] = key.charCodeAt(i);
    this.count(value === undefined ? 0 : value.length + 1);
    if (value !== undefined) {
      this.bytes.set(value, this.size);
      this.size += value.length;
    }
    this.last = key;
  }

  private reserve(more: number): void {
    if (this.size + more <= this.bytes.length) return;
    const larger = Buffer.allocUnsafeSlow(2 * (this.size + more));
    this.bytes.copy(larger, 0, 0, this.size);
    this.bytes = larger;
  }

  private count(value: number): void {
    let rest = value;
    for (; rest >= 128; rest >>>= 7) this.bytes[this.size++] = (rest & 127) | 128;
    this.bytes[this.size++] = rest;
  }

  /** The block, valid until the next row is added. */
  take(): Buffer {
    const block = this.bytes.subarray(0, this.size);
    this.size = 0;
    return block;
  }
}

export function sharedLength(one: string, other: string): number {
  const most = Math.min(one.length, other.length);
  let at = 0;
  while (at < most && one.charCodeAt(at) === other.charCodeAt(at)) at++;
  return at;
}

/** A row of a block, as far as it was read. */
export interface Row {
  key: string;
  /** Absent where the key was removed. */
  value: Buffer | undefined;
}

/** Goes through a block, row by row. Where a block is not what it should be, it throws HT_CORRUPT. */
export class BlockReader {
  private readonly bytes: Buffer;
  private at = 0;
  /** The key at hand. */
  private keyBytes = Buffer.allocUnsafe(64);
  private keySize = 0;
  /** How much of it is the same as in the one before. */
  private shared = 0;
  private valueAt = 0;
  private valueSize = 0;

  constructor(bytes: Buffer) {
    this.bytes = bytes;
  }

  /** Whether there is another row; then it is the one at hand. */
  next(): boolean {
    if (this.at >= this.bytes.length) return false;
    this.shared = this.count();
    const own = this.count();
    const size = this.shared + own;
    if (this.shared > this.keySize || this.at + own > this.bytes.length || size > KEY_SIZE_MAX) throw broken();
    if (size > this.keyBytes.length) {
      const larger = Buffer.allocUnsafe(2 * size);
      this.keyBytes.copy(larger, 0, 0, this.shared);
      this.keyBytes = larger;
    }
    for (let i = this.shared; i < size; i++) this.keyBytes[i] = this.bytes[this.at++]!;
    this.keySize = size;
    this.valueSize = this.count() - 1;
    this.valueAt = this.at;
    this.at += Math.max(0, this.valueSize);
    if (this.at > this.bytes.length) throw broken();
    return true;
  }

  private count(): number {
    const { bytes } = this;
    let byte = bytes[this.at++]!;
    if (byte < 128) return byte;
    let value = byte & 127;
    for (let shift = 7; byte >= 128; shift += 7) {
      byte = bytes[this.at++]!;
      if (byte === undefined || shift > 21) throw broken();
      value |= (byte & 127) << shift;
    }
    return value;
  }

  row(): Row {
    return { key: this.keyBytes.toString("latin1", 0, this.keySize), value: this.value() };
  }

  value(): Buffer | undefined {
    return this.valueSize < 0 ? undefined : this.bytes.subarray(this.valueAt, this.valueAt + this.valueSize);
  }

  /**
   * Goes to the first row whose key is not before `key`: its number and whether it is that key; absent where all are
   * before it. To be called on a reader that is at its beginning.
   */
  seek(key: string): { readonly index: number; readonly isEqual: boolean } | undefined {
    // How much of `key` the row before has, which is before it.
    let same = 0;
    for (let index = 0; this.next(); index++) {
      if (this.shared > same) continue;
      if (this.shared < same) return { index, isEqual: false };
      const most = Math.min(this.keySize, key.length);
      while (same < most && this.keyBytes[same] === key.charCodeAt(same)) same++;
      if (same === key.length) return { index, isEqual: same === this.keySize };
      if (same < this.keySize && this.keyBytes[same]! > key.charCodeAt(same)) return { index, isEqual: false };
    }
    return undefined;
  }
}

function broken(): ArchiveError {
  return new ArchiveError("HT_CORRUPT", "a block of the catalogue is damaged; `holotype rebuild` makes it again");
}

export function rowsIn(block: Buffer): Row[] {
  const reader = new BlockReader(block);
  const rows: Row[] = [];
  while (reader.next()) rows.push(reader.row());
  return rows;
}
