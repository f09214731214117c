/**
 * What an archive knows beside its segments: where each capture lies, which record holds each payload, where each payload
 * was seen, which revisits wait for their originals. All of it follows from the segments and the journal.
 *
 * One table after the other in one ordered store; the first character of a key says which. Changes are seen by this object at
 * once, and by others when they are committed.
 */
import { ArchiveError } from "../../base/index.ts";
import { type OrderedStore, type Pair } from "../../rows/index.ts";
import { type CaptureKey, captureKey, nextKey, TIME_BIAS, timeOf, urlOf, waitForClaim } from "./capture-key.ts";
import { type CaptureRow, DIGEST_HALF, encodeCapture, encodeOriginal, type OriginalRow } from "./capture-row.ts";
import { FRAMINGS, type Framing, latin1, number32, originalKey, seenKey, Table, tableKey } from "./catalogue-keys.ts";
import {
  type CatalogueState,
  CatalogueView,
  type FoundCapture,
  type SegmentRow,
  type SourceRow,
  UNKNOWN_DIGEST,
} from "./catalogue-view.ts";

const ASKED_MAX = 32;
const NOTHING = Buffer.alloc(0);

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

  /** `timeline` is the number of the one that belongs to a catalogue in which there is nothing yet; `folder` the archive's. */
  constructor(store: OrderedStore, timeline: number, folder: string) {
    super(store.view());
    this.store = store;
    this.counts = { ...this.readState() };
    this.checkFormat(folder);
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
      .sort((one, other) => (one.key < other.key ? 1 : -1));
    for (const found of this.captures(url, -TIME_BIAS, timeMs - 1, true)) {
      while (recent.length > 0 && recent[0]!.key > found.key) yield recent.shift()!;
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
    if (row.digest !== undefined && before?.digest?.equals(row.digest) === true) return;
    if (before?.digest !== undefined) this.put(seenKey(before.digest, key), undefined);
    if (row.digest !== undefined) this.put(seenKey(row.digest, key), NOTHING);
  }

  removeCapture(key: CaptureKey): void {
    const row = this.capture(key);
    if (row === undefined) return;
    this.lastPut = undefined;
    this.markLoose(row.place.segment);
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
    const there = this.original(digest, framing);
    this.put(key, row === undefined ? undefined : encodeOriginal(row));
    // The record there may have been kept for its payload alone.
    if (there !== undefined) this.markLoose(there.place.segment);
    const isOnly = FRAMINGS.every((other) => other === framing || this.original(digest, other) === undefined);
    const isThere = there !== undefined;
    if (isOnly && isThere !== (row !== undefined)) this.count({ contents: row === undefined ? -1 : 1 });
  }

  /** Those of the payloads that no capture has. Captures that are not committed yet count, and so do removals. */
  unseen(digests: Iterable<Buffer>): Buffer[] {
    const added = new Set<string>();
    for (const [key, value] of this.changes) {
      if (key.charCodeAt(0) === Table.seen && value !== undefined) added.add(key.slice(1, 1 + DIGEST_HALF));
    }
    const isThere = (digest: Buffer) => {
      for (const key of this.seen(digest)) if (!this.changes.has(seenKey(digest, key))) return true;
      return added.has(latin1(digest));
    };
    return [...digests].filter((digest) => !isThere(digest));
  }

  /** See `isLoose`. Files that were adopted stay as they are. */
  markLoose(segment: number, isLoose = true): void {
    if (this.segment(segment)?.adopted !== undefined || this.isLoose(segment) === isLoose) return;
    this.put(tableKey(Table.loose, number32(segment)), isLoose ? NOTHING : undefined);
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

  markRemoved(mark: Buffer, digest: Buffer = UNKNOWN_DIGEST): void {
    this.putRemoved(mark, [...this.removedDigests(mark).filter((other) => !other.equals(digest)), digest]);
  }

  /** The one with this payload, or all where that is not told: what a revisit stood for may not be known any more. */
  markReadmitted(mark: Buffer, digest: Buffer | undefined): void {
    const left = digest === undefined ? [] : this.removedDigests(mark).filter((other) => !other.equals(digest));
    this.putRemoved(mark, left);
  }

  private putRemoved(mark: Buffer, digests: readonly Buffer[]): void {
    this.put(tableKey(Table.removed, latin1(mark)), digests.length === 0 ? undefined : Buffer.concat(digests));
  }

  addNote(note: Buffer): void {
    this.put(tableKey(Table.note, latin1(note)), NOTHING);
  }

  /** Of the next file that is added. A number is not given out again, though nothing of its file is left. */
  nextSource(): number {
    return 1 + Math.max(this.lastOwnSource(), this.counts.lastSource);
  }

  reserveSources(last: number): void {
    this.counts.lastSource = Math.max(this.counts.lastSource, last);
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
    this.store.commit(this.changes);
    this.changes = new Map();
    this.asked.clear();
    this.recent = new Map();
    this.view = this.store.view();
  }
}
