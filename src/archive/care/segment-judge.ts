/**
 * What of a segment is alive: records of captures that are there, what belongs to them, notes that nobody removed, and what
 * cannot be read and is not known to be removed. A segment in which something cannot be read is judged by what the catalogue
 * says of its places: behind damage, what looks like a record may be part of another.
 */
import { ArchiveError } from "../../base/index.ts";
import { factsOf, type RecordFacts, readFacts } from "../../pipeline/index.ts";
import { WarcReader } from "../../warc/index.ts";
import { archiveKey, noteMark } from "../catalogue/capture-key.ts";
import {
  type CaptureRow,
  Flag,
  halfOf,
  has,
  isSamePlace,
  type Payload,
  type RecordPlace,
} from "../catalogue/capture-row.ts";
import type { FoundCapture } from "../catalogue/catalogue-view.ts";
import type { ArchiveCore } from "../core/archive-core.ts";
import { livingOf, standsBeside } from "../entering/removed-notes.ts";
import { HELD_MAX } from "../entering/segment-entry.ts";
import { belongsTo } from "../segments/companions.ts";
import { openArchive, readable, segmentInput, segmentPath } from "../segments/segments.ts";
import type { Heirs } from "./heirs.ts";

/** Some bytes of a segment, most often a record, and what of the catalogue leads to them. */
export interface Judged {
  readonly from: number;
  readonly to: number;
  readonly isAlive: boolean;
  /** Captures that lie here. */
  readonly captures: readonly FoundCapture[];
  /** The first of them is a revisit of ours to a record that is not there any more. */
  readonly stale: boolean;
  /** A payload that others share, of a removed capture, and where that lies. */
  readonly original?: Pick<Payload, "sha256"> | undefined;
  readonly place?: RecordPlace | undefined;
  /** Of its capture, if that is known. */
  readonly source: number | undefined;
  /** It belongs together with the record before it, and stays right behind that. */
  readonly follows: boolean;
  /** A record that is not a capture. */
  readonly note?: RecordFacts | undefined;
  /** It stands by itself, or will. */
  readonly isApart: boolean;
}

/** A capture's record as it was read. */
interface JudgedCapture extends Judged {
  readonly facts: RecordFacts;
  /** The same capture, if it is there, but in another place. */
  readonly elsewhere: CaptureRow | undefined;
}

type Use = (judged: Judged) => void;

const NONE = { captures: [], stale: false, source: undefined, follows: false, isApart: false } as const;

export class SegmentJudge {
  private readonly core: ArchiveCore;
  private readonly heirs: Heirs;
  private readonly unsound = new Set<number>();

  constructor(core: ArchiveCore, heirs: Heirs) {
    this.core = core;
    this.heirs = heirs;
  }

  /** Whether every byte of a segment belongs to a record that is whole. Known when all of it was looked at. */
  isSound(number: number): boolean {
    return !this.unsound.has(number);
  }

  /** Goes through a segment in order. What was told before `onUnsound` is void, and told again. */
  look(number: number, use: Use, onUnsound: () => void): void {
    if (this.isSound(number)) {
      if (this.lookAtRecords(number, use)) return;
      this.unsound.add(number);
      onUnsound();
    }
    this.lookAtPlaces(number, use);
  }

  /** Whether a capture or a payload leads there. */
  isLedTo(number: number): boolean {
    let isLedTo = false;
    const use = ({ captures, original }: Judged) => {
      isLedTo ||= captures.length > 0 || original !== undefined;
    };
    if (!this.isSound(number)) for (const judged of this.places(number)) use(judged);
    else if (!this.lookAtRecords(number, use)) return true;
    return isLedTo;
  }

  private *records(number: number): Generator<RecordFacts> {
    const { disk, paths } = this.core;
    const { source } = openArchive(disk, segmentInput(segmentPath(paths.segments, number), 0));
    const reader = new WarcReader(source, { onWarning: () => {} });
    try {
      yield* readFacts(reader, "");
    } catch (error) {
      // There is not a single record in it.
      if (!(error instanceof ArchiveError) || error.code !== "HT_FORMAT_UNKNOWN") throw error;
    } finally {
      reader.close();
      source.close?.();
    }
  }

