/**
 * Everything about a record that an archive has to know before it takes it in, as one line of JSON: what it is, what its
 * payload is, whether its header tells the truth about that, and what a revisit would need to stand for it.
 */
import { hash } from "node:crypto";
import {
  createHasher,
  type Digest,
  type DigestAlgorithm,
  formatDigest,
  parseDigest,
  shortHash,
  type Warning,
} from "../base/index.ts";
import {
  decodeText,
  type Framing,
  type HttpHead,
  judgeDigest,
  mediaType,
  parseHttpHead,
  parseProfile,
  type RecordScan,
  type RevisitDraft,
  type RevisitProfile,
  refersToOf,
  requestQuery,
  unbracket,
  type WarcReader,
  type WarcRecord,
} from "../warc/index.ts";
import { arcId, arcMime, cleanUri, convertedType } from "./arc-conversion.ts";
import { formOf, scanForm, streamedForm } from "./block-form.ts";
import { headChecksumOf } from "./head-checksum.ts";
import { isOddRecord } from "./odd-record.ts";
import { damageOf, type RecordDamage } from "./record-damage.ts";
import { parseReplaced } from "./restore/record.ts";
import { claimedAlgorithm, type Examination, examineRecord } from "./reversal.ts";
import { SeenPayloads } from "./seen-payloads.ts";
import type { RecordTask } from "./task.ts";

/** What a record that answers for a URL held. */
export interface CaptureFacts {
  /** Of the payload, in hex; absent for a revisit. */
  readonly sha256?: string | undefined;
  /** The same in sha1; absent where `claim` is that. */
  readonly sha1?: string | undefined;
  readonly payloadSize?: number | undefined;
  readonly status?: number | undefined;
  readonly mime?: string | undefined;
  readonly framing?: Framing | undefined;
  /** Where a redirect leads, as the HTTP header has it. */
  readonly location?: string | undefined;
  /** The digest in the header, in our form; absent where there is none that can be read. */
  readonly claim?: string | undefined;
  /** The digest in the header is not that of the payload. */
  readonly lies?: boolean | undefined;
  /** The digest in the header holds for the chunked body as it is stored only. */
  readonly claimsStored?: boolean | undefined;
  /** What a revisit has to carry so that the record can be put together again; absent where it cannot be. */
  readonly replaced?: { readonly digest: string; readonly chunks?: string | undefined } | undefined;
  /** Nobody has found out whether it can be. */
  readonly unexamined?: boolean | undefined;
  /** The revisit, but for what it refers to; absent where it is large. */
  readonly draft?: RevisitDraft | undefined;
  /** A hash of the HTTP header as it stands, in hex. */
  readonly head?: string | undefined;
  /** See `formOf`; of a revisit that we wrote, that of the block it stands for. */
  readonly form?: string | undefined;
  /** Of the HTTP header: what the server tells versions apart by, each as a hash. */
  readonly etag?: number | undefined;
  readonly lastModified?: number | undefined;
  /** A 206 whose Content-Range is the whole. */
  readonly wholeRange?: boolean | undefined;
  /** The payload is shorter than its Content-Length. */
  readonly short?: boolean | undefined;
  readonly truncated?: boolean | undefined;
  readonly segmented?: boolean | undefined;
  /** A revisit that we wrote in the place of a record, and that tells how to put it together again. */
  readonly isOurs?: boolean | undefined;
  /** Such a revisit of a resource. */
  readonly wasResource?: boolean | undefined;
  /** Of a revisit. */
  readonly profile?: RevisitProfile | "unknown" | undefined;
  /** Of a revisit with an HTTP header of its own. */
  readonly hasHttp?: boolean | undefined;
  readonly refersTo?: { readonly uri?: string; readonly date?: string; readonly id?: string } | undefined;
}

/** What a request tells of the answer to it. */
export interface RequestFacts {
  readonly method: string;
  /** It asked for the answer only if that had changed. */
  readonly isConditional?: boolean | undefined;
  /** See `requestQuery`; absent for GET. */
  readonly query?: string | undefined;
}

/** What a continuation record says of the record that it continues. */
export interface ContinuationFacts {
  /** The id of the first segment, without brackets. */
  readonly origin: string;
  readonly number: number;
  /** The size of its block. */
  readonly size: number;
  /** Of the last segment: the size of the blocks of all segments. */
  readonly totalSize?: number | undefined;
}

