/**
 * What everybody who changes an archive works with. Order of every commit: records durable in their segment, then the
 * timeline, then the catalogue. What a crash leaves behind in a segment is entered when the archive is next opened for
 * writing, or cut off where it is torn.
 */
import { ArchiveError, type Clock, invariant, type Random, systemClock, type Warning } from "../../base/index.ts";
import { type Disk, type Lock, removeLeftovers, removeTree } from "../../disk/index.ts";
import { type Input, readFacts } from "../../pipeline/index.ts";
import type { OrderedStore } from "../../rows/index.ts";
import { openRows } from "../../rows/index.ts";
import { type TimelineSnapshot, TimelineWriter } from "../../temporal/index.ts";
import { WarcReader } from "../../warc/index.ts";
import { Catalogue } from "../catalogue/catalogue.ts";
import { ADOPTED_SOURCES, type SegmentRow } from "../catalogue/catalogue-view.ts";
import { Indexer } from "../entering/indexer.ts";
import { lateRevisits } from "../entering/late-revisits.ts";
import { isEntered, SegmentEntry } from "../entering/segment-entry.ts";
import {
  appendJournal,
  enterJournal,
  type JournalEntry,
  mendJournal,
  type RemovedTraces,
  readJournal,
  readRemovedDigests,
} from "../journal/journal.ts";
import { ActiveSegment } from "../segments/active-segment.ts";
import {
  type ArchivePaths,
  type ArchiveSettings,
  archiveExists,
  archivePaths,
  createArchive,
  installCatalogue,
  lastCatalogue,
  listTimelines,
  readSettings,
  removeOtherCatalogues,
  requireTimeline,
  unfinishedCatalogue,
} from "../segments/archive-folder.ts";
import {
  adoptedInput,
  cutSegment,
  listSegments,
  openArchive,
  RecordShelf,
  saveTail,
  segmentInput,
  segmentPath,
  statAdopted,
} from "../segments/segments.ts";
import { type KnownBefore, knownBefore } from "./known-before.ts";
import { dropUnused, lostVisits } from "./removal.ts";

export interface WriterOptions {
  /** Makes an archive where there is none. */
  readonly create?: boolean | undefined;
  readonly segmentSizeBytes?: number | undefined;
  readonly clock?: Clock | undefined;
  readonly random?: Random | undefined;
  readonly onWarning?: ((warning: Warning) => void) | undefined;
  /** A commit is made when so many entries of the catalogue have changed; default 100,000. */
  readonly commitChangeCount?: number | undefined;
}

/** A crash tears no more than a record or two; of a segment in which nothing can be read more than this is left alone. */
const TORN_MAX = 1 << 16;

/** A commit is made when so much was written since the last one, or so many entries have changed. */
const COMMIT_BYTES = 64 << 20;
const COMMIT_CHANGES = 100_000;

export class ArchiveCore implements Disposable {
  readonly disk: Disk;
  readonly paths: ArchivePaths;
  readonly settings: ArchiveSettings;
  readonly clock: Clock;
  readonly catalogue: Catalogue;
  readonly shelf: RecordShelf;
  readonly segment: ActiveSegment;
  readonly onWarning: (warning: Warning) => void;
  /** Rows that are changed before they are committed. */
  readonly commitChanges: number;
  private readonly lock: Lock;
  private readonly store: OrderedStore;
  /** The number of the catalogue, and whether it is made anew beside the one that counts until it is complete. */
  private readonly number: number;
  private state: "counts" | "unfinished" | "complete";
  private timelineWriter: TimelineWriter;
  /** What the catalogue that counts until now knows, where it can be read and everything is made anew beside it. */
  readonly known: KnownBefore | undefined;
  /** Writes to the journal what has to be there before a commit relies on it. */
  beforeCommit: (() => void) | undefined;
  /** Where the segment stood that was written to at the last commit. */
  private committed: ActiveSegment["position"];
  /** Timeline or catalogue may already lead to what was written since. */
  private isTelling = false;
  private failure: { readonly error: unknown } | undefined;

