/**
 * The reader of WARC and ARC files, compressed or not. It slides a window over the file and hands out one record at a
 * time; a record that fits in the window is all there, a larger one streams. Damage is reported and reading goes on at
 * the next record that can be found.
 *
 * Invariant: every pass of `advance` moves a position forward, waits for the source, or ends; so reading always ends.
 */
import { ArchiveError } from "../base/index.ts";
import { parseArcVersion } from "./arc-line.ts";
import { BlockReader } from "./block-reader.ts";
import type { AnyByteSource } from "./byte-source.ts";
import { GzipStream, isGzip } from "./gzip-stream.ts";
import type { MemberStream } from "./member-stream.ts";
import { PlainStream } from "./plain-stream.ts";
import { type RecordSource, WarcRecord } from "./record.ts";
import { type ArchiveFormat, RecordFinder } from "./record-finder.ts";
import { findHeadEnd, HEAD_SIZE_MAX, parseArcHead, parseWarcHead, type RecordHead } from "./record-head.ts";
import { isWarcMagic, latin1, lineEnd } from "./record-start.ts";
import { WarningLog, type WarningOptions } from "./warning-log.ts";
import { SourceWindow, Step } from "./window.ts";
import { isZstd, ZstdStream } from "./zstd-stream.ts";

export interface ReaderOptions extends WarningOptions {
  /** Offset at which to begin: that of a record, or where to look for one. */
  readonly start?: number | undefined;
  /** `start` is anywhere in a gzip file: begin with the first record that can be found behind it, silently. */
  readonly search?: boolean | undefined;
  /** Decoded bytes held at a time; a record up to this size needs no streaming. */
  readonly windowSize?: number | undefined;
  /**
   * Gzip members may be inflated by an accelerator, where there is one; default true, but false in strict mode. Content
   * is the same, proven by checksum and size; a fault in the form of a member, which zlib would tell, may go untold.
   */
  readonly accelerate?: boolean | undefined;
}

export const WINDOW_SIZE_DEFAULT = 1 << 20;
/** Measured: more at a time gains one thread little, and two threads lose by it what the caches hold. */
const INPUT_SIZE = 1 << 20;
const WINDOW_SIZE_MIN = 2 * HEAD_SIZE_MAX;
/** Real headers are smaller than this; one that is larger is not looked for inside one that has no end. */
const HEAD_SIZE_REAL = 1 << 16;
const ZIP_MAGIC = 0x04034b50;
const CR = 13;

type Phase = "detect" | "start" | "head" | "fetch" | "body" | "done";

export class WarcReader implements RecordSource, Iterable<WarcRecord>, AsyncIterable<WarcRecord> {
  readonly name: string;
  /** Known once the first record has been read. */
  format: ArchiveFormat;
  compression: "none" | "gzip" | "zstd" = "none";
  recordCount = 0;
  private readonly options: ReaderOptions;
  private readonly log: WarningLog;
  private readonly input: SourceWindow;
  private stream: MemberStream;
  private finder: RecordFinder;
  private block: BlockReader;
  private phase: Phase = "detect";
  private current: WarcRecord | undefined;
  private start = { offset: 0, inner: 0 };
  private headScanned = 0;
  private arcVersion = "ARC/1";

  constructor(source: AnyByteSource, options: ReaderOptions = {}) {
    this.name = source.name;
    this.options = options;
    this.log = new WarningLog(source.name, options);
    const size = Math.max(this.windowSize, Math.min(INPUT_SIZE, source.size ?? INPUT_SIZE));
    this.input = new SourceWindow(source, size, options.start ?? 0);
    this.stream = new PlainStream(this.input);
    this.finder = new RecordFinder(this.stream, this.log);
    this.block = new BlockReader(this.stream, this.log);
  }

