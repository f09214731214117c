/** The end of the archive that is written to. A segment that has grown large enough is followed by another. */
import { type Clock, formatIso } from "../../base/index.ts";
import type { Disk } from "../../disk/index.ts";
import { derivedId } from "../../pipeline/index.ts";
import { type ByteSink, WarcWriter } from "../../warc/index.ts";
import type { RecordPlace } from "../catalogue/capture-row.ts";
import type { SourceRow } from "../catalogue/catalogue-view.ts";
import type { ArchiveSettings } from "./archive-folder.ts";
import { SegmentWriter, segmentPath } from "./segments.ts";
import { writeSource } from "./source-record.ts";

export interface ActiveSegmentParts {
  readonly disk: Disk;
  readonly folder: string;
  readonly settings: ArchiveSettings;
  readonly clock: Clock;
  /** Gives the number of the next segment. */
  readonly nextNumber: () => number;
  /** A segment is complete and durable, and the next one begins. */
  readonly onSealed: (number: number, end: number) => void;
}

export class ActiveSegment implements Disposable {
  private readonly parts: ActiveSegmentParts;
  private writer: SegmentWriter | undefined;
  /** Where the records come from that are being appended. */
  private source: { readonly number: number; readonly row: SourceRow } | undefined;

  constructor(parts: ActiveSegmentParts) {
    this.parts = parts;
  }

  /** Goes on with a segment that is there. All that is in it must have been entered. */
  resume(number: number): void {
    this.writer = new SegmentWriter(this.parts.disk, this.parts.folder, number);
  }

  /** Number and end; absent before anything was written or resumed. */
  get position(): { readonly number: number; readonly end: number } | undefined {
    return this.writer && { number: this.writer.number, end: this.writer.end };
  }

  /**
   * Appends what `write` writes: one record as a gzip member. One that follows another stands right behind it, in the
   * same segment, however full that is: records that belong together are found by that.
   */
  append(write: (sink: ByteSink) => void, follows = false): RecordPlace {
    const writer = follows ? this.writer! : this.room();
    const offset = writer.end;
    try {
      write(writer);
    } catch (error) {
      writer.cut(offset);
      throw error;
    }
    return { segment: writer.number, offset, length: writer.end - offset, inner: 0 };
  }

  /**
   * What is appended from here on comes from this source. Each segment says so for itself: those before and behind it
   * may go.
   */
  beginSource(number: number, row: SourceRow): void {
    if (this.writer !== undefined && this.source?.number === number) return;
    this.source = undefined;
    this.append((sink) => writeSource(sink, number, row));
    this.source = { number, row };
  }

  /** Sees to it that there is a segment to append to, though nothing may be appended. */
  begin(): void {
    this.room();
  }

  private room(): SegmentWriter {
    const { disk, folder, settings, nextNumber } = this.parts;
    if (this.writer !== undefined && this.writer.end < settings.segmentSizeBytes) {
      // Of one that was begun and torn nothing is left.
      if (this.writer.end === 0) this.writeWarcinfo(this.writer);
      return this.writer;
    }
    this.turn();
    this.writer = new SegmentWriter(disk, folder, nextNumber());
    this.writeWarcinfo(this.writer);
    if (this.source !== undefined) writeSource(this.writer, this.source.number, this.source.row);
    return this.writer;
  }

  private writeWarcinfo(writer: SegmentWriter): void {
    const { settings, clock } = this.parts;
    const lines = ["software: holotype", "format: WARC File Format 1.1", `isPartOf: ${settings.id}`];
    new WarcWriter(writer).write({
      fields: [
        ["WARC-Type", "warcinfo"],
        ["WARC-Record-ID", derivedId("segment", settings.id, String(writer.number))],
        ["WARC-Date", formatIso(clock.now())],
        ["Content-Type", "application/warc-fields"],
      ],
      block: Buffer.from(`${lines.join("\r\n")}\r\n`),
    });
  }

  /** What was appended to this segment up to an end can be read when this returns. */
  flush(number: number, end: number): void {
    if (this.writer?.number === number && end > this.writer.flushedEnd) this.writer.flush();
  }

  /** Takes back what was appended behind a position, if it is in the same segment. */
  undo(position: { readonly number: number; readonly end: number }): void {
    if (this.writer?.number === position.number) this.writer.cut(position.end);
  }

  /** Takes back all that was appended behind this position, with the segment if that was begun since. */
  takeBack(position: ActiveSegment["position"]): void {
    const { writer } = this;
    if (writer === undefined) return;
    if (writer.number === position?.number) return writer.cut(position.end);
    writer[Symbol.dispose]();
    this.writer = undefined;
    this.parts.disk.remove(segmentPath(this.parts.folder, writer.number));
  }

  /** The next record goes into a segment of its own. */
  turn(): void {
    this.writer?.sync();
    this.writer?.[Symbol.dispose]();
    if (this.writer !== undefined) this.parts.onSealed(this.writer.number, this.writer.end);
    this.writer = undefined;
  }

  /** What was appended is durable when this returns. */
  sync(): void {
    this.writer?.sync();
  }

  [Symbol.dispose](): void {
    this.writer?.[Symbol.dispose]();
  }
}
