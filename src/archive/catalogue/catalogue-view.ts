/**
 * What an archive knows beside its segments: where each capture lies and what it is, which record holds each payload,
 * where each payload was seen. All of it follows from the segments and the journal. One table after the other in one
 * ordered store; the first character of a key says which.
 */
import { ArchiveError } from "../../base/index.ts";
import { behind, type Pair, type StoreView } from "../../rows/index.ts";
import { type ApartNote, apartKey, decodeApart, markInApart } from "./apart-note.ts";
import {
  type CaptureKey,
  captureKey,
  idMarkIn,
  markIn,
  momentKey,
  timeOf,
  urlKeyOf,
  waitForDigest,
} from "./capture-key.ts";
import {
  type CaptureRow,
  DIGEST_HALF,
  decodeCapture,
  decodeOriginal,
  Flag,
  has,
  type OriginalRow,
} from "./capture-row.ts";
import {
  FRAMINGS,
  type Framing,
  latin1,
  listKey,
  number32,
  numberIn,
  originalKey,
  Table,
  tableKey,
} from "./catalogue-keys.ts";
import { type ContinuationRow, continuationsKey, decodeContinuation } from "./continuation-row.ts";
import { decodeLeft, type LeftRow, leftKey } from "./left-row.ts";
import { decodeRequest, type LooseRequest } from "./request-row.ts";

/** A file whose records are in the archive: a segment of our own, or one that was adopted and stays where it is. */
export interface SegmentRow {
  /** Absent for our own. */
  readonly adopted?: { readonly path: string; readonly size: number; readonly modifiedMs: number } | undefined;
  /** How far it is in the catalogue. */
  readonly end: number;
  /** Nothing is appended to it any more: there is something in it, or behind its end, that could not be read. */
  readonly closed?: boolean | undefined;
}

/** Numbers of sources: those of files that were added stand in our segments, an adopted one has that of its segment above. */
export const ADOPTED_SOURCES = 2 ** 31;

/** A file that captures came from. */
export interface SourceRow {
  readonly name: string;
  readonly addedMs: number;
  /** The crawl that it is part of, where it was told; else its name tells. */
  readonly crawl?: string | undefined;
}

/** How far a journal reaches. */
export interface JournalEnd {
  readonly entries: number;
  /** Of the last entry; eight digits in hex. Absent where an earlier version counted the entries. */
  readonly checksum?: string | undefined;
}

export interface CatalogueState {
  readonly format: 6;
  /** Which timeline belongs to it, and which commit of that. */
  readonly timeline: number;
  readonly timelineCommit: number;
  /** How many entries of the journal are in it. */
  readonly journal: number;
  /** How far the journal reached then; absent where an earlier version wrote it. */
  readonly journalEnd?: JournalEnd | undefined;
  readonly captures: number;
  readonly contents: number;
  /** Revisits whose originals are not there. */
  readonly pending: number;
  /** How many rows there are that something must be looked up for: 0 for most archives. */
  readonly waiting: number;
  readonly headless: number;
  readonly cutOff: number;
  readonly silent: number;
  readonly far: number;
  readonly requests: number;
  readonly asked: number;
  readonly apart: number;
  /** Files that were added had numbers up to this, by the journal; nothing of them may be left. */
  readonly lastSource: number;
  /** 1 while everything is rebuilt: then a segment that is not in it was not left by a crash. */
  readonly unfinished: number;
}

const FORMAT = 6;

const EMPTY: CatalogueState = {
  format: FORMAT,
  timeline: 1,
  timelineCommit: 0,
  journal: 0,
  captures: 0,
  contents: 0,
  pending: 0,
  waiting: 0,
  headless: 0,
  cutOff: 0,
  silent: 0,
  far: 0,
  requests: 0,
  asked: 0,
  apart: 0,
  lastSource: 0,
  unfinished: 0,
};

export interface FoundCapture {
  readonly key: CaptureKey;
  /** The key that it was found under, where that is another. */
  readonly under?: string | undefined;
  readonly timeMs: number;
  readonly row: CaptureRow;
}

