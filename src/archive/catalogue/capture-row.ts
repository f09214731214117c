/** Captures and originals as the catalogue has them. Obeys docs/format/archive.md. */
import { hash } from "node:crypto";
import { RowReader, RowWriter } from "../../rows/index.ts";
import { urlKey } from "../../url/index.ts";

/** Where a record lies: in which segment, and where in it. */
export interface RecordPlace {
  readonly segment: number;
  readonly offset: number;
  /** 0 for a record that shares its member with others. */
  readonly length: number;
  /** Position in the decoded member, for one that shares it. */
  readonly inner: number;
}

/** `revisit` is one that was in the input; `replaced` one that we wrote in the place of a response or resource. */
export type CaptureKind = "response" | "resource" | "revisit" | "replaced";

const KINDS: readonly CaptureKind[] = ["response", "resource", "revisit", "replaced"];

/** What was found odd about a capture when it came. */
export interface CaptureFlags {
  /** The digest in its header is not that of its payload. */
  readonly lies: boolean;
  /** Its date is in the future, before 1990, or missing (then it is filed under 1970). */
  readonly oddDate: boolean;
}

export interface CaptureRow extends CaptureFlags {
  readonly kind: CaptureKind;
  readonly place: RecordPlace;
  /** Bytes of records that belong to it and stand right before and behind it. */
  readonly before: number;
  readonly after: number;
  /** The file it came from, see `SourceRow`. */
  readonly source: number;
  /** Tells records apart, see `recordMark`. */
  readonly mark: Buffer;
  /** The first 16 bytes of the sha256 of its payload; absent for a revisit whose original is not known. */
  readonly digest: Buffer | undefined;
}

/** The record that holds a payload. */
export interface OriginalRow {
  readonly place: RecordPlace;
  readonly payloadSize: number;
  /** The rest of the sha256, of which the row's key has the first half. */
  readonly digestRest: Buffer;
  /** Whether duplicates may refer to it: not to one that was cut off, or that nothing can tell apart from another. */
  readonly isReferable: boolean;
}

export const DIGEST_HALF = 16;

/** The first half of a digest in hex. */
export function halfOf(sha256: string): Buffer {
  return Buffer.from(sha256.slice(0, 2 * DIGEST_HALF), "hex");
}

const rows = new RowWriter();
const ID_SIZE = 8;

function writePlace(row: RowWriter, { segment, offset, length, inner }: RecordPlace): void {
  row.count(segment).count(offset).count(length);
  if (length === 0) row.count(inner);
}

function readPlace(row: RowReader): RecordPlace {
  const [segment, offset, length] = [row.count(), row.count(), row.count()];
  return { segment, offset, length, inner: length === 0 ? row.count() : 0 };
}

export function encodeCapture(capture: CaptureRow): Buffer {
  const { kind, digest, lies, oddDate } = capture;
  const flags = KINDS.indexOf(kind) | (digest === undefined ? 4 : 0) | (lies ? 8 : 0) | (oddDate ? 16 : 0);
  const row = rows.begin().byte(flags);
  writePlace(row, capture.place);
  row.count(capture.before).count(capture.after).count(capture.source).raw(capture.mark);
  if (digest !== undefined) row.raw(digest);
  return row.finish();
}

export function decodeCapture(bytes: Buffer): CaptureRow {
  const row = new RowReader(bytes);
  const flags = row.byte();
  const place = readPlace(row);
  const [before, after, source] = [row.count(), row.count(), row.count()];
  const mark = row.raw(ID_SIZE);
  return {
    kind: KINDS[flags & 3]!,
    place,
    before,
    after,
    source,
    mark,
    digest: (flags & 4) === 0 ? row.raw(DIGEST_HALF) : undefined,
    lies: (flags & 8) !== 0,
    oddDate: (flags & 16) !== 0,
  };
}

export function encodeOriginal({ place, payloadSize, digestRest, isReferable }: OriginalRow): Buffer {
  const row = rows.begin().byte(isReferable ? 1 : 0);
  writePlace(row, place);
  return row.count(payloadSize).raw(digestRest).finish();
}

export function decodeOriginal(bytes: Buffer): OriginalRow {
  const row = new RowReader(bytes);
  const isReferable = row.byte() === 1;
  const place = readPlace(row);
  return { place, payloadSize: row.count(), digestRest: row.raw(DIGEST_HALF), isReferable };
}

/** Half of it tells ids apart, the other half what records with one id say of their payloads. */
export function recordMark(id: string | undefined, claim: string | undefined): Buffer {
  const mark = Buffer.allocUnsafe(ID_SIZE);
  mark.writeUInt32BE(shortHash(id ?? ""), 0);
  mark.writeUInt32BE(shortHash(claim ?? ""), ID_SIZE / 2);
  return mark;
}

/** FNV-1a: who wants two texts with one hash finds them, but they must be of one URL and one moment to be of use. */
function shortHash(text: string): number {
  let hashed = 0x811c9dc5;
  for (let i = 0; i < text.length; i++) hashed = Math.imul(hashed ^ text.charCodeAt(i), 0x01000193);
  return hashed >>> 0;
}

/**
 * Whether a record is the one that a row tells of, as far as its own payload is known. One that has a payload is not one
 * that waits for it, though all else be equal: what it brings would be lost. Nor is one whose payload is not known the same
 * as one whose header lies: it may mean what that says.
 */
export function isSameRecord(row: CaptureRow, mark: Buffer, digest: Buffer | undefined): boolean {
  return row.mark.equals(mark) && (digest === undefined ? !row.lies : row.digest?.equals(digest) === true);
}

/** Whether a record has at least the id of the one that a row tells of. */
export function hasSameId(row: CaptureRow, mark: Buffer): boolean {
  return row.mark.subarray(0, ID_SIZE / 2).equals(mark.subarray(0, ID_SIZE / 2));
}

/** Of a record that is no capture. */
export function noteHash(id: string): Buffer {
  return hash("sha256", id, "buffer").subarray(0, ID_SIZE);
}

const KEY_SIZE_MAX = 32_768;

/** The last one that was asked for: it is asked for several times in a row. */
let last = { uri: undefined as string | undefined, key: makeKey(undefined) };

/** The key that an archive files a URI under: its SURT; what has none, or too long a one, under a form of its own. */
export function archiveKey(uri: string | undefined): string {
  if (uri !== last.uri) last = { uri, key: makeKey(uri) };
  return last.key;
}

function makeKey(uri: string | undefined): string {
  // As they become when an ARC record is converted.
  const key = urlKey((uri ?? "").replace(/\p{Cc}/gu, encodeURIComponent));
  const own =
    key === "-" && uri !== undefined && uri !== "" ? `-${encodeURI(uri.replace(/\p{Surrogate}/gu, "\ufffd"))}` : key;
  if (own.length <= KEY_SIZE_MAX) return own;
  return `${own.slice(0, KEY_SIZE_MAX - 66)}~${hash("sha256", own, "hex")}`;
}
