/**
 * Enters records that lie in segments into the catalogue, and keeps the timeline in step. The one way in: for what is
 * added, for what is adopted, for what a crash left unentered, and for a rebuild. What a capture is and stands for may
 * depend on others; it is looked at again when one of these comes or goes, once for each commit (`settle`). So it does not
 * matter in which order records come.
 */
import { referenceOf } from "../../dedup/index.ts";
import { factsOf, type RecordFacts } from "../../pipeline/index.ts";
import type { TimelineWriter } from "../../temporal/index.ts";
import type { ApartNote, NotePlace } from "../catalogue/apart-note.ts";
import {
  archiveKey,
  type CaptureKey,
  idMark,
  idMarkIn,
  isFormerMark,
  LAST_MS,
  markIn,
  momentKey,
  noteMark,
  timeOf,
  urlKeyOf,
  waitForId,
  waitForRequest,
  waitForSecond,
} from "../catalogue/capture-key.ts";
import {
  type CaptureKind,
  type CaptureRow,
  DIGEST_HALF,
  Flag,
  has,
  isHolder,
  type RecordPlace,
  type RowRequest,
} from "../catalogue/capture-row.ts";
import type { Catalogue } from "../catalogue/catalogue.ts";
import { latin1, Table } from "../catalogue/catalogue-keys.ts";
import type { FoundCapture } from "../catalogue/catalogue-view.ts";
import { factsLeft, removedRow } from "../catalogue/removed-row.ts";
import { classOf, tellsStatus } from "../catalogue/visit-class.ts";
import type { RemovedCapture } from "../journal/journal.ts";
import { Untold } from "../journal/untold.ts";
import { isNamedWith } from "../segments/companions.ts";
import { type RecordShelf, readable } from "../segments/segments.ts";
import { sourceNumberOf } from "../segments/source-record.ts";
import { Neighbours } from "./neighbours.ts";
import { type Asking, Originals, type Resolution } from "./originals.ts";
import {
  claimBeside,
  type EnteredPlace,
  formedMarkOf,
  hasOtherForm,
  hasSamePayload,
  isSameRow,
  isToSelf,
  kindOf,
  markOf,
  otherMarkOf,
  payloadIn,
  rowOf,
} from "./own-row.ts";
import { Payloads } from "./payloads.ts";
import { isOfRemoved, livingOf, notesBeside, standsBeside } from "./removed-notes.ts";
import { answersTo, isSameRequest, joinRequests, looseRequest, requestFor, requestsOf } from "./requests.ts";
import { SegmentedCaptures } from "./segmented.ts";
import { toldCapture, toldNote } from "./told.ts";
import { VisitChanges } from "./visit-changes.ts";

/** What the archive has of a record that comes. */
export interface FoundSame {
  /** The key that its capture has, or gets. */
  readonly key: CaptureKey;
  /** The capture that it is, if that is there or was removed. */
  readonly same: FoundCapture | undefined;
  /** Its moment has no capture yet. */
  readonly isFirst: boolean;
  /** There is one with its id in its moment. */
  readonly isTwice: boolean;
}

export class Indexer {
  /** What the journal has to say with the next commit. */
  readonly untold = new Untold();
  private readonly catalogue: Catalogue;
  private readonly shelf: RecordShelf;
  private readonly originals: Originals;
  private readonly payloads: Payloads;
  private readonly neighbours: Neighbours;
  private readonly segmented: SegmentedCaptures;
  private readonly changes: VisitChanges;
  /** Revisits to look at again, ids that revisits ask for, and ids of requests with the captures that name them. */
  private woken = new Set<CaptureKey>();
  private asked = new Set<string>();
  private naming = new Map<string, CaptureKey[]>();
  /** The file whose captures are being entered. */
  private source: { readonly number: number; readonly addedMs: number } | undefined;

  constructor(catalogue: Catalogue, shelf: RecordShelf) {
    this.catalogue = catalogue;
    this.shelf = shelf;
    this.originals = new Originals(catalogue, shelf);
    this.payloads = new Payloads(catalogue, this.woken);
    this.neighbours = new Neighbours(catalogue, shelf, this.originals);
    this.segmented = new SegmentedCaptures(catalogue, shelf, this.payloads);
    this.changes = new VisitChanges(catalogue);
  }

