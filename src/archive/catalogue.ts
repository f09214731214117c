/**
 * What an archive knows beside its segments: where each capture lies, which record holds each payload, where each payload
 * was seen, which revisits wait for their originals. All of it follows from the segments and the journal.
 *
 * One table after the other in one ordered store; the first character of a key says which. Changes are seen by this object at
 * once, and by others when they are committed.
 */
import { ArchiveError } from "../base/index.ts";
import {
  CAPTURE_KEY_SIZE,
  type CaptureKey,
  captureKey,
  nextKey,
  TIME_BIAS,
  timeOf,
  urlOf,
  waitForClaim,
} from "./capture-key.ts";
import {
  type CaptureRow,
  DIGEST_HALF,
  decodeCapture,
  decodeOriginal,
  encodeCapture,
  encodeOriginal,
  type OriginalRow,
} from "./capture-row.ts";
import { behind, type OrderedStore, type Pair, type StoreView } from "./ordered-store.ts";

const Table = {
  capture: 1,
  original: 2,
  claim: 3,
  seen: 4,
  pending: 5,
  removed: 6,
  segment: 7,
  source: 8,
  note: 9,
  state: 10,
};

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
}

/** Of one payload: framing is part of which original a revisit may refer to. */
export type Framing = "plain" | "chunked";
const FRAMINGS: readonly Framing[] = ["plain", "chunked"];

export interface CatalogueState {
  readonly format: 2;
  /** Which timeline belongs to it, and which commit of that. */
  readonly timeline: number;
  readonly timelineCommit: number;
  /** How many entries of the journal are in it. */
  readonly journal: number;
  readonly captures: number;
  readonly contents: number;
  /** Revisits whose originals are not there. */
  readonly pending: number;
  /** Captures that were removed from a moment of which later ones are left: numbers of a moment may have gaps then. */
  readonly gaps: number;
  /** 1 while everything is made anew: then a segment that is not in it was not left by a crash. */
  readonly unfinished: number;
}

const EMPTY: CatalogueState = {
  format: 2,
  timeline: 1,
  timelineCommit: 0,
  journal: 0,
  captures: 0,
  contents: 0,
  pending: 0,
  gaps: 0,
  unfinished: 0,
};

export interface FoundCapture {
  readonly key: CaptureKey;
  readonly timeMs: number;
  readonly row: CaptureRow;
}

/** A key's first character is its table. */
function tableKey(table: number, rest = ""): string {
  return String.fromCharCode(table) + rest;
}

function latin1(bytes: Buffer): string {
  return bytes.toString("latin1");
}

function number32(value: number): string {
  return String.fromCharCode(value >>> 24, (value >>> 16) & 255, (value >>> 8) & 255, value & 255);
}

/** The number that makes up the key of a small table. */
function numberIn(key: string): number {
  return Buffer.from(key, "latin1").readUInt32BE(1);
}

function seenKey(digest: Buffer, key: CaptureKey): string {
  return tableKey(Table.seen, latin1(digest) + key);
}

/** Of an original: half a digest, and its framing. */
function originalKey(digest: Buffer, framing: Framing): string {
  return tableKey(Table.original, latin1(digest) + String.fromCharCode(FRAMINGS.indexOf(framing)));
}

const ASKED_MAX = 32;
const NOTHING = Buffer.alloc(0);
const UNKNOWN_DIGEST = Buffer.alloc(DIGEST_HALF);

/** What is the same for who reads and who writes. */
export class CatalogueView {
  protected view: StoreView;
  private read: CatalogueState | undefined;

  constructor(view: StoreView) {
    this.view = view;
  }

  /** Throws HT_FORMAT_TOO_NEW. To be called before anything else. */
  checkFormat(): void {
    const format: number = this.state.format;
    if (format > 2) throw new ArchiveError("HT_FORMAT_TOO_NEW", "the catalogue was made by a newer Holotype");
  }

  protected get(key: string): Buffer | undefined {
    return this.view.get(key);
  }

  get state(): CatalogueState {
    this.read ??= this.readState();
    return this.read;
  }

  protected readState(): CatalogueState {
    const bytes = this.view.get(tableKey(Table.state));
    return bytes === undefined ? EMPTY : { ...EMPTY, ...(JSON.parse(bytes.toString()) as CatalogueState) };
  }

