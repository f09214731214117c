/** CDX and CDXJ lines of captures, as `holotype index` writes them: unsorted here, sorted by whoever gathers them. */
import { digestOf, formatDigestValue, formatTimestamp, parseDigest, type Warning } from "../base/index.ts";
import { urlKey } from "../url/index.ts";
import {
  CDX_11,
  type CdxEntry,
  formatCdxjLine,
  formatCdxLine,
  type RecordScan,
  scanRecord,
  type WarcRecord,
} from "../warc/index.ts";
import { payloadMime } from "./listing.ts";
import type { RecordTask } from "./task.ts";

export interface CdxOptions {
  readonly format: "cdxj" | "cdx11";
  /** Whether `www.` and the like are left out of keys, as the Internet Archive does. */
  readonly stripWww: boolean;
  /** Whether file names are written with their folders. */
  readonly fullPath: boolean;
}

const INDEXED = new Set(["response", "revisit", "resource", "metadata", "conversion"]);
const EMPTY_SHA1 = digestOf("sha1", new Uint8Array(0));

export function createCdxTask(options: CdxOptions): RecordTask {
  const format = options.format === "cdxj" ? formatCdxjLine : (entry: CdxEntry) => formatCdxLine(entry, CDX_11);
  return {
    record(record, warn) {
      const entry = describeCapture(record, options, warn);
      return entry === undefined ? "" : `${format(entry)}\n`;
    },
  };
}

/** Absent for records that are no captures, or that cannot be looked up for want of a URI or a date. */
function describeCapture(
  record: WarcRecord,
  options: CdxOptions,
  warn: (warning: Warning) => void,
): CdxEntry | undefined {
  if (!isIndexed(record)) return undefined;
  const needsDigest = record.payloadDigest === undefined && record.type !== "revisit";
  const scan = scanRecord(record, needsDigest ? { payload: ["sha1"] } : {});
  for (const finding of scan.findings) warn({ ...finding, file: record.file, offset: record.offset });
  record.drain();
  return cdxEntryOf(record, scan, options);
}

/** Whether the record has a line in an index. */
export function isIndexed(record: WarcRecord): boolean {
  const { uri, timeMs, type } = record;
  return INDEXED.has(type) && uri !== undefined && timeMs !== undefined && !isNote(record);
}

/** The entry of a record that has been read to its end; one without a digest in its header must have its sha1 found. */
export function cdxEntryOf(record: WarcRecord, scan: RecordScan, options: CdxOptions): CdxEntry {
  const claimed = record.payloadDigest;
  const status = scan.http?.status;
  const redirect = options.format === "cdx11" ? scan.http?.headers.uri("location") : undefined;
  const sha1 = scan.payloadDigests.find(({ algorithm }) => algorithm === "sha1") ?? EMPTY_SHA1;
  const mime = record.type === "revisit" ? "warc/revisit" : (payloadMime(record, scan) ?? "unk");
  return {
    urlKey: urlKey(record.uri!, { stripWww: options.stripWww }),
    timestamp: formatTimestamp(record.timeMs!),
    url: record.uri!,
    mime,
    ...(status === undefined ? {} : { status }),
    digest: claimed === undefined ? formatDigestValue(sha1) : digestText(claimed),
    ...(redirect === undefined ? {} : { redirect }),
    ...(record.length === undefined ? {} : { length: record.length }),
    offset: record.offset,
    file: options.fullPath ? record.file : record.file.replace(/^.*[/!]/, ""),
  };
}

/** What says something about a crawl or a file and is no capture: cdxj-indexer leaves `warc-fields` out as well. */
function isNote(record: WarcRecord): boolean {
  return record.blockType === "application/warc-fields" || /^filedesc:/i.test(record.uri!);
}

/** A sha1 digest goes without its label, as CDX files have it; others keep theirs, or nobody could tell them apart. */
function digestText(claim: string): string {
  const digest = parseDigest(claim);
  if (digest === undefined) return claim.replace(/\s/g, "");
  return digest.algorithm === "sha1" ? formatDigestValue(digest) : `${digest.algorithm}:${formatDigestValue(digest)}`;
}
