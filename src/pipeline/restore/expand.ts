/**
 * Turns a revisit that was in the input all along into the response that it stands for: its own HTTP header, the payload
 * of its original, and a header that refers to nothing. The body is framed as its HTTP header says, whatever the framing
 * of the original.
 */
import {
  createHasher,
  type Digest,
  type DigestAlgorithm,
  formatDigest,
  formatDigestLike,
  parseAlgorithm,
} from "../../base/index.ts";
import { type HttpHead, parseHttpHead, parseProfile, saysChunked, type WarcRecord } from "../../warc/index.ts";
import { isDropped } from "./select.ts";

/** Says of a record that it was a revisit, by which rule, and from which capture its payload is. */
export const EXPANDED_FIELD = "Holotype-Expanded";

/** A header changed field by field: a text is the new value, null takes the field out, undefined leaves it. */
export function editHead(text: string, edit: (lowerName: string, value: string) => string | null | undefined): string {
  const [versionLine = "", ...lines] = text.match(/[^\n]*\n/g) ?? [];
  let edited = versionLine;
  /** The field that a folded line belongs to was changed or taken out. */
  let changed = false;
  for (const line of lines) {
    if (isBlank(line[0])) {
      if (!changed) edited += line;
      continue;
    }
    const name = /^([^:\s]+)[ \t]*:[ \t]*/.exec(line);
    const end = name === null ? 0 : Math.max(name[0].length, endOfValue(line));
    const value = name === null ? undefined : edit(name[1]!.toLowerCase(), line.slice(name[0].length, end));
    changed = value !== undefined;
    if (!changed) edited += line;
    else if (value !== null) edited += `${name![0]}${value}${line.slice(end)}`;
  }
  return edited;
}

function isBlank(character: string | undefined): boolean {
  return character === " " || character === "\t";
}

/** Where the line end and the blanks before it begin. A regular expression would try every run of blanks. */
function endOfValue(line: string): number {
  let end = line.length;
  while (end > 0 && (line[end - 1] === "\n" || line[end - 1] === "\r")) end--;
  while (end > 0 && isBlank(line[end - 1])) end--;
  return end;
}

/** The header with lines added at its end. */
export function addFields(text: string, fields: readonly (readonly [name: string, value: string])[]): string {
  const end = /\r*\n\r*\n$/.exec(text);
  const kept = end === null ? text : text.slice(0, end.index);
  return `${kept}\r\n${fields.map(([name, value]) => `${name}: ${value}\r\n`).join("")}\r\n`;
}

/** The original as far as an expansion needs it. */
export interface ExpansionSource {
  readonly http: HttpHead | undefined;
  readonly blockType: string;
  readonly payloadSize: number;
  readonly uri: string;
  readonly date: string;
}

const CHUNK_SIZE = 1 << 15;
const CRLF = Buffer.from("\r\n");

export class Expansion {
  private readonly text: string;
  private readonly http: Buffer;
  private readonly chunked: boolean;
  private readonly isHttp: boolean;
  private readonly profile: string;
  private readonly source: ExpansionSource;

  /** `block` is the revisit's own. */
  constructor(revisit: WarcRecord, block: Buffer, source: ExpansionSource) {
    this.text = revisit.headers.text;
    this.source = source;
    this.profile = parseProfile(revisit.headers.get("warc-profile")) ?? "revisit";
    const head = chooseHead(parseHttpHead(block, 0, block.length, true), source, this.profile);
    this.isHttp = head !== undefined;
    this.chunked = head !== undefined && saysChunked(head);
    this.http = Buffer.from(head === undefined ? "" : this.fixHead(head), "latin1");
  }

  /** A replayer must find the end of the header, and believe in the length that it tells. */
  private fixHead(head: HttpHead): string {
    const text = head.terminated ? head.text : `${head.text.replace(/[\r\n]+$/, "")}\r\n\r\n`;
    if (this.chunked) return text;
    const size = String(this.source.payloadSize);
    return editHead(text, (name, value) => (name === "content-length" && value !== size ? size : undefined));
  }

