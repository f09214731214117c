/**
 * What `check`, `verify` and `restore` note of a record that holds a payload or refers to one, as a line of JSON: enough
 * to lead revisits to their originals by the rule in dedup/reference.ts. Digests in these lines are computed, except for
 * what a revisit claims; all are an algorithm and hex.
 */
import { crc32 } from "node:zlib";
import { type Digest, type DigestAlgorithm, loadDigest, parseDigest, type Warning } from "../base/index.ts";
import { isNotModified } from "../dedup/index.ts";
import {
  type HttpHead,
  parseProfile,
  REPLACED_FIELD,
  type RecordScan,
  refersToOf,
  replacedBy,
  type ScanRequest,
  scanRecord,
  type WarcRecord,
} from "../warc/index.ts";
import type { RecordTask } from "./task.ts";

/** Where a record lies in its file. */
export interface CapturePlace {
  readonly offset: number;
  /** Absent where the record shares its member with others; `inner` is its place in there. */
  readonly length?: number | undefined;
  readonly inner?: number | undefined;
  readonly id?: string | undefined;
}

interface LineFacts extends CapturePlace {
  readonly uri?: string | undefined;
  readonly date?: string | undefined;
  /** Of the HTTP header. */
  readonly status?: number | undefined;
  /** Content-Length of the HTTP header, where it should be that of the body. */
  readonly told?: number | undefined;
  /** Checksums of ETag and Last-Modified, where a silent 304 may need them. */
  readonly etag?: number | undefined;
  readonly lastModified?: number | undefined;
}

/** A record that holds a payload. */
export interface HeldLine extends LineFacts {
  readonly kind: "held";
  readonly size: number;
  /** A checksum of how the payload begins, which tells payloads apart whose digests cannot; absent where unknown. */
  readonly start?: number | undefined;
  /** Of the payload as transferred. */
  readonly digests: readonly string[];
  /** The same of the body as stored, where it is stored chunked. */
  readonly stored?: readonly string[] | undefined;
  /** The digest in its header, where it is not that of the payload. */
  readonly lie?: string | undefined;
}

/** A revisit. */
export interface RevisitLine extends LineFacts {
  readonly kind: "revisit";
  /** Absent for a revisit by digest, and for one without a profile. */
  readonly profile?: "server-not-modified" | "unknown" | undefined;
  readonly refersTo?: { readonly uri?: string; readonly date?: string; readonly id?: string } | undefined;
  /** The payload digest that it claims; absent where it has none that can be read. */
  readonly claim?: string | undefined;
  /** It was written by Holotype and says what it took the place of. */
  readonly ours?: boolean | undefined;
  /** The digest of the record whose place it took, where that can be read. */
  readonly replaced?: string | undefined;
  /** That record was stored chunked. */
  readonly chunked?: boolean | undefined;
}

export type CaptureLine = HeldLine | RevisitLine;

/** Whether a record may be the original of a revisit. */
export function isHeld({ type }: WarcRecord): boolean {
  return type === "response" || type === "resource";
}

/** What to compute of a record: the digest that it claims, or these where it claims none that can be read. */
export function algorithmsFor(record: WarcRecord, otherwise: readonly DigestAlgorithm[]): readonly DigestAlgorithm[] {
  const claim = record.payloadDigest === undefined ? undefined : parseDigest(record.payloadDigest);
  return claim === undefined ? otherwise : [claim.algorithm];
}

/** Large enough for every published pair of files with one SHA-1, and too small to cost anything. */
const START_SIZE = 1 << 14;

/** Takes a checksum of how a payload begins, piece by piece. */
export class PayloadStart {
  checksum = 0;
  private size = 0;

  readonly push = (bytes: Uint8Array): void => {
    if (this.size >= START_SIZE) return;
    this.checksum = crc32(bytes.subarray(0, START_SIZE - this.size), this.checksum);
    this.size += bytes.length;
  };
}

