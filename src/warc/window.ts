/**
 * A fixed stretch of memory that slides over bytes: `buffer[pos..end)` is unread, bytes from `keep` on are held for
 * whoever still looks at them. Nothing larger than the window is ever in memory.
 */
import { crc32 } from "node:zlib";
import { invariant } from "../base/index.ts";
import { type AnyByteSource, type AsyncByteSource, type ByteSource, isAsyncSource } from "./byte-source.ts";

/** What a request for more bytes came to. */
export const Step = {
  /** There is more than before. */
  MORE: 0,
  /** There is nothing more to come. */
  END: 1,
  /** The source answers later: load it, then ask again. */
  NEED: 2,
  /** The window is full from `keep` to its end. */
  FULL: 3,
} as const;
export type Step = (typeof Step)[keyof typeof Step];

/** Buffers of closed readers: whoever reads a thousand files in turn needs no more memory than for one. */
const spares: Buffer[] = [];
const SPARES_MAX = 4;

function takeBuffer(capacity: number): Buffer {
  const at = spares.findIndex((spare) => spare.length === capacity);
  return at < 0 ? Buffer.allocUnsafeSlow(capacity) : spares.splice(at, 1)[0]!;
}

/** How much may be moved to make little room: a bound on hostile input that no sound file comes near. */
const MOVED_FREE = 256 << 20;
const MOVED_FACTOR = 64;

export class Window {
  readonly buffer: Buffer;
  private released = false;
  pos = 0;
  end = 0;
  /** First byte that must stay; at most `pos`. */
  keep = 0;
  /** Bytes moved so far, and bytes that were moved over. */
  private moved = 0;
  private passed = 0;

  constructor(capacity: number) {
    this.buffer = takeBuffer(capacity);
  }

  /** Gives the buffer to whoever opens a window next. Nobody may look at its bytes from now on. */
  release(): void {
    if (this.released) return;
    this.released = true;
    if (spares.length < SPARES_MAX) spares.push(this.buffer);
  }

  get available(): number {
    return this.end - this.pos;
  }

  /**
   * Moves what is kept to the front; returns by how much everything moved. Records that say they are almost as large as
   * the window, and are not, would have all of it moved for each few bytes: after a while it stays, and they stream.
   */
  compact(): number {
    const shift = this.keep;
    const size = this.end - shift;
    if (size > 8 * shift && this.moved > MOVED_FREE + MOVED_FACTOR * this.passed) return 0;
    if (shift > 0) {
      this.moved += size;
      this.passed += shift;
      this.buffer.copyWithin(0, shift, this.end);
      this.pos -= shift;
      this.end -= shift;
      this.keep = 0;
    }
    return shift;
  }

  /** Forgets all bytes. */
  clear(): void {
    this.pos = this.end = this.keep = 0;
  }
}

/** A window over the bytes of a source. `base` is the source's offset of `buffer[0]`. */
export class SourceWindow extends Window {
  readonly source: AnyByteSource;
  base = 0;
  ended = false;
  /** Bytes read from the source in all, rescans included: the measure of work done. */
  readTotal = 0;
  private loaded = false;
  /** Where `checksum` begins, and the checksum of what of it has left the window: all before `summed`. */
  private marked: number | undefined;
  private summed = 0;
  private sum = 0;

  constructor(source: AnyByteSource, capacity: number, position = 0) {
    super(capacity);
    this.source = source;
    this.base = position;
  }

  /** The source's offset of the next unread byte. */
  get offset(): number {
    return this.base + this.pos;
  }

  /** Reads on behind `end`. */
  fill(): Step {
    if (this.loaded) {
      this.loaded = false;
      return this.ended ? Step.END : Step.MORE;
    }
    if (this.ended) return Step.END;
    if (this.end === this.buffer.length || this.keep > this.buffer.length >>> 1) {
      this.sumUpTo(this.base + this.keep);
      this.base += this.compact();
    }
    if (this.end === this.buffer.length) return Step.FULL;
    if (isAsyncSource(this.source)) return Step.NEED;
    return this.take((this.source as ByteSource).read(this.buffer.subarray(this.end), this.base + this.end));
  }

  /** After `NEED`: waits for the source. The next `fill` tells what came. */
  async load(): Promise<void> {
    const source = this.source as AsyncByteSource;
    this.take(await source.readLater(this.buffer.subarray(this.end), this.base + this.end));
    this.loaded = true;
  }

  private take(count: number): Step {
    invariant(count >= 0 && count <= this.buffer.length - this.end, "a source returned more than it was asked for");
    if (count === 0) {
      this.ended = true;
      return Step.END;
    }
    this.end += count;
    this.readTotal += count;
    return Step.MORE;
  }

  /** Makes sure of `count` unread bytes; `END` where the source has fewer, `FULL` where the window is too small. */
  ensure(count: number): Step {
    while (this.end - this.pos < count) {
      const step = this.fill();
      if (step !== Step.MORE) return step;
    }
    return Step.MORE;
  }

  /** The bytes of the source from one offset to another, if the window holds them. */
  view(from: number, to: number): Uint8Array | undefined {
    const { base, end, buffer } = this;
    return from >= base && to <= base + end ? buffer.subarray(from - base, to - base) : undefined;
  }

  /** From this offset on, which the window holds, `checksum` can be asked for. */
  mark(offset: number): void {
    this.marked = offset >= this.base ? offset : undefined;
    this.summed = offset;
    this.sum = 0;
  }

  /**
   * The CRC-32 of the bytes from one offset to another, as they came from the source, whether or not the window still
   * holds them all; absent where the first is not the one that was marked.
   */
  checksum(from: number, to: number): number | undefined {
    const rest = from === this.marked ? this.view(this.summed, to) : undefined;
    return rest === undefined ? undefined : crc32(rest, this.sum);
  }

  /** To be called before bytes leave the window. */
  private sumUpTo(offset: number): void {
    if (this.marked === undefined || offset <= this.summed) return;
    this.sum = crc32(this.buffer.subarray(this.summed - this.base, offset - this.base), this.sum);
    this.summed = offset;
  }

  /** Goes to an offset of the source, if the window holds it or the source can seek. */
  seek(offset: number): boolean {
    if (offset >= this.base && offset <= this.base + this.end) {
      this.pos = offset - this.base;
      this.keep = Math.min(this.keep, this.pos);
      return true;
    }
    if (!this.source.seekable) return false;
    this.clear();
    this.marked = undefined;
    this.base = offset;
    this.ended = false;
    this.loaded = false;
    return true;
  }
}
