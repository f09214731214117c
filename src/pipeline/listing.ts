/** The listing of `holotype ls`: a line for each record, for people or as JSON. */
import { type DigestAlgorithm, formatDigest, loadDigest, parseDigest, type Warning } from "../base/index.ts";
import { mediaType, type RecordScan, scanRecord, type WarcRecord } from "../warc/index.ts";
import type { RecordTask } from "./task.ts";

export interface ListingOptions {
  readonly json: boolean;
}

/** What `ls --json` prints of a record. */
export interface RecordListing {
  readonly file: string;
  readonly offset: number;
  /** Null for records that share a compressed member. */
  readonly length: number | null;
  /** Position inside the decoded member, for records that share one. */
  readonly inner?: number;
  readonly type: string;
  readonly id: string | null;
  readonly date: string | null;
  readonly uri: string | null;
  readonly status: number | null;
  readonly mime: string | null;
  readonly payloadSize: number | null;
  /** Computed, in the algorithm of the record's own digest or else sha1; a revisit's is the one it claims. */
  readonly payloadDigest: string | null;
  readonly warnings: readonly { readonly code: string; readonly message: string }[];
}

/** A record of these types holds a payload. */
export function hasPayload(record: WarcRecord): boolean {
  return record.type === "response" || record.type === "resource" || record.type === "conversion";
}

/** The media type of what a record captured: of the payload where there is one, else of the block. */
export function payloadMime(record: WarcRecord, scan: RecordScan): string | undefined {
  return scan.http === undefined ? mediaType(record.blockType) : mediaType(scan.http.headers.get("content-type"));
}

export async function createListing(options: ListingOptions): Promise<RecordTask> {
  if (!options.json) return { record: formatForPeople };
  await loadDigest("blake3");
  return { record: (record, warn) => `${JSON.stringify(describe(record, warn))}\n` };
}

function describe(record: WarcRecord, warn: (warning: Warning) => void): RecordListing {
  const claimed = record.payloadDigest === undefined ? undefined : parseDigest(record.payloadDigest);
  const algorithm: DigestAlgorithm = claimed?.algorithm ?? "sha1";
  const wanted = hasPayload(record);
  const scan = scanRecord(record, wanted ? { payload: [algorithm] } : {});
  for (const finding of scan.findings) warn({ ...finding, file: record.file, offset: record.offset });
  record.drain();
  const digest = wanted
    ? formatDigest(scan.payloadDigests[0]!)
    : record.type === "revisit"
      ? record.payloadDigest
      : undefined;
  return {
    file: record.file,
    offset: record.offset,
    length: record.length ?? null,
    ...(record.inner === undefined ? {} : { inner: record.inner }),
    type: record.type,
    id: record.id ?? null,
    date: record.dateText ?? null,
    uri: record.uri ?? null,
    status: scan.http?.status ?? null,
    mime: payloadMime(record, scan) ?? null,
    payloadSize: wanted ? scan.payloadSize : null,
    payloadDigest: digest ?? null,
    warnings: [...record.warnings, ...scan.findings].map(({ code, message }) => ({ code, message })),
  };
}

/** Where the record is; with its place inside the member where it shares one. */
function formatOffset({ offset, inner }: WarcRecord): string {
  return inner === undefined ? String(offset) : `${offset}+${inner}`;
}

/** Offset, length, type, status, size of the block, date and URI; no digest is computed for it. */
function formatForPeople(record: WarcRecord, warn: (warning: Warning) => void): string {
  const scan = scanRecord(record, {});
  for (const finding of scan.findings) warn({ ...finding, file: record.file, offset: record.offset });
  record.drain();
  const mark = record.warnings.length + scan.findings.length > 0 ? "!" : " ";
  const columns = [
    formatOffset(record).padStart(10),
    String(record.length ?? "-").padStart(9),
    (record.type === "" ? "-" : record.type).padEnd(9),
    String(scan.http?.status ?? "-").padStart(3),
    String(scan.payloadSize).padStart(9),
    (record.dateText ?? "-").padEnd(20),
    (payloadMime(record, scan) ?? "-").padEnd(24),
    record.uri ?? record.headers.get("warc-filename") ?? "-",
  ];
  return `${mark}${columns.join(" ")}\n`;
}
