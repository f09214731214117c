/**
 * The reader of WARC and ARC files, compressed or not. It slides a window over the file and hands out one record at a
 * time; a record that fits in the window is all there, a larger one streams. Damage is reported and reading goes on at
 * the next record that can be found.
 *
 * Invariants: `out.pos` is the next byte that nobody has looked at, or the start of the current record's unread body;
 * `remaining` counts that body; every pass of `advance` moves a position forward or ends, so reading always ends.
 */
import { ArchiveError, type ErrorCode, type Warning } from "../base/index.ts";
import { ARC_LINE_SIZE_MAX, parseArcVersion } from "./arc-line.ts";
import { type AnyByteSource, isAsyncSource } from "./byte-source.ts";
import { GzipStream } from "./gzip-stream.ts";
import type { MemberStream } from "./member-stream.ts";
import { PlainStream } from "./plain-stream.ts";
import { type RecordSource, WarcRecord } from "./record.ts";
import { findHeadEnd, HEAD_SIZE_MAX, parseArcHead, parseWarcHead, type RecordHead } from "./record-head.ts";
import { isArcLine, isWarcMagic, latin1, lineEnd, mayBecomeWarcMagic } from "./record-start.ts";
import { SourceWindow, Step, type Window } from "./window.ts";
import { isZstd, ZstdStream } from "./zstd-stream.ts";

export interface ReaderOptions {
  /** Offset at which to begin: that of a record, or where to look for one. */
  readonly start?: number | undefined;
  /** `start` is anywhere in a gzip file: begin with the first record that can be found behind it, silently. */
  readonly search?: boolean | undefined;
  /** Decoded bytes held at a time; a record up to this size needs no streaming. */
  readonly windowSize?: number | undefined;
  /** The first warning becomes an error. */
  readonly strict?: boolean | undefined;
  readonly onWarning?: ((warning: Warning) => void) | undefined;
}

export const WINDOW_SIZE_DEFAULT = 1 << 20;
/** Measured: 4 MB of a file at a time cost 3 % less than 1 MB. */
const INPUT_SIZE = 4 << 20;
const WINDOW_SIZE_MIN = 2 * HEAD_SIZE_MAX;
const MAGIC_SIZE = 6;
const LF = 10;
const CR = 13;

type Phase = "detect" | "start" | "head" | "fetch" | "body" | "done";

export class WarcReader implements RecordSource, Iterable<WarcRecord>, AsyncIterable<WarcRecord> {
  readonly name: string;
  /** Known once the first record has been read. */
  format: "warc" | "arc" | undefined;
  compression: "none" | "gzip" | "zstd" = "none";
  recordCount = 0;
  private readonly input: SourceWindow;
  private readonly options: ReaderOptions;
  private readonly outputSize: number;
  private stream: MemberStream;
  private phase: Phase = "detect";
  private current: WarcRecord | undefined;
  private warnings: Warning[] = [];
  private head: RecordHead | undefined;
  private startOffset = 0;
  private startInner = 0;
  private headScanned = 0;
  /** Bytes of the current block that have not been read. */
  private remaining = 0;
  /** The whole block lies unread in the window. */
  private whole = false;
  /** Line ends behind the block, once they have been looked at. */
  private tailSize: number | undefined;
  private endOffset: number | undefined;
  /** A member began inside the record, and whether it continues it is not yet known. */
  private boundary = false;
  private cutByRecord = false;
  /** The input ended before the block did. */
  private cutShort = false;
  private garbageFrom: number | undefined;
  private damaged = false;
  private sharedNoted = false;
  private arcVersion = "ARC/1";

  constructor(source: AnyByteSource, options: ReaderOptions = {}) {
    this.name = source.name;
    this.options = options;
    const size = Math.max(options.windowSize ?? WINDOW_SIZE_DEFAULT, WINDOW_SIZE_MIN);
    this.input = new SourceWindow(
      source,
      Math.max(size, Math.min(INPUT_SIZE, source.size ?? INPUT_SIZE)),
      options.start ?? 0,
    );
    this.outputSize = size;
    this.stream = new PlainStream(this.input);
  }

  private get out(): Window {
    return this.stream.out;
  }

  /** The next record, absent at the end. The one before it is gone with this call. */
  next(): WarcRecord | undefined {
    const step = this.advance();
    if (step === Step.MORE) return this.current;
    if (step === Step.NEED) throw new ArchiveError("HT_USAGE", "this source answers later: read with nextLater()");
    return undefined;
  }

