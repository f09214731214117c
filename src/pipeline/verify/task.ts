/**
 * The reading of `verify`: every record is checked as `check` does, and each that holds a payload or refers to one
 * leaves a line of JSON by which the two can be brought together. Digests in these lines are computed, but for the claim
 * of a revisit.
 */
import {
  type Digest,
  type DigestAlgorithm,
  type ErrorCode,
  loadDigest,
  parseDigest,
  type Warning,
} from "../../base/index.ts";
import {
  type HttpHead,
  parseProfile,
  REPLACED_FIELD,
  type RecordScan,
  refersToOf,
  replacedBy,
  type WarcRecord,
} from "../../warc/index.ts";
import { checkWithScan, type RecordCheck } from "../check.ts";
import { hasPayload } from "../listing.ts";
import type { RecordTask } from "../task.ts";

export interface VerifyTaskOptions {
  /** Digests that are taken of every payload, beside the one that its record claims. */
  readonly digests: readonly DigestAlgorithm[];
}

/** Where a record lies in its file. */
export interface CapturePlace {
  readonly offset: number;
  /** Absent where the record shares its member with others; `inner` is its place in there. */
  readonly length?: number | undefined;
  readonly inner?: number | undefined;
  readonly id?: string | undefined;
}

/** What the reading tells of a record that holds a payload. */
export interface HeldLine extends CapturePlace {
  readonly kind: "held";
  readonly uri?: string | undefined;
  readonly date?: string | undefined;
  readonly size: number;
  /** Content-Length of the HTTP header, where it should be that of the body. */
  readonly told?: number | undefined;
  /** Of the payload as transferred: `sha1:` and hex. */
  readonly digests: readonly string[];
  /** The same of the body as stored, where it is stored chunked. */
  readonly stored?: readonly string[] | undefined;
}

/** What the reading tells of a revisit. */
export interface RevisitLine extends CapturePlace {
  readonly kind: "revisit";
  readonly uri?: string | undefined;
  readonly date?: string | undefined;
  readonly refersTo?: { readonly uri?: string; readonly date?: string; readonly id?: string } | undefined;
  /** The payload digest that it tells; absent where it tells none that can be read. */
  readonly claim?: string | undefined;
  readonly told?: number | undefined;
  /** It was written by Holotype and tells what it took the place of. */
  readonly ours?: boolean | undefined;
  /** The digest of the record whose place it took, where that can be read. */
  readonly replaced?: string | undefined;
  /** That record was stored chunked. */
  readonly chunked?: boolean | undefined;
}

export type CaptureLine = HeldLine | RevisitLine;

/** A revisit that Holotype made of a record without a digest has one of these. */
const DIGESTS_DEFAULT: readonly DigestAlgorithm[] = ["sha1", "sha256"];

export async function createVerifyTask({ digests }: VerifyTaskOptions): Promise<RecordTask> {
  await loadDigest("blake3");
  return {
    record(record, warn) {
      const line = captureOf(record, warn, digests);
      return line === undefined ? "" : `${JSON.stringify(line)}\n`;
    },
  };
}

function captureOf(
  record: WarcRecord,
  warn: (warning: Warning) => void,
  digests: readonly DigestAlgorithm[],
): CaptureLine | undefined {
  const isHeld = hasPayload(record);
  const claims = record.payloadDigest !== undefined && parseDigest(record.payloadDigest) !== undefined;
  const more = claims ? digests : [...DIGESTS_DEFAULT, ...digests];
  const { scan, check } = checkWithScan(record, warn, isHeld ? more : []);
  if (isHeld) return heldLine(record, scan);
  if (record.type !== "revisit") return undefined;
  const line = revisitLine(record, scan, warn);
  if (line.ours === true) checkOurs(record, check, warn);
  return line;
}

/** A revisit of ours has all that replay needs, and digests that can be read. Others may lack some of it. */
function checkOurs(record: WarcRecord, check: RecordCheck, warn: (warning: Warning) => void): void {
  const { headers, payloadDigest: claim, truncated } = record;
  const say = (code: ErrorCode, message: string) => warn({ code, message, file: record.file, offset: record.offset });
  const needs = (isThere: boolean, name: string) => {
    if (!isThere) say("HT_REVISIT_INCOMPLETE", `${name}: ${headers.get(name.toLowerCase()) ?? "(none)"}`);
  };
  needs(parseProfile(headers.get("warc-profile")) === "identical-payload-digest", "WARC-Profile");
  needs(headers.get("warc-refers-to-target-uri") !== undefined, "WARC-Refers-To-Target-URI");
  needs(headers.get("warc-refers-to-date") !== undefined, "WARC-Refers-To-Date");
  needs(claim !== undefined && parseDigest(claim) !== undefined, "WARC-Payload-Digest");
  needs(truncated === "length", "WARC-Truncated");
  if (check.blockDigest === "unknown") say("HT_DIGEST_MISMATCH", `block digest ${record.blockDigest}`);
}

function placeOf(record: WarcRecord) {
  const { offset, length, inner, id, uri, dateText } = record;
  return { offset, length, inner, id, uri, date: dateText };
}

function heldLine(record: WarcRecord, scan: RecordScan): HeldLine {
  const stored = scan.framing === "chunked" ? { stored: scan.storedDigests.map(digestText) } : {};
  return {
    kind: "held",
    ...placeOf(record),
    size: scan.payloadSize,
    told: toldLength(scan.http),
    digests: scan.payloadDigests.map(digestText),
    ...stored,
  };
}

function revisitLine(record: WarcRecord, scan: RecordScan, warn: (warning: Warning) => void): RevisitLine {
  const claim = record.payloadDigest === undefined ? undefined : parseDigest(record.payloadDigest);
  if (record.payloadDigest !== undefined && claim === undefined) {
    const message = `payload digest ${record.payloadDigest}`;
    warn({ code: "HT_DIGEST_UNKNOWN", message, file: record.file, offset: record.offset });
  }
  const ours = record.headers.get(REPLACED_FIELD.toLowerCase()) !== undefined ? { ours: true } : {};
  const replaced = replacedBy(record);
  return {
    kind: "revisit",
    ...placeOf(record),
    refersTo: refersToOf(record) as RevisitLine["refersTo"],
    claim: claim === undefined ? undefined : digestText(claim),
    told: toldLength(scan.http),
    ...ours,
    ...(replaced === undefined ? {} : { replaced: digestText(replaced.digest) }),
    ...(replaced?.chunks === undefined ? {} : { chunked: true }),
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

/** What a line of the reading says. */
export function parseCapture(line: string): CaptureLine {
  return JSON.parse(line) as CaptureLine;
}
