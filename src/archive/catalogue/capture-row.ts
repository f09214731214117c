/** Captures and originals as the catalogue has them. Obeys docs/format/archive.md. */
import { RowReader, RowWriter } from "../../rows/index.ts";
import { readUrl, writeUrl } from "./content.ts";

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

/** What a visit is, see docs/lifespans.md. Where several fit, the last counts. */
export const VISIT_CLASSES = [
  "state",
  "confirmation",
  "failed",
  "redirect-to-self",
  "part",
  "truncated",
  "unread",
  "other-method",
  "undated",
] as const;
export type VisitClass = (typeof VISIT_CLASSES)[number];

/** A payload: its digests and its size. */
export interface Payload {
  readonly sha256: Buffer;
  readonly sha1: Buffer;
  readonly size: number;
}

/** What is known of the request. */
export interface RowRequest {
  readonly method: string;
  readonly isConditional: boolean;
  /** Of another method than GET: what stands for it in keys. */
  readonly query?: string | undefined;
}

/** Each is a bit of a row. */
export const Flag = {
  /** The digest in its header is not that of its payload. */
  lies: 1,
  /** Its date is before 1990, or in the future. */
  oddDate: 2,
  /** It may have been cut off. */
  cutOff: 4,
  /** A 206 with the whole, which counts as 200. */
  wholeRange: 8,
  /** It says "not modified". */
  notModified: 16,
  /** Status, location and media type are not its own: it is a revisit without an HTTP header, or a 304. */
  headless: 32,
  /** A 304 that says nothing else. */
  silent: 64,
  /** A revisit that is led to its payload by a proven digest. */
  byDigest: 128,
  /** A revisit with a profile that we do not know. */
  unread: 256,
  undated: 512,
  /** A redirect that leads to its own URL. */
  toSelf: 1024,
  /** It was removed: of its record nothing is kept but what makes its class. */
  removed: 2048,
  /** A silent 304 whose validator is not that of the last state. */
  far: 4096,
  /** Replaced: it was a resource. */
  resource: 8192,
  /** Its record is the first segment of several. With `cutOff`, not all of them are there. */
  segmented: 16384,
  /** Removed: the journal also has what stood beside it. */
  besideTold: 32768,
} as const;

/** Read-only: a row that changes is put again. */
export interface CaptureRow {
  /** As the record has it. */
  readonly url: string;
  readonly kind: CaptureKind;
  readonly class: VisitClass;
  /** Bits of `Flag`. */
  readonly flags: number;
  readonly status: number | undefined;
  readonly mime: string | undefined;
  /** Of a redirect. */
  readonly location: string | undefined;
  /** Absent for a revisit whose original is not known. */
  readonly payload: Payload | undefined;
  /** The digest in the header, where it is neither the sha256 nor the sha1 of the payload. */
  readonly claim: string | undefined;
  /** The form of its block where that is not the usual one, as 16 hex digits; see `CaptureFacts`. */
  readonly form: string | undefined;
  readonly etag: number | undefined;
  readonly lastModified: number | undefined;
  readonly request: RowRequest | undefined;
  /** The file it came from, see `SourceRow`. Of what was removed, the entry of the journal that says so. */
  readonly source: number;
  readonly place: RecordPlace;
  /** Bytes of records that belong to it and stand right before and after it. */
  readonly before: number;
  readonly after: number;
}

/** The record that holds a payload. */
export interface OriginalRow {
  readonly place: RecordPlace;
  readonly payloadSize: number;
  /** The rest of the sha256, of which the row's key has the first half. */
  readonly digestRest: Buffer;
  readonly sha1: Buffer;
  /** Whether duplicates may refer to it: not to one that was cut off, or that nothing can tell apart from another. */
  readonly isReferable: boolean;
  /** Whether a capture has this payload by itself. Not where its record is only there because it was not compacted yet. */
  readonly isHeld: boolean;
}

export function isSamePlace(one: RecordPlace, other: RecordPlace | undefined): boolean {
  return one.segment === other?.segment && one.offset === other.offset && one.inner === other.inner;
}

export const NO_PLACE: RecordPlace = { segment: 0, offset: 0, length: 0, inner: 0 };
export const DIGEST_HALF = 16;
const SHA256_SIZE = 32;
const SHA1_SIZE = 20;

/** The first half of a digest in hex. */
export function halfOf(sha256: string): Buffer {
  return Buffer.from(sha256.slice(0, 2 * DIGEST_HALF), "hex");
}

export function has(row: Pick<CaptureRow, "flags">, flag: number): boolean {
  return (row.flags & flag) !== 0;
}

/** Whether it has its payload by itself, and not by what others have. A 304 has none. */
export function isHolder({ kind, flags }: Pick<CaptureRow, "kind" | "flags">): boolean {
  return kind !== "revisit" && (flags & (Flag.removed | Flag.notModified)) === 0;
}

const rows = new RowWriter();

/** Those that nearly all captures have, by their places; others are written out. */
const MIMES =
  `text/html image/jpeg image/png image/gif text/css application/javascript text/plain text/javascript application/json
  application/pdf image/webp image/svg+xml font/woff2 application/xml text/xml application/octet-stream
  application/x-javascript image/x-icon image/vnd.microsoft.icon application/rss+xml video/mp4 audio/mpeg
  application/font-woff application/xhtml+xml text/dns application/zip`.split(/\s+/);
const MIME_PLACES = new Map<string | undefined, number>([
  [undefined, 0],
  ...MIMES.map((mime, i) => [mime, i + 2] as [string, number]),
]);
const OTHER_MIME = 1;

export function writePlace(row: RowWriter, { segment, offset, length, inner }: RecordPlace): void {
  row.count(segment).count(offset).count(length);
  if (length === 0) row.count(inner);
}