  async nextLater(): Promise<WarcRecord | undefined> {
    for (;;) {
      const step = this.advance();
      if (step === Step.MORE) return this.current;
      if (step !== Step.NEED) return undefined;
      await this.stream.load();
    }
  }

  *[Symbol.iterator](): Generator<WarcRecord> {
    for (let record = this.next(); record !== undefined; record = this.next()) yield record;
  }

  async *[Symbol.asyncIterator](): AsyncGenerator<WarcRecord> {
    for (let record = await this.nextLater(); record !== undefined; record = await this.nextLater()) yield record;
  }

  /** Offset up to which the file has been read: behind the last record once it is done with, at the end of the file. */
  get position(): number {
    return this.input.offset;
  }

  private advance(): Step {
    for (;;) {
      let step: Step;
      switch (this.phase) {
        case "detect":
          step = this.detect();
          break;
        case "body":
          step = this.leaveRecord();
          break;
        case "start":
          step = this.findStart();
          break;
        case "head":
          step = this.readHead();
          break;
        case "fetch":
          step = this.fetch();
          if (step === Step.MORE) return step;
          break;
        case "done":
          return Step.END;
      }
      if (step === Step.NEED) return step;
      if (step === Step.END) return this.finish();
    }
  }

  private finish(): Step {
    this.phase = "done";
    this.current = undefined;
    if (this.recordCount === 0 && this.garbageFrom !== undefined && !this.damaged) {
      const place = { file: this.name, offset: 0 };
      throw new ArchiveError("HT_FORMAT_UNKNOWN", `${this.name}: no WARC or ARC record in it`, place);
    }
    this.endGarbage(this.stream.offset() + (this.compression === "none" ? 0 : this.stream.inner()));
    return Step.END;
  }

  private readonly report = (code: ErrorCode, message: string, offset: number): void => {
    if (code !== "HT_GARBAGE" && code !== "HT_PADDING") this.damaged = true;
    const warning: Warning = { code, message, file: this.name, offset };
    if (this.options.strict === true) throw new ArchiveError(code, `${this.name}:${offset}: ${message}`, warning);
    this.warnings.push(warning);
    this.options.onWarning?.(warning);
  };

  private detect(): Step {
    const { input } = this;
    const step = input.ensure(4);
    if (step === Step.NEED) return step;
    if (input.available === 0) return Step.END;
    const bytes = input.buffer;
    const at = input.pos;
    if (this.options.search === true || (input.available >= 2 && bytes[at] === 0x1f && bytes[at + 1] === 0x8b)) {
      this.compression = "gzip";
      this.stream = new GzipStream(input, this.outputSize, this.report, this.options.search);
    } else if (input.available >= 4 && isZstd(bytes, at)) {
      this.compression = "zstd";
      this.stream = new ZstdStream(input, this.outputSize, this.report);
    } else if (input.available >= 4 && bytes.readUInt32LE(at) === 0x04034b50) {
      const place = { file: this.name, offset: 0 };
      throw new ArchiveError(
        "HT_UNSUPPORTED",
        `${this.name}: a ZIP file; read the entries of a WACZ one by one`,
        place,
      );
    }
    // The bytes at hand are the one member of an uncompressed file, and its end must not be believed in before it comes.
    if (this.compression === "none") this.stream.begin(false);
    this.phase = "start";
    return Step.MORE;
  }

  /** Passes over line ends and garbage to the next record. */
  private findStart(): Step {
    const { stream, out } = this;
    for (;;) {
      while (out.pos < out.end && (out.buffer[out.pos] === LF || out.buffer[out.pos] === CR)) out.pos++;
      out.keep = out.pos;
      if (out.available === 0 && stream.memberEnded) {
        const step = stream.begin(false);
        if (step !== Step.MORE) return step;
        this.warnings = [];
      }
      const verdict = this.looksLikeStart();
      if (verdict === "yes") {
        this.endGarbage(stream.offset());
        this.startOffset = stream.offset();
        this.startInner = stream.inner();
        this.headScanned = 0;
        this.phase = "head";
        return Step.MORE;
      }
      if (verdict === "no") {
        this.garbageFrom ??= stream.offset();
        this.skipGarbage();
        continue;
      }
      const step = stream.more();
      if (step === Step.NEED) return step;
      if (step === Step.FULL) out.pos = out.keep = out.end;
    }
  }

