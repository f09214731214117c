/** Finds where the next record begins: right here in a sound file, behind the garbage in a damaged one. */
import { ARC_LINE_SIZE_MAX } from "./arc-line.ts";
import type { MemberStream } from "./member-stream.ts";
import {
  indexOfMagic,
  isArcLine,
  isVersionLine,
  isWarcMagic,
  lineEnd,
  MAGIC_SIZE,
  mayBecomeWarcMagic,
} from "./record-start.ts";
import type { WarningLog } from "./warning-log.ts";
import { Step } from "./window.ts";

/** What a file has shown itself to be; absent before its first record. */
export type ArchiveFormat = "warc" | "arc" | undefined;

/** Offset of the member that a record begins in, and how many decoded bytes of that come before it. */
export interface RecordPosition {
  readonly offset: number;
  readonly inner: number;
}

const LF = 10;
const CR = 13;

export class RecordFinder {
  private readonly stream: MemberStream;
  private readonly log: WarningLog;
  private garbageFrom: number | undefined;
  /** `out.pos` is not at the start of a line, so that more is asked of a record there. */
  private midLine = false;
  /** Where bytes at the end of a member stand that may begin a record, which would go on in the member at hand. */
  private carried: RecordPosition | undefined;

  constructor(stream: MemberStream, log: WarningLog) {
    this.stream = stream;
    this.log = log;
  }

  get inGarbage(): boolean {
    return this.garbageFrom !== undefined;
  }

  /** Of the record that was found; to be asked once. */
  takePosition(): RecordPosition {
    const position = this.position;
    this.carried = undefined;
    return position;
  }

  private get position(): RecordPosition {
    return this.carried ?? { offset: this.stream.offset(), inner: this.stream.inner() };
  }

  /** Moves to the first byte of the next record; `END` where there is none. */
  find(format: ArchiveFormat): Step {
    const { stream } = this;
    const { out } = stream;
    for (;;) {
      while (out.pos < out.end && (out.buffer[out.pos] === LF || out.buffer[out.pos] === CR)) {
        if (out.buffer[out.pos++] === LF) this.midLine = false;
      }
      out.keep = out.pos;
      if (out.available === 0 && stream.memberEnded) {
        const step = stream.begin(false);
        if (step !== Step.MORE) return step;
        this.log.turnOver();
        this.midLine = false;
      }
      const verdict = this.judge(format);
      if (verdict === "yes") {
        this.midLine = false;
        this.endGarbage();
        return Step.MORE;
      }
      if (verdict === "no") {
        this.garbageFrom ??= this.position.offset;
        if (this.carried === undefined) this.skip(format);
        else this.dropCarried();
        continue;
      }
      const step = verdict === "next" ? this.carry() : stream.more();
      if (step === Step.NEED) return step;
      if (step === Step.FULL) {
        this.carried = undefined;
        out.pos = out.keep = out.end;
      }
    }
  }

  /** Goes on with the next member, behind what is unread of this one. */
  private carry(): Step {
    const { stream, position } = this;
    const step = stream.begin(true);
    if (step === Step.MORE) this.carried = position;
    if (step !== Step.END) return step;
    this.garbageFrom ??= position.offset;
    stream.out.pos = stream.out.end;
    return Step.MORE;
  }

  /** The end of the member before was not the beginning of a record. */
  private dropCarried(): void {
    this.stream.out.pos = this.stream.memberPos;
    this.carried = undefined;
    this.midLine = false;
  }

  /** Whether a record begins with the member at hand, so that it cannot go on with one of the member before. */
  private isMemberARecord(format: ArchiveFormat): "yes" | "no" | "more" {
    const { out, memberEnded, memberPos } = this.stream;
    const { buffer, end } = out;
    if (end - memberPos < MAGIC_SIZE && !memberEnded) return "more";
    if (format !== "arc" && isWarcMagic(buffer, memberPos, end)) return "yes";
    if (format === "warc") return "no";
    const isOpen = lineEnd(buffer, memberPos, end) === undefined && end - memberPos < ARC_LINE_SIZE_MAX;
    return isOpen && !memberEnded ? "more" : isArcLine(buffer, memberPos, end) ? "yes" : "no";
  }

  /**
   * Whether a record begins at `out.pos`; `more` where the bytes at hand do not tell, and `next` where they are the last of
   * their member.
   */
  private judge(format: ArchiveFormat): "yes" | "no" | "more" | "next" {
    const { out, memberEnded } = this.stream;
    const { buffer, pos, end } = out;
    if (this.carried !== undefined) {
      const verdict = this.isMemberARecord(format);
      if (verdict !== "no") return verdict === "yes" ? "no" : "more";
    }
    if (this.midLine && pos < end) {
      const verdict = format === "arc" ? "no" : isVersionLine(buffer, pos, end);
      return verdict === "more" && memberEnded ? "next" : verdict;
    }
    if (format !== "arc") {
      if (isWarcMagic(buffer, pos, end)) return "yes";
      if (mayBecomeWarcMagic(buffer, pos, end)) return memberEnded ? "next" : "more";
    }
    if (pos === end) return "more";
    if (format === "warc") return "no";
    const first = buffer[pos]! | 32;
    if (first < 97 || first > 122) return "no";
    if (lineEnd(buffer, pos, end) === undefined) {
      if (end - pos >= ARC_LINE_SIZE_MAX) return "no";
      return memberEnded ? "next" : "more";
    }
    return isArcLine(buffer, pos, end) ? "yes" : "no";
  }

  /** Moves `out.pos` to the next line; in a WARC file to the next place, on a line or not, where a record may begin. */
  skip(format: ArchiveFormat): void {
    const { out } = this.stream;
    const { buffer, pos, end } = out;
    const next = format === "warc" ? undefined : lineEnd(buffer, pos, end);
    const at = format === "arc" ? -1 : indexOfMagic(buffer, pos + 1, next ?? end);
    if (at >= 0) out.pos = at;
    else out.pos = next ?? end - (format === "arc" ? 0 : magicAtEnd(buffer, pos + 1, end));
    this.midLine = buffer[out.pos - 1] !== LF;
  }

  /** Tells of the garbage that lies before `out.pos`, if there is any. */
  endGarbage(): void {
    if (this.garbageFrom === undefined) return;
    // Inside a compressed member both offsets are that of the member.
    const size = this.position.offset - this.garbageFrom;
    const what = size > 0 ? `${size} bytes` : "bytes inside a member";
    this.log.report("HT_GARBAGE", `${what} that belong to no record`, this.garbageFrom);
    this.garbageFrom = undefined;
    this.log.turnOver();
  }
}

/** How many bytes before `end` may be the beginning of `WARC/`. */
function magicAtEnd(bytes: Buffer, from: number, end: number): number {
  for (let size = Math.min(4, end - from); size > 0; size--) {
    if (bytes.toString("latin1", end - size, end) === "WARC/".slice(0, size)) return size;
  }
  return 0;
}
