/**
 * One record of a WARC or ARC file. It is yours until the next one is asked for: its bytes lie in the reader's window,
 * its body is read once. The header's text is the record's own and stays.
 */
import { ArchiveError, formatIso, parseIso, parseTimestamp, type Warning } from "../base/index.ts";
import type { ArcLine } from "./arc-line.ts";
import { decodeUri, type FieldBlock } from "./field-block.ts";

/** The reader's side of a record: what the body is read from. */
export interface RecordSource {
  /** The next piece of the body, absent at its end; valid until the next call. */
  readBody(record: WarcRecord): Uint8Array | undefined;
  readBodyLater(record: WarcRecord): Promise<Uint8Array | undefined>;
  blockOf(record: WarcRecord): Buffer | undefined;
  contentOf?(record: WarcRecord): Buffer | undefined;
  rawOf(record: WarcRecord): Uint8Array | undefined;
  endOf(record: WarcRecord): number | undefined;
  checksumOf?(record: WarcRecord): number | undefined;
}

const BRACKETS = /^<(.*)>$/s;

/** A URI without the angle brackets that some writers put around it. */
export function unbracket(text: string | undefined): string | undefined {
  return text === undefined ? undefined : (BRACKETS.exec(text)?.[1] ?? text);
}

const ARC_DATE_DIGITS = 14;

export class WarcRecord {
  readonly file: string;
  /** Where a reader has to start to read this record. */
  readonly offset: number;
  /** Position inside the decoded member where the record shares its member with others before it; else absent. */
  readonly inner: number | undefined;
  /** `WARC/1.0` and the like; `ARC/1`, `ARC/2` for ARC records. */
  readonly version: string;
  readonly headers: FieldBlock;
  /** The header line of an ARC record. */
  readonly arc: ArcLine | undefined;
  /** How many bytes the block has; for a damaged record, how many there are. Undefined where only reading will tell. */
  blockSize: number | undefined;
  /** What was found wrong with this record so far. */
  warnings: readonly Warning[] = [];
  private readonly source: RecordSource;
  private kind: string | undefined;

  constructor(
    source: RecordSource,
    place: { file: string; offset: number; inner: number | undefined },
    head: { version: string; headers: FieldBlock; arc?: ArcLine },
    blockSize: number | undefined,
  ) {
    this.source = source;
    this.file = place.file;
    this.offset = place.offset;
    this.inner = place.inner;
    this.version = head.version;
    this.headers = head.headers;
    this.arc = head.arc;
    this.blockSize = blockSize;
  }

  /**
   * The whole block where it fits in the window; absent for larger ones, which must be streamed with `read`, and once
   * reading has begun.
   */
  get block(): Buffer | undefined {
    return this.source.blockOf(this);
  }

  /** Header, block and separator in one piece, decoded, where they happen to be at hand. */
  get content(): Buffer | undefined {
    return this.source.contentOf?.(this);
  }

  /**
   * Bytes from `offset` to the start of the next record, separators included. Absent before the body has been read to
   * its end, unless the record is whole, and for records that share a member, which have no length in the file.
   */
  get length(): number | undefined {
    const end = this.inner === undefined ? this.source.endOf(this) : undefined;
    return end === undefined ? undefined : end - this.offset;
  }

  /** The record as it lies in the file, compressed or not; absent where it did not fit in the window. */
  get raw(): Uint8Array | undefined {
    return this.source.rawOf(this);
  }

  /**
   * The CRC-32 of the record as it lies in the file, of the very bytes that were read. Absent where `length` is, and where
   * the reader had to go back.
   */
  get checksum(): number | undefined {
    return this.length === undefined ? undefined : this.source.checksumOf?.(this);
  }

  /** The next piece of the body, absent at its end. A piece is valid until the next call. */
  read(): Uint8Array | undefined {
    return this.source.readBody(this);
  }

  /** Passes over what is left of the body, so that `length` is known. */
  drain(): void {
    if (this.length !== undefined) return;
    while (this.read() !== undefined);
  }

  /** The body, piece by piece, from a source that answers at once. */
  *chunks(): Generator<Uint8Array> {
    for (let chunk = this.read(); chunk !== undefined; chunk = this.read()) yield chunk;
  }