  /** Whether a record begins at `out.pos`; `more` where the bytes at hand do not tell. */
  private looksLikeStart(): "yes" | "no" | "more" {
    const { out, stream } = this;
    const { buffer, pos, end } = out;
    if (this.format !== "arc") {
      if (isWarcMagic(buffer, pos, end)) return "yes";
      if (!stream.memberEnded && mayBecomeWarcMagic(buffer, pos, end)) return "more";
    }
    if (this.format === "warc" || pos === end) return pos === end ? "more" : "no";
    const first = buffer[pos]! | 32;
    if (first < 97 || first > 122) return "no";
    if (lineEnd(buffer, pos, end) === undefined) {
      return !stream.memberEnded && end - pos < ARC_LINE_SIZE_MAX ? "more" : "no";
    }
    return isArcLine(buffer, pos, end) ? "yes" : "no";
  }

  /** Moves `out.pos` to the next line; in a WARC file to the next that could be a record's first. */
  private skipGarbage(): void {
    const { out } = this;
    const { buffer, pos, end } = out;
    if (this.format === "arc" || this.recordCount === 0) {
      out.pos = lineEnd(buffer, pos, end) ?? end;
      return;
    }
    for (let at = buffer.indexOf("WARC/", pos + 1, "latin1"); at >= 0 && at < end; ) {
      if (buffer[at - 1] === LF) {
        out.pos = at;
        return;
      }
      at = buffer.indexOf("WARC/", at + 1, "latin1");
    }
    const lastLine = buffer.lastIndexOf(LF, end - 1);
    out.pos = lastLine > pos && end - lastLine < MAGIC_SIZE ? lastLine : end;
  }

  private endGarbage(offset: number): void {
    if (this.garbageFrom === undefined) return;
    const inside = this.compression === "none" ? `${offset - this.garbageFrom} bytes` : "bytes inside a member";
    this.report("HT_GARBAGE", `${inside} that belong to no record`, this.garbageFrom);
    this.garbageFrom = undefined;
    this.warnings = [];
  }

  private readHead(): Step {
    const { out } = this;
    const arc = !isWarcMagic(out.buffer, out.pos, out.end);
    for (;;) {
      const { buffer, pos, end } = out;
      const headEnd = arc ? lineEnd(buffer, pos, end) : findHeadEnd(buffer, pos + this.headScanned, end);
      if (headEnd !== undefined) {
        const head = arc ? parseArcHead(buffer, pos, headEnd, this.arcVersion) : parseWarcHead(buffer, pos, headEnd);
        if (head === undefined) throw new Error("an ARC line was recognised and then was not");
        this.beginRecord(head, headEnd);
        return Step.MORE;
      }
      // A line end and a run of carriage returns may stand at the end of what was scanned.
      let scanned = end;
      while (scanned > pos && buffer[scanned - 1] === CR) scanned--;
      this.headScanned = Math.max(0, scanned - pos - 1);
      if (end - pos > HEAD_SIZE_MAX) {
        this.report("HT_RECORD_HEADER_SIZE", `no end of the header within ${end - pos} bytes`, this.startOffset);
        return this.abandonHead();
      }
      const step = this.moreBody();
      if (step === Step.NEED) return step;
      if (step !== Step.MORE) {
        this.report("HT_RECORD_TRUNCATED", "the header of the record is cut off", this.startOffset);
        return this.abandonHead();
      }
    }
  }

  private abandonHead(): Step {
    const { out } = this;
    this.boundary = false;
    this.phase = "start";
    // Where a new member cut the header off, reading goes on with that member.
    if (this.stream.memberPos > out.pos) out.pos = this.stream.memberPos;
    else this.skipGarbage();
    out.keep = out.pos;
    return Step.MORE;
  }

  private beginRecord(head: RecordHead, headEnd: number): void {
    const { out } = this;
    const inner = this.startInner > 0 ? this.startInner : undefined;
    const place = { file: this.name, offset: this.startOffset, inner };
    if (!head.crlf) this.report("HT_LINE_ENDING", "header lines do not end in CR LF", this.startOffset);
    if (head.headers.oddLineCount > 0) this.report("HT_RECORD_HEADER", "a header line has no colon", this.startOffset);
    this.format ??= head.arc === undefined ? "warc" : "arc";
    this.head = head;
    this.current = new WarcRecord(this, place, head, head.blockSize);
    // The header stays in the window with the block, for whoever wants the record as it lies in the file.
    out.pos = headEnd;
    this.remaining = head.blockSize ?? Number.MAX_SAFE_INTEGER;
    this.tailSize = this.endOffset = undefined;
    this.whole = false;
    this.boundary = this.cutByRecord = this.cutShort = false;
    this.phase = "fetch";
  }

