/**
 * A file of gzip members, decoded one member at a time with one inflater, or at once where an accelerator can do it.
 * Checks CRC and size of each member; behind damage it looks for the next member that begins with a record.
 */
import { crc32 } from "node:zlib";
import { CompressedStream } from "./compressed-stream.ts";
import { createInflater, type Inflater, PakoInflater, releaseInflater } from "./inflater.ts";
import type { Report } from "./member-stream.ts";
import { beginsRecord } from "./record-start.ts";
import { WholeMembers } from "./whole-members.ts";
import { type SourceWindow, Step } from "./window.ts";

const HEADER_SIZE_MIN = 10;
const TRAILER_SIZE = 8;
/** File names and comments in a header end somewhere; what goes on for longer than this is none. */
const TEXT_SIZE_MAX = 1 << 12;
const TRIAL_SIZE = 512;
/** A member that gives next to nothing for so many bytes was made to wear us out. */
const TRIAL_INPUT_SIZE = 4 * TRIAL_SIZE;
/** How many bytes may be looked at again after damage, beside twice the file's own size: a bound on hostile input. */
const RESCAN_FREE = 64 << 20;

/** Size of the gzip header at `pos`; 0 where more bytes are needed to tell, -1 where there is none. */
export function gzipHeaderSize(bytes: Uint8Array, pos: number, end: number): number {
  if (end - pos < HEADER_SIZE_MIN) return 0;
  const flags = bytes[pos + 3]!;
  if (bytes[pos] !== 0x1f || bytes[pos + 1] !== 0x8b || bytes[pos + 2] !== 8 || (flags & 0xe0) !== 0) return -1;
  if (flags === 0) return HEADER_SIZE_MIN;
  let at = pos + HEADER_SIZE_MIN;
  if ((flags & 4) !== 0) {
    if (at + 2 > end) return 0;
    at += 2 + bytes[at]! + bytes[at + 1]! * 256;
  }
  for (const flag of [8, 16]) {
    if ((flags & flag) === 0) continue;
    const zero = bytes.subarray(at, Math.min(end, at + TEXT_SIZE_MAX)).indexOf(0);
    if (zero < 0) return end - at >= TEXT_SIZE_MAX ? -1 : 0;
    at += zero + 1;
  }
  if ((flags & 2) !== 0) at += 2;
  return at > end ? 0 : at - pos;
}

/** A gzip file begins at `pos`. One of the two magic bytes may be damaged where the third is right. */
export function isGzip(bytes: Uint8Array, pos: number, end: number): boolean {
  if (end - pos < 2) return false;
  const right = (bytes[pos] === 0x1f ? 1 : 0) + (bytes[pos + 1] === 0x8b ? 1 : 0);
  return right === 2 || (right === 1 && end - pos > 2 && bytes[pos + 2] === 8);
}

type Phase = "between" | "searching" | "whole" | "data" | "trailer";

export interface GzipStreamOptions {
  /** The input begins anywhere, and the first member behind that is looked for. */
  readonly searching?: boolean | undefined;
  /** Members that fit in the windows may be inflated by an accelerator, where there is one; default true. */
  readonly accelerate?: boolean | undefined;
}

export class GzipStream extends CompressedStream {
  private readonly fast: Inflater = createInflater();
  private readonly careful = new PakoInflater();
  private readonly trial = Buffer.allocUnsafe(TRIAL_SIZE);
  private inflater: Inflater = this.fast;
  private phase: Phase = "between";
  private dataOffset = 0;
  private size = 0;
  private crc = 0;
  /** Decoded bytes that were given out before the member had to be decoded anew. */
  private skip = 0;
  /** The trailer was wrong, so that the end itself may have been. */
  private endDoubtful = false;
  private searchFrom = 0;
  private paddingFrom: number | undefined;
  private rescanned = 0;
  private readonly whole: WholeMembers | undefined;
  private released = false;

  constructor(input: SourceWindow, capacity: number, report: Report, options: GzipStreamOptions = {}) {
    super(input, capacity, report);
    if (options.accelerate !== false) this.whole = new WholeMembers(input, this.out);
    if (options.searching === true) {
      this.phase = "searching";
      this.searchFrom = Number.POSITIVE_INFINITY;
    }
  }

  override release(): void {
    super.release();
    if (!this.released) releaseInflater(this.fast);
    this.released = true;
  }

  override get memberEnded(): boolean {
    return this.phase === "between" || this.phase === "searching";
  }

