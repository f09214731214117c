/**
 * The one who writes an archive. Order of every commit: records durable in their segment, then the timeline, then the
 * catalogue. What a crash leaves behind in a segment is entered when the archive is next opened for writing, or cut off
 * where it is torn.
 */
import { ArchiveError, type Clock, type Random, systemClock, type Warning } from "../base/index.ts";
import type { Policy } from "../dedup/index.ts";
import { type Disk, type Lock, removeLeftovers } from "../disk/index.ts";
import { factsOf, type Input, runTask, type SkippedInput } from "../pipeline/index.ts";
import { TimelineWriter } from "../temporal/index.ts";
import { fileSource, WarcReader } from "../warc/index.ts";
import { ActiveSegment } from "./active-segment.ts";
import {
  type ArchivePaths,
  type ArchiveSettings,
  archiveExists,
  archivePaths,
  createArchive,
  readSettings,
} from "./archive-folder.ts";
import { Catalogue, type CatalogueState } from "./catalogue.ts";
import { FactsFeed } from "./facts-feed.ts";
import { Indexer } from "./indexer.ts";
import { Intake, type IntakeCounts } from "./intake.ts";
import { enterJournal, readJournal } from "./journal.ts";
import { openLmdb } from "./lmdb-store.ts";
import type { OrderedStore } from "./ordered-store.ts";
import { OriginalReferences } from "./original-references.ts";
import { SegmentEntry } from "./segment-entry.ts";
import { listSegments, RecordShelf, segmentPath } from "./segments.ts";

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

export interface AddOptions {
  readonly threads?: number | undefined;
  readonly policy?: Policy | undefined;
  readonly readmit?: boolean | undefined;
  /** Aborted, it takes nothing more; what was taken stays. */
  readonly signal?: AbortSignal | undefined;
  readonly onSkip?: ((skipped: SkippedInput) => void) | undefined;
  readonly onProgress?: Parameters<typeof runTask>[3]["onProgress"];
}

export interface AddReport extends IntakeCounts {
  readonly tally: Intake["tally"];
  readonly files: number;
  readonly skipped: number;
  /** Revisits of the whole archive whose originals are not there. */
  readonly pending: number;
}

/** A commit is made when so much was written or entered since the last one. */
const COMMIT_BYTES = 64 << 20;
const COMMIT_CHANGES = 100_000;

export class ArchiveWriter implements AsyncDisposable {
  readonly paths: ArchivePaths;
  readonly settings: ArchiveSettings;
  readonly catalogue: Catalogue;
  readonly shelf: RecordShelf;
  private readonly disk: Disk;
  private readonly clock: Clock;
  private readonly lock: Lock;
  private readonly store: OrderedStore;
  private readonly timeline: TimelineWriter;
  private readonly indexer: Indexer;
  private readonly segment: ActiveSegment;
  private readonly onWarning: (warning: Warning) => void;
  private committedEnd = 0;

  /** HT_NOT_FOUND where there is none, HT_LOCKED where somebody else writes. */
  static open(disk: Disk, folder: string, options: WriterOptions = {}): ArchiveWriter {
    const paths = archivePaths(folder);
    if (!archiveExists(disk, folder) && options.create === true) {
      createArchive(disk, folder, { segmentSizeBytes: options.segmentSizeBytes, random: options.random });
    }
    const settings = readSettings(disk, folder);
    const lock = disk.lock(paths.lock);
    try {
      removeLeftovers(disk, folder);
      return new ArchiveWriter(disk, paths, settings, lock, options);
    } catch (error) {
      lock.release();
      throw error;
    }
  }

  private constructor(disk: Disk, paths: ArchivePaths, settings: ArchiveSettings, lock: Lock, options: WriterOptions) {
    this.disk = disk;
    this.paths = paths;
    this.settings = settings;
    this.lock = lock;
    this.clock = options.clock ?? systemClock;
    this.onWarning = options.onWarning ?? (() => {});
    this.store = (options.openStore ?? openLmdb)(disk, paths.catalogue);
    this.catalogue = new Catalogue(this.store);
    this.timeline = TimelineWriter.open(disk, paths.timeline);
    const segmentOf = (number: number) => this.catalogue.segment(number);
    this.shelf = new RecordShelf(disk, paths.segments, segmentOf, (number) => this.segment?.flush(number));
    this.indexer = new Indexer(this.catalogue, this.timeline, this.shelf, this.clock);
    enterJournal(this.catalogue, readJournal(disk, paths.journal));
    this.catchUp();
    this.segment = this.openSegment();
    this.committedEnd = this.segment.position?.end ?? 0;
  }

  get state(): CatalogueState {
    return this.catalogue.state;
  }