  private sizeOf(number: number): number {
    const { disk, paths } = this.core;
    return disk.stat(segmentPath(paths.segments, number))!.sizeBytes;
  }

  /** Whether all of it could be read. */
  private lookAtRecords(number: number, use: Use): boolean {
    let end = 0;
    let last: JudgedCapture | undefined;
    let held: RecordFacts[] = [];
    const release = (capture: JudgedCapture | undefined): boolean => {
      let beside = held.length;
      while (capture !== undefined && beside > 0 && belongsTo(held[beside - 1]!, capture.facts)) beside--;
      for (const [i, facts] of held.entries())
        use(i < beside ? this.judgeApart(number, facts) : this.judgeBeside(number, facts, capture!, i > beside));
      const isBeside = beside < held.length;
      held = [];
      return isBeside;
    };
    for (const facts of this.records(number)) {
      if (facts.damaged !== undefined || facts.length === undefined || facts.offset !== end) return false;
      end += facts.length;
      if (facts.capture !== undefined) {
        last = this.judgeCapture(number, facts);
        const isCarriedWith = last.original === undefined && last.elsewhere === undefined;
        use({ ...last, follows: release(last) && last.isAlive && isCarriedWith });
      } else if (last !== undefined && held.length === 0 && belongsTo(facts, last.facts)) {
        use(this.judgeBeside(number, facts, last, last.isAlive));
      } else {
        held.push(facts);
        if (held.length > HELD_MAX) use(this.judgeApart(number, held.shift()!));
      }
    }
    release(undefined);
    return end === this.sizeOf(number);
  }

  private judgeCapture(number: number, facts: RecordFacts): JudgedCapture {
    const { catalogue, indexer } = this.core;
    const { from, to } = spanOf(facts);
    const place = { segment: number, offset: from, length: to - from, inner: 0 };
    const there = catalogue.at(archiveKey(facts.uri), facts.timeMs ?? 0);
    const captures = there.filter(({ row }) => isSamePlace(row.place, place) && !has(row, Flag.removed));
    const own = { ...NONE, from, to, place, facts, captures, elsewhere: undefined };
    if (captures.length > 0) {
      const stale = this.heirs.isStale(captures[0]!, facts);
      return { ...own, isAlive: true, stale, source: captures[0]!.row.source };
    }
    const { same } = indexer.find(facts);
    // What the catalogue does not know at all is nothing to throw away.
    if (same === undefined) return { ...own, isAlive: true };
    const elsewhere = has(same.row, Flag.removed) ? undefined : same.row;
    const original = this.originalAt(facts, place);
    // One that lies in a file of others, too, may go with that.
    const isCovered = elsewhere !== undefined && !this.isOwn(elsewhere.place.segment);
    return { ...own, isAlive: original !== undefined || isCovered, original, elsewhere };
  }

  /** The payload that a record holds for others. */
  private originalAt({ capture }: RecordFacts, place: RecordPlace): Judged["original"] {
    if (capture?.sha256 === undefined) return undefined;
    const original = this.core.catalogue.original(halfOf(capture.sha256), capture.framing ?? "plain");
    if (original === undefined || !isSamePlace(original.place, place)) return undefined;
    return { sha256: Buffer.from(capture.sha256, "hex") };
  }

  /** A note right beside a capture that it belongs to. */
  private judgeBeside(number: number, note: RecordFacts, capture: JudgedCapture, follows: boolean): Judged {
    const { from, to } = spanOf(note);
    const { captures, elsewhere, isAlive, original, source } = capture;
    const own = { ...NONE, from, to, note, source };
    if (captures.length > 0) return { ...own, isAlive: true, follows };
    // Of a capture that lies in another place, what belongs to it may be new.
    if (elsewhere !== undefined) {
      const isThere = this.isOwn(elsewhere.place.segment) && standsBeside(this.core.shelf, note, elsewhere);
      return { ...own, isAlive: !isThere && !this.isTwice(number, note), isApart: true };
    }
    return { ...own, isAlive: isAlive && original === undefined, follows, isApart: true };
  }