export function readPlace(row: RowReader): RecordPlace {
  const [segment, offset, length] = [row.count(), row.count(), row.count()];
  return { segment, offset, length, inner: length === 0 ? row.count() : 0 };
}

/** What is there of the parts that a row may lack. */
const Part = { payload: 1, location: 2, claim: 4, etag: 8, lastModified: 16, get: 32, otherMethod: 64, empty: 128 };

function partsOf(row: CaptureRow): number {
  const isEmpty = row.payload?.size === 0;
  return (
    (row.payload === undefined ? 0 : isEmpty ? Part.empty : Part.payload) |
    (row.location === undefined ? 0 : Part.location) |
    (row.claim === undefined ? 0 : Part.claim) |
    (row.etag === undefined ? 0 : Part.etag) |
    (row.lastModified === undefined ? 0 : Part.lastModified) |
    (row.request === undefined ? 0 : row.request.method === "GET" ? Part.get : Part.otherMethod)
  );
}

/** Bits of the first byte, beside class and kind. */
const CONDITIONAL = 64;
const FORMED = 128;
const FORM_SIZE = 8;

/** `urlKey` is the one that it is filed under. */
export function encodeCapture(urlKey: string, capture: CaptureRow): Buffer {
  const { payload, location, claim, form, etag, lastModified, request, place } = capture;
  const parts = partsOf(capture);
  const isConditional = request?.isConditional === true;
  const row = rows
    .begin()
    .byte(
      VISIT_CLASSES.indexOf(capture.class) |
        (KINDS.indexOf(capture.kind) << 4) |
        (isConditional ? CONDITIONAL : 0) |
        (form === undefined ? 0 : FORMED),
    )
    .byte(parts)
    .count(capture.flags);
  writeUrl(row, urlKey, capture.url);
  row.count(capture.status ?? 0);
  const mime = MIME_PLACES.get(capture.mime) ?? OTHER_MIME;
  row.byte(mime);
  if (mime === OTHER_MIME) row.text(capture.mime!);
  if (location !== undefined) row.text(location);
  if (payload !== undefined && payload.size > 0) row.count(payload.size).raw(payload.sha256).raw(payload.sha1);
  if (claim !== undefined) row.text(claim);
  if (etag !== undefined) row.count(etag);
  if (lastModified !== undefined) row.count(lastModified);
  if (request !== undefined && request.method !== "GET") row.text(request.method).text(request.query ?? "");
  if (form !== undefined) row.raw(Buffer.from(form, "hex"));
  row.count(capture.source);
  writePlace(row, place);
  return row.count(capture.before).count(capture.after).finish();
}

/** The digests of no bytes at all. */
export const EMPTY_PAYLOAD: Payload = {
  sha256: Buffer.from("e3b0c44298fc1c149afbf4c8996fb92427ae41e4649b934ca495991b7852b855", "hex"),
  sha1: Buffer.from("da39a3ee5e6b4b0d3255bfef95601890afd80709", "hex"),
  size: 0,
};

export function decodeCapture(urlKey: string, bytes: Buffer): CaptureRow {
  const row = new RowReader(bytes);
  const first = row.byte();
  const parts = row.byte();
  const flags = row.count();
  const url = readUrl(row, urlKey);
  const status = row.count();
  const mime = row.byte();
  const mimeText = mime === OTHER_MIME ? row.text() : mime === 0 ? undefined : MIMES[mime - 2];
  const location = (parts & Part.location) === 0 ? undefined : row.text();
  const payload =
    (parts & Part.payload) !== 0 ? readPayload(row) : (parts & Part.empty) !== 0 ? EMPTY_PAYLOAD : undefined;
  const claim = (parts & Part.claim) === 0 ? undefined : row.text();
  const etag = (parts & Part.etag) === 0 ? undefined : row.count();
  const lastModified = (parts & Part.lastModified) === 0 ? undefined : row.count();
  const request = readRequest(row, parts, (first & CONDITIONAL) !== 0);
  const form = (first & FORMED) === 0 ? undefined : row.raw(FORM_SIZE).toString("hex");
  return {
    url,
    kind: KINDS[(first >> 4) & 3]!,
    class: VISIT_CLASSES[first & 15]!,
    flags,
    status: status === 0 ? undefined : status,
    mime: mimeText,
    location,
    payload,
    claim,
    form,
    etag,
    lastModified,
    request,
    source: row.count(),
    place: readPlace(row),
    before: row.count(),
    after: row.count(),
  };
}

function readPayload(row: RowReader): Payload {
  const size = row.count();
  return { size, sha256: row.raw(SHA256_SIZE), sha1: row.raw(SHA1_SIZE) };
}

function readRequest(row: RowReader, parts: number, isConditional: boolean): RowRequest | undefined {
  if ((parts & Part.get) !== 0) return { method: "GET", isConditional };
  if ((parts & Part.otherMethod) === 0) return undefined;
  return { method: row.text(), isConditional, query: row.text() };
}

export function encodeOriginal(original: OriginalRow): Buffer {
  const { place, payloadSize, digestRest, sha1, isReferable, isHeld } = original;
  const row = rows.begin().byte((isReferable ? 1 : 0) | (isHeld ? 2 : 0));
  writePlace(row, place);
  return row.count(payloadSize).raw(digestRest).raw(sha1).finish();
}

export function decodeOriginal(bytes: Buffer): OriginalRow {
  const row = new RowReader(bytes);
  const flags = row.byte();
  const place = readPlace(row);
  const payloadSize = row.count();
  const digestRest = row.raw(DIGEST_HALF);
  return {
    place,
    payloadSize,
    digestRest,
    sha1: row.raw(SHA1_SIZE),
    isReferable: (flags & 1) !== 0,
    isHeld: (flags & 2) !== 0,
  };
}
