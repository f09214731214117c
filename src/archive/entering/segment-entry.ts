/**
 * Enters the records of a segment that lies there already: what a crash left unentered, an adopted file, or all of them
 * when everything is made anew. Records that stand right around a capture and belong to it are noted with it.
 */
import { ArchiveError, type Warning } from "../../base/index.ts";
import type { RecordFacts } from "../../pipeline/index.ts";
import { type CaptureKey, urlHash } from "../catalogue/capture-key.ts";
import { archiveKey, halfOf, isSameRecord, noteHash } from "../catalogue/capture-row.ts";
import { type Catalogue } from "../catalogue/catalogue.ts";
import { belongsTo, type Named } from "../segments/companions.ts";
import type { RecordShelf } from "../segments/segments.ts";
import { sourceIn, sourceNumberOf } from "../segments/source-record.ts";
import { type Indexer, markOf } from "./indexer.ts";

export interface EntryCounts {
  captures: number;
  known: number;
  removed: number;
  damaged: number;
}

export interface EntryParts {
  readonly catalogue: Catalogue;
  readonly indexer: Indexer;
  readonly shelf: RecordShelf;
  readonly onWarning: (warning: Warning) => void;
}

export class SegmentEntry {
  readonly counts: EntryCounts = { captures: 0, known: 0, removed: 0, damaged: 0 };
  /** Payloads of captures that were removed, and that others may still lead to. */
  readonly removedDigests: Buffer[] = [];
  private readonly catalogue: Catalogue;
  private readonly indexer: Indexer;
  private readonly shelf: RecordShelf;
  private readonly onWarning: (warning: Warning) => void;
  private readonly segment: number;
  private source: number;
  /** Records that are no captures, right before what comes next. */
  private held: RecordFacts[] = [];
  private last: { readonly named: Named; readonly key: CaptureKey; end: number } | undefined;

  constructor(parts: EntryParts, segment: number, source: number) {
    this.catalogue = parts.catalogue;
    this.indexer = parts.indexer;
    this.shelf = parts.shelf;
    this.onWarning = parts.onWarning;
    this.segment = segment;
    this.source = source;
  }

  take(facts: RecordFacts): void {
    if (isCut(facts)) {
      this.counts.damaged++;
      this.last = undefined;
      this.held = [];
      return;
    }
    if (facts.capture === undefined) this.takeNote(facts);
    else this.takeCapture(facts);
  }

  /** Enters what waits for a capture that does not come. */
  end(): void {
    for (const note of this.held.splice(0)) this.catalogue.addNote(noteHash(note.id ?? ""));
  }

  private takeNote(facts: RecordFacts): void {
    if (sourceNumberOf(facts.uri) !== undefined) this.takeSource(facts);
    const { last } = this;
    if (last !== undefined && last.end === facts.offset && belongsTo(facts, last.named)) {
      const length = facts.length ?? 0;
      this.indexer.extend(last.key, length);
      last.end += length;
      return;
    }
    this.held.push(facts);
  }

  private takeSource({ offset, length = 0, inner = 0 }: RecordFacts): void {
    const source = this.shelf.read({ segment: this.segment, offset, length, inner }, sourceIn);
    if (source === undefined) return;
    this.source = source.number;
    this.catalogue.putSource(source.number, source.row);
  }

  private takeCapture(facts: RecordFacts): void {
    const notes = this.held.splice(0);
    let before = 0;
    for (
      let note = notes.at(-1);
      note !== undefined && isCompanion(note, facts, facts.offset - before);
      note = notes.at(-1)
    ) {
      before += note.length!;
      notes.pop();
    }
    for (const note of notes) this.catalogue.addNote(noteHash(note.id ?? ""));
    this.last = undefined;
    const { offset, length = 0, inner = 0 } = facts;
    const place = { segment: this.segment, offset, length, inner };
    if (!this.isNew(facts)) {
      this.catalogue.markLoose(this.segment);
      return;
    }
    if (this.indexer.isRemoved(facts)) {
      this.catalogue.markLoose(this.segment);
      this.counts.removed++;
      this.indexer.enterRemoved(facts, place);
      if (facts.capture!.sha256 === undefined) return;
      this.removedDigests.push(halfOf(facts.capture!.sha256));
      return;
    }
    if (!this.hasRoom(facts)) return;
    const isOurs = facts.capture!.isOurs === true;
    const kind = isOurs ? "replaced" : (facts.type as "response" | "resource" | "revisit");
    const key = this.indexer.enter(facts, { kind, place, before, source: this.source });
    this.last = { named: { id: facts.id, with: facts.with }, key, end: offset + length };
    this.counts.captures++;
  }

  /** Whether one more of its moment can be entered; one that cannot is told of. The others of its file are none the worse. */
  private hasRoom({ uri, timeMs = 0, offset }: RecordFacts): boolean {
    try {
      this.catalogue.freeKey(urlHash(archiveKey(uri)), timeMs);
      return true;
    } catch (error) {
      if (!(error instanceof ArchiveError) || error.code !== "HT_TOO_LARGE") throw error;
      this.counts.damaged++;
      const file = this.shelf.nameOf(this.segment);
      this.onWarning({ code: "HT_RECORD_TRUNCATED", message: `not entered: ${error.message}`, file, offset });
      return false;
    }
  }

  private isNew(facts: RecordFacts): boolean {
    const mark = markOf(facts);
    const there = this.catalogue.capturesAt(urlHash(archiveKey(facts.uri)), facts.timeMs ?? 0);
    const { sha256, isOurs } = facts.capture!;
    // A revisit of ours had its payload when it came: it is told apart by that, as it was then.
    const isKnowable = sha256 !== undefined || (isOurs === true && there.length > 0);
    const digest = isKnowable ? this.indexer.digestOf(facts) : undefined;
    if (isKnowable && digest === undefined && this.indexer.isWaiting) return true;
    if (!there.some(({ row }) => isSameRecord(row, mark, digest))) return true;
    this.counts.known++;
    return false;
  }
}

/** Whether a note belongs to the capture, and ends where the capture or another of its notes begins. */
function isCompanion(note: RecordFacts, capture: RecordFacts, end: number): boolean {
  return note.length !== undefined && note.offset + note.length === end && belongsTo(note, capture);
}

function isCut({ damaged }: RecordFacts): boolean {
  return damaged === "cut";
}

/** Whether the record is taken in, and has a place of its own. */
export function isEntered(facts: RecordFacts): boolean {
  return !isCut(facts) && facts.length !== undefined;
}
