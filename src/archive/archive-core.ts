/**
 * What everybody who changes an archive works with. Order of every commit: records durable in their segment, then the
 * timeline, then the catalogue. What a crash leaves behind in a segment is entered when the archive is next opened for
 * writing, or cut off where it is torn.
 */
import { ArchiveError, type Clock, type Random, systemClock, type Warning } from "../base/index.ts";
import { createDurably, type Disk, type Lock, removeLeftovers, removeTree } from "../disk/index.ts";
import { factsOf, type Input } from "../pipeline/index.ts";
import { type TimelineSnapshot, TimelineWriter } from "../temporal/index.ts";
import { WarcReader } from "../warc/index.ts";
import { ActiveSegment } from "./active-segment.ts";
import {
  type ArchivePaths,
  type ArchiveSettings,
  archiveExists,
  archivePaths,
  createArchive,
  listTimelines,
  readSettings,
} from "./archive-folder.ts";
import { Catalogue } from "./catalogue.ts";
import { Indexer } from "./indexer.ts";
import { appendJournal, enterJournal, type JournalEntry, mendJournal, readJournal } from "./journal.ts";
import { openLmdb } from "./lmdb-store.ts";
import type { OrderedStore } from "./ordered-store.ts";
import { dropUnused, timelineWithout } from "./removal.ts";
import { SegmentEntry } from "./segment-entry.ts";
import { adoptedInput, listSegments, openArchive, RecordShelf, segmentPath } from "./segments.ts";
import { sourceIn } from "./source-record.ts";

export interface WriterOptions {
  /** Makes an archive where there is none. */
  readonly create?: boolean | undefined;
  readonly segmentSizeBytes?: number | undefined;
  readonly clock?: Clock | undefined;
  readonly random?: Random | undefined;
  readonly onWarning?: ((warning: Warning) => void) | undefined;
  /** Where the catalogue is kept; default: LMDB. */
  readonly openStore?: ((disk: Disk, folder: string) => OrderedStore) | undefined;
}

/** A commit is made when so much was written or entered since the last one. */
const COMMIT_BYTES = 64 << 20;
const COMMIT_CHANGES = 100_000;

export class ArchiveCore {
  readonly disk: Disk;
  readonly paths: ArchivePaths;
  readonly settings: ArchiveSettings;
  readonly clock: Clock;
  readonly catalogue: Catalogue;
  readonly shelf: RecordShelf;
  readonly segment: ActiveSegment;
  readonly onWarning: (warning: Warning) => void;
  private readonly lock: Lock;
  private readonly store: OrderedStore;
  private timelineWriter: TimelineWriter;
  private committedEnd: number;

  /** HT_NOT_FOUND where there is none, HT_LOCKED where somebody else writes. */
  static open(disk: Disk, folder: string, options: WriterOptions, entering: "all" | "journal" = "all"): ArchiveCore {
    if (!archiveExists(disk, folder) && options.create === true) {
      createArchive(disk, folder, { segmentSizeBytes: options.segmentSizeBytes, random: options.random });
    }
    const settings = readSettings(disk, folder);
    const paths = archivePaths(folder);
    const lock = disk.lock(paths.lock);
    try {
      removeLeftovers(disk, folder);
      return new ArchiveCore(disk, paths, settings, lock, options, entering);
    } catch (error) {
      lock.release();
      throw error;
    }
  }

  private constructor(
    disk: Disk,
    paths: ArchivePaths,
    settings: ArchiveSettings,
    lock: Lock,
    options: WriterOptions,
    entering: "all" | "journal",
  ) {
    this.disk = disk;
    this.paths = paths;
    this.settings = settings;
    this.lock = lock;
    this.clock = options.clock ?? systemClock;
    this.onWarning = options.onWarning ?? (() => {});
    this.store = (options.openStore ?? openLmdb)(disk, paths.catalogue);
    this.catalogue = new Catalogue(this.store);
    this.removeOtherTimelines();
    this.timelineWriter = TimelineWriter.open(disk, paths.timeline(this.catalogue.state.timeline));
    const segmentOf = (number: number) => this.catalogue.segment(number);
    this.segment = this.openSegment();
    this.shelf = new RecordShelf(disk, paths.segments, segmentOf, (number) => this.segment.flush(number));
    this.catchUp(entering);
    this.committedEnd = this.segment.position?.end ?? 0;
  }

