/**
 * Turns the header of a captured response into that of a revisit record, and back. Fields are changed where they stand
 * and ours are appended behind them, so that the original header can be put together again. The block is the HTTP header
 * alone.
 */
import {
  ArchiveError,
  type Digest,
  digestOf,
  formatDigest,
  formatDigestLike,
  parseAlgorithm,
  parseDigest,
} from "../base/index.ts";
import type { ArcLine } from "./arc-line.ts";
import { encodeText, equalsIgnoringCase, type FieldBlock, isBlank } from "./field-block.ts";
import type { HttpHead } from "./http-head.ts";
import { unbracket, type WarcRecord } from "./record.ts";
import { COMMON_HEAD_SIZE_MAX } from "./record-head.ts";

export type RevisitProfile = "identical-payload-digest" | "server-not-modified";

/** The record that holds the payload. */
export interface OriginalReference {
  readonly uri: string;
  /** Exactly as the original's WARC-Date is written. */
  readonly date: string;
  /** Without brackets. */
  readonly id?: string | undefined;
}

/** What a revisit tells of the record whose place it took, so that the record can be put together again. */
export interface ReplacedRecord {
  /** Of the whole record, uncompressed: header, block and separator. */
  readonly digest: Digest;
  /** How its body was cut, where it was stored chunked. */
  readonly chunks?: string | undefined;
}

/** The type and the digest of the record that a revisit took the place of. First of the fields that we append. */
export const REPLACED_FIELD = "Holotype-Replaced";
export const CHUNKS_FIELD = "Holotype-Chunks";

/** The profile's URI in the record's own version of the standard: 1.0 records have 1.0 profiles. */
export function profileUri(profile: RevisitProfile, version: string): string {
  return `http://netpreserve.org/warc/${version === "WARC/1.0" ? "1.0" : "1.1"}/revisit/${profile}`;
}

/** Reads the profile's URI of any version; the two that mean the same digest rule are one. */
export function parseProfile(uri: string | undefined): RevisitProfile | undefined {
  const name = /^<?https?:\/\/netpreserve\.org\/warc\/[\d.]+\/(?:revisit\/)?([a-z-]+)>?$/i.exec(uri ?? "")?.[1];
  switch (name?.toLowerCase()) {
    case "identical-payload-digest":
    case "uri-agnostic-identical-payload-digest":
      return "identical-payload-digest";
    case "server-not-modified":
      return "server-not-modified";
    default:
      return undefined;
  }
}

/** What a revisit refers to, as far as it tells. */
export function refersToOf(
  revisit: WarcRecord,
): { uri: string | undefined; date: string | undefined; id: string | undefined } | undefined {
  const { headers } = revisit;
  const uri = unbracket(headers.uri("warc-refers-to-target-uri"));
  const date = unbracket(headers.get("warc-refers-to-date"));
  const id = unbracket(headers.get("warc-refers-to"));
  return uri === undefined && date === undefined && id === undefined ? undefined : { uri, date, id };
}

/** A revisit as text that stands for its bytes, one Latin-1 character each. */
export interface Revisit {
  readonly head: string;
  readonly block: string;
}

/** What of a record its revisit is made from; a `WarcRecord` is one. */
export interface RevisitedHead {
  readonly version: string;
  readonly headers: FieldBlock;
  readonly arc?: ArcLine | undefined;
}

export interface RevisitOptions {
  readonly profile?: RevisitProfile | undefined;
  readonly replaced?: ReplacedRecord | undefined;
}

/** A revisit but for what it refers to: its header before and behind the fields that say so. */
export interface RevisitDraft {
  readonly before: string;
  readonly after: string;
  readonly block: string;
}

/**
 * The revisit that stands for `record`. Its payload must be that of `original`, stored in the same framing. Everything
 * the record says of itself is kept: id, date, version line, unknown fields and their order. A record that is no HTTP
 * message has no `http`, and its revisit an empty block.
 */
export function formatRevisit(
  record: RevisitedHead,
  http: Pick<HttpHead, "text"> | undefined,
  original: OriginalReference,
  payloadDigest: Digest,
  options: RevisitOptions = {},
): Revisit {
  return completeRevisit(draftRevisit(record, http, payloadDigest, options), original);
}