export interface RecordFacts {
  readonly offset: number;
  /** Absent where the record shares its member with others. */
  readonly length?: number | undefined;
  readonly inner?: number | undefined;
  /** See `WarcRecord`: by this, what is read again is known to be what the facts are of. */
  readonly checksum?: number | undefined;
  /** Of the header alone, of a record that shares its member and so has no other. */
  readonly headChecksum?: number | undefined;
  readonly type: string;
  readonly isArc?: boolean | undefined;
  /** Of an ARC record: the one it gets when it is converted. */
  readonly id?: string | undefined;
  readonly uri?: string | undefined;
  /** What earlier versions took for the URI, where its bytes are not UTF-8: they read them as Latin-1. */
  readonly formerUri?: string | undefined;
  /** As the record has it. */
  readonly date?: string | undefined;
  readonly timeMs?: number | undefined;
  /** Ids of records that belong with this one. */
  readonly with?: readonly string[] | undefined;
  /** It is cut off or cannot be read to its end; or it can, but its compressed member does not hold its checksum. */
  readonly damaged?: RecordDamage | undefined;
  /** The size of the block, where the header tells another one or none. */
  readonly blockSize?: number | undefined;
  /** Of a record that is no capture: the sha256 of its block, in hex. */
  readonly block?: string | undefined;
  /** Its form is such that other readers of WARC files stop at it. */
  readonly odd?: boolean | undefined;
  readonly capture?: CaptureFacts | undefined;
  readonly request?: RequestFacts | undefined;
  readonly continuation?: ContinuationFacts | undefined;
}

const CAPTURE_TYPES = new Set(["response", "resource", "revisit"]);

/** Whether a member holds its checksum is known only when the next record has been asked for: facts wait until then. */
class LateFacts {
  private last: { readonly facts: RecordFacts; readonly record: WarcRecord } | undefined;

  /** The facts of the record before this one. */
  push(facts: RecordFacts, record: WarcRecord): RecordFacts | undefined {
    const before = this.take();
    this.last = { facts, record };
    return before;
  }

  /** The facts of the last record, once there is no other. */
  take(): RecordFacts | undefined {
    if (this.last === undefined) return undefined;
    const { facts, record } = this.last;
    this.last = undefined;
    if (facts.damaged === "cut" || record.warnings.length === 0) return facts;
    // Those of the next one may be among them by now.
    const own = record.warnings.filter(({ offset }) => offset === facts.offset);
    const odd = facts.odd === true || own.some(({ code }) => code === "HT_RECORD_SEPARATOR") ? true : undefined;
    return { ...facts, damaged: damageOf(own), odd };
  }
}

export interface FactsOptions {
  /** See `SeenPayloads`: what a revisit would need is found out of records whose payloads are among them. Else of none. */
  readonly seen?: SharedArrayBuffer | undefined;
}

export function createFactsTask({ seen: memory }: FactsOptions): RecordTask {
  const seen = memory === undefined ? undefined : new SeenPayloads(memory);
  let name = "";
  const late = new LateFacts();
  const tell = (facts: RecordFacts | undefined) => (facts === undefined ? "" : `${JSON.stringify(facts)}\n`);
  return {
    checksInput: true,
    beginFile(file) {
      name = file.replace(/^.*[/!]/, "");
    },
    record: (record, warn) => tell(late.push(factsOf(record, name, warn, seen), record)),
    endFile: () => tell(late.take()),
  };
}

/** The facts of all records that a reader gives. `name` is that of the file, without folders. */
export function* readFacts(reader: WarcReader, name: string): Generator<RecordFacts> {
  const late = new LateFacts();
  for (let record = reader.next(); record !== undefined; record = reader.next()) {
    const facts = late.push(
      factsOf(record, name, () => {}),
      record,
    );
    if (facts !== undefined) yield facts;
  }
  const last = late.take();
  if (last !== undefined) yield last;
}

