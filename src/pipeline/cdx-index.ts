/** CDX and CDXJ lines of captures, as `holotype index` writes them: unsorted here, sorted by whoever gathers them. */
import { formatDigestValue, formatTimestamp, parseDigest, type Warning } from "../base/index.ts";
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
/** Those that are captures whatever their URI: notes have one of the other types. */
const CAPTURES = new Set(["response", "revisit", "resource", "conversion"]);

export function createCdxTask(options: CdxOptions): RecordTask {
  const format = options.format === "cdxj" ? formatCdxjLine : (entry: CdxEntry) => formatCdxLine(entry, CDX_11);
  return {
    record(record, warn) {
      const entry = describeCapture(record, options, warn);
      return entry === undefined ? "" : `${format(entry)}\n`;
    },
  };
}

/** Absent for records that are no captures, and for those that cannot be looked up for want of a URI or a date: told. */
function describeCapture(
  record: WarcRecord,
  options: CdxOptions,
  warn: (warning: Warning) => void,
): CdxEntry | undefined {
  if (!isIndexed(record)) {
    if (CAPTURES.has(record.type)) tellUnindexed(record, warn);
    return undefined;
  }
  const needsDigest = record.payloadDigest === undefined && record.type !== "revisit";
  const scan = scanRecord(record, needsDigest ? { payload: ["sha1"] } : {});
  for (const finding of scan.findings) warn({ ...finding, file: record.file, offset: record.offset });
  record.drain();
  return cdxEntryOf(record, scan, options);
}

function tellUnindexed(record: WarcRecord, warn: (warning: Warning) => void): void {
  const { uri, timeMs, dateText, arc, file, offset } = record;
  const left = "so it is not in the index";
  if (uri === undefined) warn({ code: "HT_FIELD_MISSING", message: `it has no URI, ${left}`, file, offset });
  else if (timeMs === undefined) {
    const date = arc?.date ?? dateText;
    const message = date === undefined ? `${uri} has no date, ${left}` : `${uri}: date ${date} cannot be read, ${left}`;
    warn({ code: date === undefined ? "HT_FIELD_MISSING" : "HT_FIELD_INVALID", message, file, offset });
  }
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
  const sha1 = scan.payloadDigests.find(({ algorithm }) => algorithm === "sha1");
  // Of a revisit without one nobody knows the payload here.
  const digest = claimed === undefined ? sha1 && formatDigestValue(sha1) : digestText(claimed);
  const mime = record.type === "revisit" ? "warc/revisit" : (payloadMime(record, scan) ?? "unk");
  return {
    urlKey: urlKey(record.uri!, { stripWww: options.stripWww }),
    timestamp: formatTimestamp(record.timeMs!),
    url: record.uri!,
    mime,
    ...(status === undefined ? {} : { status }),
    ...(digest === undefined ? {} : { digest }),
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
