/**
 * Whether a record can be put together again from a revisit and the payload of its original, byte for byte; and what the
 * revisit has to tell for that. It is found out by doing it: the header is turned into that of a revisit and back.
 */
import {
  createHasher,
  type Digest,
  type DigestAlgorithm,
  digestOf,
  type Hasher,
  isDigestAlgorithm,
  parseDigest,
} from "../base/index.ts";
import {
  CHUNKS_FIELD,
  ChunkLayoutTracker,
  draftRevisit,
  type HttpHead,
  judgeDigest,
  parseHttpHead,
  REPLACED_FIELD,
  type RecordScan,
  type ReplacedRecord,
  type RevisitDraft,
  replacedHead,
  SEPARATOR,
  scanRecord,
  type WarcRecord,
} from "../warc/index.ts";

/** Where a record has to tell its payload's digest and nobody asked for it. */
const NO_DIGEST: Digest = { algorithm: "sha256", hex: "0".repeat(64) };
/** Every record is proven by this one. */
export const RECORD_DIGEST: DigestAlgorithm = "sha256";

export interface Examination {
  readonly scan: RecordScan;
  /** Absent where the record cannot be put together again. */
  readonly replaced: ReplacedRecord | undefined;
  /** What its revisit is, but for the original; there where `replaced` is. */
  readonly draft: RevisitDraft | undefined;
  /** The digest in the header, where it holds only for the chunked body as stored. */
  readonly storedDigest: string | undefined;
  /** How a chunked body is cut; absent where it is not cut plainly. */
  readonly chunks: string | undefined;
  /** In the first of the algorithms that were asked for with `also`. */
  readonly payloadDigest: Digest | undefined;
}

export interface ExamineOptions {
  /** Gets the payload as it comes; views are valid during the call. */
  readonly onPayload?: ((bytes: Uint8Array) => void) | undefined;
  /** Tells a digest of the payload, once all of it has come, to whoever knows it from an equal one. */
  readonly payloadDigest?: ((algorithm: DigestAlgorithm) => Digest) | undefined;
  /** Takes digests of the payload in these algorithms too, see `Examination.payloadDigest`. */
  readonly also?: readonly DigestAlgorithm[] | undefined;
  /** Takes digests of a chunked body as it is stored in these algorithms too. */
  readonly alsoStored?: readonly DigestAlgorithm[] | undefined;
  /** What the revisit says of the payload where the record says nothing; else the first that was asked for with `also`. */
  readonly revisitDigest?: Digest | undefined;
}

/** Reads the record to its end. */
export function examineRecord(record: WarcRecord, options: ExamineOptions = {}): Examination {
  const { onPayload, payloadDigest, also = [], alsoStored = [], revisitDigest } = options;
  const { block } = record;
  const whole = new WholeDigest(record);
  // A block that is all there need not be followed piece by piece.
  const layout = block === undefined ? new StoredBody(record) : undefined;
  const blockAlgorithm = claimedAlgorithm(record.blockDigest);
  const payloadAlgorithm = claimedAlgorithm(record.payloadDigest);
  const judgedBy = payloadAlgorithm === undefined || payloadDigest !== undefined ? [] : [payloadAlgorithm];
  const scan = scanRecord(record, {
    block: blockAlgorithm === undefined ? [] : [blockAlgorithm],
    payload: [...new Set([...judgedBy, ...also])],
    stored: judgedBy.length + alsoStored.length === 0 ? undefined : [...judgedBy, ...alsoStored],
    onPayload,
    onBlock: (bytes) => {
      whole.update(bytes);
      layout?.push(bytes);
    },
  });
  const told = payloadAlgorithm === undefined ? undefined : payloadDigest?.(payloadAlgorithm);
  const judged = told === undefined ? scan : { payloadDigests: [told], storedDigests: [told] };
  const verdict = judgeDigest(record.payloadDigest, judged);
  const storedDigest = verdict === "stored" ? record.payloadDigest : undefined;
  const chunks =
    scan.framing === "chunked" ? (block === undefined ? layout!.finish() : layoutOf(block, scan.http!)) : undefined;
  const replaced = { digest: whole.finish(), chunks };
  const holds = verdict === "transferred" || verdict === "stored" || verdict === "absent";
  const cut = scan.framing === "plain" || chunks !== undefined;
  const asked = scan.payloadDigests.find(({ algorithm }) => algorithm === also[0]);
  const isDrafted = record.arc === undefined && holds && cut;
  const draft = isDrafted ? soundDraft(record, scan, replaced, revisitDigest ?? asked ?? NO_DIGEST) : undefined;
  return { scan, storedDigest, chunks, payloadDigest: asked, draft, replaced: draft && replaced };
}