  /** What the archive has of a record. */
  find(facts: RecordFacts): FoundSame {
    const { catalogue } = this;
    const moment = momentKey(archiveKey(facts.uri), facts.timeMs ?? 0);
    const mark = markOf(facts);
    const isFirst = !catalogue.hasKey(moment);
    if (isFirst) return { key: moment + mark, same: this.removedAs(facts), isFirst, isTwice: false };
    const isTwice = facts.id !== undefined && catalogue.hasKey(moment + idMark(facts.id));
    const { key, same } = this.ownPlace(moment, facts, mark);
    return { key, same: same ?? this.removedBefore(facts) ?? this.removedAs(facts), isFirst, isTwice };
  }

  /** The first of the keys that it may have under which there is no other capture, and what is there. */
  private ownPlace(moment: string, facts: RecordFacts, mark: string): Pick<FoundSame, "key" | "same"> {
    const at = (each: string) => ({ key: moment + each, same: this.catalogue.found(moment + each) });
    const own = at(mark);
    if (own.same === undefined) return own;
    if (!hasSamePayload(own.same.row, facts)) return at(otherMarkOf(facts));
    if (!hasOtherForm(own.same.row, facts)) return own;
    const formed = at(formedMarkOf(facts));
    const isFree = formed.same === undefined || hasSamePayload(formed.same.row, facts);
    return isFree ? formed : at(otherMarkOf(facts));
  }

  /** One that was removed by a version that had another text for its URI. */
  private removedAs({ formerUri: uri, ...facts }: RecordFacts): FoundCapture | undefined {
    if (uri === undefined || this.catalogue.state.journal === 0) return undefined;
    const { same } = this.find({ ...facts, uri });
    return same !== undefined && has(same.row, Flag.removed) ? same : undefined;
  }

  /** One that was removed by an earlier version, which told its payload and another mark, or none. */
  private removedBefore(facts: RecordFacts): FoundCapture | undefined {
    const urlKey = archiveKey(facts.uri);
    const isPossible = this.catalogue.hasKey(momentKey(urlKey, facts.timeMs ?? 0) + idMark(facts.id));
    if (this.catalogue.state.journal === 0 || !isPossible) return undefined;
    const { sha256 } = facts.capture!;
    const isIt = ({ key, row }: FoundCapture) =>
      has(row, Flag.removed) &&
      isFormerMark(markIn(key)) &&
      idMarkIn(key) === idMark(facts.id) &&
      (row.claim === undefined || sha256 === undefined || row.claim === `sha256:${sha256}`);
    return this.catalogue.at(urlKey, facts.timeMs ?? 0).find(isIt);
  }

  /**
   * Whether the catalogue has the capture of a record, or has it better: with its payload, instead of a revisit in its
   * place.
   */
  isKnown(facts: RecordFacts, { same }: FoundSame): boolean {
    if (same === undefined || has(same.row, Flag.removed)) return false;
    return worthOf(same.row.kind, same.row.payload !== undefined) >= worthOf(kindOf(facts), false);
  }

  /**
   * Enters a capture, in the place of `same` where that is there; the key it has then. One that is known cannot be read
   * any more. With `heals`, neither can the record that held its payload, and this one holds it from now on.
   */
  enter(facts: RecordFacts, entered: EnteredPlace, found: FoundSame, heals = false): CaptureKey {
    const { key, same, isFirst } = found;
    if (this.isKnown(facts, found)) this.leaveRotten(same!);
    const urlKey = archiveKey(facts.uri);
    const loose = requestsOf(this.catalogue, urlKey, facts);
    const request = joinRequests(joinRequests(entered.request, loose), same?.row.request);
    const row = rowOf(facts, { ...entered, request }, urlKey, this.addedMs(entered.source));
    if (facts.with !== undefined && !isSettled(row))
      for (const id of facts.with) this.naming.set(id, [...(this.naming.get(id) ?? []), key]);
    this.put(key, same?.row, row, isFirst);
    if (same !== undefined) this.catalogue.markLoose(same.row.place.segment);
    if (facts.capture!.sha256 === undefined) this.resolve(key, facts);
    else if (entered.kind === "replaced") this.payloads.claimFor(facts, row.payload!);
    else if (has(row, Flag.segmented)) this.segmented.touch(key);
    else if (isHolder(row)) this.payloads.hold(facts, row.payload!, entered.place, heals);
    if (this.catalogue.isAsked(idMarkIn(key))) this.catalogue.addById(idMarkIn(key), key);
    return key;
  }

  /** What can be read beside a record that cannot stands by itself from now on. */
  standAlone(row: CaptureRow): void {
    const { segment } = row.place;
    const isAdopted = this.catalogue.segment(segment)?.adopted !== undefined;
    for (const note of notesBeside(this.shelf, row, isAdopted)) {
      const { offset, length = 0 } = note;
      if (!this.catalogue.isRemovedNote(noteMark(note))) this.enterNote(note, { segment, offset, length });
    }
  }