  capture(key: CaptureKey): CaptureRow | undefined {
    const bytes = this.get(tableKey(Table.capture, key));
    return bytes === undefined ? undefined : decodeCapture(bytes);
  }

  /** Captures of one moment, in the order in which they came. */
  capturesAt(url: string, timeMs: number): FoundCapture[] {
    const found: FoundCapture[] = [];
    const hasGaps = this.state.gaps > 0;
    for (let number = 0; number < 256; number++) {
      const key = captureKey(url, timeMs, number);
      const row = this.capture(key);
      if (row !== undefined) found.push({ key, timeMs, row });
      else if (!hasGaps) break;
    }
    return found;
  }

  /** Captures of a URL from one time up to and with another, in order or backwards. Only what is committed. */
  *captures(url: string, fromMs: number, toMs: number, backwards = false): Generator<FoundCapture> {
    const from = tableKey(Table.capture, captureKey(url, fromMs, 0));
    const to = behind(tableKey(Table.capture, captureKey(url, toMs, 255)));
    for (const { key, value } of this.view.range(from, to, backwards)) {
      yield foundIn(key, value);
    }
  }

  /** The first that `captures` would give. */
  firstCapture(url: string, fromMs: number, toMs: number, backwards = false): FoundCapture | undefined {
    const from = tableKey(Table.capture, captureKey(url, fromMs, 0));
    const to = behind(tableKey(Table.capture, captureKey(url, toMs, 255)));
    const pair = this.view.first(from, to, backwards);
    return pair && foundIn(pair.key, pair.value);
  }

  /** All captures, in no order that means anything. Only what is committed. */
  *allCaptures(): Generator<FoundCapture> {
    for (const { key, value } of this.view.range(tableKey(Table.capture), tableKey(Table.capture + 1))) {
      yield foundIn(key, value);
    }
  }

  original(digest: Buffer, framing: Framing): OriginalRow | undefined {
    const bytes = this.get(originalKey(digest, framing));
    return bytes === undefined ? undefined : decodeOriginal(bytes);
  }

  anyOriginal(digest: Buffer): OriginalRow | undefined {
    return this.original(digest, "plain") ?? this.original(digest, "chunked");
  }

  *allOriginals(): Generator<{ digest: Buffer; framing: Framing; row: OriginalRow }> {
    for (const { key, value } of this.view.range(tableKey(Table.original), tableKey(Table.original + 1))) {
      const framing = FRAMINGS[key.charCodeAt(1 + DIGEST_HALF)]!;
      const digest = Buffer.from(key.slice(1, 1 + DIGEST_HALF), "latin1");
      yield { digest, framing, row: decodeOriginal(value) };
    }
  }

  /** Every capture with this payload. Only what is committed. */
  *seen(digest: Buffer): Generator<CaptureKey> {
    const prefix = tableKey(Table.seen, latin1(digest));
    for (const { key } of this.view.range(prefix, behind(prefix))) yield key.slice(prefix.length);
  }

  /** Whether any capture has this payload. Only what is committed. */
  isSeen(digest: Buffer): boolean {
    return this.seen(digest).next().done !== true;
  }

  /** Whether the capture stands among those that `seen` gives. */
  isListed(digest: Buffer, key: CaptureKey): boolean {
    return this.get(seenKey(digest, key)) !== undefined;
  }

  /** The payload that a digest in a header stands for. */
  digestOf(claim: string): Buffer | undefined {
    return this.get(tableKey(Table.claim, waitForClaim(claim)));
  }

  pending(wait: string): CaptureKey[] {
    const text = latin1(this.get(tableKey(Table.pending, wait)) ?? NOTHING);
    const keys: CaptureKey[] = [];
    for (let at = 0; at < text.length; at += CAPTURE_KEY_SIZE) keys.push(text.slice(at, at + CAPTURE_KEY_SIZE));
    return keys;
  }

  /** Whether a record with this mark was removed: the one with this payload, or any where that is not known. */
  isRemoved(mark: Buffer, digest: Buffer | undefined): boolean {
    const bytes = this.get(tableKey(Table.removed, latin1(mark)));
    if (bytes === undefined || digest === undefined) return bytes !== undefined;
    for (let at = 0; at < bytes.length; at += DIGEST_HALF) {
      if (digest.equals(bytes.subarray(at, at + DIGEST_HALF))) return true;
    }
    return false;
  }