/** Reads the record to its end. `name` is that of its file, without folders. */
export function factsOf(
  record: WarcRecord,
  name: string,
  warn: (warning: Warning) => void,
  seen?: SeenPayloads,
): RecordFacts {
  const { type, arc, offset, inner } = record;
  const found = CAPTURE_TYPES.has(type) ? captureOf(record, warn, seen) : undefined;
  const capture = found?.capture;
  const note = found === undefined ? noteOf(record) : undefined;
  const blockSize = found?.blockSize ?? note!.blockSize;
  const isHttp = arc === undefined ? record.blockType === "application/http" : found?.httpHead !== undefined;
  record.drain();
  const { uri } = record;
  return {
    offset,
    length: record.length,
    inner,
    checksum: record.checksum,
    headChecksum: record.length === undefined ? headChecksumOf(record) : undefined,
    // An ARC record is what it becomes as WARC.
    type: arc === undefined ? type : convertedType(record, isHttp),
    isArc: arc === undefined ? undefined : true,
    id: arc === undefined ? record.id : unbracket(arcId(name, record)),
    uri: arc === undefined || uri === undefined ? uri : cleanUri(uri),
    formerUri: formerUriOf(record, uri),
    date: record.dateText,
    timeMs: record.timeMs,
    with: namedBy(record),
    damaged: damageOf(record.warnings),
    blockSize: arc !== undefined || record.headers.get("content-length") === String(blockSize) ? undefined : blockSize,
    block: note?.block,
    odd: isOddRecord(record, { blockSize, isHttp, httpHead: found?.httpHead ?? note?.httpHead }) ? true : undefined,
    capture,
    request: note?.request,
    continuation: type === "continuation" ? continuationOf(record, blockSize) : undefined,
  };
}

function formerUriOf({ arc, headers }: WarcRecord, uri: string | undefined): string | undefined {
  if (uri?.includes("%") !== true) return undefined;
  const former = arc === undefined ? unbracket(headers.get("warc-target-uri"))! : decodeText(arc.url);
  if (former === uri) return undefined;
  return arc === undefined ? former : cleanUri(former);
}

/** Ids of records that belong with this one, by its header. */
export function namedBy(record: WarcRecord): string[] | undefined {
  const { headers, type } = record;
  // Few have one, and to look for all of them is to read every field.
  const isConcurrent = headers.get("warc-concurrent-to") !== undefined;
  const concurrent = isConcurrent ? headers.all("warc-concurrent-to") : [];
  if (CAPTURE_TYPES.has(type)) return namesIn(concurrent);
  const origin = type === "continuation" ? headers.get("warc-segment-origin-id") : undefined;
  const others = [headers.get("warc-refers-to"), origin].filter((id) => id !== undefined);
  return namesIn([...concurrent, ...others]);
}

/** Absent where it does not say which record it continues, or where. */
function continuationOf({ headers }: WarcRecord, size: number): ContinuationFacts | undefined {
  const origin = unbracket(headers.get("warc-segment-origin-id")) ?? "";
  const number = numberIn(headers.get("warc-segment-number"), 0xffffffff);
  if (origin === "" || number === undefined || number < 2) return undefined;
  return {
    origin,
    number,
    size,
    totalSize: numberIn(headers.get("warc-segment-total-length"), Number.MAX_SAFE_INTEGER),
  };
}

function numberIn(text: string | undefined, max: number): number | undefined {
  const number = /^\d{1,16}$/.test(text?.trim() ?? "") ? Number(text) : undefined;
  return number !== undefined && number <= max ? number : undefined;
}

interface Note {
  /** Of a request. */
  readonly httpHead: string | undefined;
  readonly request: RequestFacts | undefined;
  readonly block: string;
  readonly blockSize: number;
}

/** Of a record that is no capture. */
function noteOf(record: WarcRecord): Note {
  const isWhole = record.block !== undefined;
  const first = record.read() ?? new Uint8Array(0);
  const http = record.type === "request" ? parseHttpHead(first, 0, first.length, isWhole) : undefined;
  const [httpHead, request] = [http?.text, http && requestIn(http, first)];
  if (isWhole) return { httpHead, request, block: hash("sha256", first, "hex"), blockSize: first.length };
  const hasher = createHasher("sha256");
  let blockSize = 0;
  for (let piece: Uint8Array | undefined = first; piece !== undefined; piece = record.read()) {
    hasher.update(piece);
    blockSize += piece.length;
  }
  return { httpHead, request, block: hasher.finish().hex, blockSize };
}