  /** What comes takes the place of a record that cannot be read; as a rebuild has to know. */
  private leaveRotten(found: FoundCapture): void {
    const told = toldCapture(found);
    if (!this.mayBeLeft(told.place!)) return;
    this.catalogue.leave({ ...told.place!, entry: 0, healed: found.key });
    this.untold.healed.captures.push(told);
  }

  private leaveRottenNote(note: RecordFacts, mark: string, place: ApartNote["place"]): void {
    if (!this.mayBeLeft(place)) return;
    this.catalogue.leave({ ...place, before: 0, after: 0, entry: 0, healed: undefined });
    this.untold.healed.notes.push(toldNote(note, mark, place));
  }

  /** Not a file of others, nor what a crash could cut off: then something else may come to lie there. */
  private mayBeLeft({ segment, offset, length }: ApartNote["place"]): boolean {
    const { adopted, end = 0 } = this.catalogue.segment(segment) ?? {};
    return adopted === undefined && length > 0 && offset + length <= end;
  }

  private addedMs(source: number): number {
    if (this.source?.number !== source)
      this.source = { number: source, addedMs: this.catalogue.source(source)?.addedMs ?? LAST_MS };
    return this.source.addedMs;
  }

  /** A record whose capture was removed by this entry: revisits that we wrote may need its payload all the same. */
  enterRemoved(facts: RecordFacts, place: RecordPlace, entry: number): void {
    const { sha256 } = facts.capture!;
    if (sha256 === undefined) return;
    // Not where nobody had it any more when it went, or later.
    if (entry > this.catalogue.dropped(Buffer.from(sha256, "hex").subarray(0, DIGEST_HALF)))
      this.payloads.offer(facts, payloadIn(facts)!, place);
  }

  /**
   * Takes a capture out, or says of one that is not there that it was; a row stays that tells that there was one. An entry
   * of an earlier version of the journal is known by its payload.
   */
  remove(key: CaptureKey, told: RemovedCapture, entry: number, isFormer: boolean): void {
    const { url, sha256, visit = { kind: "response" as const } } = told;
    const isBesideTold = told.place !== undefined;
    const row = this.catalogue.capture(key);
    if (row === undefined || has(row, Flag.removed)) {
      const claim = isFormer && sha256 !== null ? `sha256:${sha256}` : undefined;
      this.put(key, row, { ...removedRow(url, visit, entry, isBesideTold), claim }, false);
      return;
    }
    this.catalogue.markLoose(row.place.segment);
    this.put(key, row, removedRow(row.url, factsLeft(row), entry, isBesideTold), false);
    if (row.payload !== undefined && isHolder(row)) this.payloads.release(row, entry);
  }

  /** Takes out a record that is not a capture. What it told of captures that stay is not known any more. */
  removeNote(mark: string, uri: string | undefined): void {
    const loose = this.catalogue.request(mark, uri);
    this.catalogue.removeNote(mark, uri);
    if (loose === undefined) return;
    for (const { key, row } of answersTo(this.catalogue, loose, this.naming)) {
      if (has(row, Flag.removed)) continue;
      const records = readable(() => [...this.shelf.facts(row)]) ?? [];
      const capture = records.find((facts) => facts.capture !== undefined);
      if (capture === undefined) continue;
      const left = requestsOf(this.catalogue, urlKeyOf(key), capture);
      const request = records.map((note) => requestFor(capture, note)).reduce(joinRequests, left);
      if (isSameRequest(request, row.request)) continue;
      const next = { ...row, request };
      this.put(key, row, { ...next, class: classOf(next) }, false);
    }
  }

  /** Forgets payloads that were only offered, and that nobody wanted. */
  dropUnheld(digests: Iterable<Buffer>): void {
    for (const digest of digests) this.payloads.dropUnheld(digest);
  }

  /** A removed capture may come back. */
  readmit(key: CaptureKey, row: CaptureRow): void {
    this.put(key, row, undefined, false);
  }

  /** Records right behind a capture that belong to it, and what a request among them tells. */
  extend(key: CaptureKey, bytes: number, request?: RowRequest): void {
    const row = this.catalogue.capture(key);
    if (row === undefined || has(row, Flag.removed)) return;
    const joined = joinRequests(row.request, request);
    const next = { ...row, request: joined, after: row.after + bytes };
    const kind = isSameRequest(joined, row.request) ? row.class : classOf(next);
    // What most requests tell is what was taken for granted.
    if (kind === row.class) this.catalogue.putCapture(key, row, next);
    else this.put(key, row, { ...next, class: kind }, false);
  }