  /** Whether a record that is no capture is there. */
  hasNote(note: Buffer): boolean {
    return this.get(tableKey(Table.note, latin1(note))) !== undefined;
  }

  /** All pairs of a small table. */
  protected table(table: number): Iterable<Pair> {
    return this.view.range(tableKey(table), tableKey(table + 1));
  }

  *segments(): Generator<{ number: number; row: SegmentRow }> {
    for (const { key, value } of this.table(Table.segment)) {
      yield { number: numberIn(key), row: JSON.parse(value.toString()) as SegmentRow };
    }
  }

  segment(number: number): SegmentRow | undefined {
    const bytes = this.get(tableKey(Table.segment, number32(number)));
    return bytes === undefined ? undefined : (JSON.parse(bytes.toString()) as SegmentRow);
  }

  /** Of the files that were added; 0 before the first. */
  lastOwnSource(): number {
    let last = 0;
    for (const { number } of this.sources()) if (number < ADOPTED_SOURCES) last = Math.max(last, number);
    return last;
  }

  *sources(): Generator<{ number: number; row: SourceRow }> {
    for (const { key, value } of this.table(Table.source)) {
      yield { number: numberIn(key), row: JSON.parse(value.toString()) as SourceRow };
    }
  }

  source(number: number): SourceRow | undefined {
    const bytes = this.get(tableKey(Table.source, number32(number)));
    return bytes === undefined ? undefined : (JSON.parse(bytes.toString()) as SourceRow);
  }
}

function foundIn(key: string, value: Buffer): FoundCapture {
  const own = key.slice(1);
  return { key: own, timeMs: timeOf(own), row: decodeCapture(value) };
}

/** The writer's. */
export class Catalogue extends CatalogueView {
  private readonly store: OrderedStore;
  private changes = new Map<string, Buffer | undefined>();
  /** What the store was asked for last: of one capture the same is wanted several times. */
  private readonly asked = new Map<string, Buffer | undefined>();
  /** The capture that was put last: what stands behind it is added to it, most often right then. */
  private lastPut: { readonly key: CaptureKey; readonly row: CaptureRow } | undefined;
  /** Captures that are not committed yet, by their URLs. */
  private recent = new Map<string, CaptureKey[]>();
  private counts: { -readonly [K in keyof CatalogueState]: CatalogueState[K] };

  /** `timeline` is the number of the one that belongs to a catalogue in which there is nothing yet. */
  constructor(store: OrderedStore, timeline: number) {
    super(store.view());
    this.store = store;
    this.counts = { ...this.readState() };
    this.checkFormat();
    if (this.counts.timelineCommit === 0) this.counts.timeline = timeline;
  }

  get changeCount(): number {
    return this.changes.size;
  }

  override get state(): CatalogueState {
    return this.counts;
  }

  protected override get(key: string): Buffer | undefined {
    const changed = this.changes.get(key);
    if (changed !== undefined || this.changes.has(key)) return changed;
    if (this.asked.has(key)) return this.asked.get(key);
    if (this.asked.size === ASKED_MAX) this.asked.clear();
    const value = super.get(key);
    this.asked.set(key, value);
    return value;
  }

  protected override table(table: number): Iterable<Pair> {
    const pairs = new Map<string, Buffer>([...super.table(table)].map(({ key, value }) => [key, value]));
    for (const [key, value] of this.changes) {
      if (key.charCodeAt(0) !== table) continue;
      if (value === undefined) pairs.delete(key);
      else pairs.set(key, value);
    }
    const keys = [...pairs.keys()].sort();
    return keys.map((key) => ({ key, value: pairs.get(key)! }));
  }

  private put(key: string, value: Buffer | undefined): void {
    this.changes.set(key, value);
  }

  count(more: Partial<Record<Exclude<keyof CatalogueState, "format">, number>>): void {
    for (const name of Object.keys(more) as (keyof typeof more)[]) this.counts[name] += more[name] ?? 0;
  }

  /** The captures of a URL before a time, the last first; those that are not committed too. */
  *capturesBefore(url: string, timeMs: number): Generator<FoundCapture> {
    const recent = (this.recent.get(url) ?? [])
      .flatMap((key) => {
        const row = timeOf(key) < timeMs ? this.capture(key) : undefined;
        return row === undefined ? [] : [{ key, timeMs: timeOf(key), row }];
      })
      .sort((one, other) => other.timeMs - one.timeMs);
    for (const found of this.captures(url, -TIME_BIAS, timeMs - 1, true)) {
      while (recent.length > 0 && recent[0]!.timeMs >= found.timeMs) yield recent.shift()!;
      const row = this.capture(found.key);
      if (row !== undefined) yield { ...found, row };
    }
    yield* recent;
  }

