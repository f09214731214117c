/**
 * A source looked at in place. Whoever goes from front to back has it read ahead in large pieces, so that many small
 * looks cost few calls; whoever jumps about reads no more than was asked for.
 */
import { invariant } from "../base/index.ts";
import type { ByteSource } from "./byte-source.ts";

const CAPACITY = 1 << 20;

export class SourceView {
  /** The most that can be looked at in one piece. */
  readonly capacity: number;
  private readonly source: ByteSource;
  private readonly buffer: Buffer;
  /** What of the source lies in the buffer. */
  private start = 0;
  private end = 0;

  constructor(source: ByteSource, capacity = CAPACITY) {
    this.source = source;
    this.capacity = capacity;
    this.buffer = Buffer.allocUnsafeSlow(capacity);
  }

  /** `size` bytes from `offset` on; fewer only where the source ends. Valid until the next look. */
  view(offset: number, size: number): Buffer {
    invariant(size <= this.capacity, "more than a view can hold");
    if (offset < this.start || offset + size > this.end) this.load(offset, size);
    return this.buffer.subarray(offset - this.start, Math.min(offset + size, this.end) - this.start);
  }

  /** Some bytes from `offset` on, at most `size`: what is in memory already, or else more. None only at the end. */
  some(offset: number, size: number): Buffer {
    const held = offset >= this.start && offset < this.end ? this.end - offset : Math.min(size, this.capacity);
    return this.view(offset, Math.min(size, held));
  }

  private load(offset: number, size: number): void {
    const goesOn = offset >= this.start && offset <= this.end;
    if (goesOn) this.buffer.copyWithin(0, offset - this.start, this.end - this.start);
    const wanted = goesOn ? this.capacity : size;
    let filled = goesOn ? this.end - offset : 0;
    // Should a read fail, the buffer holds nothing that can be told of.
    this.start = this.end = offset;
    while (filled < wanted) {
      const count = this.source.read(this.buffer.subarray(filled, wanted), offset + filled);
      if (count === 0) break;
      filled += count;
    }
    this.end = offset + filled;
  }
}