  /** What a request tells of a capture. */
  private answer({ key, row }: FoundCapture, request: RowRequest): void {
    const joined = joinRequests(row.request, request);
    if (isSameRequest(joined, row.request)) return;
    const next = { ...row, request: joined };
    this.put(key, row, { ...next, class: classOf(next) }, false);
  }

  /** A record that continues another one; nothing is to be done for any other. */
  enterContinuation(note: RecordFacts, place: RecordPlace): void {
    this.segmented.enter(note, place);
  }

  /** A record that is not a capture and does not stand beside one. */
  enterNote(note: RecordFacts, { segment, offset, length }: ApartNote["place"]): void {
    const { catalogue } = this;
    const mark = noteMark(note);
    const there = catalogue.apart(mark, note.uri);
    const { id, uri, date, timeMs, with: ids = [] } = note;
    const isOwn = (number: number) => catalogue.segment(number)?.adopted === undefined;
    const isFound = (uri !== undefined || ids.length > 0) && sourceNumberOf(uri) === undefined;
    // A crash may have left it twice: the first one counts, but for one that lies in a file of others.
    const isThere = there !== undefined && (there.place.segment !== segment || there.place.offset !== offset);
    if (isThere && isOwn(there.place.segment) && this.isReadable(there.place, mark)) catalogue.markLoose(segment);
    else if (isFound) {
      if (isThere) this.leaveRottenNote(note, mark, there.place);
      catalogue.putApart(mark, { place: { segment, offset, length }, id, uri, date, timeMs, with: ids });
    }
    catalogue.addNote(mark, note.type);
    this.enterRequest(note);
  }

  /** A record that is not a capture, and belongs to one that was removed. */
  isOfRemoved(note: RecordFacts): boolean {
    return isOfRemoved(this.catalogue, note);
  }

  /** Whether the archive has a record that is not a capture, or had it until it was removed. */
  hasNote(note: RecordFacts): boolean {
    if (this.hasApart(note)) return true;
    // It may stand beside its capture here, though it did not where it comes from.
    return livingOf(this.catalogue, note).some(({ row }) => standsBeside(this.shelf, note, row));
  }

  /** The same for one that stands by itself: one that cannot be read any more is not there. */
  hasApart(note: RecordFacts): boolean {
    const mark = noteMark(note);
    if (!this.catalogue.hasNote(mark)) return false;
    const place = this.catalogue.isRemovedNote(mark) ? undefined : this.catalogue.apart(mark, note.uri)?.place;
    return place === undefined || this.isReadable(place, mark);
  }

  private isReadable({ segment, offset }: NotePlace, mark: string): boolean {
    const place = { segment, offset, length: 0, inner: 0 };
    const found = readable(() => this.shelf.read(place, (record) => noteMark(factsOf(record, "", () => {}))));
    return found === mark;
  }

  private enterRequest(note: RecordFacts): void {
    const loose = looseRequest(note);
    if (loose === undefined || this.catalogue.isRemovedNote(noteMark(note))) return;
    this.catalogue.addRequest(loose, noteMark(note));
    for (const found of answersTo(this.catalogue, loose, this.naming)) this.answer(found, loose);
  }

  /** The same for one that stands beside a capture: if neither names the other, another capture may name it. */
  enterBeside(note: RecordFacts, capture: RecordFacts): void {
    const mark = noteMark(note);
    const apart = this.catalogue.hasNote(mark) ? this.catalogue.apart(mark, note.uri) : undefined;
    if (apart !== undefined && !this.isReadable(apart.place, mark)) {
      this.leaveRottenNote(note, mark, apart.place);
      this.catalogue.forgetApart(mark, note.uri);
    }
    if (!isNamedWith(note, capture)) this.enterRequest(note);
  }

  /** The only way in which captures change: whoever depends on it is looked at again. */
  private put(key: CaptureKey, before: CaptureRow | undefined, row: CaptureRow | undefined, isFirst: boolean): void {
    const { catalogue } = this;
    this.changes.touch(key, row, isFirst);
    catalogue.putCapture(key, before, row);
    if (catalogue.state.waiting > 0) {
      this.wake(Table.waiting, waitForSecond(urlKeyOf(key), timeOf(key)));
      this.wake(Table.waiting, waitForId(idMarkIn(key)));
    }
    for (const each of [before, row]) {
      if (each === undefined || !tellsStatus(each)) continue;
      this.originals.forgetStatuses();
      const { payload } = each;
      if (catalogue.state.headless === 0 || payload === undefined) continue;
      this.wake(Table.headless, latin1(payload.sha256.subarray(0, DIGEST_HALF)));
    }
  }

