/** The writer's catalogue: what is put is seen by this object at once, and by others when it is committed. */
import { type OrderedStore, RowChanges } from "../../rows/index.ts";
import { type ApartNote, apartKey, encodeApart, type NotePlace } from "./apart-note.ts";
import { archiveKey, type CaptureKey, idMark, urlKeyOf, waitForDigest } from "./capture-key.ts";
import {
  type CaptureRow,
  DIGEST_HALF,
  encodeCapture,
  encodeOriginal,
  Flag,
  has,
  type OriginalRow,
} from "./capture-row.ts";
import { type Framing, latin1, listKey, number32, originalKey, Table, tableKey } from "./catalogue-keys.ts";
import {
  type CatalogueState,
  CatalogueView,
  encodePointer,
  halvesIn,
  type JournalEnd,
  noteType,
  pointerKey,
  REMOVED_NOTE,
  type SegmentRow,
  type SourceRow,
} from "./catalogue-view.ts";
import { type ContinuationRow, continuationKey, decodeContinuation, encodeContinuation } from "./continuation-row.ts";
import { encodeLeft, type LeftRow, leftKey } from "./left-row.ts";
import { encodeRequest, type LooseRequest } from "./request-row.ts";
import { isPending } from "./visit-class.ts";

const NOTHING = Buffer.alloc(0);
/** Where a segment begins lies its own description, which is never left alone. */
const WHOLE = { offset: 0, length: 0, before: 0, after: 0, entry: 0, healed: undefined };

export class Catalogue extends CatalogueView {
  private readonly store: OrderedStore;
  private readonly changes: RowChanges;
  /** The capture that was put last: it is asked for again at once, when what belongs to it comes. */
  private last: { readonly key: CaptureKey; readonly row: CaptureRow } | undefined;
  private readonly counts: { -readonly [K in keyof CatalogueState]: CatalogueState[K] };

  /** `timeline` is the number of the one that belongs to a catalogue in which there is nothing yet; `folder` the archive's. */
  constructor(store: OrderedStore, timeline: number, folder: string) {
    // Captures are looked up by ranges all the time, the others rarely.
    const changes = new RowChanges(store.view(), tableKey(Table.capture + 1));
    super(changes);
    this.store = store;
    this.changes = changes;
    this.counts = { ...this.readState() };
    this.checkFormat(folder);
    if (this.counts.timelineCommit === 0) this.counts.timeline = timeline;
  }

  get changeCount(): number {
    return this.changes.size;
  }

  get changeBytes(): number {
    return this.changes.bytes;
  }

  override get state(): CatalogueState {
    return this.counts;
  }

  private put(key: string, value: Buffer | undefined): void {
    this.changes.put(key, value);
  }

  count(more: Partial<Record<Exclude<keyof CatalogueState, "format" | "journalEnd">, number>>): void {
    for (const name of Object.keys(more) as (keyof typeof more)[]) this.counts[name] += more[name] ?? 0;
  }

  /** Puts a capture in the place of what is there under its key; an absent one is gone. */
  putCapture(key: CaptureKey, before: CaptureRow | undefined, row: CaptureRow | undefined): void {
    this.put(tableKey(Table.capture, key), row && encodeCapture(urlKeyOf(key), row));
    this.last = row && { key, row };
    // What most changes are about is told by nothing else.
    const isSame = before?.payload === row?.payload && before?.flags === row?.flags && before?.class === row?.class;
    if (isSame && row?.class !== "other-method") return;
    if (before !== undefined) this.tally(before, -1);
    if (row !== undefined) this.tally(row, 1);
    this.relist(Table.seen, key, seenUnder(before), seenUnder(row));
    this.relist(Table.headless, key, headlessUnder(before), headlessUnder(row));
    const [old, now] = [methodKeyOf(before), methodKeyOf(row)].map((each) =>
      each === urlKeyOf(key) ? undefined : each,
    );
    if (old === now) return;
    if (old !== undefined) this.put(pointerKey(old, key), undefined);
    if (now !== undefined) this.put(pointerKey(now, key), encodePointer(key));
  }

  override capture(key: CaptureKey): CaptureRow | undefined {
    return key === this.last?.key ? this.last.row : super.capture(key);
  }

  private tally(row: CaptureRow, sign: 1 | -1): void {
    const { counts } = this;
    if (has(row, Flag.removed)) return;
    counts.captures += sign;
    if (isPending(row)) counts.pending += sign;
    if (has(row, Flag.headless)) counts.headless += sign;
    if (has(row, Flag.cutOff)) counts.cutOff += sign;
    if (has(row, Flag.silent)) counts.silent += sign;
    if (has(row, Flag.far)) counts.far += sign;
  }