export function heldLine(record: WarcRecord, scan: RecordScan, start: PayloadStart): HeldLine {
  const digests = scan.payloadDigests.map(digestText);
  const stored = scan.framing === "chunked" ? scan.storedDigests.map(digestText) : undefined;
  const claim = claimOf(record);
  const isTrue = claim === undefined || digests.includes(claim) || stored?.includes(claim) === true;
  return {
    kind: "held",
    ...factsOf(record, scan.http),
    ...(scan.http?.status === 200 ? validatorsOf(scan.http) : {}),
    size: scan.payloadSize,
    start: start.checksum,
    digests,
    ...(stored === undefined ? {} : { stored }),
    ...(isTrue ? {} : { lie: claim }),
  };
}

export function revisitLine(record: WarcRecord, { http }: Pick<RecordScan, "http">): RevisitLine {
  const profile = profileOf(record);
  const replaced = replacedBy(record);
  return {
    kind: "revisit",
    ...factsOf(record, http),
    ...(profile === undefined ? {} : { profile }),
    ...(http !== undefined && isNotModified({ profile, status: http.status }) ? validatorsOf(http) : {}),
    refersTo: refersToOf(record) as RevisitLine["refersTo"],
    claim: claimOf(record),
    ...(record.headers.get(REPLACED_FIELD.toLowerCase()) === undefined ? {} : { ours: true }),
    ...(replaced === undefined ? {} : { replaced: digestText(replaced.digest) }),
    ...(replaced?.chunks === undefined ? {} : { chunked: true }),
  };
}

/** The profile of a revisit, see `RevisitLine`. */
export function profileOf({ headers }: WarcRecord): RevisitLine["profile"] {
  const uri = headers.get("warc-profile");
  const profile = parseProfile(uri);
  if (profile === "identical-payload-digest" || uri === undefined) return undefined;
  return profile ?? "unknown";
}

function claimOf({ payloadDigest }: WarcRecord): string | undefined {
  const claim = payloadDigest === undefined ? undefined : parseDigest(payloadDigest);
  return claim === undefined ? undefined : digestText(claim);
}

function factsOf(record: WarcRecord, http: HttpHead | undefined): LineFacts {
  const { offset, length, inner, id, uri, dateText } = record;
  return { offset, length, inner, id, uri, date: dateText, status: http?.status, told: toldLength(http) };
}

function validatorsOf({ headers }: HttpHead): Pick<LineFacts, "etag" | "lastModified"> {
  // A server may call the same version weak when it compresses it.
  const etag = headers.get("etag")?.replace(/^W\//, "");
  const lastModified = headers.get("last-modified");
  return {
    ...(etag === undefined ? {} : { etag: crc32(etag) }),
    ...(lastModified === undefined ? {} : { lastModified: crc32(lastModified) }),
  };
}

/** Digests as keys: hex for every algorithm. */
export function digestText({ algorithm, hex }: Digest): string {
  return `${algorithm}:${hex}`;
}

/** How long the body is by the HTTP header: where the status admits one, and no transfer coding hides its length. */
function toldLength(http: HttpHead | undefined): number | undefined {
  if (http?.status === undefined || http.status < 200 || http.status === 204 || http.status === 304) return undefined;
  if (http.headers.get("transfer-encoding") !== undefined) return undefined;
  const told = http.headers.get("content-length");
  return told !== undefined && /^\d{1,15}$/.test(told) ? Number(told) : undefined;
}

/** What a line says. */
export function parseCapture(line: string): CaptureLine {
  return JSON.parse(line) as CaptureLine;
}

/** Whether the text of a line is that of a revisit. */
export function isRevisitText(line: string): boolean {
  return line.startsWith('{"kind":"revisit"');
}

/** Notes captures and nothing else, as `restore` needs them. */
export async function createCaptureTask(): Promise<RecordTask> {
  await loadDigest("blake3");
  return {
    record(record, warn: (warning: Warning) => void) {
      const start = new PayloadStart();
      const algorithms = isHeld(record) ? algorithmsFor(record, ["sha1"]) : [];
      const request: ScanRequest = { payload: algorithms, stored: algorithms, onPayload: start.push };
      if (!isHeld(record) && record.type !== "revisit") return "";
      const scan = scanRecord(record, request);
      for (const finding of scan.findings) warn({ ...finding, file: record.file, offset: record.offset });
      record.drain();
      const line = record.type === "revisit" ? revisitLine(record, scan) : heldLine(record, scan, start);
      return `${JSON.stringify(line)}\n`;
    },
  };
}
