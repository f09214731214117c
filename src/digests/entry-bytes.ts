/**
 * An entry as the bytes of a record of a run, and back. Obeys docs/format/digest-index.md. What cannot be so in a record that
 * holds its checksum is HT_CORRUPT.
 */
import { DIGEST_ALGORITHMS, formatBase32, formatDigest, formatIso, parseDigest } from "../base/index.ts";
import { timeOfDate } from "../dedup/index.ts";
import type { Framing } from "../warc/index.ts";
import type { ByteReader, ByteWriter } from "./byte-fields.ts";
import { type DigestEntry, type FoundCapture, isHeaderText } from "./entry.ts";
import type { WordTable } from "./word-table.ts";

export const FLAG = {
  plain: 1,
  chunked: 2,
  framing: 3,
  /** What can be referred to: its own record, in the whole second of its time. */
  ownSecond: 3 << 2,
  other: 1 << 2,
  none: 2 << 2,
  reference: 3 << 2,
  prefixShift: 4,
  prefix: 7 << 4,
  date: 1 << 7,
  id: 1 << 8,
  etag: 1 << 9,
  lastModified: 1 << 10,
  origin: 1 << 11,
  payloadSize: 1 << 12,
  status: 1 << 13,
  mime: 1 << 14,
  place: 1 << 15,
} as const;

/** Before the digests: flags, time, which digests there are. */
export const FIXED_SIZE = 9;
export const DIGEST_SIZES = [20, 32, 16, 64, 32] as const;

/** What most URLs begin with; a number stands for it. */
export const URL_PREFIXES = ["", "http://", "https://", "http://www.", "https://www."] as const;

/** The number of the longest that the URL begins with. */
export function prefixOf(uri: string): number {
  if (uri.startsWith("https://")) return uri.startsWith("www.", 8) ? 4 : 2;
  if (uri.startsWith("http://")) return uri.startsWith("www.", 7) ? 3 : 1;
  return 0;
}

/** All fields that are not part of `uri`, digests and time are limited, so that a record always fits a page or is refused. */
const TEXT_MAX = 1024;
export const TIME_MAX_MS = 2 ** 47;

const UUID = /^urn:uuid:[0-9a-f]{8}-[0-9a-f]{4}-[0-9a-f]{4}-[0-9a-f]{4}-[0-9a-f]{12}$/;

interface Reference {
  readonly flags: number;
  readonly uri: string;
  readonly timeMs: number;
  /** Absent where it follows from the time. */
  readonly date: string | undefined;
}

const NO_REFERENCE: Reference = { flags: FLAG.none, uri: "", timeMs: 0, date: undefined };

function referenceOf({ uri, timeMs, original }: DigestEntry): Reference {
  const date = original?.date;
  const originalMs = timeOfDate(date);
  if (original === undefined || date === undefined || originalMs === undefined || !isTime(originalMs)) {
    return NO_REFERENCE;
  }
  if (original.uri === uri && date === formatIso(timeMs)) return { flags: 0, uri: "", timeMs, date: undefined };
  if (original.uri === uri && date === formatIso(wholeSecond(timeMs))) {
    return { flags: FLAG.ownSecond, uri: "", timeMs, date: undefined };
  }
  const isUsual = date === formatIso(originalMs);
  return {
    flags: FLAG.other | (isUsual ? 0 : FLAG.date),
    uri: original.uri === uri ? "" : original.uri,
    timeMs: originalMs,
    date: isUsual ? undefined : date,
  };
}

export function isTime(timeMs: number): boolean {
  return timeMs >= 0 && timeMs < TIME_MAX_MS;
}

export function wholeSecond(timeMs: number): number {
  return Math.floor(timeMs / 1000) * 1000;
}

function isShort(text: string | undefined): text is string {
  return text !== undefined && text.length <= TEXT_MAX / 3;
}

/** Writes an entry. False where it is too large for `into`, or has no digest or a time that cannot be. */
export function encodeEntry(entry: DigestEntry, words: WordTable, into: ByteWriter): boolean {
  const start = into.at;
  if (!isTime(entry.timeMs) || entry.digests.length === 0) return false;
  if (putEntry(entry, referenceOf(entry), words, into)) return true;
  // The URL of its original may be what has no room.
  into.at = start;
  into.isFull = false;
  return entry.original !== undefined && putEntry(entry, NO_REFERENCE, words, into);
}

function putEntry(entry: DigestEntry, reference: Reference, words: WordTable, into: ByteWriter): boolean {
  const { uri, timeMs, framing, payloadSize, status, origin, place } = entry;
  const refers = reference !== NO_REFERENCE;
  const id = refers && isShort(entry.original?.id) ? entry.original.id : undefined;
  const etag = isShort(entry.etag) ? entry.etag : undefined;
  const lastModified = isShort(entry.lastModified) ? entry.lastModified : undefined;
  const mime = isShort(entry.mime) ? entry.mime : undefined;
  const prefix = prefixOf(uri);
  into.u16(
    (framing === "chunked" ? FLAG.chunked : framing === "plain" ? FLAG.plain : 0) |
      reference.flags |
      (prefix << FLAG.prefixShift) |
      (id === undefined ? 0 : FLAG.id) |
      (etag === undefined ? 0 : FLAG.etag) |
      (lastModified === undefined ? 0 : FLAG.lastModified) |
      (isShort(origin) ? FLAG.origin : 0) |
      (payloadSize === undefined ? 0 : FLAG.payloadSize) |
      (status === undefined ? 0 : FLAG.status) |
      (mime === undefined ? 0 : FLAG.mime) |
      (refers && isShort(place?.file) ? FLAG.place : 0),
  );
  into.u48(timeMs);
  putDigests(entry.digests, into);
  into.text(uri.slice(URL_PREFIXES[prefix]!.length));
  if (reference.flags === FLAG.other || reference.flags === (FLAG.other | FLAG.date)) {
    into.u48(reference.timeMs);
    into.text(reference.uri);
  }
  if (reference.date !== undefined) into.text(reference.date);
  if (id !== undefined) putId(id, into);
  if (etag !== undefined) into.text(etag);
  if (lastModified !== undefined) putLastModified(lastModified, into);
  if (isShort(origin)) putWord(origin, words, into);
  if (payloadSize !== undefined) into.u48(payloadSize);
  if (status !== undefined) into.u16(status);
  if (mime !== undefined) putWord(mime, words, into);
  if (refers && isShort(place?.file)) {
    putWord(place!.file, words, into);
    into.u48(place!.offset);
  }
  return !into.isFull;
}

