/**
 * Rewrites one archive file: the records that the plan calls copies become revisits, every other byte is copied as it
 * is. What comes out depends on nothing but the file and the plan.
 */
import { createHash } from "node:crypto";
import { ArchiveError, formatDigest, formatPlace, parseDigest } from "../base/index.ts";
import {
  type ByteSink,
  type ByteSource,
  type Compression,
  formatRevisit,
  gzipHeaderSize,
  HTTP_HEAD_SIZE_MAX,
  type HttpHead,
  headSaysHttp,
  isZstd,
  parseHttpHead,
  type RecordHead,
  RecordOpener,
  type ReplacedRecord,
  rangeSource,
  unbracket,
  WarcReader,
  WarcWriter,
} from "../warc/index.ts";
import type { LedgerEntry } from "./ledger.ts";
import { flagValue, type ManifestLine } from "./manifest-line.ts";
import { examineRecord } from "./reversal.ts";

export interface RewriteEvents {
  /** A record was replaced: its line, and where it was and is. */
  onReplaced(line: ManifestLine, entry: LedgerEntry): void;
  /** A copy of the plan stays as it is, and why. */
  onLeft(line: ManifestLine, reason: string): void;
  onProgress?(offset: number): void;
}

export interface RewriteOptions {
  /** Replace only where so many bytes are saved; at least 1. */
  readonly minSaving: number;
  /** Says why a copy must stay after all, as when its original has changed; absent where it need not. */
  readonly whyLeave?: ((line: ManifestLine) => string | undefined) | undefined;
}

const COPY_SIZE = 1 << 20;
/** Most HTTP headers are smaller. */
const OPENING_SIZE = 1024;

export function detectCompression(source: ByteSource): Compression {
  const magic = Buffer.alloc(4);
  const count = source.read(magic, 0);
  if (count >= 2 && magic[0] === 0x1f && magic[1] === 0x8b) return "gzip";
  return count === 4 && isZstd(magic, 0) ? "zstd" : "none";
}

/** Copies `source` to `sink` with the copies, given in order of their offsets, replaced. Returns bytes written. */
export function rewriteSource(
  source: ByteSource,
  copies: Iterable<ManifestLine>,
  sink: ByteSink,
  options: RewriteOptions,
  events: RewriteEvents,
): number {
  return new Rewrite(source, sink, options, events).run(copies);
}

/** What of a record its revisit is made from. */
export interface OpenedRecord {
  readonly head: RecordHead;
  readonly http: HttpHead | undefined;
}

class Rewrite {
  private readonly source: ByteSource;
  private readonly size: number;
  private readonly options: RewriteOptions;
  private readonly events: RewriteEvents;
  private readonly compression: Compression;
  private readonly opener: RecordReopener;
  private readonly buffer = Buffer.allocUnsafeSlow(COPY_SIZE);
  private readonly sink: ByteSink;
  /** The revisit at hand, compressed: whether it is small enough is known only then. */
  private pieces: Uint8Array[] = [];
  private readonly writer: WarcWriter;
  private at = 0;
  private written = 0;

  constructor(source: ByteSource, sink: ByteSink, options: RewriteOptions, events: RewriteEvents) {
    this.source = source;
    this.size = source.size ?? 0;
    this.options = options;
    this.events = events;
    this.sink = sink;
    this.compression = detectCompression(source);
    this.opener = new RecordReopener(source, this.compression);
    const held = { write: (bytes: Uint8Array) => void this.pieces.push(Buffer.from(bytes)) };
    this.writer = new WarcWriter(held, { compression: this.compression });
  }

  run(copies: Iterable<ManifestLine>): number {
    for (const line of copies) {
      const { offset, length } = line;
      if (length === undefined || offset < this.at || offset + length > this.size) {
        throw misfit(line, "the plan does not fit the file");
      }
      this.copyTo(offset);
      this.replace(line, length);
      this.events.onProgress?.(this.at);
    }
    this.copyTo(this.size);
    return this.written;
  }

  private put(bytes: Uint8Array): void {
    this.sink.write(bytes);
    this.written += bytes.length;
  }

  private copyTo(end: number): void {
    while (this.at < end) {
      const count = this.source.read(this.buffer.subarray(0, Math.min(COPY_SIZE, end - this.at)), this.at);
      if (count === 0) throw new ArchiveError("HT_VERIFY", `${this.source.name}: shorter than it was`, this.place());
      this.put(this.buffer.subarray(0, count));
      this.at += count;
      this.events.onProgress?.(this.at);
    }
  }

  private place() {
    return { file: this.source.name, offset: this.at };
  }

  private replace(line: ManifestLine, length: number): void {
    const reason = this.options.whyLeave?.(line);
    if (reason !== undefined) return this.events.onLeft(line, reason);
    const opened = this.opener.open(line);
    if (opened === undefined) return this.events.onLeft(line, "unreadable");
    const replaced = replacedOf(line) ?? this.opener.examine(line);
    if (replaced === undefined) return this.events.onLeft(line, "irreversible");
    const size = this.compress(line, opened, replaced);
    if (length - size < this.options.minSaving) return this.events.onLeft(line, "saving");
    const outputOffset = this.written;
    for (const piece of this.pieces) this.put(piece);
    this.at += length;
    this.events.onReplaced(line, {
      inputOffset: line.offset,
      inputLength: length,
      outputOffset,
      outputLength: size,
      id: line.id,
      recordDigest: formatDigest(replaced.digest),
      ...this.opener.stored(line.offset, length),
    });
  }