  private get windowSize(): number {
    return Math.max(this.options.windowSize ?? WINDOW_SIZE_DEFAULT, WINDOW_SIZE_MIN);
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

  private advance(): Step {
    for (;;) {
      let step: Step;
      switch (this.phase) {
        case "detect":
          step = this.detect();
          break;
        case "start":
          step = this.findRecord();
          break;
        case "head":
          step = this.readHead();
          break;
        case "fetch":
          step = this.block.fetch();
          if (step === Step.MORE) return this.deliver();
          break;
        case "body":
          step = this.leave();
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
    if (this.recordCount === 0 && this.finder.inGarbage && !this.log.damaged) {
      const place = { file: this.name, offset: 0 };
      throw new ArchiveError("HT_FORMAT_UNKNOWN", `${this.name}: no WARC or ARC record in it`, place);
    }
    this.finder.endGarbage();
    return Step.END;
  }

  private detect(): Step {
    const { input, log } = this;
    const step = input.ensure(4);
    if (step === Step.NEED) return step;
    if (input.available === 0) return Step.END;
    const { buffer, pos, available } = input;
    if (this.options.search === true || isGzip(buffer, pos, input.end)) {
      this.compression = "gzip";
      const { search: searching, accelerate = this.options.strict !== true } = this.options;
      this.stream = new GzipStream(input, this.windowSize, log.report, { searching, accelerate });
    } else if (available >= 4 && isZstd(buffer, pos)) {
      this.compression = "zstd";
      const { start = 0 } = this.options;
      if (start > 0) input.seek(0);
      this.stream = new ZstdStream(input, this.windowSize, log.report, start);
    } else if (available >= 4 && buffer.readUInt32LE(pos) === ZIP_MAGIC) {
      const message = `${this.name}: a ZIP file; a WACZ must be given as a file, not as a stream`;
      throw new ArchiveError("HT_UNSUPPORTED", message, { file: this.name, offset: 0 });
    }
    // The bytes at hand are the one member of an uncompressed file, and its end must not be believed in before it comes.
    if (this.compression === "none") this.stream.begin(false);
    this.finder = new RecordFinder(this.stream, log);
    this.block = new BlockReader(this.stream, log);
    this.phase = "start";
    return Step.MORE;
  }

  private findRecord(): Step {
    const step = this.finder.find(this.format);
    if (step !== Step.MORE) return step;
    this.start = this.finder.takePosition();
    this.stream.mark(this.start.offset);
    this.block.enter(this.start.offset, this.start.inner, this.format);
    this.headScanned = 0;
    this.phase = "head";
    return step;
  }

  private readHead(): Step {
    const { out } = this.stream;
    const arc = !isWarcMagic(out.buffer, out.pos, out.end);
    for (;;) {
      const { buffer, pos, end } = out;
      const limit = Math.min(end, pos + HEAD_SIZE_MAX);
      const headEnd = arc ? lineEnd(buffer, pos, end) : findHeadEnd(buffer, pos + this.headScanned, limit);
      if (headEnd !== undefined) {
        const head = arc ? parseArcHead(buffer, pos, headEnd, this.arcVersion) : parseWarcHead(buffer, pos, headEnd);
        if (head === undefined) throw new Error("an ARC line was recognised and then was not");
        this.beginRecord(head, headEnd);
        return Step.MORE;
      }
      // A line end and a run of carriage returns may stand at the end of what was scanned.
      let scanned = limit;
      while (scanned > pos && buffer[scanned - 1] === CR) scanned--;
      this.headScanned = Math.max(0, scanned - pos - 1);
      if (end - pos >= HEAD_SIZE_MAX) {
        this.log.report(
          "HT_RECORD_HEADER_SIZE",
          `no end of the header within ${HEAD_SIZE_MAX} bytes`,
          this.start.offset,
        );
        return this.abandonHead(pos + HEAD_SIZE_MAX - HEAD_SIZE_REAL);
      }
      const step = this.block.more();
      if (step === Step.NEED) return step;
      if (step !== Step.MORE) {
        this.log.report("HT_RECORD_TRUNCATED", "the header of the record is cut off", this.start.offset);
        return this.abandonHead(out.end);
      }
    }
  }

  /** Goes on behind a header that has no end before `seen`: nor has any that begins before it. */
  private abandonHead(seen: number): Step {
    const { out, memberPos } = this.stream;
    this.phase = "start";
    this.log.turnOver();
    // Where a new member cut the header off, reading goes on with that member.
    out.pos = memberPos > out.pos ? memberPos : seen;
    if (memberPos < out.pos && out.pos < out.end) this.finder.skip(this.format);
    out.keep = out.pos;
    return Step.MORE;
  }

  private beginRecord(head: RecordHead, headEnd: number): void {
    const { offset, inner } = this.start;
    const { report } = this.log;
    if (!head.crlf) report("HT_LINE_ENDING", "header lines do not end in CR LF", offset);
    if (head.headers.oddLineCount > 0) report("HT_RECORD_HEADER", "a header line has no colon", offset);
    this.format ??= head.arc === undefined ? "warc" : "arc";
    const place = { file: this.name, offset, inner: inner > 0 ? inner : undefined };
    this.current = new WarcRecord(this, place, head, head.blockSize);
    // The header stays in the window with the block, for whoever wants the record as it lies in the file.
    this.stream.out.pos = headEnd;
    this.block.begin(head.blockSize, this.format);
    this.phase = "fetch";
  }

  private deliver(): Step {
    const record = this.current!;
    record.blockSize = this.block.wholeSize ?? record.blockSize;
    record.warnings = this.log.current;
    if (record.arc !== undefined && record.type === "warcinfo") {
      const { buffer, pos, end } = this.stream.out;
      const version = parseArcVersion(latin1(buffer, pos, Math.min(end, pos + 64)));
      if (version !== undefined) this.arcVersion = `ARC/${version}`;
    }
    this.recordCount++;
    this.phase = "body";
    return Step.MORE;
  }

  private leave(): Step {
    const step = this.block.leave();
    if (step !== Step.MORE) return step;
    this.current = undefined;
    this.log.turnOver();
    this.phase = "start";
    return step;
  }

  private owns(record: WarcRecord): void {
    if (record === this.current) return;
    throw new ArchiveError("HT_USAGE", "the record is gone: the next one has been asked for");
  }

  readBody(record: WarcRecord): Uint8Array | undefined {
    this.owns(record);
    const step = this.block.load();
    if (step === Step.NEED) throw new ArchiveError("HT_USAGE", "this source answers later: read with for await");
    return step === Step.MORE ? this.block.take() : undefined;
  }

  async readBodyLater(record: WarcRecord): Promise<Uint8Array | undefined> {
    for (;;) {
      this.owns(record);
      const step = this.block.load();
      if (step === Step.MORE) return this.block.take();
      if (step !== Step.NEED) return undefined;
      await this.stream.load();
    }
  }

  /** Ends the reading; the record at hand is gone. Not needed, but the next reader is spared an allocation. */
  close(): void {
    this.phase = "done";
    this.current = undefined;
    this.stream.release();
    this.input.release();
  }

  blockOf(record: WarcRecord): Buffer | undefined {
    return record === this.current ? this.block.block : undefined;
  }

  endOf(record: WarcRecord): number | undefined {
    return record === this.current ? this.block.endOffset : undefined;
  }

  checksumOf(record: WarcRecord): number | undefined {
    const end = this.endOf(record);
    return end === undefined ? undefined : this.stream.sourceChecksum(record.offset, end);
  }

  rawOf(record: WarcRecord): Uint8Array | undefined {
    const end = this.endOf(record);
    return end === undefined ? undefined : this.stream.raw(record.offset, end);
  }
}