function putDigests(digests: readonly string[], into: ByteWriter): void {
  const byAlgorithm = DIGEST_ALGORITHMS.map((algorithm) => {
    const text = digests.find((digest) => digest.startsWith(`${algorithm}:`));
    return text === undefined ? undefined : parseDigest(text);
  });
  into.u8(byAlgorithm.reduce((mask, digest, i) => (digest === undefined ? mask : mask | (1 << i)), 0));
  for (const digest of byAlgorithm) if (digest !== undefined) into.bytes(Buffer.from(digest.hex, "hex"));
}

function putId(id: string, into: ByteWriter): void {
  const isUuid = UUID.test(id);
  into.u8(isUuid ? 1 : 0);
  if (isUuid) into.bytes(Buffer.from(id.slice(9).replaceAll("-", ""), "hex"));
  else into.text(id);
}

/** Nearly all are written in one form, which its second tells. */
function putLastModified(text: string, into: ByteWriter): void {
  const timeMs = Date.parse(text);
  const isUsual = timeMs >= 0 && isTime(timeMs) && new Date(timeMs).toUTCString() === text;
  into.u8(isUsual ? 1 : 0);
  if (isUsual) into.u48(timeMs);
  else into.text(text);
}

function putWord(text: string, words: WordTable, into: ByteWriter): void {
  const number = words.numberOf(text);
  into.u16(number);
  if (number === 0) into.text(text);
}

/** The entry of a record, as an answer: a claim. */
export function decodeEntry(from: ByteReader, words: WordTable): FoundCapture {
  const flags = from.u16();
  const timeMs = from.u48();
  const digests = takeDigests(from);
  const uri = (URL_PREFIXES[(flags & FLAG.prefix) >> FLAG.prefixShift] ?? from.damaged("prefix")) + from.text();
  const reference = flags & FLAG.reference;
  const other = reference === FLAG.other ? { timeMs: from.u48(), uri: from.text() } : undefined;
  const date = (flags & FLAG.date) === 0 ? undefined : from.text();
  const id = (flags & FLAG.id) === 0 ? undefined : takeId(from);
  const etag = (flags & FLAG.etag) === 0 ? undefined : from.text();
  const lastModified = (flags & FLAG.lastModified) === 0 ? undefined : takeLastModified(from);
  const origin = (flags & FLAG.origin) === 0 ? undefined : takeWord(from, words);
  const payloadSize = (flags & FLAG.payloadSize) === 0 ? undefined : from.u48();
  const status = (flags & FLAG.status) === 0 ? undefined : from.u16();
  const mime = (flags & FLAG.mime) === 0 ? undefined : takeWord(from, words);
  const place = (flags & FLAG.place) === 0 ? undefined : { file: takeWord(from, words), offset: from.u48() };
  const ownMs = reference === FLAG.ownSecond ? wholeSecond(timeMs) : timeMs;
  const originalUri = other === undefined || other.uri === "" ? uri : other.uri;
  // Its source may have told anything. What no header can name cannot be referred to.
  const isNamed =
    isHeaderText(originalUri) &&
    (id === undefined || isHeaderText(id)) &&
    (date === undefined || (isHeaderText(date) && timeOfDate(date) !== undefined));
  const original =
    reference === FLAG.none || !isNamed
      ? undefined
      : { uri: originalUri, date: date ?? formatIso(other?.timeMs ?? ownMs), id };
  const framing = FRAMINGS[flags & FLAG.framing];
  return {
    uri,
    timeMs,
    digests,
    payloadSize,
    framing,
    status,
    mime,
    etag: isHeaderText(etag) ? etag : undefined,
    lastModified: isHeaderText(lastModified) ? lastModified : undefined,
    origin,
    original,
    place,
    certainty: "claimed",
  };
}

const FRAMINGS: readonly (Framing | undefined)[] = [undefined, "plain", "chunked", undefined];

function takeDigests(from: ByteReader): string[] {
  const mask = from.u8();
  // What most have.
  if (mask === 1) return [`sha1:${formatBase32(from.bytes(DIGEST_SIZES[0]))}`];
  return DIGEST_ALGORITHMS.flatMap((algorithm, i) =>
    (mask & (1 << i)) === 0 ? [] : [formatDigest({ algorithm, hex: from.hex(DIGEST_SIZES[i]!) })],
  );
}

function takeId(from: ByteReader): string {
  if (from.u8() === 0) return from.text();
  const hex = from.hex(16);
  const parts = [hex.slice(0, 8), hex.slice(8, 12), hex.slice(12, 16), hex.slice(16, 20), hex.slice(20)];
  return `urn:uuid:${parts.join("-")}`;
}

function takeLastModified(from: ByteReader): string {
  return from.u8() === 0 ? from.text() : new Date(from.u48()).toUTCString();
}

function takeWord(from: ByteReader, words: WordTable): string {
  const number = from.u16();
  return number === 0 ? from.text() : (words.wordOf(number) ?? from.damaged("word"));
}
