/**
 * The segment that is appended to. Records become durable in groups, in the order in which they were given. When the
 * segment is full it is sealed and the next one begun; records that come meanwhile wait, for nothing may be durable
 * before what it refers to.
 */
import { AppendLog, type Disk } from "../../disk/index.ts";
import { SEPARATOR } from "../../warc/index.ts";
import { formatWarcinfo } from "./pack-record.ts";
import { segmentFolder, segmentPath } from "./segment.ts";

export interface AppendedRecord {
  readonly segment: number;
  readonly offset: number;
  readonly headSize: number;
  readonly end: number;
  readonly durable: Promise<unknown>;
}

export class SegmentWriter {
  readonly segment: number;
  private readonly folder: string;
  private readonly log: AppendLog;
  /** Where the next record goes: what the log has accepted, and what waits in it. */
  private end: number;

  /** Appends behind `end` of a segment that is there, or begins it. */
  constructor(disk: Disk, folder: string, segment: number) {
    this.folder = folder;
    this.segment = segment;
    const path = segmentPath(folder, segment);
    const present = disk.stat(path) !== undefined;
    const file = disk.open(path, present ? "update" : "create");
    this.end = file.size();
    this.log = new AppendLog(file);
    if (!present) disk.syncFolder(segmentFolder(folder));
  }

  get size(): number {
    return this.end;
  }

  /** Up to where the segment is durable for sure. */
  get durableEnd(): number {
    return this.log.durableEnd;
  }

  /** Whether what ends there can be read from the file. */
  isDurable(segment: number, end: number): boolean {
    return segment !== this.segment || end <= this.log.durableEnd;
  }

  append(head: Buffer, data: Uint8Array): AppendedRecord {
    const offset = this.end;
    this.end += head.length + data.length + SEPARATOR.length;
    const durable = this.log.append(head, data, SEPARATOR);
    return { segment: this.segment, offset, headSize: head.length, end: this.end, durable };
  }

  /** What a segment begins with. */
  begin(volumeId: string, nowMs: number): Promise<unknown> {
    return this.append(formatWarcinfo(volumeId, nowMs), new Uint8Array(0)).durable;
  }

  /** Resolves when all that was appended so far is durable. */
  async settle(): Promise<void> {
    await this.log.append();
  }

  async close(): Promise<void> {
    await this.log.close();
  }

  get path(): string {
    return segmentPath(this.folder, this.segment);
  }
}
