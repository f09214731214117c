/**
 * Sorts records by a hash of 64 bits in bounded memory: a stretch that is full is sorted and spilled to a file, and the
 * spills are merged as they are read. Records of one hash stay in the order in which they came.
 */
import { join } from "node:path";
import { invariant } from "../base/index.ts";
import { type Disk, type ScratchFolder, scratchFolder } from "../disk/index.ts";
import { type SortedCursor, SpillCursor, SpillMerge, writeSpill } from "./spill.ts";

export interface HashSorterOptions {
  /** The folder beside whose files the spills lie until the end. */
  readonly folder: string;
  /** Bytes of records in memory. */
  readonly memoryBytes?: number | undefined;
}

const MEMORY_BYTES = 64 << 20;
const MEMORY_FIRST_BYTES = 1 << 16;
const COUNT_MAX = 1 << 20;
const COUNT_FIRST = 1 << 10;
/** So many spills are read at once; more become one before. */
const SPILLS_MAX = 128;
const RADIX_BITS = 16;
/** Fewer are compared with each other: to count by 16 bits takes its time however few there are. */
const FEW = 1 << 12;

export class HashSorter implements Disposable {
  private readonly disk: Disk;
  private readonly folder: string;
  private readonly memoryBytes: number;
  private scratch: ScratchFolder | undefined;
  private spills: string[] = [];
  private spillNumber = 0;
  private cursor: SortedCursor | undefined;
  /** The bytes of records; valid until the next `reserve`. */
  buffer = Buffer.allocUnsafe(MEMORY_FIRST_BYTES);
  private used = 0;
  private held = 0;
  private high = new Uint32Array(COUNT_FIRST);
  private low = new Uint32Array(COUNT_FIRST);
  private starts = new Uint32Array(COUNT_FIRST + 1);
  /** Records added so far. */
  count = 0;

  constructor(disk: Disk, { folder, memoryBytes = MEMORY_BYTES }: HashSorterOptions) {
    this.disk = disk;
    this.folder = folder;
    this.memoryBytes = memoryBytes;
  }

  /** Makes room for a record of at most so many bytes, and gives the place in `buffer` at which it is to be written. */
  reserve(size: number): number {
    if (this.held > 0 && (this.used + size > this.memoryBytes || this.held === COUNT_MAX)) this.spill();
    if (this.used + size > this.buffer.length) {
      const larger = Buffer.allocUnsafe(Math.max(this.used + size, Math.min(this.memoryBytes, 2 * this.buffer.length)));
      this.buffer.copy(larger, 0, 0, this.used);
      this.buffer = larger;
    }
    if (this.held === this.high.length) {
      this.high = larger(this.high, 2 * this.held);
      this.low = larger(this.low, 2 * this.held);
      this.starts = larger(this.starts, 2 * this.held + 1);
    }
    return this.used;
  }

  /** Takes the record that was written where `reserve` said. */
  add(high: number, low: number, size: number): void {
    this.high[this.held] = high;
    this.low[this.held] = low;
    this.starts[this.held] = this.used;
    this.used += size;
    this.held++;
    this.starts[this.held] = this.used;
    this.count++;
  }

  /** All records in order. It may be called once, and nothing is added after it. */
  sorted(): SortedCursor {
    invariant(this.cursor === undefined, "sorted twice");
    if (this.spills.length === 0) this.cursor = this.heldCursor();
    else {
      if (this.held > 0) this.spill();
      this.forget();
      this.cursor = this.merged(this.spills);
    }
    return this.cursor;
  }

  private heldCursor(): SortedCursor {
    return new HeldCursor(this.buffer, this.high, this.low, this.starts, this.order());
  }

  private forget(): void {
    this.buffer = Buffer.alloc(0);
    [this.high, this.low, this.starts] = [new Uint32Array(0), new Uint32Array(0), new Uint32Array(0)];
  }

  /** The numbers of records in order: by 16 bits at a time, from the lowest. It takes the same time whatever they are. */
  private order(): Uint32Array {
    const { held } = this;
    let from = new Uint32Array(held);
    let to = new Uint32Array(held);
    for (let i = 0; i < held; i++) from[i] = i;
    if (held < FEW) return from.sort((one, other) => this.compare(one, other));
    const ends = new Uint32Array((1 << RADIX_BITS) + 1);
    for (const [keys, shift] of [
      [this.low, 0],
      [this.low, RADIX_BITS],
      [this.high, 0],
      [this.high, RADIX_BITS],
    ] as const) {
      ends.fill(0);
      for (let i = 0; i < held; i++) ends[((keys[i]! >>> shift) & 0xffff) + 1]!++;
      for (let i = 1; i < ends.length; i++) ends[i]! += ends[i - 1]!;
      for (let i = 0; i < held; i++) {
        const record = from[i]!;
        to[ends[(keys[record]! >>> shift) & 0xffff]!++] = record;
      }
      [from, to] = [to, from];
    }
    return from;
  }

  private compare(one: number, other: number): number {
    return this.high[one]! - this.high[other]! || this.low[one]! - this.low[other]! || one - other;
  }

  private spill(): void {
    this.spills.push(writeSpill(this.disk, this.nextSpill(), this.heldCursor()));
    this.used = 0;
    this.held = 0;
    if (this.spills.length < SPILLS_MAX) return;
    const merged = this.merged(this.spills);
    const path = writeSpill(this.disk, this.nextSpill(), merged);
    merged.close();
    for (const spill of this.spills) this.disk.remove(spill);
    this.spills = [path];
  }

  private merged(spills: readonly string[]): SortedCursor {
    return new SpillMerge(spills.map((path) => new SpillCursor(this.disk, path)));
  }

  private nextSpill(): string {
    this.scratch ??= scratchFolder(this.disk, { parent: this.folder });
    return join(this.scratch.path, `${this.spillNumber++}.spill`);
  }

  [Symbol.dispose](): void {
    this.cursor?.close();
    this.forget();
    this.scratch?.remove();
  }
}

function larger(array: Uint32Array, length: number): Uint32Array<ArrayBuffer> {
  const grown = new Uint32Array(length);
  grown.set(array);
  return grown;
}

/** Records that all are in memory. */
class HeldCursor implements SortedCursor {
  readonly buffer: Buffer;
  high = 0;
  low = 0;
  start = 0;
  end = 0;
  private readonly highs: Uint32Array;
  private readonly lows: Uint32Array;
  private readonly starts: Uint32Array;
  private readonly order: Uint32Array;
  private at = 0;

  constructor(buffer: Buffer, highs: Uint32Array, lows: Uint32Array, starts: Uint32Array, order: Uint32Array) {
    this.buffer = buffer;
    this.highs = highs;
    this.lows = lows;
    this.starts = starts;
    this.order = order;
  }

  next(): boolean {
    if (this.at === this.order.length) return false;
    const record = this.order[this.at++]!;
    this.high = this.highs[record]!;
    this.low = this.lows[record]!;
    this.start = this.starts[record]!;
    this.end = this.starts[record + 1]!;
    return true;
  }

  close(): void {}
}