  /** Enters what lies in the segments behind the end that the catalogue knows. */
  private catchUp(): void {
    for (const number of listSegments(this.disk, this.paths.segments)) {
      const known = this.catalogue.segment(number)?.end ?? 0;
      const size = this.disk.stat(segmentPath(this.paths.segments, number))!.sizeBytes;
      if (size > known) this.enterTail(number, known);
    }
    if (this.catalogue.changeCount > 0) this.catalogue.commit(this.timeline.commit().generation);
  }

  private enterTail(number: number, from: number): void {
    using file = this.disk.open(segmentPath(this.paths.segments, number), "update");
    // What is read may not be durable yet, and the catalogue is about to rely on it.
    file.sync();
    const source = this.lastSource();
    const entry = new SegmentEntry(this.catalogue, this.indexer, number, source);
    let end = from;
    const reader = new WarcReader(fileSource(file, file.path), { start: from, onWarning: () => {} });
    try {
      for (let record = reader.next(); record !== undefined; record = reader.next()) {
        const facts = factsOf(record, file.path, () => {});
        if (facts.damaged === true || facts.offset !== end || facts.length === undefined) break;
        entry.take(facts);
        end = facts.offset + facts.length;
      }
    } finally {
      reader.close();
    }
    entry.end();
    file.truncate(end);
    file.sync();
    this.shelf.forget(number);
    this.catalogue.putSegment(number, { end });
  }

  private lastSource(): number {
    let last = 0;
    for (const { number } of this.catalogue.sources()) last = Math.max(last, number);
    return last;
  }

  private openSegment(): ActiveSegment {
    const { disk, paths, settings, clock } = this;
    const own = listSegments(disk, paths.segments).at(-1);
    const parts = {
      disk,
      folder: paths.segments,
      settings,
      clock,
      nextNumber: () => this.nextSegment(),
      onSealed: (number: number, end: number) => this.catalogue.putSegment(number, { end }),
    };
    return new ActiveSegment(parts, own);
  }

  private nextSegment(): number {
    let highest = listSegments(this.disk, this.paths.segments).at(-1) ?? 0;
    for (const { number } of this.catalogue.segments()) highest = Math.max(highest, number);
    return highest + 1;
  }

  /** Adds archive files. Resolves when everything that it counts is durable. */
  async add(inputs: readonly Input[], options: AddOptions = {}): Promise<AddReport> {
    const { disk, catalogue, indexer, segment, clock, onWarning } = this;
    const references = new OriginalReferences(this.shelf);
    const { policy = {}, readmit = false, signal } = options;
    const parts = { disk, catalogue, indexer, segment, references, clock, policy, readmit, onWarning };
    using intake = new Intake(parts);
    let skipped = 0;
    const feed = new FactsFeed(inputs, {
      begin: (input) => intake.begin(input),
      take: (facts) => {
        if (signal?.aborted === true) throw new ArchiveError("HT_INTERRUPTED", "interrupted; what was taken stays");
        intake.take(facts);
        this.commitWhereDue();
      },
      end: () => intake.end(),
    });
    try {
      await runTask(
        disk,
        inputs,
        { kind: "facts" },
        {
          threads: options.threads ?? 1,
          onText: (text) => feed.text(text),
          onInputDone: (input) => feed.done(input),
          onWarning,
          onSkip: (skip) => {
            skipped++;
            options.onSkip?.(skip);
          },
          ...(options.onProgress === undefined ? {} : { onProgress: options.onProgress }),
        },
      );
    } catch (error) {
      // What was taken before stays, and is known when the rest comes.
      if (signal?.aborted === true) this.commit();
      throw error;
    }
    this.commit();
    const { pending } = catalogue.state;
    return { ...intake.counts, tally: intake.tally, files: inputs.length, skipped, pending };
  }

  private commitWhereDue(): void {
    const end = this.segment.position?.end ?? 0;
    if (Math.abs(end - this.committedEnd) > COMMIT_BYTES || this.catalogue.changeCount > COMMIT_CHANGES) this.commit();
  }

  /** All that was entered is durable when this returns. */
  commit(): void {
    this.segment.sync();
    const { position } = this.segment;
    if (position !== undefined) this.catalogue.putSegment(position.number, { end: position.end });
    const { generation } = this.timeline.commit();
    this.catalogue.commit(generation);
    this.committedEnd = position?.end ?? 0;
  }

  async [Symbol.asyncDispose](): Promise<void> {
    this.segment[Symbol.dispose]();
    this.shelf[Symbol.dispose]();
    this.timeline[Symbol.dispose]();
    this.catalogue[Symbol.dispose]();
    await this.store.close();
    this.lock.release();
  }
}