  get timeline(): TimelineWriter {
    return this.timelineWriter;
  }

  get indexer(): Indexer {
    return new Indexer(this.catalogue, this.timelineWriter, this.shelf, this.clock);
  }

  /** Of a catalogue without any commit none is right: it may be that of one that was lost. */
  private removeOtherTimelines(): void {
    const { disk, paths, catalogue } = this;
    const { timeline, timelineCommit } = catalogue.state;
    for (const number of listTimelines(disk, paths.folder)) {
      if (number !== timeline || timelineCommit === 0) removeTree(disk, paths.timeline(number));
    }
  }

  private openSegment(): ActiveSegment {
    const { disk, paths, settings, clock } = this;
    const parts = {
      disk,
      folder: paths.segments,
      settings,
      clock,
      nextNumber: () => this.nextSegment(),
      onSealed: (number: number, end: number) => this.catalogue.putSegment(number, { end }),
    };
    return new ActiveSegment(parts, listSegments(disk, paths.segments).at(-1));
  }

  nextSegment(): number {
    let highest = listSegments(this.disk, this.paths.segments).at(-1) ?? 0;
    for (const { number } of this.catalogue.segments()) highest = Math.max(highest, number);
    return highest + 1;
  }

  /** Enters what the journal and the segments tell and the catalogue does not. */
  private catchUp(entering: "all" | "journal"): void {
    const { catalogue, disk, paths } = this;
    mendJournal(disk, paths.journal);
    // Without any commit, the catalogue may have been lost: then nothing says where whole records must end.
    const isAfresh = catalogue.state.timelineCommit === 0;
    const removed = enterJournal(catalogue, readJournal(disk, paths.journal, catalogue.state.journal));
    if (entering === "journal") return;
    for (const number of listSegments(disk, paths.segments)) {
      const known = catalogue.segment(number)?.end ?? 0;
      const size = disk.stat(segmentPath(paths.segments, number))!.sizeBytes;
      if (size > known) this.enterTail(number, known, isAfresh);
    }
    for (const { number, row } of catalogue.segments()) {
      if (row.adopted !== undefined && row.end < row.adopted.size) this.enterAdopted(number, row.adopted);
    }
    if (removed && !isAfresh) this.forgetRemoved();
    else if (catalogue.changeCount > 0) this.commit();
  }

  /** What of a segment of ours is whole is entered, and what a crash tore at its end is cut off. */
  private enterTail(number: number, from: number, isAfresh: boolean): void {
    const path = segmentPath(this.paths.segments, number);
    {
      using file = this.disk.open(path, "update");
      // What is read may not be durable yet, and the catalogue is about to rely on it.
      file.sync();
    }
    const end = this.enterRecords(number, from, adoptedInput(path, 0), isAfresh ? "all" : "until damage");
    this.endSegment(number, end, isAfresh);
  }

  /** `end` is that of the last whole record. */
  endSegment(number: number, end: number, isAfresh: boolean): void {
    const { disk, paths } = this;
    const path = segmentPath(paths.segments, number);
    const size = disk.stat(path)!.sizeBytes;
    const isLast = listSegments(disk, paths.segments).at(-1) === number;
    const isCut = size > end && (isLast || !isAfresh);
    // It may be more than a crash left: what is cut off then is kept beside the segment.
    if (isCut && isAfresh) this.saveTail(path, end, size);
    if (isCut) this.segment.cut(number, end);
    this.shelf.forget(number);
    this.catalogue.putSegment(number, { end: isCut ? end : size });
  }