/** Stands for the type of one that was removed. */
export const REMOVED_NOTE = "removed";
const NOTE_TYPES = new Set(["warcinfo", "request", "metadata", "conversion", "continuation"]);

/** How a record that is no capture is counted. */
export function noteType(type: string): string {
  return NOTE_TYPES.has(type) ? type : "other";
}

/** A record that is not a capture and stands by itself. */
export interface FoundNote {
  /** The key of its URL, a zero, and its mark. */
  readonly key: string;
  readonly mark: string;
  readonly note: ApartNote;
}

/** Behind all keys of URLs. */
export const LAST_KEY = "\xff";

/** First byte of a row that says where the capture lies that is meant. */
const POINTER = 255;

export class CatalogueView {
  protected readonly view: StoreView;
  private read: CatalogueState | undefined;

  constructor(view: StoreView) {
    this.view = view;
  }

  /** HT_FORMAT_TOO_NEW. To be called before anything else. */
  refuseNewer(): void {
    const format: number = this.state.format;
    if (format > FORMAT) throw new ArchiveError("HT_FORMAT_TOO_NEW", "the catalogue was made by a newer Holotype");
  }

  /** The same; and HT_UNSUPPORTED where it, or the timeline that belongs to it, is of an earlier form. */
  checkFormat(folder: string): void {
    this.refuseNewer();
    if (!this.isCurrent) {
      const message = `${folder}: the catalogue was made by an earlier Holotype; \`holotype rebuild\` makes it again`;
      throw new ArchiveError("HT_UNSUPPORTED", message, { file: folder });
    }
  }

  /** Whether it is of the form that this version writes. */
  get isCurrent(): boolean {
    const format: number = this.state.format;
    return format === FORMAT;
  }

  get state(): CatalogueState {
    this.read ??= this.readState();
    return this.read;
  }

  /** How far the journal has to reach, as far as this knows. */
  get journalEnds(): readonly JournalEnd[] {
    const { journal, journalEnd } = this.state;
    return [{ entries: journal }, ...(journalEnd === undefined ? [] : [journalEnd])];
  }

  protected readState(): CatalogueState {
    const bytes = this.view.get(tableKey(Table.state));
    return bytes === undefined ? EMPTY : { ...EMPTY, ...(JSON.parse(bytes.toString()) as CatalogueState) };
  }

  /** Removed ones too. */
  capture(key: CaptureKey): CaptureRow | undefined {
    const bytes = this.view.get(tableKey(Table.capture, key));
    return bytes === undefined || bytes[0] === POINTER ? undefined : decodeCapture(urlKeyOf(key), bytes);
  }

  /** The same with its key. */
  found(key: CaptureKey): FoundCapture | undefined {
    const row = this.capture(key);
    return row && { key, timeMs: timeOf(key), row };
  }

  /** The first key of a capture in a range; of removed ones too. */
  firstIn(from: string, to: string): CaptureKey | undefined {
    return this.view.first(tableKey(Table.capture, from), tableKey(Table.capture, to))?.key.slice(1);
  }

  /** Whether a capture has a key that begins with this; removed ones too. */
  hasKey(prefix: string): boolean {
    return this.firstIn(prefix, behind(prefix)) !== undefined;
  }

  /** The first capture of the URL after this time; removed ones too. */
  nextOf(urlKey: string, timeMs: number): CaptureKey | undefined {
    return this.firstIn(momentKey(urlKey, timeMs + 1), `${urlKey}\x01`);
  }

  /** Captures of one moment, removed ones too, in the order of their marks. */
  at(urlKey: string, timeMs: number): FoundCapture[] {
    const from = tableKey(Table.capture, momentKey(urlKey, timeMs));
    return [...this.rows(from, behind(from), false)];
  }

  /** Captures of a URL from one time up to and with another, in order or backwards; removed ones too. */
  visits(urlKey: string, fromMs: number, toMs: number, backwards = false): Generator<FoundCapture> {
    const from = tableKey(Table.capture, momentKey(urlKey, fromMs));
    const to = behind(tableKey(Table.capture, momentKey(urlKey, toMs)));
    return this.rows(from, to, backwards);
  }

