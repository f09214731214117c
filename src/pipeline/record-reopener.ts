/** Single records of one file, read again: their heads, or all of them. */
import {
  ArchiveError,
  createHasher,
  type Digest,
  type DigestAlgorithm,
  digestOf,
  formatDigest,
} from "../base/index.ts";
import {
  type ByteSource,
  type Compression,
  gzipHeaderSize,
  HTTP_HEAD_SIZE_MAX,
  type HttpHead,
  headSaysHttp,
  parseHttpHead,
  type RecordHead,
  RecordOpener,
  type ReplacedRecord,
  rangeSource,
  SourceView,
  unbracket,
  WarcReader,
} from "../warc/index.ts";
import type { ManifestLine } from "./manifest-line.ts";
import { PAYLOAD_DIGEST, type PayloadFacts, payloadFacts } from "./payload-facts.ts";
import { type Examination, examineRecord, RECORD_DIGEST } from "./reversal.ts";

/** Most HTTP headers are smaller. */
const OPENING_SIZE = 1024;

/** What of a record its revisit is made from. */
export interface OpenedRecord {
  readonly head: RecordHead;
  readonly http: Pick<HttpHead, "text"> | undefined;
}

/** What of a line is needed to find its record. */
type LinePlace = Pick<ManifestLine, "offset" | "length" | "id" | "flags">;

export class RecordReopener {
  private readonly source: ByteSource;
  private readonly compression: Compression;
  private readonly opener = new RecordOpener();
  private readonly view: SourceView;

  /** `view` is a view of the same source that the caller looks through too. */
  constructor(source: ByteSource, compression: Compression, view = new SourceView(source)) {
    this.source = source;
    this.compression = compression;
    this.view = view;
  }

  /** The heads of the record that the line stands for; absent where it is another one or cannot be read. */
  open(line: LinePlace): OpenedRecord | undefined {
    const opened = this.openQuickly(line) ?? this.readWhole(line, (head, http) => ({ head, http }));
    const id = unbracket(opened?.head.headers.get("warc-record-id"));
    return opened === undefined || id !== line.id ? undefined : opened;
  }

  private openQuickly({ offset, length, flags }: LinePlace): OpenedRecord | undefined {
    if (this.compression === "zstd" || length === undefined) return undefined;
    const raw = this.view.view(offset, Math.min(length, this.view.capacity));
    // Few resources are HTTP messages, but some are: the header tells.
    for (
      let size = flags.includes("resource") ? 0 : OPENING_SIZE;
      size <= HTTP_HEAD_SIZE_MAX;
      size = size * 8 || OPENING_SIZE
    ) {
      const opening = this.opener.open(raw, 0, raw.length, size);
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

  /** What the record needs to be put together again, by reading all of it; absent where it cannot be. */
  examine(line: ManifestLine): ReplacedRecord | undefined {
    const examined = this.examineAll(line, []);
    // A digest of the body as stored holds for an original that is cut alike, and nobody has looked at that.
    return examined?.storedDigest === undefined ? examined?.replaced : undefined;
  }

  /** The same, and what an original has to be equal in. */
  examinePayload(line: ManifestLine): { replaced: ReplacedRecord; payload: PayloadFacts } | undefined {
    const examined = this.examineAll(line, [PAYLOAD_DIGEST]);
    if (examined?.replaced === undefined) return undefined;
    return { replaced: examined.replaced, payload: payloadFacts(examined) };
  }

  private examineAll(line: ManifestLine, also: readonly DigestAlgorithm[]): Examination | undefined {
    let odd = false;
    const reader = this.reader(line, () => {
      odd = true;
    });
    try {
      const record = reader.next();
      if (record === undefined) return undefined;
      const examined = examineRecord(record, { also });
      const ended = reader.next() === undefined;
      return ended && !odd && examined.scan.payloadSize === line.payloadSize ? examined : undefined;
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
    const first = this.view.view(offset, Math.min(length, this.view.capacity));
    const headerSize = this.compression === "gzip" ? gzipHeaderSize(first, 0, first.length) : 0;
    const gzipHeader = this.compression === "gzip" ? first.toString("hex", 0, headerSize) : undefined;
    const digest = first.length === length ? digestOf(RECORD_DIGEST, first) : this.digestOfLarge(offset, length);
    return { storedDigest: formatDigest(digest), gzipHeader };
  }

  private digestOfLarge(offset: number, length: number): Digest {
    const hash = createHasher(RECORD_DIGEST);
    for (let at = 0; at < length; ) {
      const piece = this.view.some(offset + at, length - at);
      if (piece.length === 0) throw new ArchiveError("HT_VERIFY", `${this.source.name}: shorter than it was`);
      hash.update(piece);
      at += piece.length;
    }
    return hash.finish();
  }
}