  override capture(key: CaptureKey): CaptureRow | undefined {
    return key === this.lastPut?.key ? this.lastPut.row : super.capture(key);
  }

  /** One whose key is free. */
  addCapture(key: CaptureKey, row: CaptureRow): void {
    const url = urlOf(key);
    const recent = this.recent.get(url);
    if (recent === undefined) this.recent.set(url, [key]);
    else recent.push(key);
    this.counts.captures++;
    this.lastPut = { key, row };
    this.put(tableKey(Table.capture, key), encodeCapture(row));
    if (row.digest !== undefined) this.put(seenKey(row.digest, key), NOTHING);
  }

  /** One that is there, changed. */
  putCapture(key: CaptureKey, row: CaptureRow): void {
    const before = this.capture(key);
    this.lastPut = { key, row };
    this.put(tableKey(Table.capture, key), encodeCapture(row));
    if (row.digest === undefined || before?.digest?.equals(row.digest) === true) return;
    if (before?.digest !== undefined) this.put(seenKey(before.digest, key), undefined);
    this.put(seenKey(row.digest, key), NOTHING);
  }

  removeCapture(key: CaptureKey): void {
    const row = this.capture(key);
    if (row === undefined) return;
    this.lastPut = undefined;
    this.put(tableKey(Table.capture, key), undefined);
    if (row.digest !== undefined) this.put(seenKey(row.digest, key), undefined);
    else this.counts.pending--;
    this.counts.captures--;
    if (this.capture(nextKey(key)) !== undefined) this.counts.gaps++;
  }

  /** A number for one more capture of this moment; 256 of one URL and millisecond are as many as there can be. */
  freeKey(url: string, timeMs: number): CaptureKey {
    for (let number = 0; number < 256; number++) {
      const key = captureKey(url, timeMs, number);
      if (this.capture(key) === undefined) return key;
    }
    throw new ArchiveError("HT_TOO_LARGE", "more than 256 captures of one URL at one time");
  }

  putOriginal(digest: Buffer, framing: Framing, row: OriginalRow | undefined): void {
    const key = originalKey(digest, framing);
    const isThere = this.get(key) !== undefined;
    this.put(key, row === undefined ? undefined : encodeOriginal(row));
    const isOnly = FRAMINGS.every((other) => other === framing || this.original(digest, other) === undefined);
    if (isOnly && isThere !== (row !== undefined)) this.count({ contents: row === undefined ? -1 : 1 });
  }

  putClaim(claim: string, digest: Buffer | undefined): void {
    this.put(tableKey(Table.claim, waitForClaim(claim)), digest);
  }

  addPending(wait: string, key: CaptureKey): void {
    this.put(tableKey(Table.pending, wait), Buffer.from([...this.pending(wait), key].join(""), "latin1"));
  }

  clearPending(wait: string): void {
    if (this.pending(wait).length > 0) this.put(tableKey(Table.pending, wait), undefined);
  }

  markRemoved(mark: Buffer, digest: Buffer | undefined, isRemoved: boolean): void {
    const key = tableKey(Table.removed, latin1(mark));
    const own = digest ?? UNKNOWN_DIGEST;
    const bytes = this.get(key) ?? NOTHING;
    const others: Buffer[] = [];
    for (let at = 0; at < bytes.length; at += DIGEST_HALF) others.push(bytes.subarray(at, at + DIGEST_HALF));
    const left = others.filter((other) => !other.equals(own));
    if (isRemoved) left.push(own);
    this.put(key, left.length === 0 ? undefined : Buffer.concat(left));
  }

  addNote(note: Buffer): void {
    this.put(tableKey(Table.note, latin1(note)), NOTHING);
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
  commit(timelineCommit: number, timeline = this.counts.timeline): void {
    this.counts.timeline = timeline;
    this.counts.timelineCommit = timelineCommit;
    this.put(tableKey(Table.state), Buffer.from(JSON.stringify(this.counts)));
    this.store.commit(this.changes);
    this.changes = new Map();
    this.asked.clear();
    this.recent = new Map();
    this.view = this.store.view();
  }
}
