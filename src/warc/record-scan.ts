/**
 * One pass over a record's block that finds out what the other rooms want to know: the HTTP head, how the body is
 * framed, the size of the payload, and the digests of block, payload and payload as stored. A payload is the entity
 * body: transfer coding undone, content coding kept.
 */
import {
  createHasher,
  type Digest,
  type DigestAlgorithm,
  type ErrorCode,
  type Hasher,
  hashHex,
  parseDigest,
} from "../base/index.ts";
import { Dechunker } from "./chunked.ts";
import { type HttpHead, parseHttpHead, saysChunked } from "./http-head.ts";
import type { WarcRecord } from "./record.ts";

export interface ScanRequest {
  readonly block?: readonly DigestAlgorithm[] | undefined;
  /** Of the payload, transfer-decoded. */
  readonly payload?: readonly DigestAlgorithm[] | undefined;
  /** Of the payload as stored, chunk markers and all; computed only where that differs. */
  readonly stored?: readonly DigestAlgorithm[] | undefined;
  /** Gets the block piece by piece, and the payload; views are valid during the call. */
  readonly onBlock?: ((bytes: Uint8Array) => void) | undefined;
  readonly onPayload?: ((bytes: Uint8Array) => void) | undefined;
}

export type Framing = "plain" | "chunked";

export interface RecordScan {
  /** Absent where the block is no HTTP message; then the payload is the whole block. */
  readonly http: HttpHead | undefined;
  /** How the body really is stored, whatever its header says. */
  readonly framing: Framing;
  /** A chunked body came to its end; true for plain ones. */
  readonly complete: boolean;
  readonly payloadSize: number;
  readonly blockSize: number;
  readonly blockDigests: readonly Digest[];
  readonly payloadDigests: readonly Digest[];
  /** The same as `payloadDigests` where nothing was undone. */
  readonly storedDigests: readonly Digest[];
  readonly findings: readonly { readonly code: ErrorCode; readonly message: string }[];
}

/** Reads a record to its end, from a source that answers at once. */
export function scanRecord(record: WarcRecord, request: ScanRequest): RecordScan {
  const { block } = record;
  const scanner = new RecordScanner(record, request, block !== undefined);
  if (block !== undefined) scanner.push(block);
  else for (let chunk = record.read(); chunk !== undefined; chunk = record.read()) scanner.push(chunk);
  return scanner.finish();
}

/** The same from any source. */
export async function scanRecordLater(record: WarcRecord, request: ScanRequest): Promise<RecordScan> {
  if (record.block !== undefined) return scanRecord(record, request);
  const scanner = new RecordScanner(record, request, false);
  for await (const chunk of record) scanner.push(chunk);
  return scanner.finish();
}

/** Several digests of one sequence of bytes; in one call where all bytes come at once. */
class DigestSet {
  private readonly algorithms: readonly DigestAlgorithm[];
  private readonly hashers: Hasher[] | undefined;
  private once: Digest[] | undefined;

  constructor(algorithms: readonly DigestAlgorithm[], atOnce: boolean) {
    this.algorithms = algorithms;
    if (!atOnce) this.hashers = algorithms.map(createHasher);
  }

  update(bytes: Uint8Array): void {
    if (this.hashers === undefined) {
      this.once = this.algorithms.map((algorithm) => ({ algorithm, hex: hashHex(algorithm, bytes) }));
    } else for (const hasher of this.hashers) hasher.update(bytes);
  }

  finish(): readonly Digest[] {
    if (this.hashers !== undefined) return this.hashers.map((hasher) => hasher.finish());
    if (this.once === undefined) this.update(new Uint8Array(0));
    return this.once!;
  }
}

const NONE: readonly DigestAlgorithm[] = [];

class RecordScanner {
  private readonly isHttp: boolean;
  /** What is missing from its message is in other records. */
  private readonly isPart: boolean;
  /** Its writer says that the message was cut off; then a body that breaks off is no damage. */
  private readonly isCutOff: boolean;
  private readonly request: ScanRequest;
  /** The whole block comes with one push. */
  private readonly whole: boolean;
  private readonly blockSet: DigestSet;
  private payloadSet: DigestSet | undefined;
  private storedSet: DigestSet | undefined;
  private http: HttpHead | undefined;
  private dechunker: Dechunker | undefined;
  private started = false;
  private blockSize = 0;
  private payloadSize = 0;

