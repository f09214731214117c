/**
 * The check of `holotype check`: is a record sound? Structure and compression are the reader's to judge; here come the
 * header fields that each type must have, the digests of block and payload (in both readings of what a payload is), and
 * a note of each capture, by which revisits without originals can be found at the end.
 */
import {
  type DigestAlgorithm,
  digestOf,
  type ErrorCode,
  formatDigest,
  isDamage,
  loadDigest,
  parseDigest,
  type Warning,
} from "../base/index.ts";
import {
  type DigestVerdict,
  type HttpHead,
  judgeDigest,
  parseProfile,
  type RecordScan,
  scanRecord,
  type WarcRecord,
} from "../warc/index.ts";
import { type CaptureLine, claimOf, heldLine, isHeld, PayloadStart, revisitLine } from "./capture-line.ts";
import { hasPayload } from "./listing.ts";
import type { RecordTask } from "./task.ts";

export type CheckOptions = Readonly<Record<never, never>>;

/** What a record is and how its digests held, for the command to gather: see `OrphanFinder.take`. */
export interface RecordCheck {
  readonly file: string;
  readonly offset: number;
  readonly type: string;
  /** `segmented` where the payload lies in several records: then its digest is not verified. */
  readonly payloadDigest: DigestVerdict | "segmented";
  readonly blockDigest: DigestVerdict;
}

const KNOWN_TYPES = new Set([
  "warcinfo",
  "response",
  "resource",
  "request",
  "metadata",
  "revisit",
  "conversion",
  "continuation",
]);
const NEED_URI = new Set(["response", "resource", "request", "revisit", "conversion", "continuation"]);

export async function createCheck(_options: CheckOptions): Promise<RecordTask> {
  await loadDigest("blake3");
  return {
    exact: true,
    record(record, warn) {
      const { check, capture } = checkRecord(record, warn);
      return `${JSON.stringify(check)}\t${capture === undefined ? "" : JSON.stringify(capture)}\n`;
    },
  };
}

export interface DigestChoice {
  /** Payload digests that are computed where the record claims none that can be read. */
  readonly otherwise: readonly DigestAlgorithm[];
  /** Those that are computed of every payload. */
  readonly always: readonly DigestAlgorithm[];
}

/** Where a header has no digest, other people's revisits find the record by its SHA-1. */
const DIGESTS_DEFAULT: DigestChoice = { otherwise: ["sha1"], always: [] };

export interface CheckedRecord {
  readonly check: RecordCheck;
  /** Of a record that holds a payload or refers to one. */
  readonly capture: CaptureLine | undefined;
  readonly http: HttpHead | undefined;
}

export function checkRecord(
  record: WarcRecord,
  warn: (warning: Warning) => void,
  digests: DigestChoice = DIGESTS_DEFAULT,
): CheckedRecord {
  const say = (code: ErrorCode, message: string) => warn({ code, message, file: record.file, offset: record.offset });
  const blockClaim = algorithmOf(record.blockDigest);
  const held = isHeld(record);
  const claim = claimOf(record);
  const own = claim === undefined ? (held ? digests.otherwise : []) : [claim.algorithm];
  const algorithms = held && digests.always.length > 0 ? [...new Set([...own, ...digests.always])] : own;
  const start = new PayloadStart();
  const scan = scanRecord(record, {
    ...(blockClaim === undefined ? {} : { block: [blockClaim] }),
    ...(algorithms.length === 0 ? {} : { payload: algorithms, stored: algorithms }),
    ...(held ? { onPayload: start.push } : {}),
  });
  for (const finding of scan.findings) say(finding.code, finding.message);
  record.drain();
  if (record.arc === undefined) checkFields(record, say);

  const cut = record.warnings.some((w) => isDamage(w) && w.code.includes("TRUNCATED"));
  const isWgets = hasWgetsDigest(record, scan);
  if (isWgets) say("HT_DIGEST_EMPTY", "wget writes the digest of an empty block into revisits");
  const blockDigest = isWgets ? "absent" : judgeBlock(record, scan.blockDigests);
  if (blockDigest === "mismatch" && !cut) say("HT_DIGEST_MISMATCH", `block digest ${record.blockDigest}`);
  if (blockDigest === "unknown") say("HT_DIGEST_UNKNOWN", `block digest ${record.blockDigest}`);
  // What was cut off, or is a part of a whole that lies in several records, has no digest that could hold.
  const payloadDigest = hasPayload(record) && !cut ? judgePayload(record, scan) : "absent";
  if (payloadDigest === "segmented")
    say("HT_DIGEST_SEGMENTED", `payload digest ${record.payloadDigest} is of several records, and was not verified`);
  if (payloadDigest === "mismatch") {
    const computed = formatDigest(scan.payloadDigests[0]!);
    say("HT_DIGEST_MISMATCH", `payload digest ${record.payloadDigest}, but the payload's is ${computed}`);
  }
  if (payloadDigest === "unknown") say("HT_DIGEST_UNKNOWN", `payload digest ${record.payloadDigest}`);

  const { file, offset, type } = record;
  const refers = type === "revisit" ? revisitLine(record, scan) : undefined;
  return {
    check: { file, offset, type, payloadDigest, blockDigest },
    capture: held ? heldLine(record, scan, start, claim) : refers,
    http: scan.http,
  };
}