  /** The record's block. Pieces are valid until the next one is asked for. */
  *block(payload: Iterable<Uint8Array>): Generator<Uint8Array> {
    if (this.http.length > 0) yield this.http;
    if (!this.chunked) {
      yield* payload;
      return;
    }
    for (const piece of payload) {
      for (let at = 0; at < piece.length; at += CHUNK_SIZE) {
        const part = piece.subarray(at, at + CHUNK_SIZE);
        yield Buffer.from(`${part.length.toString(16)}\r\n`);
        yield part;
        yield CRLF;
      }
    }
    yield Buffer.from("0\r\n\r\n");
  }

  /** The record's header, from one pass over its block and payload. References in `dropped` are left out. */
  head(payload: Iterable<Uint8Array>, dropped: ReadonlySet<string>): { head: Buffer; blockSize: number } {
    const blockHash = new ClaimHasher(this.text, "warc-block-digest");
    const payloadHash = new ClaimHasher(this.text, "warc-payload-digest");
    let blockSize = 0;
    for (const piece of this.block(payloadHash.pass(payload))) {
      blockHash.update(piece);
      blockSize += piece.length;
    }
    const [blockDigest, payloadDigest] = [blockHash.finish(), payloadHash.finish()];
    const told = new Set<string>();
    const text = editHead(this.text, (name, value) => {
      told.add(name);
      if (name.startsWith("warc-refers-to") || name === "warc-profile" || isDropped(name, value, dropped)) return null;
      switch (name) {
        case "warc-truncated":
          // Of a revisit it says no more than that the payload is elsewhere.
          return value.toLowerCase() === "length" ? null : undefined;
        case "warc-type":
          return this.isHttp ? "response" : "resource";
        case "content-length":
          return String(blockSize);
        case "content-type":
          return this.contentType(value);
        case "warc-block-digest":
          return formatDigestLike(value, blockDigest);
        case "warc-payload-digest":
          return formatDigestLike(value, payloadDigest);
        default:
          return undefined;
      }
    });
    return { head: Buffer.from(addFields(text, this.added(told, payloadDigest)), "latin1"), blockSize };
  }

  private contentType(value: string): string | undefined {
    if (!this.isHttp) return this.source.blockType;
    return /^application\/http\b/i.test(value) ? undefined : "application/http; msgtype=response";
  }

  private added(told: ReadonlySet<string>, payloadDigest: Digest): [string, string][] {
    const { source } = this;
    const added: [string, string][] = [];
    if (!told.has("content-type")) {
      added.push(["Content-Type", this.isHttp ? "application/http; msgtype=response" : source.blockType]);
    }
    if (!told.has("warc-payload-digest")) added.push(["WARC-Payload-Digest", formatDigest(payloadDigest)]);
    const uri = Buffer.from(source.uri).toString("latin1");
    added.push([EXPANDED_FIELD, `${this.profile} ${source.date} ${uri}`]);
    return added;
  }
}

/**
 * The revisit's own HTTP header; the original's where it has none, or where it only says that nothing has changed: that
 * is no answer that a payload belongs to.
 */
function chooseHead(own: HttpHead | undefined, { http }: ExpansionSource, profile: string): HttpHead | undefined {
  if (own === undefined) return http;
  return profile === "server-not-modified" || own.status === 304 ? (http ?? own) : own;
}

/** The digest in the algorithm of a header's claim; sha1 where there is none that can be read. */
class ClaimHasher {
  private readonly hasher;

  constructor(text: string, lowerName: string) {
    const claim = new RegExp(`^${lowerName}[ \\t]*:[ \\t]*(\\S+)`, "im").exec(text)?.[1];
    const algorithm: DigestAlgorithm = parseAlgorithm(claim ?? "") ?? "sha1";
    this.hasher = createHasher(algorithm);
  }

  update(piece: Uint8Array): void {
    this.hasher.update(piece);
  }

  *pass(pieces: Iterable<Uint8Array>): Generator<Uint8Array> {
    for (const piece of pieces) {
      this.hasher.update(piece);
      yield piece;
    }
  }

  finish(): Digest {
    return this.hasher.finish();
  }
}