  /** The body, piece by piece, from any source. */
  async *[Symbol.asyncIterator](): AsyncGenerator<Uint8Array> {
    for (;;) {
      const chunk = await this.source.readBodyLater(this);
      if (chunk === undefined) return;
      yield chunk;
    }
  }

  /** The rest of the body as one buffer; for blocks known to be small. */
  readAll(sizeMax: number): Buffer {
    const { block } = this;
    if (block !== undefined) return block;
    const parts: Uint8Array[] = [];
    let size = 0;
    for (const chunk of this.chunks()) {
      size += chunk.length;
      if (size > sizeMax) {
        throw new ArchiveError("HT_UNSUPPORTED", `block larger than ${sizeMax} bytes`, this);
      }
      parts.push(Buffer.from(chunk));
    }
    return Buffer.concat(parts);
  }

  /** The type in small letters. An ARC record is a `warcinfo` (its filedesc), a `response` or a `resource`. */
  get type(): string {
    this.kind ??= this.arc === undefined ? (this.headers.get("warc-type") ?? "").toLowerCase() : arcType(this.arc);
    return this.kind;
  }

  get id(): string | undefined {
    return unbracket(this.headers.get("warc-record-id"));
  }

  /** Bytes of it that are not UTF-8 are escaped. */
  get uri(): string | undefined {
    return this.arc === undefined ? unbracket(this.headers.uri("warc-target-uri")) : decodeUri(this.arc.url);
  }

  /** The date as the record has it, in the WARC form for ARC records whose date can be read. */
  get dateText(): string | undefined {
    if (this.arc === undefined) return this.headers.get("warc-date");
    const time = this.timeMs;
    return time === undefined ? undefined : formatIso(time);
  }

  /** The date in milliseconds since 1970; absent where there is none or it cannot be read. */
  get timeMs(): number | undefined {
    if (this.arc !== undefined) return parseTimestamp(this.arc.date.slice(0, ARC_DATE_DIGITS));
    const text = this.headers.get("warc-date");
    return text === undefined ? undefined : (parseIso(text) ?? parseTimestamp(text));
  }

  /** The media type of the block, without parameters: `application/http` for a captured message. */
  get blockType(): string {
    if (this.arc !== undefined) return this.type === "response" ? "application/http" : this.arc.mime;
    return blockTypeOf(this.headers);
  }

  /** Whether the block is an HTTP message, as far as the header tells. */
  get isHttp(): boolean {
    return holdsHttp(this.type, this.blockType, this.uri);
  }

  get payloadDigest(): string | undefined {
    return this.headers.get("warc-payload-digest");
  }

  get blockDigest(): string | undefined {
    return this.headers.get("warc-block-digest");
  }

  /** Why the record was cut off, where its header says so. */
  get truncated(): string | undefined {
    return this.headers.get("warc-truncated");
  }

  /** Part of a record that was split over several. */
  get segmented(): boolean {
    return this.type === "continuation" || this.headers.get("warc-segment-number") !== undefined;
  }
}

function blockTypeOf(headers: FieldBlock): string {
  const type = headers.get("content-type") ?? "";
  const semicolon = type.indexOf(";");
  return (semicolon < 0 ? type : type.slice(0, semicolon)).trim().toLowerCase();
}

function holdsHttp(type: string, blockType: string, uri: string | undefined): boolean {
  // Whatever it says of itself, it begins in the middle of a message.
  if (type === "continuation") return false;
  if (blockType === "application/http") return true;
  // Some writers leave the type out, or name that of the payload.
  return type === "response" && blockType !== "text/dns" && /^https?:/i.test(uri ?? "");
}

/** What `isHttp` says of a WARC record, from its header alone. */
export function headSaysHttp(headers: FieldBlock): boolean {
  const type = (headers.get("warc-type") ?? "").toLowerCase();
  return holdsHttp(type, blockTypeOf(headers), unbracket(headers.uri("warc-target-uri")));
}

function arcType(arc: ArcLine): string {
  if (/^filedesc:/i.test(arc.url)) return "warcinfo";
  return /^https?:/i.test(arc.url) ? "response" : "resource";
}
