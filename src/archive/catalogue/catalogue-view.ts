/** The catalogue as those see it who read: what is committed. */
import { ArchiveError } from "../../base/index.ts";
import { behind, type Pair, type StoreView } from "../../rows/index.ts";
import { CAPTURE_KEY_SIZE, type CaptureKey, captureKey, timeOf, waitForClaim } from "./capture-key.ts";
import { type CaptureRow, DIGEST_HALF, decodeCapture, decodeOriginal, type OriginalRow } from "./capture-row.ts";
import {
  FRAMINGS,
  type Framing,
  latin1,
  number32,
  numberIn,
  originalKey,
  seenKey,
  Table,
  tableKey,
} from "./catalogue-keys.ts";

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

export interface CatalogueState {
  readonly format: 3;
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
  /** Files that were added had numbers up to this, by the journal; nothing of them may be left. */
  readonly lastSource: number;
  /** 1 while everything is made anew: then a segment that is not in it was not left by a crash. */
  readonly unfinished: number;
}

const FORMAT = 3;

const EMPTY: CatalogueState = {
  format: FORMAT,
  timeline: 1,
  timelineCommit: 0,
  journal: 0,
  captures: 0,
  contents: 0,
  pending: 0,
  gaps: 0,
  lastSource: 0,
  unfinished: 0,
};

export interface FoundCapture {
  readonly key: CaptureKey;
  readonly timeMs: number;
  readonly row: CaptureRow;
}

const NOTHING = Buffer.alloc(0);
/** Of a revisit that was removed before its original was known. */
export const UNKNOWN_DIGEST = Buffer.alloc(DIGEST_HALF);

/** What is the same for who reads and who writes. */
export class CatalogueView {
  protected view: StoreView;
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
    const format: number = this.state.format;
    if (format < FORMAT) {
      const message = `${folder}: the catalogue was made by an earlier Holotype; \`holotype rebuild\` makes it anew`;
      throw new ArchiveError("HT_UNSUPPORTED", message, { file: folder });
    }
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

  /** Whether the capture stands among those that `seen` gives. */
  isListed(digest: Buffer, key: CaptureKey): boolean {
    return this.get(seenKey(digest, key)) !== undefined;
  }

  /** Whether there may be records in this segment of our own that nothing leads to. */
  isLoose(segment: number): boolean {
    return this.get(tableKey(Table.loose, number32(segment))) !== undefined;
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
    if (digest === undefined) return this.get(tableKey(Table.removed, latin1(mark))) !== undefined;
    return this.removedDigests(mark).some((removed) => removed.equals(digest));
  }

  /** The payloads of records with this mark that were removed; zeros stand for one that was not known. */
  removedDigests(mark: Buffer): Buffer[] {
    const bytes = this.get(tableKey(Table.removed, latin1(mark))) ?? NOTHING;
    const digests: Buffer[] = [];
    for (let at = 0; at < bytes.length; at += DIGEST_HALF) digests.push(bytes.subarray(at, at + DIGEST_HALF));
    return digests;
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
