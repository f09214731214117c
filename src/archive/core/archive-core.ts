/**
 * What everybody who changes an archive works with. Order of every commit: records durable in their segment, then the
 * timeline, then the catalogue. What a crash leaves behind in a segment is entered when the archive is next opened for
 * writing, or cut off where it is torn.
 */
import { ArchiveError, type Clock, systemClock, type Warning } from "../../base/index.ts";
import { type Disk, type Lock, removeLeftovers } from "../../disk/index.ts";
import { type Input, readFacts } from "../../pipeline/index.ts";
import { WarcReader } from "../../warc/index.ts";
import type { Catalogue } from "../catalogue/catalogue.ts";
import { ADOPTED_SOURCES, type SegmentRow } from "../catalogue/catalogue-view.ts";
import { Indexer } from "../entering/indexer.ts";
import { SegmentEntry } from "../entering/segment-entry.ts";
import { mendJournal, readJournal } from "../journal/journal.ts";
import { ActiveSegment } from "../segments/active-segment.ts";
import {
  type ArchivePaths,
  type ArchiveSettings,
  archiveExists,
  archivePaths,
  createArchive,
  type NewArchiveOptions,
  readSettings,
} from "../segments/archive-folder.ts";
import {
  adoptedInput,
  cutSegment,
  isOddSegment,
  lastSegment,
  listSegments,
  numberBehind,
  openArchive,
  RecordShelf,
  saveTail,
  segmentInput,
  segmentPath,
  statAdopted,
} from "../segments/segments.ts";
import { tellsPlaced } from "../segments/source-record.ts";
import { applyJournal } from "./apply-journal.ts";
import { CatalogueFiles } from "./catalogue-files.ts";
import { Commits } from "./commits.ts";
import { type KnownBefore, knownBefore } from "./known-before.ts";

export interface WriterOptions extends NewArchiveOptions {
  /** Makes an archive where there is none. */
  readonly create?: boolean | undefined;
  readonly clock?: Clock | undefined;
  readonly onWarning?: ((warning: Warning) => void) | undefined;
  /** A commit is made when so many entries of the catalogue have changed; default 100,000. */
  readonly commitChangeCount?: number | undefined;
}

/** A crash tears no more than a record or two; of a segment in which nothing can be read more than this is left alone. */
const TORN_MAX = 1 << 16;

export class ArchiveCore implements Disposable {
  readonly disk: Disk;
  readonly paths: ArchivePaths;
  readonly settings: ArchiveSettings;
  readonly clock: Clock;
  readonly onWarning: (warning: Warning) => void;
  readonly catalogue: Catalogue;
  readonly shelf: RecordShelf;
  readonly segment: ActiveSegment;
  readonly indexer: Indexer;
  readonly commits: Commits;
  /** What the catalogue that counts until now knows, where it can be read and another one is made beside it. */
  readonly known: KnownBefore | undefined;
  private readonly files: CatalogueFiles;

  /** HT_NOT_FOUND where there is none, HT_LOCKED where somebody else writes. */
  static open(disk: Disk, folder: string, options: WriterOptions): ArchiveCore {
    if (!archiveExists(disk, folder) && options.create === true) {
      createArchive(disk, folder, options);
    }
    const settings = readSettings(disk, folder);
    const paths = archivePaths(folder);
    const lock = disk.lock(paths.lock);
    try {
      removeLeftovers(disk, folder);
      return new ArchiveCore(disk, paths, settings, lock, options, "counts");
    } catch (error) {
      lock.release();
      throw error;
    }
  }

