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
import { type FoundCapture, type FoundNote, LAST_KEY } from "../catalogue/catalogue-view.ts";
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
  /** A record that stands by itself, known by its place: it may be one that cannot be read. */
  readonly apart?: FoundNote | undefined;
}

/** A capture's record as it was read. */
interface JudgedCapture extends Judged {
  readonly facts: RecordFacts;
  /** The same capture, if it is there, but in another place. */
  readonly elsewhere: CaptureRow | undefined;
  /** It is dead, and the journal has what stood beside it: what stands there now is judged by itself. */
  readonly isBesideTold: boolean;
}

interface Span {
  readonly from: number;
  readonly to: number;
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

  /** Whether something of the catalogue leads there. */
  isLedTo(number: number): boolean {
    let isLedTo = false;
    const use = ({ captures, original, apart }: Judged) => {
      isLedTo ||= captures.length > 0 || original !== undefined || apart !== undefined;
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
      while (capture !== undefined && beside > 0 && isBesideOf(held[beside - 1]!, capture)) beside--;
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
      } else if (last !== undefined && held.length === 0 && isBesideOf(facts, last)) {
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
    const own = { ...NONE, from, to, place, facts, captures, elsewhere: undefined, isBesideTold: false };
    if (captures.length > 0) {
      const stale = this.heirs.isStale(captures[0]!, facts);
      return { ...own, isAlive: true, stale, source: captures[0]!.row.source };
    }
    const { same } = indexer.find(facts);
    const original = this.originalAt(facts, place);
    if (catalogue.removedAt(number, from) !== undefined)
      return { ...own, isAlive: original !== undefined, original, isBesideTold: true };
    // What the catalogue does not know at all is nothing to throw away.
    if (same === undefined) return { ...own, isAlive: true };
    if (has(same.row, Flag.removed)) {
      const isBesideTold = has(same.row, Flag.besideTold);
      return { ...own, isAlive: original !== undefined, original, isBesideTold };
    }
    const elsewhere = same.row;
    // One that lies in a file of others, too, may go with that.
    const isCovered = !this.isOwn(elsewhere.place.segment);
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
    if (capture.isBesideTold) return this.judgeApart(number, note);
    // Of a capture that lies in another place, what belongs to it may be new.
    if (elsewhere !== undefined) {
      const judged = this.judgeApart(number, note);
      const isThere = this.isOwn(elsewhere.place.segment) && standsBeside(this.core.shelf, note, elsewhere);
      return { ...own, isAlive: judged.isAlive && !isThere, isApart: true };
    }
    return { ...own, isAlive: isAlive && original === undefined, follows, isApart: true };
  }

  private judgeApart(number: number, note: RecordFacts): Judged {
    const { catalogue } = this.core;
    const isLeft = catalogue.isRemovedNote(noteMark(note)) || catalogue.removedAt(number, note.offset) !== undefined;
    const isAlive = !isLeft && !this.isTwice(number, note);
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

  /** By places: those that the catalogue knows, whole records that lie outside of them, and all that is in between. */
  private lookAtPlaces(number: number, use: Use): void {
    const places = this.places(number);
    const known = placesIn(places);
    for (const facts of this.records(number)) {
      if (facts.damaged !== undefined || facts.length === undefined || !known.isFree(spanOf(facts))) continue;
      places.push(facts.capture === undefined ? this.judgeApart(number, facts) : this.judgeCapture(number, facts));
    }
    places.sort(inOrder);
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

  /** What the catalogue leads to in a segment, and what was left around it. */
  private places(number: number): Judged[] {
    const living = this.livingPlaces(number);
    const taken = placesIn(living);
    const left = [...this.leftSpans(number)].sort(inOrder).flatMap((span) => taken.outside(span));
    return [...living, ...left.map((span) => ({ ...NONE, ...span, isAlive: false }))].sort(inOrder);
  }

  private *leftSpans(number: number): Generator<Span> {
    const { catalogue } = this.core;
    for (const { offset, length, before, after, healed } of catalogue.leftIn(number)) {
      yield { from: offset, to: offset + length };
      const row = healed === undefined ? undefined : catalogue.capture(healed);
      if (row !== undefined && !has(row, Flag.removed)) continue;
      if (before > 0) yield { from: offset - before, to: offset };
      if (after > 0) yield { from: offset + length, to: offset + length + after };
    }
  }

  /** Walks over all captures, payloads and records that stand by themselves. */
  private livingPlaces(number: number): Judged[] {
    const { catalogue } = this.core;
    const places: Judged[] = [];
    const living = new Set<number>();
    for (const found of catalogue.inSegment(number)) {
      const { place, before, after, source } = found.row;
      const [from, to] = [place.offset, place.offset + place.length];
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
    for (const apart of catalogue.apartIn("", LAST_KEY)) {
      const { segment, offset, length } = apart.note.place;
      if (segment === number && length > 0)
        places.push({ ...NONE, from: offset, to: offset + length, isAlive: true, apart });
    }
    return places.sort(inOrder);
  }

  /** One that cannot be read stays as it is. */
  private isStale(found: FoundCapture): boolean {
    const facts = readable(() => this.core.shelf.read(found.row.place, (record) => factsOf(record, "", () => {})));
    return facts?.capture !== undefined && this.heirs.isStale(found, facts);
  }
}

/**
 * Whether a note right beside a capture is noted with it. Of one that is there, its row says so: a note that stands by itself
 * may have come to lie right beside the capture that it belongs to.
 */
function isBesideOf(note: RecordFacts, { facts, captures }: JudgedCapture): boolean {
  if (!belongsTo(note, facts)) return false;
  const { from, to } = spanOf(note);
  const isNoted = ({ row: { place, before, after } }: FoundCapture) =>
    from >= place.offset - before && to <= place.offset + place.length + after;
  return captures.length === 0 || captures.some(isNoted);
}

function spanOf({ offset, length = 0 }: RecordFacts): Span {
  return { from: offset, to: offset + length };
}

function inOrder(one: Span, other: Span): number {
  return one.from - other.from;
}

/** Which bytes some places take, which are in order. What is asked for has to be in order, too. */
function placesIn(places: readonly Span[]) {
  const all = [...places];
  let at = 0;
  /** The parts of a span that no place takes. */
  const outside = ({ from, to }: Span): Span[] => {
    while (at < all.length && all[at]!.to <= from) at++;
    const parts: Span[] = [];
    let start = from;
    for (let next = at; next < all.length && all[next]!.from < to; next++) {
      if (all[next]!.from > start) parts.push({ from: start, to: all[next]!.from });
      start = Math.max(start, all[next]!.to);
    }
    return start < to ? [...parts, { from: start, to }] : parts;
  };
  const isFree = (span: Span) => {
    const [part] = outside(span);
    return part?.from === span.from && part.to === span.to;
  };
  return { outside, isFree };
}
