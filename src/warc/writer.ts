/**
 * Writes records, each as a member of its own, so that every one can be reached by its offset. Where the bytes go is the
 * caller's business: a sink takes them in order. What comes out depends on nothing but what went in.
 */
import { crc32 } from "node:zlib";
import { ArchiveError, digestOf, formatDigest, invariant } from "../base/index.ts";
import { createDeflater, type Deflater, GZIP_LEVEL_DEFAULT } from "./deflater.ts";
import { encodeFrame, ZSTD_LEVEL_DEFAULT } from "./zstd-codec.ts";

/** Takes bytes in order; must have copied or written them when the call returns. */
export interface ByteSink {
  write(bytes: Uint8Array): void;
}

export type Compression = "none" | "gzip" | "zstd";

export interface WriterOptions {
  /** Default: gzip. */
  readonly compression?: Compression | undefined;
  /** gzip 0 (stored) to 9, zstd 1 to 19. */
  readonly level?: number | undefined;
  /** For zstd: written at the start of the file and used for every record. */
  readonly dictionary?: Uint8Array | undefined;
  /** Size of what the sink holds already. */
  readonly offset?: number | undefined;
}

export interface NewRecord {
  /** Default: `WARC/1.1`. */
  readonly version?: string | undefined;
  /** All header fields in order, but for Content-Length, which is added where it is missing. */
  readonly fields: readonly (readonly [name: string, value: string])[];
  readonly block: Uint8Array;
  /** Adds a sha1 WARC-Block-Digest of the block. */
  readonly blockDigest?: boolean | undefined;
}

/** Where a record went. */
export interface RecordPlace {
  readonly offset: number;
  readonly length: number;
}

/** What stands behind every record. */
export const SEPARATOR = Buffer.from("\r\n\r\n");
const GZIP_HEADER = Buffer.from([0x1f, 0x8b, 8, 0, 0, 0, 0, 0, 0, 255]);
/** A larger record becomes several zstd frames, so that none has to be held whole. */
const FRAME_CONTENT_SIZE = 4 << 20;
const DICTIONARY_MAGIC = 0x184d2a5d;

/** The header of a record as bytes, blank line included. */
export function encodeHead(version: string, fields: NewRecord["fields"]): Buffer {
  if (!/^\S+$/.test(version)) throw new ArchiveError("HT_USAGE", `not a version: ${version}`);
  let text = `${version}\r\n`;
  for (const [name, value] of fields) {
    if (/[\r\n]/.test(value) || !/^[^\s:]+$/.test(name)) {
      throw new ArchiveError("HT_USAGE", `not a header field: ${name}: ${value}`);
    }
    text += `${name}: ${value}\r\n`;
  }
  return Buffer.from(`${text}\r\n`);
}

export class WarcWriter {
  /** Bytes that the sink holds. */
  offset: number;
  readonly compression: Compression;
  private readonly sink: ByteSink;
  private readonly level: number;
  private readonly dictionary: Uint8Array | undefined;
  private readonly deflater: Deflater | undefined;

  constructor(sink: ByteSink, options: WriterOptions = {}) {
    this.sink = sink;
    this.offset = options.offset ?? 0;
    this.compression = options.compression ?? "gzip";
    this.level = options.level ?? (this.compression === "zstd" ? ZSTD_LEVEL_DEFAULT : GZIP_LEVEL_DEFAULT);
    this.dictionary = options.dictionary;
    if (this.compression === "gzip") this.deflater = createDeflater(this.level);
    if (this.dictionary !== undefined) {
      invariant(this.compression === "zstd", "only zstd has dictionaries");
      if (this.offset === 0) this.writeDictionary(this.dictionary);
    }
  }

  private put(bytes: Uint8Array): void {
    this.sink.write(bytes);
    this.offset += bytes.length;
  }

  private writeDictionary(dictionary: Uint8Array): void {
    const header = Buffer.alloc(8);
    header.writeUInt32LE(DICTIONARY_MAGIC, 0);
    header.writeUInt32LE(dictionary.length, 4);
    this.put(header);
    this.put(dictionary);
  }