/** The same for who does not know the original yet. */
export function draftRevisit(
  record: RevisitedHead,
  http: Pick<HttpHead, "text"> | undefined,
  payloadDigest: Digest,
  options: RevisitOptions = {},
): RevisitDraft {
  if (record.arc !== undefined) {
    throw new ArchiveError("HT_UNSUPPORTED", "an ARC file has no revisit records; convert it first");
  }
  const { profile = "identical-payload-digest", replaced } = options;
  const block = http?.text ?? "";
  const { headers } = record;
  const claim = headers.get("warc-payload-digest");
  const claimed = claim === undefined ? undefined : parseDigest(claim);
  const changed = changeFields(headers.text, (name) => {
    switch (name) {
      case "warc-type":
        return "revisit";
      case "content-length":
        return String(block.length);
      case "warc-block-digest":
        return digestLike(headers.get("warc-block-digest") ?? "", Buffer.from(block, "latin1"));
      case "warc-payload-digest":
        return claimed === undefined ? formatDigest(payloadDigest) : undefined;
      default:
        return undefined;
    }
  });
  let before = "";
  if (replaced !== undefined) {
    const type = headers.get("warc-type") ?? "";
    before += formatField(REPLACED_FIELD, `${type} ${formatDigest(replaced.digest)}`);
    if (replaced.chunks !== undefined) before += formatField(CHUNKS_FIELD, replaced.chunks);
  }
  before += formatField("WARC-Profile", profileUri(profile, record.version));
  let after = "";
  // One that could not be read is replaced where it stands.
  if (claim === undefined) after += formatField("WARC-Payload-Digest", formatDigest(payloadDigest));
  if (headers.get("warc-truncated") === undefined) after += formatField("WARC-Truncated", "length");
  return { before: changed + encodeText(before), after: `${after}\r\n`, block };
}

export function completeRevisit({ before, after, block }: RevisitDraft, original: OriginalReference): Revisit {
  let reference = original.id === undefined ? "" : formatField("WARC-Refers-To", `<${original.id}>`);
  reference += formatField("WARC-Refers-To-Target-URI", bracketed(original.uri));
  reference += formatField("WARC-Refers-To-Date", original.date);
  return { head: before + encodeText(reference) + after, block };
}

/** The header of a revisit of ours with another original. Only the lines that we appended are changed. */
export function referringTo(revisitHead: string, { uri, date, id }: OriginalReference): string {
  const at = revisitHead.lastIndexOf(`\n${REPLACED_FIELD}: `) + 1;
  const lines = revisitHead.slice(at).split("\r\n");
  const others = lines.filter((line) => !line.startsWith("WARC-Refers-To"));
  const profile = others.findIndex((line) => line.startsWith("WARC-Profile: "));
  const fields = [
    ...(id === undefined ? [] : [`WARC-Refers-To: <${id}>`]),
    `WARC-Refers-To-Target-URI: ${bracketed(uri)}`,
    `WARC-Refers-To-Date: ${date}`,
  ];
  // Texts of ours are UTF-8, and the header is one character a byte.
  const told = fields.map(encodeText);
  const changed = [...others.slice(0, profile + 1), ...told, ...others.slice(profile + 1)];
  return revisitHead.slice(0, at) + changed.join("\r\n");
}

/** A URI that has brackets of its own needs more of them, since readers take one pair off. */
export function bracketed(uri: string): string {
  return unbracket(uri) === uri ? uri : `<${uri}>`;
}

/** Whether all readers take it: a long header, and what it refers to, may be more than some look at. */
export function hasReadableSize({ head }: Revisit): boolean {
  return head.length <= COMMON_HEAD_SIZE_MAX;
}

function formatField(name: string, value: string): string {
  return `${name}: ${value}\r\n`;
}

/** The digest of bytes in the algorithm and form of a claim; sha1 where the claim cannot be read. */
function digestLike(claim: string, bytes: Uint8Array): string {
  const algorithm = parseAlgorithm(claim) ?? "sha1";
  return formatDigestLike(claim, digestOf(algorithm, bytes));
}