  private relist(table: number, key: CaptureKey, old: string | undefined, now: string | undefined): void {
    if (old === now) return;
    if (old !== undefined) this.put(listKey(table, old, key), undefined);
    if (now !== undefined) this.put(listKey(table, now, key), NOTHING);
  }

  /** In the place of the one that is there; `hasOther` says that the payload has an original of any framing. */
  putOriginal(
    digest: Buffer,
    framing: Framing,
    there: OriginalRow | undefined,
    row: OriginalRow,
    hasOther: boolean,
  ): void {
    this.put(originalKey(digest, framing), encodeOriginal(row));
    // The record there may have been kept for its payload alone.
    if (there !== undefined && there.place !== row.place) this.markLoose(there.place.segment);
    if (there === undefined && !hasOther) this.counts.contents++;
  }

  dropOriginal(digest: Buffer, framing: Framing): void {
    const there = this.original(digest, framing);
    if (there === undefined) return;
    this.put(originalKey(digest, framing), undefined);
    this.markLoose(there.place.segment);
    if (this.anyOriginal(digest) === undefined) this.counts.contents--;
  }

  /** See `isLoose`. Files that were adopted stay as they are. */
  markLoose(segment: number, isLoose = true): void {
    if (this.segment(segment)?.adopted !== undefined || this.isLoose(segment) === isLoose) return;
    this.put(tableKey(Table.loose, number32(segment)), isLoose ? NOTHING : undefined);
  }

  /** Whether the digest was not known to stand for this payload. */
  addClaim(claim: string, digest: Buffer): boolean {
    const key = tableKey(Table.claim, waitForDigest(claim));
    const there = this.view.get(key);
    if (there !== undefined && halvesIn(there).some((other) => other.equals(digest))) return false;
    this.put(key, there === undefined ? digest : Buffer.concat([there, digest]));
    return true;
  }

  addWaiting(wait: string, key: CaptureKey): void {
    if (this.isListed(Table.waiting, wait, key)) return;
    this.put(listKey(Table.waiting, wait, key), NOTHING);
    this.counts.waiting++;
  }

  addById(idMark: string, key: CaptureKey): void {
    this.put(listKey(Table.byId, idMark, key), NOTHING);
  }

  /** From now on captures with this id are listed under it. Whether they were not before. */
  ask(idMark: string): boolean {
    if (this.isAsked(idMark)) return false;
    this.put(tableKey(Table.byId, idMark), NOTHING);
    this.counts.asked++;
    return true;
  }

  isAsked(idMark: string): boolean {
    return this.counts.asked > 0 && this.view.get(tableKey(Table.byId, idMark)) !== undefined;
  }

  addRequest(request: LooseRequest, mark: string): void {
    const key = tableKey(Table.request, `${archiveKey(request.uri)}\0${mark}`);
    if (this.view.get(key) === undefined) this.counts.requests++;
    this.put(key, encodeRequest(request));
  }

  /** A record that continues the one with the id `origin`; or the same in another place. */
  putContinuation(origin: string, mark: string, row: ContinuationRow): void {
    this.put(continuationKey(origin, row.number, mark), encodeContinuation(row));
  }

  continuation(origin: string, number: number, mark: string): ContinuationRow | undefined {
    const value = this.view.get(continuationKey(origin, number, mark));
    return value && decodeContinuation(value);
  }

  /** It does not lie in this place any more. */
  dropContinuation(origin: string, number: number, mark: string, { segment, offset }: NotePlace): void {
    const key = continuationKey(origin, number, mark);
    const value = this.view.get(key);
    const place = value && decodeContinuation(value).place;
    if (place?.segment === segment && place.offset === offset) this.put(key, undefined);
  }

  /** By this entry of the journal nobody has the payload any more. */
  markDropped(digest: Buffer, entry: number): void {
    this.put(tableKey(Table.dropped, latin1(digest)), Buffer.from(String(entry)));
  }

  addNote(note: string, type: string): void {
    this.put(tableKey(Table.note, note), Buffer.from(noteType(type)));
  }

  /** A record that is no capture was removed: what is there of it goes with the next compaction, and it does not come back. */
  removeNote(mark: string, uri: string | undefined): void {
    this.dropApart(mark, uri);
    this.put(tableKey(Table.note, mark), Buffer.from(REMOVED_NOTE));
    const request = tableKey(Table.request, apartKey(mark, uri));
    if (this.view.get(request) === undefined) return;
    this.put(request, undefined);
    this.counts.requests--;
  }

  /** One that was removed may come back. */
  readmitNote(mark: string): void {
    if (this.isRemovedNote(mark)) this.put(tableKey(Table.note, mark), undefined);
  }