  private judgeApart(number: number, note: RecordFacts): Judged {
    const { catalogue, indexer } = this.core;
    const mark = noteMark(note);
    const isAlive = !catalogue.isRemovedNote(mark) && !indexer.isOfRemoved(note) && !this.isTwice(number, note);
    return { ...NONE, ...spanOf(note), isAlive, note, isApart: true };
  }

  /** Whether a note that stands by itself is there in another place of our own, by itself or beside its capture. */
  private isTwice(number: number, note: RecordFacts): boolean {
    const { catalogue, shelf } = this.core;
    const listed = catalogue.apart(noteMark(note), note.uri)?.place;
    const own = { segment: number, offset: note.offset };
    if (listed !== undefined)
      return (listed.segment !== number || listed.offset !== own.offset) && this.isOwn(listed.segment);
    return livingOf(catalogue, note).some(
      ({ row }) => this.isOwn(row.place.segment) && standsBeside(shelf, note, row, own),
    );
  }

  private isOwn(segment: number): boolean {
    return this.core.catalogue.segment(segment)?.adopted === undefined;
  }

  /** By places: those of captures, whole records that lie outside of them, and all that is in between. */
  private lookAtPlaces(number: number, use: Use): void {
    const known = this.places(number);
    const places = [...known];
    let at = 0;
    const isOutside = ({ from, to }: { readonly from: number; readonly to: number }) => {
      while (at < known.length && known[at]!.to <= from) at++;
      return at === known.length || known[at]!.from >= to;
    };
    for (const facts of this.records(number)) {
      if (facts.damaged !== undefined || facts.length === undefined || !isOutside(spanOf(facts))) continue;
      places.push(facts.capture === undefined ? this.judgeApart(number, facts) : this.judgeCapture(number, facts));
    }
    places.sort((one, other) => one.from - other.from);
    let end = 0;
    const useGap = (to: number) => {
      if (to > end) use({ ...NONE, from: end, to, isAlive: true });
    };
    for (const place of places) {
      useGap(place.from);
      use(place);
      end = Math.max(end, place.to);
    }
    useGap(this.sizeOf(number));
  }

  /** What the catalogue leads to in a segment, and where removed captures lie. Walks over all captures and payloads. */
  private places(number: number): Judged[] {
    const { catalogue } = this.core;
    const places: Judged[] = [];
    const living = new Set<number>();
    for (const found of catalogue.inSegment(number)) {
      const { place, before, after, source } = found.row;
      const [from, to] = [place.offset, place.offset + place.length];
      if (has(found.row, Flag.removed)) {
        places.push({ ...NONE, from: from - before, to: to + after, isAlive: false });
        continue;
      }
      living.add(from);
      const own = { ...NONE, isAlive: true, source };
      if (before > 0) places.push({ ...own, from: from - before, to: from });
      places.push({ ...own, from, to, captures: [found], place, stale: this.isStale(found), follows: before > 0 });
      if (after > 0) places.push({ ...own, from: to, to: to + after, follows: true });
    }
    for (const { digest, row } of catalogue.allOriginals()) {
      const { segment, offset, length } = row.place;
      if (segment !== number || living.has(offset)) continue;
      const original = { sha256: Buffer.concat([digest, row.digestRest]) };
      places.push({ ...NONE, from: offset, to: offset + length, isAlive: true, original, place: row.place });
    }
    return places.sort((one, other) => one.from - other.from);
  }

  /** One that cannot be read stays as it is. */
  private isStale(found: FoundCapture): boolean {
    const facts = readable(() => this.core.shelf.read(found.row.place, (record) => factsOf(record, "", () => {})));
    return facts?.capture !== undefined && this.heirs.isStale(found, facts);
  }
}

function spanOf({ offset, length = 0 }: RecordFacts): { readonly from: number; readonly to: number } {
  return { from: offset, to: offset + length };
}
