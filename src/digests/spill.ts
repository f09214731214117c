/** Sorted records in scratch files, and their merging. A spill lives as long as the sort that made it. */
import { ArchiveError } from "../base/index.ts";
import type { Disk, DiskFile } from "../disk/index.ts";

/** Records in order of their hashes, one at a time. */
export interface SortedCursor {
  /** Of the record that it stands at; its bytes are valid until the next one. */
  readonly high: number;
  readonly low: number;
  readonly buffer: Buffer;
  readonly start: number;
  readonly end: number;
  /** False behind the last. */
  next(): boolean;
  close(): void;
}

/** Hash and size. */
const HEAD_SIZE = 10;
const BUFFER_SIZE = 1 << 18;

/** Gives the path back. What is not durable needs no sync. */
export function writeSpill(disk: Disk, path: string, cursor: SortedCursor): string {
  using file = disk.open(path, "create");
  const buffer = Buffer.allocUnsafe(BUFFER_SIZE);
  let used = 0;
  let position = 0;
  while (cursor.next()) {
    const size = cursor.end - cursor.start;
    if (used + HEAD_SIZE + size > buffer.length) {
      file.write(buffer.subarray(0, used), position);
      position += used;
      used = 0;
    }
    buffer.writeUInt32LE(cursor.high, used);
    buffer.writeUInt32LE(cursor.low, used + 4);
    buffer.writeUInt16LE(size, used + 8);
    cursor.buffer.copy(buffer, used + HEAD_SIZE, cursor.start, cursor.end);
    used += HEAD_SIZE + size;
  }
  file.write(buffer.subarray(0, used), position);
  return path;
}

export class SpillCursor implements SortedCursor {
  readonly buffer = Buffer.allocUnsafe(BUFFER_SIZE);
  high = 0;
  low = 0;
  start = 0;
  end = 0;
  private readonly file: DiskFile;
  private position = 0;
  private filled = 0;

  constructor(disk: Disk, path: string) {
    this.file = disk.open(path, "read");
  }

  next(): boolean {
    let at = this.end;
    if (this.filled - at < HEAD_SIZE && !this.fill(HEAD_SIZE)) return false;
    at = this.end;
    const size = this.buffer.readUInt16LE(at + 8);
    if (this.filled - at < HEAD_SIZE + size && !this.fill(HEAD_SIZE + size)) {
      throw new ArchiveError("HT_CUT_OFF", `${this.file.path}: shorter than it was`, { file: this.file.path });
    }
    at = this.end;
    this.high = this.buffer.readUInt32LE(at);
    this.low = this.buffer.readUInt32LE(at + 4);
    this.start = at + HEAD_SIZE;
    this.end = this.start + size;
    return true;
  }

  /** Moves what is left to the front and reads on; false where so many bytes do not come. */
  private fill(size: number): boolean {
    this.buffer.copyWithin(0, this.end, this.filled);
    this.filled -= this.end;
    this.end = 0;
    const count = this.file.read(this.buffer.subarray(this.filled), this.position);
    this.position += count;
    this.filled += count;
    return this.filled >= size;
  }

  close(): void {
    this.file.close();
  }
}

/** Many as one: a heap of those that are not at their end. Of equal hashes the earlier spill comes first. */
export class SpillMerge implements SortedCursor {
  private readonly cursors: readonly SortedCursor[];
  /** Numbers of cursors, the least at the root. */
  private readonly heap: number[] = [];
  private isBegun = false;

  constructor(cursors: readonly SortedCursor[]) {
    this.cursors = cursors;
  }

  private get top(): SortedCursor {
    return this.cursors[this.heap[0]!]!;
  }

  get high(): number {
    return this.top.high;
  }

  get low(): number {
    return this.top.low;
  }

  get buffer(): Buffer {
    return this.top.buffer;
  }

  get start(): number {
    return this.top.start;
  }

  get end(): number {
    return this.top.end;
  }

  /** The number of the cursor that the record is of. */
  get source(): number {
    return this.heap[0]!;
  }

  next(): boolean {
    if (!this.isBegun) {
      this.isBegun = true;
      for (const [i, cursor] of this.cursors.entries()) if (cursor.next()) this.heap.push(i);
      for (let i = (this.heap.length >> 1) - 1; i >= 0; i--) this.sink(i);
      return this.heap.length > 0;
    }
    if (this.heap.length === 0) return false;
    if (!this.top.next()) {
      const last = this.heap.pop()!;
      if (this.heap.length === 0) return false;
      this.heap[0] = last;
    }
    this.sink(0);
    return true;
  }

  private sink(from: number): void {
    const { heap } = this;
    const moved = heap[from]!;
    let at = from;
    for (;;) {
      let child = 2 * at + 1;
      if (child >= heap.length) break;
      if (child + 1 < heap.length && this.isBefore(heap[child + 1]!, heap[child]!)) child++;
      if (!this.isBefore(heap[child]!, moved)) break;
      heap[at] = heap[child]!;
      at = child;
    }
    heap[at] = moved;
  }

  private isBefore(one: number, other: number): boolean {
    const [a, b] = [this.cursors[one]!, this.cursors[other]!];
    if (a.high !== b.high) return a.high < b.high;
    if (a.low !== b.low) return a.low < b.low;
    return one < other;
  }

  close(): void {
    for (const cursor of this.cursors) cursor.close();
  }
}
