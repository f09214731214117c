/**
 * The ends of the archive that are written to: the segment for ordinary records, and one for records at which other readers
 * of WARC files stop. One that has grown large enough is followed by another.
 */
import { type Clock, formatIso } from "../../base/index.ts";
import type { Disk } from "../../disk/index.ts";
import { derivedId } from "../../pipeline/index.ts";
import { type ByteSink, WarcWriter } from "../../warc/index.ts";
import type { RecordPlace } from "../catalogue/capture-row.ts";
import type { SourceRow } from "../catalogue/catalogue-view.ts";
import type { ArchiveSettings } from "./archive-folder.ts";
import { isOddSegment, SegmentWriter, segmentPath } from "./segments.ts";
import { PLACED_LINE, writeSource } from "./source-record.ts";

export interface ActiveSegmentParts {
  readonly disk: Disk;
  readonly folder: string;
  readonly settings: ArchiveSettings;
  readonly clock: Clock;
  /** Gives the number of the next segment. */
  readonly nextNumber: (isOdd: boolean) => number;
  /** A segment is complete and durable, and the next one begins. */
  readonly onSealed: (number: number, end: number) => void;
}

/** Number and end of a segment. */
export interface SegmentPosition {
  readonly number: number;
  readonly end: number;
}

/** Where the records come from that are being appended. */
interface Source {
  readonly number: number;
  readonly row: SourceRow;
}

/** One of the two ends. */
class Lane {
  readonly isOdd: boolean;
  writer: SegmentWriter | undefined;
  /** What the records in it were last said to come from. */
  told: number | undefined;
  private readonly parts: ActiveSegmentParts;

  constructor(parts: ActiveSegmentParts, isOdd: boolean) {
    this.parts = parts;
    this.isOdd = isOdd;
  }

  get position(): SegmentPosition | undefined {
    return this.writer && { number: this.writer.number, end: this.writer.end };
  }

  /** A segment in which there is room. */
  room(): SegmentWriter {
    const { disk, folder, settings, nextNumber } = this.parts;
    if (this.writer === undefined || this.writer.end >= settings.segmentSizeBytes) {
      this.turn();
      this.writer = new SegmentWriter(disk, folder, nextNumber(this.isOdd));
    }
    // Of one that was begun and torn nothing is left.
    if (this.writer.end === 0) this.writeWarcinfo(this.writer);
    return this.writer;
  }

  tell(source: Source): void {
    if (this.told === source.number && this.writer !== undefined) return;
    const writer = this.room();
    const place = { archiveId: this.parts.settings.id, segment: writer.number, offset: writer.end };
    writeSource(writer, source.number, source.row, place);
    this.told = source.number;
  }

  private writeWarcinfo(writer: SegmentWriter): void {
    const { settings, clock } = this.parts;
    const lines = ["software: holotype", "format: WARC File Format 1.1", `isPartOf: ${settings.id}`, PLACED_LINE];
    this.told = undefined;
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

  /** The next record goes into a segment of its own. */
  turn(): void {
    const { writer } = this;
    if (writer === undefined) return;
    writer.sync();
    writer[Symbol.dispose]();
    this.parts.onSealed(writer.number, writer.end);
    this.leave();
  }

  leave(): void {
    this.writer = undefined;
    this.told = undefined;
  }
}

export class ActiveSegment implements Disposable {
  private readonly parts: ActiveSegmentParts;
  private readonly lanes: readonly [plain: Lane, odd: Lane];
  private source: Source | undefined;

  constructor(parts: ActiveSegmentParts) {
    this.parts = parts;
    this.lanes = [new Lane(parts, false), new Lane(parts, true)];
  }

  private lane(isOdd: boolean): Lane {
    return this.lanes[isOdd ? 1 : 0];
  }

  /** Goes on with a segment that is there. All that is in it must have been entered. */
  resume(number: number): void {
    const lane = this.lane(isOddSegment(number));
    lane.writer = new SegmentWriter(this.parts.disk, this.parts.folder, number);
  }

  /** Those of both ends; absent for one before anything was written to it or it was resumed. */
  get positions(): readonly (SegmentPosition | undefined)[] {
    return this.lanes.map(({ position }) => position);
  }

  /**
   * Appends what `write` writes: one record as a gzip member. One that follows another stands right behind it, in the
   * same segment, however full that is: records that belong together are found by that.
   */
  append(write: (sink: ByteSink) => void, follows = false, isOdd = false): RecordPlace {
    const lane = this.lane(isOdd);
    if (!follows) {
      lane.room();
      if (this.source !== undefined) lane.tell(this.source);
    }
    const writer = lane.writer!;
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
    this.source = { number, row };
  }

  /** Says once more where the records come from, before the next ones: what a crash leaves is read from there on. */
  tellAgain(): void {
    for (const lane of this.lanes) lane.told = undefined;
  }

  /** Whether this is where the next record of its segment goes. */
  isEnd(number: number, end: number): boolean {
    return this.positions.some((position) => position?.number === number && position.end === end);
  }

  /** Sees to it that there is a segment to append to, though nothing may be appended. */
  begin(isOdd: boolean): void {
    this.lane(isOdd).room();
  }

  /** What was appended to this segment up to an end can be read when this returns. */
  flush(number: number, end: number): void {
    const { writer } = this.lane(isOddSegment(number));
    if (writer?.number === number && end > writer.flushedEnd) writer.flush();
  }

  /** Takes back what was appended behind these positions, as far as it is in the same segments. */
  undo(positions: ActiveSegment["positions"]): void {
    for (const [i, { writer }] of this.lanes.entries())
      if (writer !== undefined && writer.number === positions[i]?.number) writer.cut(positions[i].end);
    for (const lane of this.lanes) lane.told = undefined;
  }

  /** Takes back all that was appended behind these positions, with segments that were begun since. */
  takeBack(positions: ActiveSegment["positions"]): void {
    this.undo(positions);
    for (const [i, lane] of this.lanes.entries()) {
      const { writer } = lane;
      if (writer === undefined || writer.number === positions[i]?.number) continue;
      writer[Symbol.dispose]();
      lane.leave();
      this.parts.disk.remove(segmentPath(this.parts.folder, writer.number));
    }
  }

  /** The next records go into segments of their own. */
  turn(): void {
    for (const lane of this.lanes) lane.turn();
  }

  /** What was appended is durable when this returns. */
  sync(): void {
    for (const { writer } of this.lanes) writer?.sync();
  }

  [Symbol.dispose](): void {
    for (const { writer } of this.lanes) writer?.[Symbol.dispose]();
  }
}