  /**
   * With a catalogue and a timeline that hold nothing yet but what the journal tells. Who reads goes on with the old ones
   * until these are complete. Where what the old ones know does not matter, they are not so much as opened.
   */
  static beginAnew(disk: Disk, folder: string, options: WriterOptions, isOldOfInterest: boolean): ArchiveCore {
    const settings = readSettings(disk, folder);
    const paths = archivePaths(folder);
    const lock = disk.lock(paths.lock);
    let known: KnownBefore | undefined;
    try {
      removeLeftovers(disk, folder);
      known = isOldOfInterest ? knownBefore(disk, paths) : undefined;
      return new ArchiveCore(disk, paths, settings, lock, options, "rebuilt", known);
    } catch (error) {
      known?.[Symbol.dispose]();
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
    role: "counts" | "rebuilt",
    known?: KnownBefore,
  ) {
    this.known = known;
    this.disk = disk;
    this.paths = paths;
    this.settings = settings;
    this.clock = options.clock ?? systemClock;
    this.onWarning = options.onWarning ?? (() => {});
    this.files = new CatalogueFiles(disk, paths, lock, role);
    const { catalogue } = this.files;
    this.catalogue = catalogue;
    this.segment = this.activeSegment();
    const segmentOf = (number: number) => catalogue.segment(number);
    this.shelf = new RecordShelf(disk, paths.segments, segmentOf, (number, end) => this.segment.flush(number, end));
    this.indexer = new Indexer(catalogue, this.shelf);
    this.commits = new Commits(this, options.commitChangeCount);
    this.catchUp();
    for (const isOdd of role === "counts" ? [false, true] : []) {
      const last = lastSegment(disk, paths.segments, isOdd);
      if (last !== undefined && this.mayGoOn(last)) this.segment.resume(last);
    }
    this.commits.begin();
  }

  /** Whether the segment ends where the catalogue says, and was begun by a version that wrote as this one does. */
  private mayGoOn(number: number): boolean {
    const { end = 0, closed = false } = this.catalogue.segment(number) ?? {};
    if (closed || this.disk.stat(segmentPath(this.paths.segments, number))!.sizeBytes !== end) return false;
    return end === 0 || this.shelf.first(number, tellsPlaced) === true;
  }

  private activeSegment(): ActiveSegment {
    const { disk, paths, settings, clock } = this;
    const parts = {
      disk,
      folder: paths.segments,
      settings,
      clock,
      nextNumber: (isOdd: boolean) => this.nextSegment(isOdd),
      onSealed: (number: number, end: number) => this.catalogue.putSegment(number, { end }),
    };
    return new ActiveSegment(parts);
  }

  nextSegment(isOdd = false): number {
    const known = [...this.catalogue.segments()].map(({ number }) => number);
    return numberBehind([...listSegments(this.disk, this.paths.segments), ...known], isOdd);
  }

  /** Enters what the journal and the segments tell and the catalogue does not. */
  private catchUp(): void {
    const { catalogue, disk, paths } = this;
    const isKnown = catalogue.state.timelineCommit > 0;
    const inCatalogue = isKnown ? catalogue.journalEnds : (this.known?.journalEnds ?? []);
    const inSettings = this.settings.journal === undefined ? [] : [this.settings.journal];
    this.commits.followJournal(mendJournal(disk, paths.journal, [...inSettings, ...inCatalogue]));
    // A catalogue without any commit may have been lost, and one that is unfinished does not know all segments: then
    // nothing says that what it does not know was never acknowledged.
    const isAfresh = catalogue.state.timelineCommit === 0 || catalogue.state.unfinished > 0;
    if (isAfresh) catalogue.setUnfinished(true);
    applyJournal(catalogue, this.indexer, readJournal(disk, paths.journal, catalogue.state.journal));
    if (this.files.role === "rebuilt") return;
    const offered: Buffer[] = [];
    const enter = (digests: readonly Buffer[]) => {
      for (const digest of digests) offered.push(digest);
    };
    for (const number of listSegments(disk, paths.segments)) {
      if (catalogue.isLeftSegment(number)) {
        disk.remove(segmentPath(paths.segments, number));
        disk.syncFolder(paths.segments);
        catalogue.forgetSegment(number);
        continue;
      }
      const known = catalogue.segment(number)?.end ?? 0;
      const size = disk.stat(segmentPath(paths.segments, number))!.sizeBytes;
      if (size > known) enter(this.enterTail(number, known, isAfresh));
    }
    const unentered = [...catalogue.segments()].filter(({ row }) => row.end < (row.adopted?.size ?? 0));
    for (const { number, row } of unentered) enter(this.enterAdopted(number, row.adopted!));
    const wasUnfinished = isAfresh && catalogue.state.timelineCommit > 0;
    catalogue.setUnfinished(false);
    if (catalogue.changeCount > 0 || wasUnfinished) this.drop(offered);
  }

  /** Commits, and then forgets payloads of removed captures that turned out to be nobody's. */
  drop(offered: Iterable<Buffer>): void {
    this.commits.commit();
    this.indexer.dropUnheld(offered);
    if (this.catalogue.changeCount > 0) this.commits.commit();
  }

  /** What of a segment of ours is whole is entered, and what a crash tore at its end is cut off. */
  private enterTail(number: number, from: number, isAfresh: boolean): readonly Buffer[] {
    const path = segmentPath(this.paths.segments, number);
    {
      using file = this.disk.open(path, "update");
      // What is read may not be durable yet, and the catalogue is about to rely on it.
      file.sync();
    }
    const extent = isAfresh ? "all" : "until damage";
    const { end, removedDigests } = this.enterRecords(number, from, segmentInput(path, 0), extent);
    this.endSegment(number, end, isAfresh);
    return removedDigests;
  }

  /** `end` is that of the last record that was entered. */
  private endSegment(number: number, end: number, isAfresh: boolean): void {
    const { disk, paths, catalogue } = this;
    const path = segmentPath(paths.segments, number);
    const size = disk.stat(path)!.sizeBytes;
    const isLast = lastSegment(disk, paths.segments, isOddSegment(number)) === number;
    // Afresh, nothing says what was acknowledged: then only the end of all is taken for what a crash tore.
    if (isAfresh && size > end && !(isLast && (end > 0 || size <= TORN_MAX))) {
      catalogue.putSegment(number, { end: size, closed: true });
      return;
    }
    if (size > end) {
      // It may be more than a crash left: what is cut off then is kept beside the segment.
      if (isAfresh || catalogue.segment(number) === undefined) saveTail(disk, paths.segments, number, end);
      cutSegment(disk, paths.segments, number, end);
    }
    this.shelf.forget(number);
    catalogue.putSegment(number, { end });
  }

  private enterAdopted(number: number, adopted: NonNullable<SegmentRow["adopted"]>): readonly Buffer[] {
    if (statAdopted(this.disk, adopted.path)?.sizeBytes !== adopted.size) return [];
    const entry = this.adoptedEntry(number, true);
    const input = adoptedInput(this.disk, adopted.path, adopted.size);
    const { removedDigests } = this.enterRecords(number, 0, input, "all", entry);
    this.catalogue.putSegment(number, { adopted, end: adopted.size });
    return removedDigests;
  }

  /** `end` is that of the last record that was entered. */
  private enterRecords(
    number: number,
    from: number,
    input: Input,
    extent: "all" | "until damage",
    entry = this.segmentEntry(number),
  ) {
    const { source } = openArchive(this.disk, input);
    const reader = new WarcReader(source, { start: from, onWarning: () => {} });
    let end = from;
    try {
      for (const facts of readFacts(reader, input.name.replace(/^.*[/!]/, ""))) {
        const isWhole = facts.damaged === undefined && facts.length !== undefined;
        if (extent === "until damage" && (!isWhole || facts.offset !== end)) break;
        entry.take(facts);
        if (isWhole) end = facts.offset + facts.length!;
        this.commits.whereDue();
      }
    } catch (error) {
      // Not a single record is in it.
      if (!(error instanceof ArchiveError) || error.code !== "HT_FORMAT_UNKNOWN") throw error;
    } finally {
      reader.close();
      source.close?.();
    }
    entry.end();
    return { end, removedDigests: entry.removedDigests };
  }

  /** For a segment of our own, which goes on with the source of the one before it. */
  segmentEntry(number: number): SegmentEntry {
    return new SegmentEntry(this, number, this.catalogue.lastOwnSource());
  }

  /** For an adopted file, which the journal has made a source of its own; it may have been there before. */
  adoptedEntry(number: number, isNew: boolean): SegmentEntry {
    return new SegmentEntry(this, number, ADOPTED_SOURCES + number, isNew);
  }

  /** What was rebuilt has everything now: it counts from `close` on. */
  complete(): void {
    this.catalogue.setUnfinished(false);
    this.commits.commit();
    this.files.complete();
  }

  [Symbol.dispose](): void {
    try {
      if (this.files.role !== "rebuilt") this.commits.tidyTimeline();
    } finally {
      this.known?.[Symbol.dispose]();
      this.segment[Symbol.dispose]();
      this.shelf[Symbol.dispose]();
      this.commits[Symbol.dispose]();
      this.files.close(this.commits.hasFailed);
    }
  }
}