  constructor(record: WarcRecord, request: ScanRequest, whole: boolean) {
    this.isHttp = record.isHttp;
    this.isPart = record.segmented;
    this.isCutOff = record.truncated !== undefined;
    this.request = request;
    this.whole = whole;
    this.blockSet = new DigestSet(request.block ?? NONE, whole);
  }

  push(bytes: Uint8Array): void {
    this.blockSize += bytes.length;
    if (this.request.block !== undefined) this.blockSet.update(bytes);
    this.request.onBlock?.(bytes);
    this.pushBody(this.started ? bytes : this.start(bytes));
  }

  /** Takes the HTTP head off; the reader's first piece is large enough to hold any. */
  private start(bytes: Uint8Array): Uint8Array {
    this.started = true;
    const { request, whole } = this;
    if (this.isHttp) this.http = parseHttpHead(bytes, 0, bytes.length, whole);
    const chunked = this.http !== undefined && saysChunked(this.http);
    this.payloadSet = new DigestSet(request.payload ?? NONE, whole && !chunked);
    if (chunked) {
      this.storedSet = new DigestSet(request.stored ?? NONE, whole);
      this.dechunker = new Dechunker((part) => this.pushPayload(part));
    }
    return this.http === undefined ? bytes : bytes.subarray(this.http.text.length);
  }

  private pushBody(bytes: Uint8Array): void {
    if (this.dechunker === undefined) this.pushPayload(bytes);
    else {
      if (this.request.stored !== undefined) this.storedSet!.update(bytes);
      this.dechunker.push(bytes);
    }
  }

  private pushPayload(bytes: Uint8Array): void {
    this.payloadSize += bytes.length;
    this.payloadSet!.update(bytes);
    this.request.onPayload?.(bytes);
  }

  finish(): RecordScan {
    if (!this.started) this.start(new Uint8Array(0));
    const { http } = this;
    const findings: { code: ErrorCode; message: string }[] = [];
    const verdict = this.dechunker?.finish();
    if (this.isHttp && http === undefined && this.blockSize > 0) {
      findings.push({ code: "HT_HTTP_HEADER", message: "the block is no HTTP message" });
    } else if (http !== undefined && !http.terminated) {
      findings.push({ code: "HT_HTTP_UNTERMINATED", message: "no blank line behind the HTTP header" });
    }
    if (verdict === "plain" && this.payloadSize > 0) {
      findings.push({ code: "HT_HTTP_NOT_CHUNKED", message: "the header says chunked, the body is not" });
    } else if (verdict === "broken" && !this.isCutOff) {
      findings.push({ code: "HT_HTTP_CHUNK", message: "the chunked body breaks off or has an invalid chunk" });
    }
    const framing = verdict === "chunked" || verdict === "complete" || verdict === "broken" ? "chunked" : "plain";
    const payloadDigests = this.payloadSet!.finish();
    const apart = framing === "chunked" && this.request.stored !== undefined;
    return {
      http,
      framing,
      complete: verdict !== "broken",
      payloadSize: this.payloadSize,
      blockSize: this.blockSize,
      blockDigests: this.blockSet.finish(),
      payloadDigests,
      storedDigests: apart ? this.storedSet!.finish() : payloadDigests,
      findings: this.isPart ? [] : findings,
    };
  }
}

/** How the payload digest in a record's header held. */
export type DigestVerdict = "transferred" | "stored" | "mismatch" | "unknown" | "absent";

/** Compares a digest in a header with those computed in the same algorithm. */
export function judgeDigest(
  claim: string | undefined,
  scan: Pick<RecordScan, "payloadDigests" | "storedDigests">,
): DigestVerdict {
  if (claim === undefined) return "absent";
  const digest = parseDigest(claim);
  if (digest === undefined) return "unknown";
  const holds = (found: readonly Digest[]) =>
    found.some((d) => d.algorithm === digest.algorithm && d.hex === digest.hex);
  if (holds(scan.payloadDigests)) return "transferred";
  if (holds(scan.storedDigests)) return "stored";
  const computed = scan.payloadDigests.some((d) => d.algorithm === digest.algorithm);
  return computed ? "mismatch" : "unknown";
}
