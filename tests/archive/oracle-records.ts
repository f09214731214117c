/**
 * Raw records as the oracle reads them. It shares no code with the program but the keys of URLs and the text of times
 * and digests. Records must be whole; blake3 is not read.
 */
import { createHash } from "node:crypto";
import { type Digest, formatDigest, parseDigest, parseIso } from "../../src/base/index.ts";
import { urlKey } from "../../src/url/index.ts";

/** Names in small letters; a name may come several times. */
export type Fields = ReadonlyMap<string, readonly string[]>;

export interface Http {
  readonly status: number;
  readonly fields: Fields;
  /** The header as it stands. */
  readonly head: string;
  /** The body as it is stored. */
  readonly body: Buffer;
}

/** A capture by its record alone: nothing here depends on other records. */
export interface Capture {
  readonly type: "response" | "resource" | "revisit";
  readonly url: string;
  readonly key: string;
  readonly timeMs: number | null;
  readonly id: string | null;
  /** What a capture is known by, beside its key, its time and its id. */
  readonly told: string;
  /** Orders captures of one moment that found the same. */
  readonly mark: string;
  readonly http: Http | undefined;
  readonly recordMime: string | null;
  /** The record's own payload; absent for revisits. */
  readonly body: Buffer | undefined;
  /** The same as it is stored. */
  readonly stored: Buffer | undefined;
  readonly digest: Digest | undefined;
  readonly digestLies: boolean;
  readonly cutOff: boolean;
  readonly profile: "identical" | "not-modified" | "unknown" | "none";
  readonly refersTo: { readonly id?: string; readonly url?: string; readonly timeMs?: number };
  readonly concurrentTo: readonly string[];
  readonly bytes: Buffer;
}

export interface Request {
  readonly id: string | null;
  readonly url: string;
  readonly method: string;
  readonly hasCondition: boolean;
  readonly concurrentTo: readonly string[];
}

export interface Records {
  /** Each capture once. */
  readonly captures: readonly Capture[];
  readonly requests: readonly Request[];
}

export function readRecords(files: readonly (readonly Buffer[])[]): Records {
  const all = files.flat().map(readRecord);
  const captures = new Map<string, Capture>();
  for (const record of all) {
    if (record === undefined || !("key" in record)) continue;
    const name = JSON.stringify([record.key, record.timeMs, record.id, record.told]);
    const other = captures.get(name);
    captures.set(name, other === undefined ? record : whichCounts(record, other));
  }
  return {
    captures: [...captures.values()],
    requests: all.filter((record) => record !== undefined && "method" in record),
  };
}

/** Of two records of one capture: the one with its payload. The page does not say which of two with a payload. */
function whichCounts(one: Capture, other: Capture): Capture {
  const lacking = (capture: Capture) => (capture.body === undefined ? 1 : 0);
  return (lacking(one) - lacking(other) || Buffer.compare(one.bytes, other.bytes)) <= 0 ? one : other;
}

function readRecord(bytes: Buffer): Capture | Request | undefined {
  const { fields, rest } = readHead(bytes, "utf8");
  const type = field(fields, "warc-type");
  const block = rest.subarray(0, Number(field(fields, "content-length")));
  if (type === "request") return readRequest(fields, block);
  if (type === "response" || type === "resource" || type === "revisit") return readCapture(type, fields, block, bytes);
  return undefined;
}

function readRequest(fields: Fields, block: Buffer): Request {
  const head = readHead(block, "latin1");
  return {
    id: bare(field(fields, "warc-record-id")) ?? null,
    url: bare(field(fields, "warc-target-uri")) ?? "",
    method: head.first.split(" ")[0]!,
    hasCondition: head.fields.has("if-none-match") || head.fields.has("if-modified-since"),
    concurrentTo: (fields.get("warc-concurrent-to") ?? []).map((id) => bare(id)!),
  };
}