  /** A record that is no capture stands by itself in a segment. */
  putApart(mark: string, note: ApartNote): void {
    this.dropApart(mark, note.uri);
    const key = apartKey(mark, note.uri);
    this.put(tableKey(Table.apart, key), encodeApart(note));
    for (const id of idsOf(note)) this.put(listKey(Table.apartId, idMark(id), key), NOTHING);
    this.counts.apart++;
  }

  /** It stood by itself, and stands beside a capture now. */
  forgetApart(mark: string, uri: string | undefined): void {
    this.dropApart(mark, uri);
    this.put(tableKey(Table.note, mark), undefined);
  }

  /** It does not any more, or not there. */
  dropApart(mark: string, uri: string | undefined): void {
    const note = this.apart(mark, uri);
    if (note === undefined) return;
    const key = apartKey(mark, uri);
    this.put(tableKey(Table.apart, key), undefined);
    for (const id of idsOf(note)) this.put(listKey(Table.apartId, idMark(id), key), undefined);
    this.markLoose(note.place.segment);
    this.counts.apart--;
  }

  /** What lay in this place counts no more. Not for files that were adopted, nor for what shares its member. */
  leave(row: LeftRow): void {
    if (row.length === 0 || this.segment(row.segment)?.adopted !== undefined) return;
    this.put(leftKey(row.segment, row.offset), encodeLeft(row));
    this.markLoose(row.segment);
  }

  /** Nothing of a segment counts any more: its file is about to go. */
  leaveSegment(segment: number): void {
    this.forgetSegment(segment);
    this.put(leftKey(segment, 0), encodeLeft({ ...WHOLE, segment }));
  }

  /** The file of a segment is gone. */
  forgetSegment(segment: number): void {
    this.putSegment(segment, undefined);
    this.markLoose(segment, false);
    for (const { offset } of Array.from(this.leftIn(segment))) this.put(leftKey(segment, offset), undefined);
  }

  /** Its file is still there, since somebody was cut off before it went. */
  isLeftSegment(segment: number): boolean {
    return this.segment(segment) === undefined && this.view.get(leftKey(segment, 0)) !== undefined;
  }

  /** The record that holds a payload is that of a removed capture. */
  markOrphaned(digest: Buffer, framing: Framing, isOrphaned = true): void {
    const key = tableKey(Table.orphaned, originalKey(digest, framing).slice(1));
    if (isOrphaned || this.view.get(key) !== undefined) this.put(key, isOrphaned ? NOTHING : undefined);
  }

  /** Of the next file that is added. A number is not given out again, though nothing of its file is left. */
  nextSource(): number {
    return 1 + Math.max(this.lastOwnSource(), this.counts.lastSource);
  }

  reserveSources(last: number): void {
    this.counts.lastSource = Math.max(this.counts.lastSource, last);
  }

  setJournalEnd(end: JournalEnd): void {
    this.counts.journalEnd = end;
  }

  setUnfinished(isUnfinished: boolean): void {
    this.counts.unfinished = isUnfinished ? 1 : 0;
  }

  putSegment(number: number, row: SegmentRow | undefined): void {
    const key = tableKey(Table.segment, number32(number));
    this.put(key, row === undefined ? undefined : Buffer.from(JSON.stringify(row)));
  }

  putSource(number: number, row: SourceRow): void {
    this.put(tableKey(Table.source, number32(number)), Buffer.from(JSON.stringify(row)));
  }

  /** With the commit of the timeline that goes with it. Durable when it returns. */
  commit(timelineCommit: number): void {
    this.counts.timelineCommit = timelineCommit;
    this.put(tableKey(Table.state), Buffer.from(JSON.stringify(this.counts)));
    this.changes.take((changes) => {
      this.store.commit(changes);
      return this.store.view();
    });
  }
}

/** Each once. */
function idsOf({ id, with: ids }: ApartNote): ReadonlySet<string> {
  return new Set(id === undefined ? ids : [id, ...ids]);
}

function halfText({ sha256 }: NonNullable<CaptureRow["payload"]>): string {
  return latin1(sha256.subarray(0, DIGEST_HALF));
}

function seenUnder(row: CaptureRow | undefined): string | undefined {
  return row?.payload === undefined || has(row, Flag.removed) ? undefined : halfText(row.payload);
}

function headlessUnder(row: CaptureRow | undefined): string | undefined {
  return row !== undefined && has(row, Flag.headless) ? seenUnder(row) : undefined;
}

function methodKeyOf(row: CaptureRow | undefined): string | undefined {
  if (row === undefined || row.class !== "other-method" || has(row, Flag.removed)) return undefined;
  // Behind a fragment, what is put there would be part of it: then the key would be that of the row itself.
  const url = row.url.replace(/#.*$/s, "");
  return archiveKey(`${url}${url.includes("?") ? "&" : "?"}${row.request?.query ?? ""}`);
}