  /** Gets as much of the block into the window as fits, and with it what tells where the record ends. */
  private fetch(): Step {
    const { out } = this;
    while (out.available < this.remaining) {
      const step = this.moreBody();
      if (step === Step.NEED) return step;
      if (step === Step.END) this.endEarly();
      else if (step === Step.FULL) break;
    }
    if (this.head!.blockSize === undefined) this.guessLength();
    const record = this.current!;
    if (out.available >= this.remaining) {
      const step = this.readTail();
      if (step === Step.NEED) return step;
      record.blockSize = this.remaining;
      this.whole = true;
    }
    if (record.arc !== undefined && record.type === "warcinfo") {
      const version = parseArcVersion(latin1(out.buffer, out.pos, Math.min(out.end, out.pos + 64)));
      if (version !== undefined) this.arcVersion = `ARC/${version}`;
    }
    record.warnings = this.warnings;
    this.recordCount++;
    this.phase = "body";
    return Step.MORE;
  }

  /** More of the record at hand, from its member or the next; `END` where the input or another record cuts it off. */
  private moreBody(): Step {
    const { stream, out } = this;
    for (;;) {
      const step = stream.more();
      if (this.boundary) {
        if (step === Step.NEED) return step;
        const at = stream.memberPos;
        const enough = this.format === "arc" ? 512 : MAGIC_SIZE;
        if (step === Step.MORE && out.end - at < enough) continue;
        this.boundary = false;
        if (isWarcMagic(out.buffer, at, out.end) || (this.format === "arc" && isArcLine(out.buffer, at, out.end))) {
          this.remaining = at - out.pos;
          this.cutByRecord = true;
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

  /** The record has fewer bytes than its header says. */
  private endEarly(): void {
    const { out } = this;
    const said = this.head!.blockSize;
    const got = Math.min(this.remaining, out.available);
    this.remaining = got;
    if (said === undefined) return;
    if (this.cutByRecord) {
      this.remaining = this.withoutTail(got);
      this.report("HT_RECORD_LENGTH", "the next record begins before this one's length is up", this.startOffset);
    } else {
      this.cutShort = true;
      this.report("HT_RECORD_TRUNCATED", "the input ends inside the record", this.startOffset);
    }
  }

  /** Without a believable length the block ends before the next line that begins a record, or with what is at hand. */
  private guessLength(): void {
    const { out } = this;
    const message = "no usable Content-Length: the block was taken up to where the next record seems to begin";
    this.report("HT_RECORD_LENGTH", message, this.startOffset);
    this.remaining = Math.min(this.remaining, out.available);
    this.remaining = this.findRecordInside() ?? this.withoutTail(this.remaining);
  }

  /** `size` bytes of the block without the line ends, at most a separator's, that they end in. */
  private withoutTail(size: number): number {
    const { buffer, pos } = this.out;
    let left = size;
    while (left > 0 && size - left < 4 && (buffer[pos + left - 1] === LF || buffer[pos + left - 1] === CR)) left--;
    return left;
  }

  /** Size of the block before a record that begins inside it, line ends between them left out. */
  private findRecordInside(): number | undefined {
    const { buffer, pos } = this.out;
    const stop = pos + this.remaining;
    for (
      let at = buffer.indexOf("WARC/", pos, "latin1");
      at >= 0 && at < stop;
      at = buffer.indexOf("WARC/", at + 1, "latin1")
    ) {
      if (!isWarcMagic(buffer, at, this.out.end) || (at > pos && buffer[at - 1] !== LF)) continue;
      return this.withoutTail(at - pos);
    }
    return undefined;
  }

  /** Looks at the line ends behind a block that is all in the window, and checks that a record follows. */
  private readTail(): Step {
    const { out, stream } = this;
    for (;;) {
      const from = out.pos + this.remaining;
      let at = from;
      while (at < out.end && (out.buffer[at] === LF || out.buffer[at] === CR)) at++;
      if (out.end - at < MAGIC_SIZE && !stream.memberEnded) {
        const step = stream.more();
        if (step === Step.NEED) return step;
        if (step === Step.FULL) return Step.MORE;
        continue;
      }
      const doubtful = at < out.end ? !isWarcMagic(out.buffer, at, out.end) : this.cutShort;
      if (doubtful && this.format === "warc") {
        const inside = this.findRecordInside();
        if (inside !== undefined && inside < this.remaining) {
          this.report("HT_RECORD_LENGTH", "the length reaches into the next record", this.startOffset);
          this.remaining = inside;
          continue;
        }
      }
      this.tailSize = at - from;
      this.noteTail(at === out.end);
      return Step.MORE;
    }
  }

  /** With the tail known, so is where the record ends. */
  private noteTail(last: boolean): void {
    const { out, stream } = this;
    const held = out.pos;
    const size = this.tailSize!;
    out.pos += this.remaining + size;
    this.endOffset = stream.endOffset();
    out.pos = held;
    const expected = this.format === "arc" ? size === 1 || size === 2 || last : size === 4;
    if (!expected) {
      this.report("HT_RECORD_SEPARATOR", `${size} bytes of line ends behind the record`, this.startOffset);
    }
    if (!this.sharedNoted && (this.startInner > 0 || (this.endOffset === undefined && this.compression !== "none"))) {
      this.sharedNoted = true;
      this.report("HT_MEMBER_SHARED", "records share a compressed member", this.startOffset);
    }
  }

  /** Passes over what is left of the current record. */
  private leaveRecord(): Step {
    const { out } = this;
    while (this.remaining > 0) {
      const count = Math.min(this.remaining, out.available);
      out.pos += count;
      out.keep = out.pos;
      this.remaining -= count;
      if (this.remaining === 0) break;
      const step = this.moreBody();
      if (step === Step.NEED) return step;
      if (step === Step.END) this.endEarly();
    }
    if (this.tailSize === undefined) {
      const step = this.readTail();
      if (step === Step.NEED) return step;
    }
    out.pos += this.tailSize ?? 0;
    out.keep = out.pos;
    this.current = undefined;
    this.warnings = [];
    this.phase = "start";
    return Step.MORE;
  }

  private owns(record: WarcRecord): void {
    if (record !== this.current)
      throw new ArchiveError("HT_USAGE", "the record is gone: the next one has been asked for");
  }

  private takeBody(): Uint8Array | undefined {
    const { out } = this;
    const count = Math.min(this.remaining, out.available);
    if (count === 0) return undefined;
    const chunk = out.buffer.subarray(out.pos, out.pos + count);
    out.pos += count;
    this.remaining -= count;
    this.whole = false;
    return chunk;
  }

  /** Tries to have bytes of the body in the window; `END` where there are none left. */
  private loadBody(): Step {
    const { out } = this;
    if (this.remaining === 0) return this.tailSize === undefined ? this.finishBody() : Step.END;
    if (out.available > 0) return Step.MORE;
    out.keep = out.pos;
    const step = this.moreBody();
    if (step === Step.END) this.endEarly();
    return step;
  }

  /** The body has been read: find where the record ends, so that its length is known. */
  private finishBody(): Step {
    this.out.keep = this.out.pos;
    const step = this.readTail();
    return step === Step.NEED ? step : Step.END;
  }

  readBody(record: WarcRecord): Uint8Array | undefined {
    this.owns(record);
    const step = this.loadBody();
    if (step === Step.NEED) throw new ArchiveError("HT_USAGE", "this source answers later: read with for await");
    return step === Step.MORE ? this.takeBody() : undefined;
  }

  async readBodyLater(record: WarcRecord): Promise<Uint8Array | undefined> {
    for (;;) {
      this.owns(record);
      const step = this.loadBody();
      if (step === Step.MORE) return this.takeBody();
      if (step !== Step.NEED) return undefined;
      await this.stream.load();
    }
  }

  blockOf(record: WarcRecord): Buffer | undefined {
    if (record !== this.current || !this.whole) return undefined;
    return this.out.buffer.subarray(this.out.pos, this.out.pos + this.remaining);
  }

  endOf(record: WarcRecord): number | undefined {
    return record === this.current ? this.endOffset : undefined;
  }

  rawOf(record: WarcRecord): Uint8Array | undefined {
    if (record !== this.current || this.endOffset === undefined) return undefined;
    return this.stream.raw(record.offset, this.endOffset);
  }

  /** Whether reading needs `for await`. */
  get isAsync(): boolean {
    return isAsyncSource(this.input.source);
  }
}