  write(record: NewRecord): RecordPlace {
    const { block } = record;
    const fields = [...record.fields];
    if (record.blockDigest === true) fields.push(["WARC-Block-Digest", formatDigest(digestOf("sha1", block))]);
    if (!fields.some(([name]) => name.toLowerCase() === "content-length")) {
      fields.push(["Content-Length", String(block.length)]);
    }
    return this.writePieces([encodeHead(record.version ?? "WARC/1.1", fields), block, SEPARATOR]);
  }

  /** A header as bytes and a block of any size in pieces; the separator is added. The header must tell the size. */
  writeStream(head: Uint8Array, block: Iterable<Uint8Array>): RecordPlace {
    return this.writePieces(surround(head, block));
  }

  /** A record that is small and all there; the separator is added. */
  writeSmall(record: { readonly head: string; readonly block: string }): RecordPlace {
    return this.writePieces([encodeSmall(record)]);
  }

  /** Bytes of a record as they lie in a file of the same compression: the record goes over unchanged. */
  copy(raw: Uint8Array): RecordPlace {
    const offset = this.offset;
    this.put(raw);
    return { offset, length: raw.length };
  }

  private writePieces(pieces: Iterable<Uint8Array>): RecordPlace {
    const offset = this.offset;
    if (this.compression === "gzip") this.writeMember(pieces);
    else if (this.compression === "zstd") this.writeFrames(pieces);
    else for (const piece of pieces) this.put(piece);
    return { offset, length: this.offset - offset };
  }

  private writeMember(pieces: Iterable<Uint8Array>): void {
    let crc = 0;
    let size = 0;
    const count = (piece: Uint8Array) => {
      // Node itself would end the process, without a word that a program could hear.
      if (!(piece instanceof Uint8Array)) throw new TypeError("a record is written from bytes");
      // Node's crc32 forgets what came before an empty piece.
      if (piece.length > 0) crc = crc32(piece, crc);
      size += piece.length;
      return piece;
    };
    function* counted(): Generator<Uint8Array> {
      for (const piece of pieces) yield count(piece);
    }
    this.put(GZIP_HEADER);
    this.deflater!.deflate(Array.isArray(pieces) ? pieces.map(count) : counted(), (bytes) => this.put(bytes));
    const trailer = Buffer.alloc(8);
    trailer.writeUInt32LE(crc, 0);
    trailer.writeUInt32LE(size % 0x1_0000_0000, 4);
    this.put(trailer);
  }

  private writeFrames(pieces: Iterable<Uint8Array>): void {
    let parts: Uint8Array[] = [];
    let size = 0;
    const flush = () => {
      if (size > 0) this.put(encodeFrame(Buffer.concat(parts), this.level, this.dictionary));
      parts = [];
      size = 0;
    };
    for (const piece of pieces) {
      for (let at = 0; at < piece.length; ) {
        const part = piece.subarray(at, at + FRAME_CONTENT_SIZE - size);
        // The piece may be a view that the next one overwrites.
        parts.push(Buffer.from(part));
        size += part.length;
        at += part.length;
        if (size === FRAME_CONTENT_SIZE) flush();
      }
    }
    flush();
  }
}

/** A small record as bytes, with its separator. Its texts are bytes read as Latin-1, as those of a `Revisit` are. */
export function encodeSmall({ head, block }: { readonly head: string; readonly block: string }): Buffer {
  return Buffer.from(`${head}${block}\r\n\r\n`, "latin1");
}

/** Holds what is written to it, one thing after the other, as long as it is small. */
export class HeldBytes implements ByteSink {
  private buffer = Buffer.allocUnsafeSlow(1 << 12);
  private size = 0;

  write(bytes: Uint8Array): void {
    if (this.size + bytes.length > this.buffer.length) {
      const larger = Buffer.allocUnsafeSlow(2 * (this.size + bytes.length));
      this.buffer.copy(larger, 0, 0, this.size);
      this.buffer = larger;
    }
    this.buffer.set(bytes, this.size);
    this.size += bytes.length;
  }

  /** What was written since the last call; valid until the next write. */
  take(): Buffer {
    const taken = this.buffer.subarray(0, this.size);
    this.size = 0;
    return taken;
  }
}

function* surround(head: Uint8Array, block: Iterable<Uint8Array>): Generator<Uint8Array> {
  yield head;
  yield* block;
  yield SEPARATOR;
}
