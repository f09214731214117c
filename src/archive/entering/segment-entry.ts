/**
 * Enters the records of a segment that lies there already: what a crash left unentered, an adopted file, or all of them
 * when everything is made anew. Records that stand right around a capture and belong to it are noted with it.
 */
import { factsOf, type RecordFacts } from "../../pipeline/index.ts";
import { type CaptureKey, noteMark } from "../catalogue/capture-key.ts";
import { type CaptureRow, Flag, halfOf, has, type RecordPlace } from "../catalogue/capture-row.ts";
import type { Catalogue } from "../catalogue/catalogue.ts";
import type { ArchiveSettings } from "../segments/archive-folder.ts";
import { belongsTo } from "../segments/companions.ts";
import { type RecordShelf, readable } from "../segments/segments.ts";
import { sourceIn, sourceNumberOf, tellsPlaced } from "../segments/source-record.ts";
import { type Indexer } from "./indexer.ts";
import { isAsEntered, kindOf } from "./own-row.ts";
import { joinRequests, requestFor } from "./requests.ts";
import { toldRecord } from "./told.ts";

export interface EntryCounts {
  captures: number;
  known: number;
  removed: number;
  damaged: number;
}

/** Records that may belong to a capture that is still to come. */
export const HELD_MAX = 64;

export interface EntryParts {
  readonly settings: ArchiveSettings;
  readonly catalogue: Catalogue;
  readonly indexer: Indexer;
  readonly shelf: RecordShelf;
}

export class SegmentEntry {
  readonly counts: EntryCounts = { captures: 0, known: 0, removed: 0, damaged: 0 };
  /** Payloads of captures that were removed, and that others may still lead to. */
  readonly removedDigests: Buffer[] = [];
  private readonly catalogue: Catalogue;
  private readonly indexer: Indexer;
  private readonly shelf: RecordShelf;
  private readonly archiveId: string;
  private readonly segment: number;
  private source: number;
  /** Whether records about sources say where they lie; known when the first one has come. */
  private isPlaced: boolean | undefined;
  /** Records that are no captures, right before what comes next. */
  private held: RecordFacts[] = [];
  /** Of the capture before; without a key where that was removed. */
  private last: { readonly named: RecordFacts; readonly key: CaptureKey | undefined; end: number } | undefined;
  /** The file comes for the first time: what belongs to captures that were removed stays away. */
  private readonly isNew: boolean;

  constructor(parts: EntryParts, segment: number, source: number, isNew = false) {
    this.isNew = isNew;
    this.catalogue = parts.catalogue;
    this.indexer = parts.indexer;
    this.shelf = parts.shelf;
    this.archiveId = parts.settings.id;
    this.segment = segment;
    this.source = source;
  }

  take(facts: RecordFacts): void {
    // What was adopted is what it is; what is our own was sound when it was written.
    const isRotten = facts.damaged !== undefined && this.catalogue.segment(this.segment)?.adopted === undefined;
    if (isCut(facts) || isRotten) {
      this.counts.damaged++;
      this.last = undefined;
      this.end();
      return;
    }
    if (facts.capture === undefined) this.takeNote(facts);
    else this.takeCapture(facts);
  }

  /** Enters what waits for a capture that does not come. */
  end(): void {
    for (const note of this.held.splice(0)) this.enterNote(note);
  }

  private takeNote(facts: RecordFacts): void {
    if (sourceNumberOf(facts.uri) !== undefined && this.takeSource(facts)) return;
    const { last } = this;
    if (!this.isContinuedElsewhere(facts)) this.indexer.enterContinuation(facts, this.placeOf(facts));
    if (last !== undefined && last.end === facts.offset && belongsTo(facts, last.named)) {
      const length = facts.length ?? 0;
      last.end += length;
      if (last.key === undefined) return this.takeWithRemoved(facts);
      this.indexer.extend(last.key, length, requestFor(last.named, facts));
      this.indexer.enterBeside(facts, last.named);
      return;
    }
    this.held.push(facts);
    if (this.held.length > HELD_MAX) this.enterNote(this.held.shift()!);
  }

  /** A crash may have left it twice: the first one counts, as for all notes. */
  private isContinuedElsewhere(facts: RecordFacts): boolean {
    const { origin, number } = facts.continuation ?? {};
    if (origin === undefined) return false;
    const place = this.catalogue.continuation(origin, number!, noteMark(facts))?.place;
    if (place === undefined || place.segment === this.segment) return false;
    const row = this.catalogue.segment(place.segment);
    return row !== undefined && row.adopted === undefined;
  }

  private placeOf({ offset, length = 0, inner = 0 }: RecordFacts): RecordPlace {
    return { segment: this.segment, offset, length, inner };
  }