  override begin(continuing: boolean): Step {
    const { input } = this;
    if (!continuing) input.keep = input.pos;
    for (;;) {
      if (this.phase === "searching") {
        const step = this.search();
        if (step !== Step.MORE) return step;
      }
      const skipped = this.skipPadding();
      if (skipped !== Step.MORE) return skipped;
      let headerSize = gzipHeaderSize(input.buffer, input.pos, input.end);
      while (headerSize === 0) {
        const step = this.fillInput();
        if (step === Step.NEED) return step;
        if (step === Step.END) headerSize = -1;
        else headerSize = gzipHeaderSize(input.buffer, input.pos, input.end);
      }
      if (headerSize > 0) {
        this.enter(headerSize);
        return Step.MORE;
      }
      if (this.endDoubtful) this.startSearch(this.memberOffset + 1);
      else this.startSearch(input.offset, input.offset);
      this.endDoubtful = false;
    }
  }

  private enter(headerSize: number): void {
    const { input, out } = this;
    this.memberOffset = input.offset;
    this.previousEndOffset = this.memberEndOffset;
    if (out.available === 0 && out.keep === out.pos) out.clear();
    this.memberPos = out.end;
    input.pos += headerSize;
    this.dataOffset = input.offset;
    this.endDoubtful = false;
    if (this.whole?.promising === true) this.phase = "whole";
    else this.startSteps();
  }

  /** From here on the member comes through the inflater, as much at a time as there is room for. */
  private startSteps(): void {
    this.inflater = this.fast;
    this.inflater.reset();
    this.size = this.crc = this.skip = 0;
    this.phase = "data";
  }

  private skipPadding(): Step {
    const { input } = this;
    // A source that answers later is asked again from the start.
    this.paddingFrom ??= input.offset;
    const from = this.paddingFrom;
    for (;;) {
      while (input.pos < input.end && input.buffer[input.pos] === 0) input.pos++;
      if (input.pos < input.end) break;
      input.keep = input.pos;
      const step = this.fillInput();
      if (step === Step.NEED) return step;
      if (step === Step.END) {
        this.paddingFrom = undefined;
        if (input.offset > from) this.report("HT_PADDING", `${input.offset - from} zero bytes at the end`, from);
        return Step.END;
      }
    }
    this.paddingFrom = undefined;
    if (input.offset > from) this.report("HT_PADDING", `${input.offset - from} zero bytes between members`, from);
    if (input.offset > from) input.keep = input.pos;
    return Step.MORE;
  }

  override more(): Step {
    const { input, out } = this;
    if (this.memberEnded) return Step.END;
    for (;;) {
      if (this.phase === "trailer") {
        const step = this.readTrailer();
        return step === Step.NEED ? step : Step.END;
      }
      if (out.end === out.buffer.length) this.memberPos -= out.compact();
      if (out.end === out.buffer.length) return Step.FULL;
      if (this.phase === "whole") {
        const given = this.whole!.inflate(this.memberOffset);
        if (given !== undefined) {
          this.memberEndOffset = input.offset;
          this.phase = "between";
          return given > 0 ? Step.MORE : Step.END;
        }
        this.startSteps();
      }
      let exhausted = false;
      if (input.pos === input.end) {
        const step = this.fillInput();
        if (step === Step.NEED) return step;
        // The inflater may hold output even when there is no more input.
        exhausted = step === Step.END;
      }
      const { inflater } = this;
      if (!inflater.inflate(input.buffer, input.pos, input.end, out.buffer, out.end, out.buffer.length)) {
        if (this.recover()) continue;
        return this.cut("HT_GZIP_DATA", "the compressed data is broken");
      }
      input.pos += inflater.taken;
      const given = this.accept(inflater.given);
      if (inflater.ended) {
        this.phase = "trailer";
        if (given > 0 && input.available >= TRAILER_SIZE) this.readTrailer();
      }
      if (given > 0) return Step.MORE;
      if (exhausted && !inflater.ended && inflater.given === 0) {
        return this.cut("HT_GZIP_TRUNCATED", "the file ends inside a gzip member");
      }
    }
  }

  /** Takes `given` new bytes behind `out.end` in; fewer where the first of them had been given out before. */
  private accept(given: number): number {
    const { out } = this;
    if (given === 0) return 0;
    this.crc = crc32(out.buffer.subarray(out.end, out.end + given), this.crc);
    this.size += given;
    if (this.skip > 0) {
      const dropped = Math.min(this.skip, given);
      this.skip -= dropped;
      out.buffer.copyWithin(out.end, out.end + dropped, out.end + given);
      out.end += given - dropped;
      return given - dropped;
    }
    out.end += given;
    return given;
  }