  /** The same without those that were removed. */
  *captures(urlKey: string, fromMs: number, toMs: number, backwards = false): Generator<FoundCapture> {
    for (const found of this.visits(urlKey, fromMs, toMs, backwards)) if (!has(found.row, Flag.removed)) yield found;
  }

  /** Captures of a URL whose marks begin with that of a record id, in the order of times. */
  *withIdMark(urlKey: string, mark: string): Generator<FoundCapture> {
    for (const found of this.matching(urlKey, (key) => idMarkIn(key) === mark))
      if (!has(found.row, Flag.removed)) yield found;
  }

  /** Captures of a URL that are wanted by their keys, removed ones too: there may be thousands, of which few are. */
  *matching(urlKey: string, isWanted: (key: CaptureKey) => boolean): Generator<FoundCapture> {
    const prefix = tableKey(Table.capture, `${urlKey}\0`);
    for (const { key, value } of this.view.range(prefix, behind(prefix))) {
      const own = key.slice(1);
      if (value[0] === POINTER || !isWanted(own)) continue;
      yield { key: own, timeMs: timeOf(own), row: decodeCapture(urlKey, value) };
    }
  }

  /** All captures whose keys lie in a range of texts, in their order; what another method found under its own key too. */
  *capturesIn(from: string, to: string, backwards = false): Generator<FoundCapture> {
    const [first, last] = [tableKey(Table.capture, from), tableKey(Table.capture, to)];
    for (const { key, value } of this.view.range(first, last, backwards)) {
      const own = value[0] === POINTER ? latin1(value.subarray(1)) : key.slice(1);
      const row = value[0] === POINTER ? this.capture(own) : decodeCapture(urlKeyOf(own), value);
      const under = value[0] === POINTER ? key.slice(1) : undefined;
      if (row !== undefined && !has(row, Flag.removed)) yield { key: own, under, timeMs: timeOf(own), row };
    }
  }

  /** The same without what lies under another key than its own: each capture once. */
  *rowsIn(from: string, to: string, backwards = false): Generator<FoundCapture> {
    for (const found of this.rows(tableKey(Table.capture, from), tableKey(Table.capture, to), backwards))
      if (!has(found.row, Flag.removed)) yield found;
  }

  /** All captures in the order of their keys, each once. */
  allCaptures(): Generator<FoundCapture> {
    return this.rowsIn("", LAST_KEY);
  }

  /** Captures whose records lie in a segment. Walks over all captures. */
  *inSegment(segment: number): Generator<FoundCapture> {
    for (const found of this.allCaptures()) if (found.row.place.segment === segment) yield found;
  }

  private *rows(from: string, to: string, backwards: boolean): Generator<FoundCapture> {
    for (const { key, value } of this.view.range(from, to, backwards)) {
      if (value[0] === POINTER) continue;
      const own = key.slice(1);
      yield { key: own, timeMs: timeOf(own), row: decodeCapture(urlKeyOf(own), value) };
    }
  }

  original(digest: Buffer, framing: Framing): OriginalRow | undefined {
    const bytes = this.view.get(originalKey(digest, framing));
    return bytes === undefined ? undefined : decodeOriginal(bytes);
  }

  anyOriginal(digest: Buffer): OriginalRow | undefined {
    return this.original(digest, "plain") ?? this.original(digest, "chunked");
  }

  *allOriginals(): Generator<{ digest: Buffer; framing: Framing; row: OriginalRow }> {
    for (const { key, value } of this.table(Table.original)) {
      const framing = FRAMINGS[key.charCodeAt(1 + DIGEST_HALF)]!;
      yield { digest: Buffer.from(key.slice(1, 1 + DIGEST_HALF), "latin1"), framing, row: decodeOriginal(value) };
    }
  }

  /** The captures that stand under something in one of the tables of that kind; or those of them behind a key. */
  *listed(table: number, under: string, backwards = false, after?: CaptureKey): Generator<CaptureKey> {
    const prefix = tableKey(table, under);
    const from = after === undefined ? prefix : `${prefix}${after}\0`;
    for (const { key } of this.view.range(from, behind(prefix), backwards)) yield key.slice(prefix.length);
  }