  /** Makes the revisit and returns its size; its bytes wait in `pieces`. */
  private compress(line: ManifestLine, { head, http }: OpenedRecord, replaced: ReplacedRecord): number {
    const { original } = line;
    const payloadDigest = line.digest === undefined ? undefined : parseDigest(line.digest);
    if (original?.uri === undefined || original.date === undefined || payloadDigest === undefined) {
      throw misfit(line, "the plan tells no original for this copy");
    }
    const reference = { uri: original.uri, date: original.date, id: original.id };
    const revisit = formatRevisit(head, http, reference, payloadDigest, { replaced });
    this.pieces = [];
    return this.writer.writeSmall(revisit.head, revisit.block).length;
  }
}

/** What `resolve` found out about the record; absent where it was not asked. */
function replacedOf(line: ManifestLine): ReplacedRecord | undefined {
  const digest = parseDigest(flagValue(line, "record") ?? "");
  return digest === undefined ? undefined : { digest, chunks: flagValue(line, "chunks") };
}

/** What of a line is needed to find its record. */
type LinePlace = Pick<ManifestLine, "offset" | "length" | "id" | "flags">;

/** Reads single records of one file again: their heads, or all of them. */
export class RecordReopener {
  private readonly source: ByteSource;
  private readonly compression: Compression;
  private readonly opener = new RecordOpener();
  private readonly raw = Buffer.allocUnsafeSlow(COPY_SIZE);
  /** What of the file lies in `raw`. */
  private held = { offset: 0, size: 0 };

  constructor(source: ByteSource, compression: Compression) {
    this.source = source;
    this.compression = compression;
  }

  /** The heads of the record that the line stands for; absent where it is another one or cannot be read. */
  open(line: LinePlace): OpenedRecord | undefined {
    const opened = this.openQuickly(line) ?? this.readWhole(line, (head, http) => ({ head, http }));
    const id = unbracket(opened?.head.headers.get("warc-record-id"));
    return opened === undefined || id !== line.id ? undefined : opened;
  }

  private openQuickly({ offset, length, flags }: LinePlace): OpenedRecord | undefined {
    if (this.compression === "zstd" || length === undefined) return undefined;
    const count = this.load(offset, Math.min(length, this.raw.length));
    // Few resources are HTTP messages, but some are: the header tells.
    for (
      let size = flags.includes("resource") ? 0 : OPENING_SIZE;
      size <= HTTP_HEAD_SIZE_MAX;
      size = size * 8 || OPENING_SIZE
    ) {
      const opening = this.opener.open(this.raw, 0, count, size);
      if (opening === undefined) return undefined;
      const { head, start } = opening;
      if (!headSaysHttp(head.headers)) return { head, http: undefined };
      const complete = start.length === head.blockSize;
      const http = parseHttpHead(start, 0, start.length, complete);
      if (http?.terminated === true) return { head, http };
      if (complete) return undefined;
    }
    return undefined;
  }

  /** Brings bytes of the file to the start of `raw`, unless they are there; how many there are. */
  private load(offset: number, size: number): number {
    if (this.held.offset !== offset || this.held.size !== size) {
      this.held = { offset, size: this.source.read(this.raw.subarray(0, size), offset) };
    }
    return this.held.size;
  }

  /** What the record needs to be put together again, by reading all of it; absent where it cannot be. */
  examine(line: ManifestLine): ReplacedRecord | undefined {
    let odd = false;
    const reader = this.reader(line, () => {
      odd = true;
    });
    try {
      const record = reader.next();
      if (record === undefined) return undefined;
      const { replaced, scan, storedDigest } = examineRecord(record);
      const ended = reader.next() === undefined;
      const fits = ended && !odd && scan.payloadSize === line.payloadSize;
      // A digest of the body as stored holds for an original that is cut alike, and nobody has looked at that.
      return fits && storedDigest === undefined ? replaced : undefined;
    } finally {
      reader.close();
    }
  }

  private readWhole<T>(line: LinePlace, use: (head: RecordHead, http: HttpHead | undefined) => T): T | undefined {
    const reader = this.reader(line, () => {});
    try {
      const record = reader.next();
      if (record === undefined || record.arc !== undefined) return undefined;
      const { version, headers, blockSize } = record;
      const whole = record.block !== undefined;
      const first = record.read() ?? new Uint8Array(0);
      const http = record.isHttp ? parseHttpHead(first, 0, first.length, whole) : undefined;
      return use({ version, headers, blockSize, crlf: true }, http);
    } finally {
      reader.close();
    }
  }

  private reader({ offset, length }: LinePlace, onWarning: () => void): WarcReader {
    const end = offset + length!;
    if (this.compression !== "zstd") return new WarcReader(rangeSource(this.source, offset, length!), { onWarning });
    return new WarcReader(rangeSource(this.source, 0, end), { start: offset, onWarning });
  }

  /** The digest of the record's bytes as they lie in the file, and the header of its gzip member. */
  stored(offset: number, length: number): { storedDigest: string; gzipHeader: string | undefined } {
    const hash = createHash("sha256");
    let gzipHeader: string | undefined;
    for (let at = 0; at < length; ) {
      const count = this.load(offset + at, Math.min(length - at, this.raw.length));
      if (count === 0) throw new ArchiveError("HT_VERIFY", `${this.source.name}: shorter than it was`);
      hash.update(this.raw.subarray(0, count));
      if (at === 0 && this.compression === "gzip") {
        gzipHeader = this.raw.toString("hex", 0, gzipHeaderSize(this.raw, 0, count));
      }
      at += count;
    }
    return { storedDigest: `sha256:${hash.digest("hex")}`, gzipHeader };
  }
}

function misfit(line: ManifestLine, message: string): ArchiveError {
  const place = { file: line.file, offset: line.offset };
  return new ArchiveError("HT_VERIFY", `${formatPlace(place)}: ${message}`, place);
}
