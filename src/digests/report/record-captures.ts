/** Captures as records of WARC and ARC files hold them: digests computed, headers as they were sent. */
import { type DigestAlgorithm, formatDigest, parseDigest, type Warning } from "../../base/index.ts";
import type { HeaderValues, NewCapture } from "../../dedup/index.ts";
import { damageOf } from "../../pipeline/index.ts";
import {
  type HttpHead,
  mediaType,
  parseHttpHead,
  type RecordScan,
  scanRecord,
  type WarcReader,
  type WarcRecord,
} from "../../warc/index.ts";

const HOLDING: ReadonlySet<string> = new Set(["response", "resource"]);
/** What crawlers write, and what archives of ours do. */
const ALGORITHMS: readonly DigestAlgorithm[] = ["sha1", "sha256"];

/** All captures that a reader gives. Those of other records are passed over. */
export function* recordCaptures(reader: WarcReader, warn: (warning: Warning) => void): Generator<NewCapture> {
  let last: { readonly record: WarcRecord; readonly capture: NewCapture } | undefined;
  // Whether a record is sound is known only when the next one has been asked for.
  const settle = (): NewCapture[] => {
    if (last === undefined) return [];
    const { record, capture } = last;
    last = undefined;
    const own = record.warnings.filter(({ offset }) => offset === record.offset);
    return [damageOf(own) === undefined ? capture : { ...capture, damaged: true }];
  };
  for (let record = reader.next(); record !== undefined; record = reader.next()) {
    yield* settle();
    const capture = captureOf(record, warn);
    record.drain();
    if (capture !== undefined) last = { record, capture };
  }
  yield* settle();
}

function captureOf(record: WarcRecord, warn: (warning: Warning) => void): NewCapture | undefined {
  if (record.type === "revisit") return revisitCapture(record);
  if (!HOLDING.has(record.type)) return undefined;
  const claimed = parseDigest(record.payloadDigest ?? "")?.algorithm;
  const extra = claimed === "md5" || claimed === "sha512" ? [claimed] : [];
  const scan = scanRecord(record, { payload: [...ALGORITHMS, ...extra] });
  for (const finding of scan.findings) warn({ ...finding, file: record.file, offset: record.offset });
  const { http, framing, payloadSize, blockSize, payloadDigests } = scan;
  return {
    ...sharedFacts(record, http),
    framing,
    payloadSize,
    responseSize: http === undefined ? undefined : blockSize,
    truncated: record.truncated !== undefined || isShort(scan),
    segmented: record.segmented,
    digests: payloadDigests.map(formatDigest),
  };
}

/** It was written in the place of a duplicate: it has the digest of that, and the size in the header that was sent. */
function revisitCapture(record: WarcRecord): NewCapture {
  const isWhole = record.block !== undefined;
  const first = record.read() ?? new Uint8Array(0);
  const http = parseHttpHead(first, 0, first.length, isWhole);
  const digest = parseDigest(record.payloadDigest ?? "");
  const payloadSize = http && toldSize(http);
  return {
    ...sharedFacts(record, http),
    framing: undefined,
    payloadSize,
    responseSize: payloadSize === undefined ? undefined : http!.text.length + payloadSize,
    digests: digest === undefined ? [] : [formatDigest(digest)],
  };
}

function sharedFacts(record: WarcRecord, http: HttpHead | undefined) {
  return {
    uri: record.uri,
    date: record.dateText,
    mime: http === undefined ? mediaType(record.blockType) : mediaType(http.headers.get("content-type")),
    // What a revisit would save is not asked here.
    length: undefined,
    status: http?.status,
    headers: http === undefined ? undefined : headersOf(http),
  };
}

function headersOf({ headers }: HttpHead): HeaderValues {
  return { etag: headers.get("etag"), lastModified: headers.get("last-modified") };
}

/** Less came than the header promised. Chunked bodies tell their end themselves. */
function isShort({ http, framing, complete, payloadSize }: RecordScan): boolean {
  if (framing === "chunked") return !complete;
  const told = http && toldSize(http);
  return told !== undefined && told > payloadSize;
}

function toldSize({ headers }: HttpHead): number | undefined {
  const told = headers.get("content-length");
  return told !== undefined && /^\d{1,15}$/.test(told) ? Number(told) : undefined;
}