  /** Every capture with this payload, of which the first half of the digest is given; or those behind a key. */
  seen(digest: Buffer, after?: CaptureKey): Generator<CaptureKey> {
    return this.listed(Table.seen, latin1(digest), false, after);
  }

  /** Those of them that are of one URL key, in the order of times. */
  *seenAt(digest: Buffer, urlKey: string): Generator<CaptureKey> {
    const prefix = tableKey(Table.seen, `${latin1(digest)}${urlKey}\0`);
    for (const { key } of this.view.range(prefix, behind(prefix))) yield key.slice(1 + DIGEST_HALF);
  }

  /** Every capture with a payload, in the order of the first halves of their digests, which are told as text. */
  *allSeen(): Generator<{ readonly content: string; readonly key: CaptureKey }> {
    for (const { key } of this.table(Table.seen))
      yield { content: key.slice(1, 1 + DIGEST_HALF), key: key.slice(1 + DIGEST_HALF) };
  }

  isListed(table: number, under: string, key: CaptureKey): boolean {
    return this.view.get(listKey(table, under, key)) !== undefined;
  }

  /** Whether there may be records in this segment of our own that nothing leads to. */
  isLoose(segment: number): boolean {
    return this.view.get(tableKey(Table.loose, number32(segment))) !== undefined;
  }

  /** First halves of the payloads that a digest in a header stands for, or once stood for. */
  claimed(claim: string): Buffer[] {
    const bytes = this.view.get(tableKey(Table.claim, waitForDigest(claim)));
    return bytes === undefined ? [] : halvesIn(bytes);
  }

  /** A request that stands by itself. */
  request(mark: string, uri: string | undefined): LooseRequest | undefined {
    const value = this.state.requests === 0 ? undefined : this.view.get(tableKey(Table.request, apartKey(mark, uri)));
    return value && decodeRequest(value);
  }

  /** Requests of a URL that stand by themselves. */
  *requests(urlKey: string): Generator<LooseRequest> {
    if (this.state.requests === 0) return;
    const prefix = tableKey(Table.request, `${urlKey}\0`);
    for (const { value } of this.view.range(prefix, behind(prefix))) yield decodeRequest(value);
  }

  /** The records that continue the one with this id, in the order of their numbers. */
  *continuations(origin: string): Generator<ContinuationRow> {
    const prefix = continuationsKey(origin);
    for (const { value } of this.view.range(prefix, behind(prefix))) yield decodeContinuation(value);
  }

  /** The entry of the journal by which nobody had this payload any more; 0 where there is none. */
  dropped(digest: Buffer): number {
    return Number(this.view.get(tableKey(Table.dropped, latin1(digest)))?.toString() ?? 0);
  }

  /** Whether a record that is no capture is there, or was removed. */
  hasNote(note: string): boolean {
    return this.view.get(tableKey(Table.note, note)) !== undefined;
  }

  /** How many records that are no captures there are, by their types. */
  countNotes(): Record<string, number> {
    const counts: Record<string, number> = {};
    for (const { value } of this.table(Table.note)) {
      if (value.toString() === REMOVED_NOTE) continue;
      const type = noteType(value.toString());
      counts[type] = (counts[type] ?? 0) + 1;
    }
    return counts;
  }

  /** Whether a record that is no capture was removed. */
  isRemovedNote(note: string): boolean {
    return this.view.get(tableKey(Table.note, note))?.toString() === REMOVED_NOTE;
  }

  /** One that stands by itself. */
  apart(mark: string, uri: string | undefined): ApartNote | undefined {
    const value = this.state.apart === 0 ? undefined : this.view.get(tableKey(Table.apart, apartKey(mark, uri)));
    return value && decodeApart(value);
  }