function algorithmOf(claim: string | undefined): DigestAlgorithm | undefined {
  return claim === undefined ? undefined : parseDigest(claim)?.algorithm;
}

/** A revisit whose block digest was taken when nothing of the block was left to read: it says nothing about the block. */
function hasWgetsDigest({ type, blockDigest }: WarcRecord, { blockSize }: Pick<RecordScan, "blockSize">): boolean {
  if (type !== "revisit" || blockDigest === undefined || blockSize === 0) return false;
  const claimed = parseDigest(blockDigest);
  return claimed !== undefined && claimed.hex === digestOf(claimed.algorithm, new Uint8Array(0)).hex;
}

/** The digest of a segmented payload is in the first segment, and of the whole. */
function judgePayload({ segmented, payloadDigest }: WarcRecord, scan: RecordScan): DigestVerdict | "segmented" {
  if (!segmented) return judgeDigest(payloadDigest, scan);
  return payloadDigest === undefined ? "absent" : "segmented";
}

function judgeBlock(record: WarcRecord, digests: readonly { algorithm: string; hex: string }[]): DigestVerdict {
  const { blockDigest } = record;
  if (blockDigest === undefined) return "absent";
  const claimed = parseDigest(blockDigest);
  if (claimed === undefined) return "unknown";
  return digests[0]?.hex === claimed.hex ? "stored" : "mismatch";
}

/** The fields that the standard requires, and the form of those that it gives one. */
function checkFields(record: WarcRecord, say: (code: ErrorCode, message: string) => void): void {
  const { headers, type } = record;
  for (const name of ["WARC-Type", "WARC-Record-ID", "WARC-Date"]) {
    if (headers.get(name.toLowerCase()) === undefined) say("HT_FIELD_MISSING", `${name} is missing`);
  }
  if (NEED_URI.has(type) && record.uri === undefined) say("HT_FIELD_MISSING", "WARC-Target-URI is missing");
  if (type !== "" && !KNOWN_TYPES.has(type)) say("HT_FIELD_INVALID", `WARC-Type ${type} is not one of the standard`);
  if (headers.get("warc-date") !== undefined && record.timeMs === undefined) {
    say("HT_FIELD_INVALID", `WARC-Date ${headers.get("warc-date")} cannot be read`);
  }
  const { id } = record;
  if (id !== undefined && !/^[A-Za-z][A-Za-z0-9+.-]*:\S+$/.test(id)) {
    say("HT_FIELD_INVALID", `WARC-Record-ID ${id} is no URI`);
  }
  if (type === "revisit") {
    const profile = headers.get("warc-profile");
    if (profile === undefined) say("HT_FIELD_MISSING", "WARC-Profile is missing");
    else if (parseProfile(profile) === "identical-payload-digest" && record.payloadDigest === undefined) {
      say("HT_FIELD_MISSING", "WARC-Payload-Digest is missing from a revisit by digest");
    }
  }
  if (type === "continuation" && headers.get("warc-segment-origin-id") === undefined) {
    say("HT_FIELD_MISSING", "WARC-Segment-Origin-ID is missing");
  }
}