/** The digest of the record, header to separator: in one call where that is all at hand, else as the block comes. */
class WholeDigest {
  private readonly content: Buffer | undefined;
  private readonly hasher: Hasher | undefined;

  constructor(record: WarcRecord) {
    this.content = record.content;
    if (this.content !== undefined) return;
    this.hasher = createHasher(RECORD_DIGEST);
    this.hasher.update(Buffer.from(record.headers.text, "latin1"));
  }

  update(bytes: Uint8Array): void {
    this.hasher?.update(bytes);
  }

  finish(): Digest {
    if (this.content !== undefined) return digestOf(RECORD_DIGEST, this.content);
    this.hasher!.update(SEPARATOR);
    return this.hasher!.finish();
  }
}

/** The algorithm of a digest in a header, as far as we know it. */
export function claimedAlgorithm(claim: string | undefined): DigestAlgorithm | undefined {
  const name = claim?.slice(0, Math.max(0, claim.indexOf(":"))).toLowerCase() ?? "";
  return isDigestAlgorithm(name) ? name : parseDigest(claim ?? "")?.algorithm;
}

/** What a revisit says of its own. A record that has one of these already would say it twice. */
const REVISIT_FIELDS = [
  REPLACED_FIELD,
  CHUNKS_FIELD,
  "WARC-Profile",
  "WARC-Refers-To",
  "WARC-Refers-To-Target-URI",
  "WARC-Refers-To-Date",
].map((name) => name.toLowerCase());

/** Turns the header into that of a revisit and back; absent where it does not come back. */
function soundDraft(
  record: WarcRecord,
  scan: RecordScan,
  replaced: ReplacedRecord,
  payloadDigest: Digest,
): RevisitDraft | undefined {
  if (REVISIT_FIELDS.some((name) => record.headers.get(name) !== undefined)) return undefined;
  const draft = draftRevisit(record, scan.http, payloadDigest, { replaced });
  const type = record.headers.get("warc-type") ?? "";
  const back = replacedHead(draft.before, type, scan.blockSize, () => scan.blockDigests[0]);
  return back === record.headers.text ? draft : undefined;
}

/** How the chunked body in a block is cut; absent where it is not cut plainly. */
export function layoutOf(block: Uint8Array, http: HttpHead): string | undefined {
  const tracker = new ChunkLayoutTracker();
  tracker.push(block.subarray(http.text.length));
  return tracker.finish();
}

/** Follows a chunked body behind its HTTP header. */
export class StoredBody {
  private readonly isHttp: boolean;
  private tracker: ChunkLayoutTracker | undefined;
  private started = false;

  constructor(record: WarcRecord) {
    this.isHttp = record.isHttp;
  }

  push(bytes: Uint8Array): void {
    if (this.started) {
      this.tracker?.push(bytes);
      return;
    }
    this.started = true;
    const http = this.isHttp ? parseHttpHead(bytes, 0, bytes.length, false) : undefined;
    if (http === undefined || http.headers.get("transfer-encoding") === undefined) return;
    this.tracker = new ChunkLayoutTracker();
    this.tracker.push(bytes.subarray(http.text.length));
  }

  finish(): string | undefined {
    return this.tracker?.finish();
  }
}