  private wake(table: number, under: string): void {
    for (const key of this.catalogue.listed(table, under)) this.woken.add(key);
  }

  /** Makes everything that depends on others what it has to be, and tells the timeline. To be called before a commit. */
  settle(timeline: TimelineWriter): void {
    this.nameRequests();
    this.segmented.settle((key, before, row) => this.put(key, before, row, false));
    this.listAsked();
    while (this.woken.size > 0) {
      const [key] = this.woken;
      this.woken.delete(key!);
      const row = this.catalogue.capture(key!);
      if (row !== undefined && (row.kind === "revisit" || row.kind === "replaced") && !has(row, Flag.removed))
        this.resolveAgain(key!, row.place);
      this.listAsked();
    }
    this.neighbours.settle(
      () => this.changes.spans(),
      (found, row) => this.put(found.key, found.row, row, false),
    );
    this.changes.apply(timeline);
  }

  /** Captures that name records that are not there yet: they may be requests. */
  private nameRequests(): void {
    for (const [id, keys] of this.naming) {
      for (const key of keys) {
        const row = this.catalogue.capture(key);
        if (row !== undefined && !isSettled(row)) this.catalogue.addWaiting(waitForRequest(id), key);
      }
    }
    this.naming = new Map();
  }

  /** Ids that are asked for without a URL are looked for once, in all captures; from then on they are listed. */
  private listAsked(): void {
    if (this.asked.size === 0) return;
    const marks = this.asked;
    this.asked = new Set();
    for (const { key } of this.catalogue.allCaptures()) {
      const mark = idMarkIn(key);
      if (!marks.has(mark)) continue;
      this.catalogue.addById(mark, key);
      this.wake(Table.waiting, waitForId(mark));
    }
  }

  /** One that cannot be read, in an adopted file that is away, stays what it was. */
  private resolveAgain(key: CaptureKey, place: RecordPlace): void {
    const facts = readable(() => this.shelf.read(place, (record) => factsOf(record, "", () => {})));
    if (facts?.capture !== undefined) this.resolve(key, facts);
  }

  /** Finds out what a revisit stands for. */
  private resolve(key: CaptureKey, facts: RecordFacts): void {
    const { catalogue } = this;
    const row = catalogue.capture(key)!;
    if (has(row, Flag.silent)) return;
    const capture = facts.capture!;
    const reference = referenceOf(capture);
    const asking: Asking = {
      key,
      reference,
      isHeadless: has(row, Flag.headless),
      isOurs: row.kind === "replaced",
    };
    this.ask(reference);
    const resolution = this.originals.resolve(asking);
    for (const wait of resolution.waits) catalogue.addWaiting(wait, key);
    const next = this.resolved(key, row, facts, resolution);
    if (isSameRow(row, next)) return;
    this.put(key, row, next, false);
    if (row.kind !== "replaced" || next.payload === undefined) return;
    this.payloads.claimFor(facts, next.payload);
  }

  private ask(reference: ReturnType<typeof referenceOf>): void {
    if (reference.kind === "unread" || reference.kind === "silent") return;
    if (reference.id === undefined || reference.capture !== undefined) return;
    const mark = idMark(reference.id);
    if (this.catalogue.ask(mark)) this.asked.add(mark);
  }

  private resolved(key: CaptureKey, row: CaptureRow, facts: RecordFacts, resolution: Resolution): CaptureRow {
    const { payload, isByDigest, header } = resolution;
    const flags = isByDigest && payload !== undefined ? row.flags | Flag.byDigest : row.flags & ~Flag.byDigest;
    let next: CaptureRow = { ...row, payload, flags, claim: claimBeside(facts, payload) };
    if (has(row, Flag.headless)) {
      const { status, mime, location, isWholeRange = false } = header ?? {};
      const isSelf = isToSelf(urlKeyOf(key), facts.uri, status, location);
      const own = flags & ~(Flag.wholeRange | Flag.toSelf);
      const told = own | (isWholeRange ? Flag.wholeRange : 0) | (isSelf ? Flag.toSelf : 0);
      next = { ...next, status, mime, location, flags: told };
    }
    return { ...next, class: classOf(next) };
  }
}

/** A revisit of ours is as good as the record whose place it took, if its payload is there. */
function worthOf(kind: CaptureKind, hasPayload: boolean): number {
  return kind === "revisit" ? 1 : kind === "replaced" && !hasPayload ? 2 : 3;
}

/** Whether no other request could tell anything more that matters. */
function isSettled({ request, flags }: CaptureRow): boolean {
  return request?.method === "GET" && (request.isConditional || (flags & Flag.notModified) === 0);
}