  /** Records that are not captures and stand by themselves, with URL keys in a range, in order. */
  *apartIn(from: string, to: string): Generator<FoundNote> {
    if (this.state.apart === 0) return;
    for (const { key, value } of this.view.range(tableKey(Table.apart, from), tableKey(Table.apart, to)))
      yield { key: key.slice(1), mark: markInApart(key), note: decodeApart(value) };
  }

  /** The same that name a record with this mark of an id, or have it themselves. */
  *apartById(idMark: string): Generator<FoundNote> {
    if (this.state.apart === 0) return;
    for (const key of this.listed(Table.apartId, idMark)) {
      const value = this.view.get(tableKey(Table.apart, key));
      if (value !== undefined) yield { key, mark: markInApart(key), note: decodeApart(value) };
    }
  }

  /** The record that lies here was removed. One that was healed, and can be read again, is as good as the other. */
  removedAt(segment: number, offset: number): LeftRow | undefined {
    const key = leftKey(segment, offset);
    const value = this.state.journal === 0 ? undefined : this.view.get(key);
    const row = value && decodeLeft(key, value);
    return row === undefined || row.entry === 0 ? undefined : row;
  }

  /** All of a segment, in order. */
  *leftIn(segment: number): Generator<LeftRow> {
    const prefix = leftKey(segment);
    for (const { key, value } of this.view.range(prefix, behind(prefix))) yield decodeLeft(key, value);
  }

  /** Payloads whose record is that of a removed capture, and that others share; after a key, where one is given. */
  *orphaned(
    behindKey?: string,
  ): Generator<{ readonly key: string; readonly digest: Buffer; readonly framing: Framing }> {
    const from = behindKey === undefined ? tableKey(Table.orphaned) : `${behindKey}\0`;
    for (const { key } of this.view.range(from, tableKey(Table.orphaned + 1))) {
      const framing = FRAMINGS[key.charCodeAt(1 + DIGEST_HALF)]!;
      yield { key, digest: Buffer.from(key.slice(1, 1 + DIGEST_HALF), "latin1"), framing };
    }
  }

  private table(table: number): Iterable<Pair> {
    return this.view.range(tableKey(table), tableKey(table + 1));
  }

  *segments(): Generator<{ number: number; row: SegmentRow }> {
    for (const { key, value } of this.table(Table.segment)) {
      yield { number: numberIn(key), row: JSON.parse(value.toString()) as SegmentRow };
    }
  }

  segment(number: number): SegmentRow | undefined {
    const bytes = this.view.get(tableKey(Table.segment, number32(number)));
    return bytes === undefined ? undefined : (JSON.parse(bytes.toString()) as SegmentRow);
  }

  /** Of the files that were added; 0 before the first. */
  lastOwnSource(): number {
    const pair = this.view.first(tableKey(Table.source), tableKey(Table.source, number32(ADOPTED_SOURCES)), true);
    return pair === undefined ? 0 : numberIn(pair.key);
  }

  /** In the order of their numbers: files that were added, and then those that were adopted. */
  *sources(): Generator<{ readonly number: number; readonly row: SourceRow }> {
    for (const { key, value } of this.table(Table.source))
      yield { number: numberIn(key), row: JSON.parse(value.toString()) as SourceRow };
  }

  source(number: number): SourceRow | undefined {
    const bytes = this.view.get(tableKey(Table.source, number32(number)));
    return bytes === undefined ? undefined : (JSON.parse(bytes.toString()) as SourceRow);
  }
}

/** First halves of digests, one after the other. */
export function halvesIn(bytes: Buffer): Buffer[] {
  return Array.from({ length: bytes.length / DIGEST_HALF }, (_, i) =>
    bytes.subarray(i * DIGEST_HALF, (i + 1) * DIGEST_HALF),
  );
}

/** The row of a capture under another key than its own. */
export function encodePointer(key: CaptureKey): Buffer {
  return Buffer.concat([Buffer.of(POINTER), Buffer.from(key, "latin1")]);
}

/** The key of method and body of a capture, and its moment and mark. */
export function pointerKey(methodKey: string, key: CaptureKey): string {
  return tableKey(Table.capture, captureKey(methodKey, timeOf(key), markIn(key)));
}
