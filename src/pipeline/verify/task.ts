/**
 * The reading of `verify`: every record is checked as `check` does, and each that holds a payload or refers to one
 * leaves a line by which the two can be brought together.
 */
import { type DigestAlgorithm, type ErrorCode, loadDigest, parseDigest, type Warning } from "../../base/index.ts";
import { type HttpHead, parseProfile, type WarcRecord } from "../../warc/index.ts";
import type { CaptureLine } from "../capture-line.ts";
import { checkRecord, type RecordCheck } from "../check.ts";
import type { RecordTask } from "../task.ts";

export interface VerifyTaskOptions {
  /** Digests that are taken of every payload, beside the one that its record claims. */
  readonly digests: readonly DigestAlgorithm[];
}

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
  const { check, capture, http } = checkRecord(record, warn, { otherwise: DIGESTS_DEFAULT, always: digests });
  if (capture === undefined) return undefined;
  const line = { ...capture, told: toldLength(http) };
  if (capture.kind === "held") return line;
  if (record.payloadDigest !== undefined && capture.claim === undefined) {
    const message = `payload digest ${record.payloadDigest}`;
    warn({ code: "HT_DIGEST_UNKNOWN", message, file: record.file, offset: record.offset });
  }
  if (capture.ours === true) checkOurs(record, check, warn);
  return line;
}

/** How long the body is by the HTTP header: where the status admits one, and no transfer coding hides its length. */
function toldLength(http: HttpHead | undefined): number | undefined {
  if (http?.status === undefined || http.status < 200 || http.status === 204 || http.status === 304) return undefined;
  if (http.headers.get("transfer-encoding") !== undefined) return undefined;
  const told = http.headers.get("content-length");
  return told !== undefined && /^\d{1,15}$/.test(told) ? Number(told) : undefined;
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