  private readTrailer(): Step {
    const { input } = this;
    while (input.available < TRAILER_SIZE) {
      const step = this.fillInput();
      if (step === Step.NEED) return step;
      if (step === Step.END) {
        this.cut("HT_GZIP_TRUNCATED", "the file ends inside a gzip member's trailer");
        return Step.END;
      }
    }
    const crc = input.buffer.readUInt32LE(input.pos);
    const size = input.buffer.readUInt32LE(input.pos + 4);
    input.pos += TRAILER_SIZE;
    this.memberEndOffset = input.offset;
    this.whole?.passed(this.memberEndOffset - this.memberOffset);
    this.phase = "between";
    if (crc !== this.crc || size !== this.size % 0x1_0000_0000) {
      this.report("HT_GZIP_CHECKSUM", crc !== this.crc ? "CRC-32 differs" : "size differs", this.memberOffset);
      this.endDoubtful = true;
    }
    return Step.MORE;
  }

  /** Decodes a broken member anew with the inflater that gives every byte before the damage. */
  private recover(): boolean {
    if (this.inflater === this.careful) return false;
    if (!this.mayRescan(this.dataOffset) || !this.input.seek(this.dataOffset)) return false;
    this.inflater = this.careful;
    this.careful.reset();
    this.skip = this.size;
    this.size = this.crc = 0;
    return true;
  }

  private cut(code: "HT_GZIP_TRUNCATED" | "HT_GZIP_DATA", message: string): Step {
    this.report(code, message, this.memberOffset);
    this.memberEndOffset = code === "HT_GZIP_TRUNCATED" ? this.input.offset : undefined;
    this.startSearch(this.memberOffset + 1);
    return Step.END;
  }

  private mayRescan(offset: number): boolean {
    const again = this.input.offset - offset;
    if (this.rescanned + again > RESCAN_FREE + 2 * this.input.offset) return false;
    this.rescanned += again;
    return true;
  }

  /**
   * From the next `begin` on, looks for a member from `offset`, or from where we are if that cannot be reached. What is
   * passed over is reported as garbage from `garbageFrom` on; behind a broken member, which has been reported, it is not.
   */
  private startSearch(offset: number, garbageFrom = Number.POSITIVE_INFINITY): void {
    if (offset < this.input.offset && this.mayRescan(offset)) this.input.seek(offset);
    this.searchFrom = garbageFrom;
    this.phase = "searching";
  }

  private search(): Step {
    const { input } = this;
    for (;;) {
      const at = input.pos < input.end ? input.buffer.indexOf(0x1f, input.pos) : -1;
      input.pos = at < 0 || at >= input.end ? input.end : at;
      input.keep = input.pos;
      if (input.available < HEADER_SIZE_MIN) {
        const step = this.fillInput();
        if (step === Step.NEED) return step;
        if (step === Step.END) {
          input.pos = input.keep = input.end;
          this.endSearch();
          return Step.END;
        }
        continue;
      }
      const verdict = this.tryMember();
      if (verdict === "need") return Step.NEED;
      if (verdict === "yes") {
        this.endSearch();
        return Step.MORE;
      }
      input.pos++;
    }
  }

  private endSearch(): void {
    const count = this.input.offset - this.searchFrom;
    if (count > 0) this.report("HT_GARBAGE", `${count} bytes that are no gzip member`, this.searchFrom);
    this.phase = "between";
  }

  /** Whether a member at `input.pos` begins with a record. */
  private tryMember(): "yes" | "no" | "need" {
    const { input, trial, fast } = this;
    for (;;) {
      const headerSize = gzipHeaderSize(input.buffer, input.pos, input.end);
      if (headerSize < 0) return "no";
      if (headerSize > 0) {
        const from = input.pos + headerSize;
        const to = Math.min(input.end, from + TRIAL_INPUT_SIZE);
        fast.reset();
        if (!fast.inflate(input.buffer, from, to, trial, 0, TRIAL_SIZE)) return "no";
        if (fast.given === TRIAL_SIZE || fast.ended || to - from === TRIAL_INPUT_SIZE) {
          return beginsRecord(trial, 0, fast.given) ? "yes" : "no";
        }
      }
      const step = this.fillInput();
      if (step === Step.NEED) return "need";
      if (step === Step.END) return headerSize > 0 && beginsRecord(trial, 0, fast.given) ? "yes" : "no";
    }
  }
}
