/**
 * What `check`, `verify` and `restore` note of a record that holds a payload or refers to one, as a line of JSON: enough
 * to lead revisits to their originals by the rule in dedup/reference.ts. Digests in these lines are computed, except for
 * what a revisit claims; all are an algorithm and hex.
 */
import { crc32 } from "node:zlib";
import { type Digest, loadDigest, parseDigest, type Warning } from "../base/index.ts";
import { isNotModified } from "../dedup/index.ts";
import {
  type HttpHead,
  parseProfile,
  REPLACED_FIELD,
  type RecordScan,
  refersToOf,
  replacedBy,
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
  /** Content-Length of the HTTP header, where it should be that of the body; only `verify` asks for it. */
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

/** The payload digest in the header of a record; absent where there is none that can be read. */
export function claimOf({ payloadDigest }: WarcRecord): Digest | undefined {
  return payloadDigest === undefined ? undefined : parseDigest(payloadDigest);
}

/** Large enough for the published files that share a SHA-1, which differ near their beginnings, and next to no work. */
const START_SIZE = 1 << 10;

/** Takes a checksum of how a payload begins, piece by piece. */
export class PayloadStart {
  checksum = 0;
  private size = 0;

  readonly push = (bytes: Uint8Array): void => {
    if (this.size >= START_SIZE) return;
    const room = START_SIZE - this.size;
    this.checksum = crc32(bytes.length > room ? bytes.subarray(0, room) : bytes, this.checksum);
    this.size += bytes.length;
  };
}

/** `claim` is what `claimOf` gave. */
export function heldLine(
  record: WarcRecord,
  scan: RecordScan,
  start: PayloadStart,
  claim: Digest | undefined,
): HeldLine {
  const { http } = scan;
  const { offset, length, inner, id, uri, dateText } = record;
  const digests = scan.payloadDigests.map(digestText);
  const stored = scan.framing === "chunked" ? scan.storedDigests.map(digestText) : undefined;
  const said = claim === undefined ? undefined : digestText(claim);
  const isTrue = said === undefined || digests.includes(said) || stored?.includes(said) === true;
  const isState = http?.status === 200;
  // Millions of these are made; what is absent does not go into the line.
  return {
    kind: "held",
    offset,
    length,
    inner,
    id,
    uri,
    date: dateText,
    status: http?.status,
    etag: isState ? etagOf(http) : undefined,
    lastModified: isState ? checksumOf(http.headers.get("last-modified")) : undefined,
    size: scan.payloadSize,
    start: start.checksum,
    digests,
    stored,
    lie: isTrue ? undefined : said,
  };
}

export function revisitLine(record: WarcRecord, { http }: Pick<RecordScan, "http">): RevisitLine {
  const { offset, length, inner, id, uri, dateText } = record;
  const profile = profileOf(record);
  const replaced = replacedBy(record);
  const claim = claimOf(record);
  const status = http?.status;
  const confirms = http !== undefined && isNotModified({ profile, status });
  return {
    kind: "revisit",
    offset,
    length,
    inner,
    id,
    uri,
    date: dateText,
    status,
    etag: confirms ? etagOf(http) : undefined,
    lastModified: confirms ? checksumOf(http.headers.get("last-modified")) : undefined,
    profile,
    refersTo: refersToOf(record) as RevisitLine["refersTo"],
    claim: claim === undefined ? undefined : digestText(claim),
    ours: record.headers.get(REPLACED_FIELD.toLowerCase()) === undefined ? undefined : true,
    replaced: replaced === undefined ? undefined : digestText(replaced.digest),
    chunked: replaced?.chunks === undefined ? undefined : true,
  };
}

/** The profile of a revisit, see `RevisitLine`. */
export function profileOf({ headers }: WarcRecord): RevisitLine["profile"] {
  const uri = headers.get("warc-profile");
  const profile = parseProfile(uri);
  if (profile === "identical-payload-digest" || uri === undefined) return undefined;
  return profile ?? "unknown";
}

/** A server may call the same version weak when it compresses it. */
function etagOf({ headers }: HttpHead): number | undefined {
  const etag = headers.get("etag");
  return checksumOf(etag?.startsWith("W/") === true ? etag.slice(2) : etag);
}

function checksumOf(text: string | undefined): number | undefined {
  return text === undefined ? undefined : crc32(text);
}

/** Digests as keys: hex for every algorithm. */
export function digestText({ algorithm, hex }: Digest): string {
  return `${algorithm}:${hex}`;
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
      const isRevisit = record.type === "revisit";
      if (!isRevisit && !isHeld(record)) return "";
      const start = new PayloadStart();
      const claim = claimOf(record);
      const algorithms = [claim?.algorithm ?? "sha1"];
      const held = { payload: algorithms, stored: algorithms, onPayload: start.push };
      const scan = scanRecord(record, isRevisit ? {} : held);
      for (const finding of scan.findings) warn({ ...finding, file: record.file, offset: record.offset });
      record.drain();
      const line = isRevisit ? revisitLine(record, scan) : heldLine(record, scan, start, claim);
      return `${JSON.stringify(line)}\n`;
    },
  };
}
