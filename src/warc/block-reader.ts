/**
 * The block of the record at hand: where it ends, whatever its header says, and its bytes as they come through the
 * window.
 *
 * Invariants: `out.pos` is the first unread byte of the block and `remaining` counts those to its end; the tail is what
 * stands between the block and the next record, and once it is known so is the end of the record in the file.
 */
import type { MemberStream } from "./member-stream.ts";
import type { ArchiveFormat } from "./record-finder.ts";
import {
  indexOfMagic,
  isArcLine,
  isVersionLine,
  isWarcMagic,
  MAGIC_SIZE,
  VERSION_LINE_SIZE_MAX,
} from "./record-start.ts";
import type { WarningLog } from "./warning-log.ts";
import { Step } from "./window.ts";

const LF = 10;
const CR = 13;
const SEPARATOR_SIZE = 4;
/** Bytes of a new member that are looked at to see whether it begins with an ARC record. */
const ARC_PEEK_SIZE = 512;

/** Where a record begins, and what is known of it. */
interface RecordStart {
  readonly offset: number;
  /** Decoded bytes before it in its member. */
  readonly inner: number;
  /** Known once the header has been read. */
  format: ArchiveFormat;
}

export class BlockReader {
  /** Behind the record in the file; absent until its end has been found, and where that is inside a member. */
  endOffset: number | undefined;
  private readonly stream: MemberStream;
  private readonly log: WarningLog;
  private start: RecordStart = { offset: 0, inner: 0, format: undefined };
  private saidSize: number | undefined;
  private remaining = 0;
  /** Bytes of a block without a length in which no record begins. */
  private searched = 0;
  /** The whole block lies unread in the window. */
  private whole = false;
  private tailSize: number | undefined;
  /** A member began inside the record, and whether it continues it is not yet known. */
  private boundary = false;
  private cutBy: "record" | "end" | undefined;
  private sharedNoted = false;

  constructor(stream: MemberStream, log: WarningLog) {
    this.stream = stream;
    this.log = log;
  }

  /** A record has been found; its header is read next, with `more`. */
  enter(offset: number, inner: number, format: ArchiveFormat): void {
    this.start = { offset, inner, format };
    this.boundary = false;
    this.whole = false;
    this.cutBy = this.tailSize = this.endOffset = undefined;
  }

  /** The header has been read: the block begins at `out.pos`, and is said to have so many bytes. */
  begin(saidSize: number | undefined, format: ArchiveFormat): void {
    this.start.format = format;
    this.saidSize = saidSize;
    this.remaining = saidSize ?? Number.MAX_SAFE_INTEGER;
    this.searched = 0;
    this.boundary = false;
  }

  /** The size of the block, if it lies whole and unread in the window. */
  get wholeSize(): number | undefined {
    return this.whole ? this.remaining : undefined;
  }

  get block(): Buffer | undefined {
    const { buffer, pos } = this.stream.out;
    return this.whole ? buffer.subarray(pos, pos + this.remaining) : undefined;
  }

  private report(code: Parameters<WarningLog["report"]>[0], message: string): void {
    this.log.report(code, message, this.start.offset);
  }

  /** More of the record at hand, from its member or the next; `END` where the input or another record cuts it off. */
  more(): Step {
    const { stream } = this;
    const { out } = stream;
    const isArc = this.start.format === "arc";
    for (;;) {
      const step = stream.more();
      if (this.boundary) {
        if (step === Step.NEED) return step;
        const at = stream.memberPos;
        if (step === Step.MORE && out.end - at < (isArc ? ARC_PEEK_SIZE : MAGIC_SIZE)) continue;
        this.boundary = false;
        if (isWarcMagic(out.buffer, at, out.end) || (isArc && isArcLine(out.buffer, at, out.end))) {
          this.remaining = at - out.pos;
          this.cutBy = "record";
          return Step.END;
        }
        if (out.end > at) return Step.MORE;
      }
      if (step !== Step.END) return step;
      const begun = stream.begin(true);
      if (begun !== Step.MORE) return begun;
      this.boundary = true;
    }
  }

  /** Gets as much of the block into the window as fits, and with it what tells where the record ends. */
  fetch(): Step {
    const { out } = this.stream;
    while (out.available < this.remaining || this.boundary) {
      if (this.saidSize === undefined && this.isRecordAhead()) break;
      const step = this.more();
      if (step === Step.NEED) return step;
      if (step === Step.END) this.endEarly();
      else if (step === Step.FULL) break;
    }
    if (this.saidSize === undefined) this.guessSize();
    if (out.available < this.remaining) return Step.MORE;
    const step = this.readTail();
    if (step === Step.NEED) return step;
    this.whole = true;
    return Step.MORE;
  }

  /** The record has fewer bytes than its header says. */
  private endEarly(): void {
    this.remaining = Math.min(this.remaining, this.stream.out.available);
    this.cutBy ??= "end";
    if (this.saidSize === undefined) return;
    if (this.cutBy === "record") {
      this.remaining = this.withoutSeparator(this.remaining);
      this.report("HT_RECORD_LENGTH", "the next record begins before this one's length is up");
    } else this.report("HT_RECORD_TRUNCATED", "the input ends inside the record");
  }

  /** Without a believable length the block ends before the next line that begins a record, or with what is at hand. */
  private guessSize(): void {
    this.report(
      "HT_RECORD_LENGTH",
      "no usable Content-Length: the block was taken up to where a record seems to begin",
    );
    this.saidSize = this.remaining = Math.min(this.remaining, this.stream.out.available);
    this.remaining = this.findRecordInside() ?? this.withoutSeparator(this.remaining);
  }