  /** HT_NOT_FOUND where there is none, HT_LOCKED where somebody else writes. */
  static open(disk: Disk, folder: string, options: WriterOptions): ArchiveCore {
    if (!archiveExists(disk, folder) && options.create === true) {
      createArchive(disk, folder, { segmentSizeBytes: options.segmentSizeBytes, random: options.random });
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
  static beginAnew(
    disk: Disk,
    folder: string,
    options: WriterOptions,
    isOldOfInterest: boolean,
  ): ArchiveCore {
    const settings = readSettings(disk, folder);
    const paths = archivePaths(folder);
    const lock = disk.lock(paths.lock);
    try {
      removeLeftovers(disk, folder);
      const known = isOldOfInterest ? knownBefore(disk, paths) : undefined;
      return new ArchiveCore(disk, paths, settings, lock, options, "unfinished", known);
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
    state: "counts" | "unfinished",
    known?: KnownBefore,
  ) {
    this.known = known;
    this.disk = disk;
    this.paths = paths;
    this.settings = settings;
    this.lock = lock;
    this.clock = options.clock ?? systemClock;
    this.onWarning = options.onWarning ?? (() => {});
    this.commitChanges = options.commitChangeCount ?? COMMIT_CHANGES;
    this.state = state;
    removeOtherCatalogues(disk, paths);
    const last = lastCatalogue(disk, paths.folder);
    this.number = state === "counts" ? Math.max(1, last) : last + 1;
    this.store = openRows(
      disk,
      state === "counts" ? paths.catalogue(this.number) : unfinishedCatalogue(paths, this.number),
    );
    const timelines = listTimelines(disk, paths.folder);
    this.catalogue = new Catalogue(this.store, state === "counts" ? 1 : Math.max(0, ...timelines) + 1, paths.folder);
    if (state === "counts") this.removeOtherTimelines();
    const { timeline, timelineCommit } = this.catalogue.state;
    if (state === "counts" && timelineCommit > 0) requireTimeline(disk, paths.timeline(timeline));
    this.timelineWriter = TimelineWriter.open(disk, paths.timeline(timeline));
    const segmentOf = (number: number) => this.catalogue.segment(number);
    this.segment = this.activeSegment();
    this.shelf = new RecordShelf(disk, paths.segments, segmentOf, (number, end) => this.segment.flush(number, end));
    this.catchUp();
    const lastSegment = listSegments(disk, paths.segments).at(-1);
    if (state === "counts" && lastSegment !== undefined && this.mayGoOn(lastSegment)) this.segment.resume(lastSegment);
    this.committed = this.segment.position;
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

  /** Whether the segment ends where the catalogue says. */
  private mayGoOn(number: number): boolean {
    const { end = 0, closed = false } = this.catalogue.segment(number) ?? {};
    return !closed && this.disk.stat(segmentPath(this.paths.segments, number))!.sizeBytes === end;
  }

  private activeSegment(): ActiveSegment {
    const { disk, paths, settings, clock } = this;
    const parts = {
      disk,
      folder: paths.segments,
      settings,
      clock,
      nextNumber: () => this.nextSegment(),
      onSealed: (number: number, end: number) => this.catalogue.putSegment(number, { end }),
    };
    return new ActiveSegment(parts);
  }

  nextSegment(): number {
    let highest = listSegments(this.disk, this.paths.segments).at(-1) ?? 0;
    for (const { number } of this.catalogue.segments()) highest = Math.max(highest, number);
    return highest + 1;
  }

  /** Enters what the journal and the segments tell and the catalogue does not. */
  private catchUp(): void {
    const { catalogue, disk, paths } = this;
    const isKnown = catalogue.state.timelineCommit > 0;
    mendJournal(disk, paths.journal, isKnown ? catalogue.state.journal : this.known?.journal);
    // A catalogue without any commit may have been lost, and one that is unfinished does not know all segments: then
    // nothing says that what it does not know was never acknowledged.
    const isAfresh = catalogue.state.timelineCommit === 0 || catalogue.state.unfinished > 0;
    if (isAfresh) catalogue.setUnfinished(true);
    const removed = enterJournal(catalogue, readJournal(disk, paths.journal, catalogue.state.journal));
    if (this.state === "unfinished") return;
    const removedDigests: Buffer[] = [];
    const forget = (digests: Iterable<Buffer>) => {
      for (const digest of digests) removedDigests.push(digest);
    };
    for (const number of listSegments(disk, paths.segments)) {
      const known = catalogue.segment(number)?.end ?? 0;
      const size = disk.stat(segmentPath(paths.segments, number))!.sizeBytes;
      if (size > known) forget(this.enterTail(number, known, isAfresh));
    }
    for (const { number, row } of catalogue.segments()) {
      if (row.adopted !== undefined && row.end < row.adopted.size) forget(this.enterAdopted(number, row.adopted));
    }
    // What was entered before a crash has not told of its payloads in this run.
    if (isAfresh) forget(readRemovedDigests(disk, paths.journal));
    if (isAfresh) this.resolvePatient(removedDigests);
    catalogue.setUnfinished(false);
    dropUnused(catalogue, [...removed.digests.values(), ...removedDigests]);
    if (removed.keys.size > 0 && !isAfresh) this.forgetRemoved(removed);
    // What was committed unfinished is finished now.
    else if (catalogue.changeCount > 0 || (isAfresh && catalogue.state.timelineCommit > 0)) this.commit();
  }

  /** Everything is entered, and payloads of these were removed: what waited for that is resolved. */
  resolvePatient(removed: readonly Buffer[]): void {
    const { catalogue, disk, paths } = this;
    if (catalogue.state.pending === 0 && removed.length === 0) return;
    this.commit();
    const journal = () => readJournal(disk, paths.journal);
    if (catalogue.state.pending > 0) this.indexer.resolvePatient(() => this.commitWhereDue(), journal);
    this.commit();
    const late = lateRevisits(catalogue, removed, journal());
    if (late.length === 0) return;
    const keys = new Set(late.map(({ key }) => this.indexer.unsettle(key)));
    this.forgetRemoved({ keys, digests: new Map() });
  }

  /** Takes payloads out of the catalogue that no capture has, and commits. */
  drop(digests: Iterable<Buffer>): void {
    dropUnused(this.catalogue, digests);
    if (this.catalogue.changeCount > 0) this.commit();
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
    const isLast = listSegments(disk, paths.segments).at(-1) === number;
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
    if (statAdopted(this.disk, adopted.path) === undefined) return [];
    const entry = this.adoptedEntry(number);
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
        if (isEntered(facts)) end = facts.offset + facts.length!;
        this.commitWhereDue();
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

  /** For an adopted file, which the journal has made a source of its own. */
  adoptedEntry(number: number): SegmentEntry {
    return new SegmentEntry(this, number, ADOPTED_SOURCES + number);
  }

  /** Durable before it has any effect. What was written by halves is cut off by who opens the archive next. */
  journal(...entries: readonly JournalEntry[]): RemovedTraces {
    this.guard(() => appendJournal(this.disk, this.paths.journal, entries));
    return enterJournal(this.catalogue, entries);
  }

  /** Takes out of timeline and catalogue what is left of captures that the catalogue has no more, and commits. */
  forgetRemoved({ keys, digests }: RemovedTraces): void {
    this.guard(() => {
      dropUnused(this.catalogue, digests.values());
      this.segment.sync();
      // What waits to be written is not in a snapshot yet.
      this.timelineWriter.commitAlone();
      using snapshot: TimelineSnapshot = this.timelineWriter.snapshot();
      this.timelineWriter.remove(lostVisits(this.catalogue, snapshot, keys));
    });
    this.commit();
  }

  commitWhereDue(): void {
    const end = this.segment.position?.end ?? 0;
    if (Math.abs(end - (this.committed?.end ?? 0)) > COMMIT_BYTES || this.catalogue.changeCount > this.commitChanges)
      this.commit();
  }

  /**
   * All that was entered is durable when this returns. After a failure nothing is committed any more: a second sync of
   * what a first one lost would call it durable. Who opens the archive again finds what is there.
   */
  commit(): void {
    this.guard(() => {
      this.beforeCommit?.();
      this.segment.sync();
      this.isTelling = true;
      this.putPosition();
      this.catalogue.commit(this.timelineWriter.commitAlone().generation);
      // Not before: until the catalogue names the new commit, readers need the one that it has named so far.
      const { isChanged, generation } = this.timelineWriter.compactWhereWorth();
      if (isChanged) this.catalogue.commit(generation);
      this.isTelling = false;
    });
  }

  /**
   * Takes back what was written to segments since the last commit, if nothing leads to it, and commits nothing any more. For
   * who has failed, and has written what is there anyway.
   */
  takeBack(error: unknown): void {
    this.failure ??= { error };
    if (!this.isTelling) this.segment.takeBack(this.committed);
  }

  /** Does something after which, if it fails, nothing is committed any more. */
  guard(action: () => void): void {
    if (this.failure !== undefined) throw this.failure.error;
    try {
      action();
    } catch (error) {
      this.failure = { error };
      throw error;
    }
  }

  private putPosition(): void {
    const { position } = this.segment;
    if (position !== undefined) this.catalogue.putSegment(position.number, { end: position.end });
    this.committed = position;
  }

  /** What was made anew has everything now: it counts from `close` on. */
  complete(): void {
    invariant(this.state === "unfinished", "only what is made anew becomes complete");
    this.catalogue.setUnfinished(false);
    this.commit();
    this.state = "complete";
  }

  /** Leaves the timeline in the room that it needs; thoroughly, with nothing of what was removed from it. */
  tidyTimeline(isThorough = false): void {
    if (this.failure !== undefined || this.state === "unfinished" || this.catalogue.changeCount > 0) return;
    const { isChanged, generation } = this.timelineWriter.tidy(isThorough);
    if (isChanged) this.guard(() => this.catalogue.commit(generation));
  }

  [Symbol.dispose](): void {
    try {
      this.tidyTimeline();
    } finally {
      this.closeParts();
    }
  }

  private closeParts(): void {
    this.segment[Symbol.dispose]();
    this.shelf[Symbol.dispose]();
    this.timelineWriter[Symbol.dispose]();
    try {
      this.closeCatalogue();
    } finally {
      this.lock.release();
    }
  }

  /** Leaves one catalogue, in the room that it needs. */
  private closeCatalogue(): void {
    const { disk, paths, number, state } = this;
    let isCopied = false;
    try {
      isCopied = this.failure === undefined && state !== "unfinished" && this.copy(number + 1);
    } finally {
      this.store[Symbol.dispose]();
    }
    if (isCopied) installCatalogue(disk, paths, number + 1);
    else if (state === "complete") installCatalogue(disk, paths, number);
    if (state === "complete") this.removeOtherTimelines();
    if (state === "unfinished") this.removeUnfinished();
  }

  /** The error that ended it is on its way, and tells more than one of this; the next one to open the archive tries again. */
  private removeUnfinished(): void {
    const { disk, paths, catalogue } = this;
    try {
      removeOtherCatalogues(disk, paths);
      removeTree(disk, paths.timeline(catalogue.state.timeline));
    } catch (error) {
      if (!(error instanceof ArchiveError)) throw error;
    }
  }

  /** Whether there is a copy with this number now. Where there is no room for it, all stays as it is. */
  private copy(number: number): boolean {
    if (!this.store.isLoose()) return false;
    try {
      this.store.copyTo(unfinishedCatalogue(this.paths, number));
      return true;
    } catch (error) {
      if (!(error instanceof ArchiveError)) throw error;
      removeTree(this.disk, unfinishedCatalogue(this.paths, number));
      return false;
    }
  }
}