/** What a revisit of ours says of the record it took the place of; absent in every other. */
export function replacedBy(revisit: WarcRecord): (ReplacedRecord & { readonly type: string }) | undefined {
  const field = /^(\S+) (\S+)$/.exec(revisit.headers.get(REPLACED_FIELD.toLowerCase()) ?? "");
  const digest = field === null ? undefined : parseDigest(field[2]!);
  if (digest === undefined) return undefined;
  return { type: field![1]!, digest, chunks: revisit.headers.get(CHUNKS_FIELD.toLowerCase()) };
}

/**
 * The header of the record that a revisit of ours took the place of, blank line included, as Latin-1. `blockDigest`
 * gives the digest of the record's block in the algorithm it is asked for.
 */
export function replacedHead(
  revisitHead: string,
  type: string,
  blockSize: number,
  blockDigest: (claim: string) => Digest | undefined,
): string {
  const cut = revisitHead.lastIndexOf(`\n${REPLACED_FIELD}: `) + 1;
  const lineEnd = /\r*\n/.exec(revisitHead)?.[0] ?? "\r\n";
  const kept = changeFields(revisitHead.slice(0, cut), (name, value) => {
    switch (name) {
      case "warc-type":
        return type;
      case "content-length":
        return String(blockSize);
      case "warc-block-digest": {
        const digest = blockDigest(value);
        return digest === undefined ? undefined : formatDigestLike(value, digest);
      }
      default:
        return undefined;
    }
  });
  return kept + lineEnd;
}

/** The names that are ever changed, by their lengths: all other lines are passed over at a glance. */
const CHANGED_NAMES: ReadonlyMap<number, string> = new Map(
  ["warc-type", "content-length", "warc-block-digest", "warc-payload-digest"].map((name) => [name.length, name]),
);

/** The header's lines with some values changed, without the blank line. All other bytes stay. */
function changeFields(text: string, change: (lowerName: string, value: string) => string | undefined): string {
  let kept = "";
  let copied = 0;
  const bodyEnd = endOfFields(text);
  for (let at = text.indexOf("\n") + 1; at > 0 && at < bodyEnd; ) {
    const start = at;
    const end = text.indexOf("\n", start) + 1 || text.length;
    at = end;
    const colon = text.indexOf(":", start);
    if (colon < 0 || colon >= end) continue;
    const name = CHANGED_NAMES.get(skipBlanksBefore(text, start, colon) - start);
    if (name === undefined || !equalsIgnoringCase(text, start, name)) continue;
    const valueStart = skipBlanks(text, colon + 1, end);
    const valueEnd = Math.max(valueStart, skipBlanksBefore(text, start, skipLineEndBefore(text, start, end)));
    const value = change(name, text.slice(valueStart, valueEnd));
    if (value === undefined) continue;
    kept += text.slice(copied, valueStart) + value + text.slice(valueEnd, end);
    // A folded value goes as a whole.
    while (at < bodyEnd && isBlank(text.charCodeAt(at))) at = text.indexOf("\n", at) + 1 || text.length;
    copied = at;
  }
  return kept + text.slice(copied, Math.max(copied, bodyEnd));
}

function skipBlanks(text: string, from: number, end: number): number {
  let at = from;
  while (at < end && isBlank(text.charCodeAt(at))) at++;
  return at;
}

function skipBlanksBefore(text: string, from: number, end: number): number {
  let at = end;
  while (at > from && isBlank(text.charCodeAt(at - 1))) at--;
  return at;
}

function skipLineEndBefore(text: string, from: number, end: number): number {
  let at = end;
  while (at > from && (text.charCodeAt(at - 1) === 10 || text.charCodeAt(at - 1) === 13)) at--;
  return at;
}

/** Where the blank lines at the end of a header begin. */
function endOfFields(text: string): number {
  let end = text.length;
  while (end > 0 && text[end - 1] === "\n") {
    let before = end - 1;
    while (before > 0 && text[before - 1] === "\r") before--;
    if (before > 0 && text[before - 1] !== "\n") return end;
    end = before;
  }
  return end;
}
