/**
 * Goes over an archive file from record to record without decoding them: only the beginning of each is looked at. In a
 * plain file the header tells where the next record begins. In a gzip file the next member is searched for. It is
 * believed in only if the four bytes before it, in which gzip keeps the size of what was compressed, are the size of this
 * record; and if nothing else that begins like a record lies before it.
 *
 * So a record is passed over only if it has a member for itself and is as long as it says. Everything else (several
 * records in a member, records over several members, archives in archives, damage, padding) has to be read.
 */
import { type ByteSource, RecordOpener, type RecordOpening } from "../../warc/index.ts";

const WINDOW_SIZE = 1 << 20;
/** Read at a time behind a jump: most openings are smaller. */
const JUMP_SIZE = 1 << 14;
const MEMBER_MAGIC = Buffer.from([0x1f, 0x8b, 8]);
const MEMBER_SIZE_MIN = 18;
const SIZE_FIELD = 4;
/** Separators are four bytes, and of some writers fewer. */
const TAIL_MAX = 4;
/** What looks like a member and is none comes up once in 16 MB. More than this, and one in each megabyte, is malice. */
const MISSES_FREE = 16;
/** What is passed over in search of an end that is not found, beside a quarter of what was passed: a bound on hostile input. */
const VAIN_FREE = 64 << 20;
const LF = 10;
const CR = 13;

/** A window over a source that can be read anywhere. */
class SkipWindow {
  readonly buffer: Buffer;
  /** The source's offset of `buffer[0]`. */
  base = 0;
  end = 0;
  private readonly source: ByteSource;

  constructor(source: ByteSource, size: number) {
    this.source = source;
    this.buffer = Buffer.allocUnsafeSlow(Math.min(WINDOW_SIZE, size));
  }

  /** The index of an offset in the buffer, with so many bytes behind it as were asked for, or all that there are. */
  at(offset: number, count: number): number {
    const index = offset - this.base;
    if (index >= 0 && index + count <= this.end) return index;
    const near = index >= 0 && index <= this.end;
    if (near) {
      this.buffer.copyWithin(0, index, this.end);
      this.end -= index;
    } else this.end = 0;
    this.base = offset;
    const goal = near ? this.buffer.length : Math.max(count, JUMP_SIZE);
    while (this.end < count) {
      const got = this.source.read(this.buffer.subarray(this.end, goal), offset + this.end);
      if (got === 0) break;
      this.end += got;
    }
    return 0;
  }

  /** Reads like the source, but takes what the window has from there. */
  read(into: Uint8Array, position: number): number {
    const index = position - this.base;
    if (index < 0 || index >= this.end) return this.source.read(into, position);
    return this.buffer.copy(into, 0, index, this.end);
  }
}

export class RecordSkipper {
  /** Every search would be in vain, as it seems: the file is to be read. */
  tired = false;
  private readonly source: ByteSource;
  private readonly window: SkipWindow;
  private readonly size: number;
  private readonly opener = new RecordOpener();
  private vain = 0;

  constructor(source: ByteSource, size: number) {
    this.source = source;
    this.window = new SkipWindow(source, size);
    this.size = size;
  }

  /** The source, for whoever reads records in full that were opened just now. */
  get nearSource(): ByteSource {
    const { source, window } = this;
    return { name: source.name, seekable: true, size: this.size, read: (into, at) => window.read(into, at) };
  }

  /** The beginning of the record at an offset with about so many bytes of its block; absent where none can be opened. */
  open(offset: number, blockSize: number): RecordOpening | undefined {
    const { window } = this;
    // Compressed bytes are hardly ever more than what they stand for; headers are small.
    const index = window.at(offset, Math.min(this.size - offset, 2 * blockSize + JUMP_SIZE));
    return this.opener.open(window.buffer, index, window.end, blockSize);
  }

  isCompressed(offset: number): boolean {
    const { window } = this;
    const index = window.at(offset, 2);
    return window.buffer[index] === MEMBER_MAGIC[0];
  }

  /** The offset behind the record that was opened at `offset`; absent where that cannot be told without reading it. */
  endOf(offset: number, { blockSize, headers }: RecordOpening["head"]): number | undefined {
    if (blockSize === undefined) return undefined;
    const size = headers.text.length + blockSize;
    return this.isCompressed(offset) ? this.memberEnd(offset, size) : this.plainEnd(offset + size);
  }

  private plainEnd(blockEnd: number): number | undefined {
    if (blockEnd > this.size) return undefined;
    const { window } = this;
    const index = window.at(blockEnd, TAIL_MAX);
    let end = index;
    while (end < index + TAIL_MAX && end < window.end && (window.buffer[end] === CR || window.buffer[end] === LF))
      end++;
    return blockEnd + end - index;
  }

  /** Searches for the end of the member at `offset`, which holds a record of `size` bytes and its separator. */
  private memberEnd(offset: number, size: number): number | undefined {
    const { window } = this;
    // No sensible packer makes more of less than this.
    const limit = Math.min(this.size, offset + size + size / 8 + WINDOW_SIZE / 16);
    let misses = 0;
    let from = offset + MEMBER_SIZE_MIN;
    while (from < limit && misses <= MISSES_FREE + (from - offset) / WINDOW_SIZE) {
      const index = window.at(from - SIZE_FIELD, SIZE_FIELD + MEMBER_MAGIC.length) + SIZE_FIELD;
      if (index + MEMBER_MAGIC.length > window.end) break;
      const hit = window.buffer.indexOf(MEMBER_MAGIC, index);
      if (hit >= 0 && hit + MEMBER_MAGIC.length <= window.end) {
        from = window.base + hit + 1;
        if (this.isEnd(hit, size)) return from - 1;
        // A record that begins here says that the one before it ends here too, but not as it should.
        if (this.open(from - 1, 0) !== undefined) return undefined;
        misses++;
      } else if (window.base + window.end >= this.size) break;
      else from = window.base + window.end - MEMBER_MAGIC.length + 1;
    }
    if (limit === this.size && this.size - offset >= MEMBER_SIZE_MIN) {
      const index = window.at(this.size - SIZE_FIELD, SIZE_FIELD) + SIZE_FIELD;
      if (index <= window.end && this.isEnd(index, size)) return this.size;
    }
    this.vain += limit - offset;
    if (this.vain > VAIN_FREE + offset / 4) this.tired = true;
    return undefined;
  }

  /** Whether the member that ends before `buffer[index]` says to hold `size` bytes and a separator. */
  private isEnd(index: number, size: number): boolean {
    const tail = (this.window.buffer.readUInt32LE(index - SIZE_FIELD) - size) % 2 ** 32;
    return (tail < 0 ? tail + 2 ** 32 : tail) <= TAIL_MAX;
  }
}