function readCapture(type: Capture["type"], fields: Fields, block: Buffer, bytes: Buffer): Capture {
  const url = bare(field(fields, "warc-target-uri")) ?? "";
  const http = type === "resource" ? undefined : readHttp(block);
  const stored = type === "revisit" ? undefined : (http?.body ?? block);
  const isChunked = /\bchunked\b/i.test((http && field(http.fields, "transfer-encoding")) ?? "");
  const body = stored !== undefined && isChunked ? withoutChunks(stored) : stored;
  const digest = readDigest(field(fields, "warc-payload-digest"));
  const isTrue = digest !== undefined && [body, stored].some((it) => it !== undefined && isDigestOf(digest, it));
  const id = bare(field(fields, "warc-record-id")) ?? null;
  const isTold = body === undefined || isTrue;
  const claim = isTold ? (digest === undefined ? "" : formatDigest(digest)) : `sha256:${sha256(body)}`;
  const isMarked = type !== "revisit" && fields.has("warc-truncated");
  const told = `${claim} ${http === undefined ? "" : sha256(http.head.trimEnd()).slice(0, 32)} ${isMarked ? "cut" : ""} ${url}`;
  const length = http && !isChunked ? field(http.fields, "content-length") : undefined;
  const isShort = body !== undefined && length !== undefined && body.length < Number(length);
  return {
    type,
    url,
    key: keyOf(url),
    timeMs: readTime(field(fields, "warc-date")) ?? null,
    id,
    told,
    mark: sha256(id ?? "").slice(0, 8) + sha256(`${id ?? ""} ${told}`).slice(0, 16),
    http,
    recordMime: readMime(field(fields, "content-type")),
    body,
    stored,
    digest,
    digestLies: body !== undefined && digest !== undefined && !isTrue,
    cutOff:
      body !== undefined && (fields.has("warc-truncated") || isShort || field(fields, "warc-segment-number") === "1"),
    profile: readProfile(field(fields, "warc-profile")),
    refersTo: readReference(fields),
    concurrentTo: (fields.get("warc-concurrent-to") ?? []).map((each) => bare(each)!),
    bytes,
  };
}

function readReference(fields: Fields): Capture["refersTo"] {
  const id = bare(field(fields, "warc-refers-to"));
  const url = bare(field(fields, "warc-refers-to-target-uri"));
  const timeMs = readTime(field(fields, "warc-refers-to-date"));
  return {
    ...(id === undefined ? {} : { id }),
    ...(url === undefined ? {} : { url }),
    ...(timeMs === undefined ? {} : { timeMs }),
  };
}

function readProfile(text: string | undefined): Capture["profile"] {
  if (text === undefined) return "none";
  const name = /^<?http:\/\/netpreserve\.org\/warc\/1\.[01]\/revisit\/([a-z-]+)>?$/.exec(text)?.[1];
  if (name === "identical-payload-digest") return "identical";
  return name === "server-not-modified" ? "not-modified" : "unknown";
}

/** Absent where the block is no HTTP answer. */
function readHttp(block: Buffer): Http | undefined {
  const { first, fields, rest } = readHead(block, "latin1");
  const status = /^HTTP\/\S+\s+(\d{3})\b/.exec(first)?.[1];
  const head = block.toString("latin1", 0, block.length - rest.length);
  return status === undefined ? undefined : { status: Number(status), fields, head, body: rest };
}

function readHead(bytes: Buffer, encoding: "utf8" | "latin1") {
  const end = bytes.indexOf("\r\n\r\n");
  const head = end < 0 ? bytes : bytes.subarray(0, end);
  const [first = "", ...lines] = head.toString(encoding).split("\r\n");
  const fields = new Map<string, string[]>();
  for (const line of lines) {
    const name = line.slice(0, line.indexOf(":")).trim().toLowerCase();
    fields.set(name, [...(fields.get(name) ?? []), line.slice(line.indexOf(":") + 1).trim()]);
  }
  return { first, fields, rest: end < 0 ? Buffer.alloc(0) : bytes.subarray(end + 4) };
}

function withoutChunks(body: Buffer): Buffer {
  const parts: Buffer[] = [];
  for (let at = 0; ; ) {
    const lineEnd = body.indexOf("\r\n", at);
    const size = lineEnd < 0 ? 0 : Number.parseInt(body.toString("latin1", at, lineEnd), 16);
    if (!(size > 0)) return Buffer.concat(parts);
    parts.push(body.subarray(lineEnd + 2, lineEnd + 2 + size));
    at = lineEnd + 2 + size + 2;
  }
}

/** The first of its fields. */
export function field(fields: Fields, name: string): string | undefined {
  return fields.get(name)?.[0];
}

/** Without the parameters, in small letters. */
export function readMime(text: string | undefined): string | null {
  return text?.split(";")[0]!.trim().toLowerCase() ?? null;
}

function bare(text: string | undefined): string | undefined {
  return text?.replace(/^<(.*)>$/, "$1");
}

function readTime(text: string | undefined): number | undefined {
  // The beginning of 1970 stands for a date that is not known.
  return text === undefined ? undefined : parseIso(text) || undefined;
}

function readDigest(text: string | undefined): Digest | undefined {
  const digest = text === undefined ? undefined : parseDigest(text);
  return digest?.algorithm === "blake3" ? undefined : digest;
}

export function isDigestOf({ algorithm, hex }: Digest, bytes: Buffer): boolean {
  return createHash(algorithm).update(bytes).digest("hex") === hex;
}

export function sha256(bytes: Buffer | string): string {
  return createHash("sha256").update(bytes).digest("hex");
}

/** Keys of more than 32,768 characters are not made here. */
export function keyOf(url: string): string {
  const key = urlKey(url);
  return key === "-" ? `-${url}` : key;
}
