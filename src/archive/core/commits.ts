/**
 * The commits of one who writes an archive. Order of each: records durable in their segment, what the journal has to say,
 * how far it reaches in archive.json, the timeline, the catalogue. After a failure nothing is committed any more: a second sync of what a first one lost would
 * call it durable. Who opens the archive again finds what is there.
 */
import { ArchiveError, type Clock, formatIso } from "../../base/index.ts";
import type { Disk } from "../../disk/index.ts";
import { TimelineWriter } from "../../temporal/index.ts";
import type { Catalogue } from "../catalogue/catalogue.ts";
import type { JournalEnd } from "../catalogue/catalogue-view.ts";
import type { Indexer } from "../entering/indexer.ts";
import { appendJournal, type JournalEntry } from "../journal/journal.ts";
import type { ActiveSegment } from "../segments/active-segment.ts";
import { type ArchivePaths, type ArchiveSettings, noteJournal } from "../segments/archive-folder.ts";
import { applyJournal } from "./apply-journal.ts";

/** A commit is made when this much was written since the last one, or this many rows have changed. */
const COMMIT_BYTES = 64 << 20;
const COMMIT_CHANGES = 100_000;

export interface CommitParts {
  readonly disk: Disk;
  readonly paths: ArchivePaths;
  readonly settings: ArchiveSettings;
  readonly catalogue: Catalogue;
  readonly indexer: Indexer;
  readonly segment: ActiveSegment;
  readonly clock: Clock;
}

export class Commits implements Disposable {
  /** Rows that are changed before they are committed. */
  readonly changesMax: number;
  private readonly parts: CommitParts;
  private readonly timeline: TimelineWriter;
  /** Where the segment stood that was written to at the last commit. */
  private committed: ActiveSegment["positions"] = [];
  /** Timeline or catalogue may already lead to what was written since. */
  private isTelling = false;
  private failure: { readonly error: unknown } | undefined;
  /** How far the journal reaches, and how far archive.json says that it does. */
  private journalEnd: JournalEnd = { entries: 0 };
  private notedEnd: JournalEnd | undefined;

  constructor(parts: CommitParts, changesMax = COMMIT_CHANGES) {
    const { disk, paths, catalogue } = parts;
    this.parts = parts;
    this.changesMax = changesMax;
    this.notedEnd = parts.settings.journal;
    const { timeline, timelineCommit } = catalogue.state;
    // A timeline that is ahead knows of what the catalogue does not: it goes back, and hears of it again.
    const generation = timelineCommit === 0 ? undefined : timelineCommit;
    this.timeline = openTimeline(disk, paths.timeline(timeline), generation);
    // One that was written again by somebody who was cut off then, or mended, has a later number.
    if (timelineCommit > 0 && this.timeline.generation > timelineCommit) catalogue.commit(this.timeline.generation);
  }

  get hasFailed(): boolean {
    return this.failure !== undefined;
  }

  /** The journal was found to reach so far. */
  followJournal(end: JournalEnd): void {
    this.journalEnd = end;
    this.parts.catalogue.setJournalEnd(end);
  }

  /** From here on, what is written to the segment is new. */
  begin(): void {
    this.committed = this.parts.segment.positions;
  }

  whereDue(): void {
    const { segment, catalogue } = this.parts;
    const written = segment.positions.map((position, i) => (position?.end ?? 0) - (this.committed[i]?.end ?? 0));
    const isMuch = written.some((bytes) => Math.abs(bytes) > COMMIT_BYTES) || catalogue.changeBytes > COMMIT_BYTES;
    if (isMuch || catalogue.changeCount > this.changesMax) this.commit();
  }

  /** All that was entered is durable when this returns. */
  commit(): void {
    this.guard(() => {
      const { segment, indexer, catalogue } = this.parts;
      segment.sync();
      this.tellUntold();
      this.noteEnd();
      this.isTelling = true;
      indexer.settle(this.timeline);
      const { positions } = segment;
      for (const position of positions)
        if (position !== undefined) catalogue.putSegment(position.number, { end: position.end });
      this.committed = positions;
      segment.tellAgain();
      catalogue.commit(this.timeline.commitAlone().generation);
      // Not before: until the catalogue names the new commit, readers need the one that it has named so far.
      const { isChanged, generation } = this.timeline.compactWhereWorth();
      if (isChanged) catalogue.commit(generation);
      this.isTelling = false;
    });
  }

  /** What the catalogue knows already. The records that take the place of others are durable by now. */
  private tellUntold(): void {
    const { disk, paths, catalogue, clock, indexer } = this.parts;
    if (indexer.untold.isEmpty) return;
    const entries = indexer.untold.take(formatIso(clock.now()));
    this.followJournal(appendJournal(disk, paths.journal, this.journalEnd, entries));
    catalogue.count({ journal: entries.length });
  }

  /** Nothing that the journal says is acknowledged before archive.json knows how far it reaches. */
  private noteEnd(): void {
    const { disk, paths } = this.parts;
    const { entries, checksum = "00000000" } = this.journalEnd;
    if (this.notedEnd?.entries === entries && this.notedEnd.checksum === checksum) return;
    this.notedEnd = { entries, checksum };
    noteJournal(disk, paths, this.notedEnd);
  }

  /** Durable before it has any effect. What was written by halves is cut off by who opens the archive next. */
  journal(...entries: readonly JournalEntry[]): void {
    const { disk, paths, catalogue, indexer } = this.parts;
    this.guard(() => this.followJournal(appendJournal(disk, paths.journal, this.journalEnd, entries)));
    applyJournal(catalogue, indexer, entries);
  }

  /** Leaves the timeline in the room that it needs; thoroughly, with nothing of what was removed from it. */
  tidyTimeline(isThorough = false): void {
    const { catalogue } = this.parts;
    if (this.hasFailed || catalogue.changeCount > 0) return;
    const { isChanged, generation } = this.timeline.tidy(isThorough);
    if (isChanged) this.guard(() => catalogue.commit(generation));
  }

  /**
   * Takes back what was written to segments since the last commit, if nothing leads to it, and commits nothing any more. For
   * who has failed, and has written what is there anyway.
   */
  takeBack(error: unknown): void {
    this.failure ??= { error };
    if (!this.isTelling) this.parts.segment.takeBack(this.committed);
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

  [Symbol.dispose](): void {
    this.timeline[Symbol.dispose]();
  }
}

/** HT_CORRUPT, and nothing is touched, where the timeline does not know the commit that the catalogue names. */
function openTimeline(disk: Disk, path: string, generation: number | undefined): TimelineWriter {
  try {
    return TimelineWriter.open(disk, path, { generation });
  } catch (error) {
    if (!(error instanceof ArchiveError) || error.code !== "HT_CORRUPT") throw error;
    throw new ArchiveError("HT_CORRUPT", `${error.message}; \`holotype rebuild\` makes it again`, error.place, error);
  }
}