  /** Whether it is a record of ours about where the following ones come from. In a file of others there is none. */
  private takeSource(facts: RecordFacts): boolean {
    const { catalogue, shelf, segment, archiveId } = this;
    if (catalogue.segment(segment)?.adopted !== undefined) return false;
    this.isPlaced ??= shelf.first(segment, tellsPlaced) === true;
    const isPlaced = this.isPlaced;
    const source = shelf.read(this.placeOf(facts), (record) =>
      sourceIn(record, { archiveId, segment, offset: facts.offset }, isPlaced),
    );
    if (source === undefined) return false;
    this.source = source.number;
    catalogue.putSource(source.number, source.row);
    return true;
  }

  private takeCapture(facts: RecordFacts): void {
    const notes = this.held.splice(0);
    const beside: RecordFacts[] = [];
    let before = 0;
    for (let note = notes.at(-1); note !== undefined; note = notes.at(-1)) {
      if (!isCompanion(note, facts, facts.offset - before)) break;
      before += note.length!;
      beside.push(notes.pop()!);
    }
    for (const note of notes) this.enterNote(note);
    this.last = undefined;
    const { offset, length = 0 } = facts;
    const place = this.placeOf(facts);
    const found = this.indexer.find(facts);
    const isKnown = this.indexer.isKnown(facts, found);
    const heals = isKnown && this.isRotten(found.same!.row);
    const left = this.catalogue.removedAt(this.segment, offset);
    const removed = found.same !== undefined && has(found.same.row, Flag.removed) ? found.same.row : undefined;
    if (left !== undefined || removed !== undefined) {
      this.takeRemoved(facts, place, left?.entry ?? removed!.source);
      // Where the journal has them too, they are judged by themselves: others may have come to stand there.
      const isTold = left !== undefined || has(removed!, Flag.besideTold);
      for (const note of beside)
        if (isTold && !this.isNew) this.enterNote(note);
        else this.takeWithRemoved(note);
      if (!isTold || this.isNew) this.last = { named: facts, key: undefined, end: offset + length };
    } else if (isKnown && !heals) this.takeKnown(beside);
    else {
      if (heals) this.indexer.standAlone(found.same!.row);
      const request = beside.map((note) => requestFor(facts, note)).reduce(joinRequests, undefined);
      const entered = { kind: kindOf(facts), place, before, source: this.source, request };
      const key = this.indexer.enter(facts, entered, found, heals);
      for (const note of beside) this.indexer.enterBeside(note, facts);
      this.last = { named: facts, key, end: offset + length };
      this.counts.captures++;
    }
  }

  /** Of two copies of our own, as a killed `add` may leave them that came to heal the first, only one may be readable. */
  private isRotten(row: CaptureRow): boolean {
    const { catalogue, shelf, segment } = this;
    const isOwn = (number: number) => catalogue.segment(number)?.adopted === undefined;
    if (!isOwn(segment) || !isOwn(row.place.segment)) return false;
    const facts = readable(() => shelf.read(row.place, (record) => factsOf(record, "", () => {})));
    return facts?.capture === undefined || !isAsEntered(row, facts.capture);
  }

  /** A record beside a removed capture. */
  private takeWithRemoved(note: RecordFacts): void {
    this.catalogue.markLoose(this.segment);
    if (this.isNew) this.refuse(note);
  }

  /** What belongs to a removed capture and comes with another file is removed, too. */
  private refuse(note: RecordFacts): void {
    if (this.catalogue.isRemovedNote(noteMark(note))) return;
    this.indexer.untold.refused.push(toldRecord(note));
    this.indexer.removeNote(noteMark(note), note.uri);
  }

  private takeRemoved(facts: RecordFacts, place: RecordPlace, entry: number): void {
    this.catalogue.markLoose(this.segment);
    this.counts.removed++;
    const { sha256 } = facts.capture!;
    if (sha256 === undefined) return;
    this.indexer.enterRemoved(facts, place, entry);
    this.removedDigests.push(halfOf(sha256));
  }

  /** A request beside it may tell more than was known. */
  private takeKnown(beside: readonly RecordFacts[]): void {
    this.counts.known++;
    this.catalogue.markLoose(this.segment);
    for (const note of beside) this.enterNote(note);
  }

  private enterNote(note: RecordFacts): void {
    const { catalogue, segment, isNew } = this;
    const { offset, length = 0 } = note;
    if (isNew && this.indexer.isOfRemoved(note)) this.refuse(note);
    if (!catalogue.isRemovedNote(noteMark(note)) && catalogue.removedAt(segment, offset) === undefined)
      this.indexer.enterNote(note, { segment, offset, length });
    else catalogue.markLoose(segment);
  }
}

/** Whether a note belongs to the capture, and ends where the capture or another of its notes begins. */
function isCompanion(note: RecordFacts, capture: RecordFacts, end: number): boolean {
  return note.length !== undefined && note.offset + note.length === end && belongsTo(note, capture);
}

function isCut({ damaged }: RecordFacts): boolean {
  return damaged === "cut";
}