  private saveTail(path: string, end: number, size: number): void {
    using file = this.disk.open(path, "read");
    const piece = Buffer.alloc(1 << 16);
    createDurably(
      this.disk,
      `${path}.cut-at-${end}`,
      (output) => {
        for (let at = end; at < size; ) {
          const count = file.read(piece, at);
          output.write(piece.subarray(0, count));
          at += count;
        }
      },
      { replace: true },
    );
  }

  private enterAdopted(number: number, adopted: { path: string; size: number; modifiedMs: number }): void {
    if (this.disk.stat(adopted.path.split("!")[0]!) === undefined) return;
    this.enterRecords(number, 0, adoptedInput(adopted.path, adopted.size), "all");
    this.catalogue.putSegment(number, { adopted, end: adopted.size });
  }

  /** The end of the last record that is whole. */
  private enterRecords(number: number, from: number, input: Input, extent: "all" | "until damage"): number {
    const { source } = openArchive(this.disk, input);
    const entry = new SegmentEntry(this.catalogue, this.indexer, number, this.lastSource());
    const reader = new WarcReader(source, { start: from, onWarning: () => {} });
    const name = input.name.replace(/^.*[/!]/, "");
    let end = from;
    try {
      for (let record = reader.next(); record !== undefined; record = reader.next()) {
        const sourceRow = sourceIn(record);
        const facts = factsOf(record, name, () => {});
        const isWhole = facts.damaged === undefined && facts.length !== undefined;
        if (extent === "until damage" && (!isWhole || facts.offset !== end)) break;
        if (sourceRow !== undefined) this.catalogue.putSource(sourceRow.number, sourceRow.row);
        entry.take(facts);
        if (isWhole) end = facts.offset + facts.length;
      }
    } catch (error) {
      // Not a single record is in it.
      if (!(error instanceof ArchiveError) || error.code !== "HT_FORMAT_UNKNOWN") throw error;
    } finally {
      reader.close();
      source.close?.();
    }
    entry.end();
    dropUnused(this.catalogue, entry.removedDigests);
    return end;
  }

  lastSource(): number {
    let last = 0;
    for (const { number } of this.catalogue.sources()) last = Math.max(last, number);
    return last;
  }

  /** Durable before it has any effect. */
  journal(...entries: readonly JournalEntry[]): void {
    appendJournal(this.disk, this.paths.journal, entries);
    enterJournal(this.catalogue, entries);
  }

  /** Makes the timeline anew without the captures that the catalogue has no more, and commits. */
  forgetRemoved(): void {
    const { disk, paths, catalogue } = this;
    const before = catalogue.state.timeline;
    const number = before + 1;
    this.segment.sync();
    this.timelineWriter.commit();
    removeTree(disk, paths.timeline(number));
    const next = TimelineWriter.open(disk, paths.timeline(number));
    try {
      using snapshot: TimelineSnapshot = this.timelineWriter.snapshot();
      timelineWithout(catalogue, snapshot, next);
      const { generation } = next.commit();
      this.putPosition();
      catalogue.commit(generation, number);
    } catch (error) {
      next[Symbol.dispose]();
      throw error;
    }
    this.timelineWriter[Symbol.dispose]();
    this.timelineWriter = next;
    removeTree(disk, paths.timeline(before));
  }

  commitWhereDue(): void {
    const end = this.segment.position?.end ?? 0;
    if (Math.abs(end - this.committedEnd) > COMMIT_BYTES || this.catalogue.changeCount > COMMIT_CHANGES) this.commit();
  }

  /** All that was entered is durable when this returns. */
  commit(): void {
    this.segment.sync();
    this.putPosition();
    const { generation } = this.timelineWriter.commit();
    this.catalogue.commit(generation);
  }

  private putPosition(): void {
    const { position } = this.segment;
    if (position !== undefined) this.catalogue.putSegment(position.number, { end: position.end });
    this.committedEnd = position?.end ?? 0;
  }

  async close(): Promise<void> {
    this.segment[Symbol.dispose]();
    this.shelf[Symbol.dispose]();
    this.timelineWriter[Symbol.dispose]();
    this.catalogue[Symbol.dispose]();
    await this.store.close();
    this.lock.release();
  }
}
