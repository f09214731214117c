/** What a record of a WARC or ARC file tells an index. Its digests are our own, whatever its header says. */
import { type DigestAlgorithm, formatDigest, formatIso, isDamage } from "../base/index.ts";
import { digestText, timeOfDate } from "../dedup/index.ts";
import {
  mediaType,
  parseProfile,
  type RecordScan,
  refersToOf,
  saysChunked,
  scanRecord,
  type WarcRecord,
} from "../warc/index.ts";
import type { DigestEntry } from "./entry.ts";
import type { SkipReason } from "./intake.ts";
import { hasContentOfItsOwn } from "./log-entries.ts";

const ALGORITHMS: readonly DigestAlgorithm[] = ["sha1", "sha256"];
const CAPTURES: ReadonlySet<string> = new Set(["response", "resource", "revisit"]);

/**
 * Reads the record to its end. Absent where it is no capture. `file` is the name of its file, without folders. `isOurs`: we
 * wrote it, so a 304 that it tells of was asked for, and its digest is that of the original.
 */
export function entryOfRecord(
  record: WarcRecord,
  file: string,
  { isOurs = false }: { readonly isOurs?: boolean } = {},
): DigestEntry | SkipReason | undefined {
  if (!CAPTURES.has(record.type)) {
    record.drain();
    return undefined;
  }
  const found = record.type === "revisit" ? entryOfRevisit(record, isOurs) : entryOfCapture(record, file);
  record.drain();
  return record.warnings.some(isDamage) ? "unreadable" : found;
}

function entryOfCapture(record: WarcRecord, file: string): DigestEntry | SkipReason {
  const { uri, timeMs, dateText } = record;
  const isPart = record.truncated !== undefined || record.segmented;
  const scan = scanRecord(record, { payload: ALGORITHMS });
  if (uri === undefined || timeMs === undefined) return "no-url";
  const { http } = scan;
  if (http?.status !== undefined && !hasContentOfItsOwn(http.status)) return "status";
  if (isPart || !scan.complete || isShort(scan)) return "truncated";
  const told =
    http === undefined ? (record.arc?.mime ?? record.headers.get("content-type")) : http.headers.get("content-type");
  return {
    uri,
    timeMs,
    digests: scan.payloadDigests.map(formatDigest),
    payloadSize: scan.payloadSize,
    framing: scan.framing,
    status: http?.status,
    mime: told === undefined ? undefined : mediaType(told),
    etag: http?.headers.get("etag"),
    lastModified: http?.headers.get("last-modified"),
    original: { uri, date: record.arc === undefined ? dateText! : formatIso(timeMs), id: record.id },
    place: { file, offset: record.offset },
  };
}

/** Less came than its header tells. Chunked bodies tell their end themselves. */
function isShort({ http, framing, payloadSize }: RecordScan): boolean {
  const told = framing === "chunked" ? undefined : http?.headers.get("content-length");
  return told !== undefined && /^\d{1,15}$/.test(told) && Number(told) > payloadSize;
}

/** What it is a revisit of may be named; or it is found by its URL and digest. */
function entryOfRevisit(record: WarcRecord, isOurs: boolean): DigestEntry | SkipReason {
  const { uri, timeMs, headers } = record;
  const digest = digestText(record.payloadDigest);
  if (uri === undefined || timeMs === undefined) return "no-url";
  const profile = headers.get("warc-profile");
  const kind = profile === undefined ? "identical-payload-digest" : parseProfile(profile);
  // What another profile means is not known, and the 304 of a stranger says nothing of a digest that could be believed.
  if (kind !== "identical-payload-digest" && !(isOurs && kind === "server-not-modified")) return "status";
  if (digest === undefined) return "no-digest";
  const { http } = scanRecord(record, {});
  const refersTo = refersToOf(record);
  const isNamed = refersTo?.uri !== undefined && timeOfDate(refersTo.date) !== undefined;
  const isContent = kind === "identical-payload-digest";
  const told = isContent ? http?.headers.get("content-type") : undefined;
  return {
    uri,
    timeMs,
    digests: [digest],
    // It stands for a body that is stored as its header says.
    framing: isContent && http !== undefined && saysChunked(http) ? "chunked" : undefined,
    status: isContent ? http?.status : undefined,
    mime: told === undefined ? undefined : mediaType(told),
    etag: http?.headers.get("etag"),
    lastModified: http?.headers.get("last-modified"),
    original: isNamed ? { uri: refersTo.uri!, date: refersTo.date!, id: refersTo.id } : undefined,
  };
}