function requestIn(http: HttpHead, first: Uint8Array): RequestFacts | undefined {
  const method = /^([!#$%&'*+.^_`|~\w-]{1,32}) /.exec(http.startLine)?.[1]?.toUpperCase();
  if (method === undefined) return undefined;
  const isConditional = ["if-none-match", "if-modified-since"].some((name) => http.headers.get(name) !== undefined);
  const query = method === "GET" ? undefined : requestQuery(method, http, first.subarray(http.text.length));
  return { method, isConditional: isConditional ? true : undefined, query };
}

/** Without brackets; what names nothing is none. */
function namesIn(ids: readonly string[]): string[] | undefined {
  if (ids.length === 0) return undefined;
  const names = ids.map((id) => unbracket(id)!).filter((id) => id !== "");
  return names.length === 0 ? undefined : names;
}

interface FoundCapture {
  readonly capture: CaptureFacts;
  readonly blockSize: number;
  /** Absent where the block is no HTTP message. */
  readonly httpHead: string | undefined;
}

function captureOf(record: WarcRecord, warn: (warning: Warning) => void, seen: SeenPayloads | undefined): FoundCapture {
  if (record.type === "revisit") return revisitOf(record);
  const claim = record.payloadDigest === undefined ? undefined : parseDigest(record.payloadDigest);
  const shared = {
    claim: claim === undefined ? undefined : formatDigest(claim),
    truncated: record.truncated === undefined ? undefined : true,
    segmented: record.segmented ? true : undefined,
  };
  if (record.arc !== undefined) {
    const { scan, form } = scanForm(record, { payload: OWN });
    seen?.add(scan.payloadDigests[0]!.hex);
    const capture = {
      ...shared,
      ...held(record, scan),
      form,
      short: isShort(scan),
      // As WARC it has this one in its header.
      claim: formatDigest(scan.payloadDigests[1]!),
      ...(scan.http === undefined ? { mime: arcMime(record.arc.mime) } : {}),
    };
    return { capture, blockSize: scan.blockSize, httpHead: scan.http?.text };
  }
  const { scan, form, sha256, examination } = lookAt(record, seen);
  for (const finding of scan.findings) warn({ ...finding, file: record.file, offset: record.offset });
  const verdict = judgeDigest(record.payloadDigest, scan);
  const replaced = examination?.replaced;
  const { status, mime, location, head, etag, lastModified, wholeRange } = httpFacts(record, scan.http);
  // Field by field: this is on the path of every capture, and objects that are spread cost more than all else here.
  const capture: CaptureFacts = {
    claim: shared.claim,
    truncated: shared.truncated,
    segmented: shared.segmented,
    sha256: sha256.hex,
    sha1: verdict === "transferred" && claim?.algorithm === "sha1" ? undefined : digestIn(scan, "sha1").hex,
    payloadSize: scan.payloadSize,
    framing: scan.framing,
    status,
    mime,
    location,
    head,
    form,
    etag,
    lastModified,
    wholeRange,
    short: isShort(scan),
    lies: verdict === "mismatch" ? true : undefined,
    claimsStored: verdict === "stored" ? true : undefined,
    replaced: replaced && { digest: formatDigest(replaced.digest), chunks: replaced.chunks },
    unexamined: examination === undefined ? true : undefined,
    draft: smallDraft(examination?.draft),
  };
  return { capture, blockSize: scan.blockSize, httpHead: scan.http?.text };
}

interface Look {
  readonly scan: RecordScan;
  readonly form: string | undefined;
  readonly sha256: Digest;
  readonly examination: Examination | undefined;
}

/** Examines the record if its payload was seen before, and also if it is too large to be looked at twice. */
function lookAt(record: WarcRecord, seen: SeenPayloads | undefined): Look {
  if (seen !== undefined && record.block === undefined) {
    const examination = examineRecord(record, { also: OWN, alsoStored: ["sha256"] });
    const { scan, chunks } = examination;
    const sha256 = digestIn(scan, "sha256");
    seen.add(sha256.hex);
    return { scan, form: streamedForm(scan, chunks), sha256, examination };
  }
  const claimed = claimedAlgorithm(record.payloadDigest);
  const { scan, form } = scanForm(record, {
    payload: claimed === undefined || claimed === "sha256" || claimed === "sha1" ? OWN : [...OWN, claimed],
    ...(claimed === undefined ? {} : { stored: [claimed] }),
  });
  const sha256 = digestIn(scan, "sha256");
  if (seen?.add(sha256.hex) !== true) return { scan, form, sha256, examination: undefined };
  const payloadDigest = (algorithm: DigestAlgorithm) => digestIn(scan, algorithm);
  const known = scan.framing === "plain" ? { payloadDigest } : {};
  return { scan, form, sha256, examination: examineRecord(record, { ...known, revisitDigest: sha256 }) };
}

/** Ours, and the one that crawlers compare. */
const OWN: readonly DigestAlgorithm[] = ["sha256", "sha1"];

function digestIn({ payloadDigests }: RecordScan, algorithm: DigestAlgorithm): Digest {
  return payloadDigests.find((digest) => digest.algorithm === algorithm)!;
}

/** Chunked bodies tell their end themselves. */
function isShort({ http, framing, payloadSize }: RecordScan): true | undefined {
  if (http === undefined || framing === "chunked") return undefined;
  const told = http.headers.get("content-length");
  return told !== undefined && /^\d{1,15}$/.test(told) && Number(told) > payloadSize ? true : undefined;
}

/** Larger ones are made when they are wanted. */
const DRAFT_SIZE_MAX = 1 << 14;

function smallDraft(draft: RevisitDraft | undefined): RevisitDraft | undefined {
  return draft !== undefined && draft.before.length + draft.block.length > DRAFT_SIZE_MAX ? undefined : draft;
}

function held(record: WarcRecord, scan: RecordScan): CaptureFacts {
  const { http, payloadDigests, payloadSize, framing } = scan;
  return { sha256: payloadDigests[0]!.hex, payloadSize, framing, ...httpFacts(record, http) };
}

function httpFacts(record: WarcRecord, http: HttpHead | undefined): CaptureFacts {
  if (http === undefined) return { mime: record.blockType || undefined };
  const { status, headers } = http;
  return {
    status,
    mime: mediaType(headers.get("content-type")),
    location: status !== undefined && status >= 300 && status < 400 ? headers.uri("location") : undefined,
    head: hash("sha256", http.text.trimEnd(), "hex").slice(0, 32),
    etag: tagOf(headers.get("etag")),
    lastModified: hashOf(headers.get("last-modified")),
    wholeRange: status === 206 && isWholeRange(headers.get("content-range")) ? true : undefined,
  };
}

function isWholeRange(range: string | undefined): boolean {
  const [, from, to, size] = /^bytes\s+(\d+)-(\d+)\/(\d+)$/i.exec(range?.trim() ?? "") ?? [];
  return from !== undefined && Number(from) === 0 && Number(to) + 1 === Number(size);
}

/** Weak or not, it is the same. */
function tagOf(etag: string | undefined): number | undefined {
  return hashOf(etag?.trim().replace(/^W\//, ""));
}

function hashOf(text: string | undefined): number | undefined {
  const trimmed = text?.trim() ?? "";
  return trimmed === "" ? undefined : shortHash(trimmed);
}

/** A revisit holds no payload: its digest is a claim, and its block the HTTP header of what it stands for, or nothing. */
function revisitOf(record: WarcRecord): FoundCapture {
  const claim = record.payloadDigest === undefined ? undefined : parseDigest(record.payloadDigest);
  const { uri, date, id } = refersToOf(record) ?? {};
  const whole = record.block !== undefined;
  const first = record.read() ?? new Uint8Array(0);
  const http = parseHttpHead(first, 0, first.length, whole);
  const blockSize = first.length + countRest(record);
  const replaced = parseReplaced(record.headers.text);
  const isOurs = replaced !== undefined;
  const told = http === undefined && !isOurs ? {} : httpFacts(record, http);
  const profile = record.headers.get("warc-profile");
  const capture: CaptureFacts = {
    ...told,
    // Heritrix says in the record what the answer was asked by.
    etag: told.etag ?? tagOf(record.headers.get("warc-etag")),
    lastModified: told.lastModified ?? hashOf(record.headers.get("warc-last-modified")),
    claim: claim === undefined ? undefined : formatDigest(claim),
    isOurs: isOurs ? true : undefined,
    wasResource: replaced?.type === "resource" ? true : undefined,
    profile: parseProfile(profile) ?? (profile === undefined ? undefined : "unknown"),
    hasHttp: http === undefined ? undefined : true,
    form: isOurs ? formOf(http, replaced.chunks) : undefined,
    refersTo: {
      ...(uri === undefined ? {} : { uri }),
      ...(date === undefined ? {} : { date }),
      ...(id === undefined ? {} : { id }),
    },
  };
  return { capture, blockSize, httpHead: http?.text };
}

function countRest(record: WarcRecord): number {
  let size = 0;
  for (let piece = record.read(); piece !== undefined; piece = record.read()) size += piece.length;
  return size;
}