  /** `size` bytes of the block without the line ends, at most a separator's, that they end in. */
  private withoutSeparator(size: number): number {
    const { buffer, pos } = this.stream.out;
    let left = size;
    while (left > 0 && size - left < SEPARATOR_SIZE && isLineEnd(buffer[pos + left - 1])) left--;
    return left;
  }

  /** Size of the block before a record that begins inside it, line ends between them left out. */
  private findRecordInside(): number | undefined {
    const { pos, end } = this.stream.out;
    const stop = pos + this.remaining;
    // What makes sure that nothing follows the block brings so many bytes behind it, whatever the portions.
    const at = this.findRecord(pos, stop, Math.min(end, stop + MAGIC_SIZE));
    return at === undefined ? undefined : this.withoutSeparator(at - pos);
  }

  /** The first index from `from` up to `stop` at which a record begins, as far as the bytes before `seen` tell. */
  private findRecord(from: number, stop: number, seen: number): number | undefined {
    const { buffer, pos } = this.stream.out;
    for (let at = indexOfMagic(buffer, from, seen); at >= 0 && at < stop; at = indexOfMagic(buffer, at + 1, seen)) {
      const isLine = at === pos || buffer[at - 1] === LF;
      if (isLine ? isWarcMagic(buffer, at, seen) : isVersionLine(buffer, at, seen) === "yes") return at;
    }
    return undefined;
  }

  /** Whether a record begins in what the window has of a block without a length. Each byte is looked at once or twice. */
  private isRecordAhead(): boolean {
    const { pos, end } = this.stream.out;
    if (this.boundary) return false;
    const found = this.findRecord(pos + this.searched, end, end);
    this.searched = Math.max(0, end - pos - VERSION_LINE_SIZE_MAX);
    return found !== undefined;
  }

  /** Looks at the line ends behind a block that is all in the window, and checks that a record follows. */
  private readTail(): Step {
    const { stream } = this;
    const { out } = stream;
    for (;;) {
      const from = out.pos + this.remaining;
      let at = from;
      while (at < out.end && isLineEnd(out.buffer[at])) at++;
      if (out.end - at < MAGIC_SIZE && !stream.memberEnded) {
        const step = stream.more();
        if (step === Step.NEED) return step;
        if (step === Step.FULL) return Step.MORE;
        continue;
      }
      const doubtful = at < out.end ? !isWarcMagic(out.buffer, at, out.end) : this.cutBy === "end";
      if (doubtful && this.start.format === "warc") {
        const inside = this.findRecordInside();
        if (inside !== undefined && inside < this.remaining) {
          this.report("HT_RECORD_LENGTH", "the length reaches into the next record");
          this.remaining = inside;
          continue;
        }
      }
      this.noteTail(at - from, at === out.end);
      return Step.MORE;
    }
  }

  /** With the tail known, so is where the record ends. */
  private noteTail(size: number, last: boolean): void {
    const { out } = this.stream;
    const held = out.pos;
    this.tailSize = size;
    out.pos += this.remaining + size;
    this.endOffset = this.stream.endOffset();
    const inside = this.endOffset === undefined && (out.available > 0 || !this.stream.memberEnded);
    out.pos = held;
    const isArc = this.start.format === "arc";
    const expected = isArc ? size === 1 || size === 2 || last : size === SEPARATOR_SIZE;
    if (!expected) this.report("HT_RECORD_SEPARATOR", `${size} bytes of line ends behind the record`);
    else if (!isArc && !isSeparator(out.buffer, held + this.remaining)) {
      this.report("HT_RECORD_SEPARATOR", "the line ends behind the record are not two times CR LF");
    }
    if (!this.sharedNoted && (this.start.inner > 0 || inside)) {
      this.sharedNoted = true;
      this.report("HT_MEMBER_SHARED", "records share a compressed member");
    }
  }

  /** Tries to have bytes of the block in the window; `END` where there are none left. */
  load(): Step {
    const { out } = this.stream;
    if (this.remaining > 0 && out.available > 0 && !this.boundary) return Step.MORE;
    out.keep = out.pos;
    if (this.remaining === 0) {
      // The block has been read: find where the record ends, so that its length is known.
      const step = this.tailSize === undefined ? this.readTail() : Step.END;
      return step === Step.NEED ? step : Step.END;
    }
    const step = this.more();
    if (step === Step.END) this.endEarly();
    return step;
  }

  /** The next bytes of the block, as many as the window has; to be called after `load` said `MORE`. */
  take(): Uint8Array {
    const { out } = this.stream;
    const from = out.pos;
    out.pos += Math.min(this.remaining, out.available);
    this.remaining -= out.pos - from;
    this.whole = false;
    return out.buffer.subarray(from, out.pos);
  }

  /** Passes over what is left of the record. */
  leave(): Step {
    const { out } = this.stream;
    while (this.remaining > 0) {
      const step = this.load();
      if (step === Step.NEED) return step;
      const count = Math.min(this.remaining, out.available);
      out.pos += count;
      this.remaining -= count;
    }
    if (this.tailSize === undefined) {
      out.keep = out.pos;
      const step = this.readTail();
      if (step === Step.NEED) return step;
    }
    out.pos += this.tailSize ?? 0;
    out.keep = out.pos;
    return Step.MORE;
  }
}

function isSeparator(bytes: Uint8Array, at: number): boolean {
  return bytes[at] === CR && bytes[at + 1] === LF && bytes[at + 2] === CR && bytes[at + 3] === LF;
}

function isLineEnd(byte: number | undefined): boolean {
  return byte === LF || byte === CR;
}
