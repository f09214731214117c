/**
 * Rewrites one archive file: the records that the plan calls copies become revisits, every other byte is copied as it
 * is. What comes out depends on nothing but the file and the plan.
 */
import { ArchiveError, equalDigests, formatDigest, formatPlace, parseDigest } from "../base/index.ts";
import {
  type ByteSink,
  type ByteSource,
  type Compression,
  formatRevisit,
  HeldBytes,
  hasReadableSize,
  type ReplacedRecord,
  type Revisit,
  SourceView,
  WarcWriter,
} from "../warc/index.ts";
import { detectCompression } from "./compression.ts";
import type { LedgerEntry } from "./ledger.ts";
import { flagValue, type ManifestLine } from "./manifest-line.ts";
import type { PayloadFacts } from "./payload-facts.ts";
import { type OpenedRecord, RecordReopener } from "./record-reopener.ts";

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
  /** Whether it must be found out now that the copy has the payload of its original. */
  readonly isClaim?: ((line: ManifestLine) => boolean) | undefined;
  /** Reads the original of such a copy; why the copy must stay, absent where it need not. */
  readonly whyNotOriginal?: ((line: ManifestLine, payload: PayloadFacts) => string | undefined) | undefined;
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

class Rewrite {
  private readonly source: ByteSource;
  private readonly size: number;
  private readonly options: RewriteOptions;
  private readonly events: RewriteEvents;
  private readonly compression: Compression;
  private readonly opener: RecordReopener;
  private readonly view: SourceView;
  private readonly sink: ByteSink;
  /** The revisit at hand, compressed: whether it is small enough is known only then. */
  private readonly held = new HeldBytes();
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
    this.view = new SourceView(source);
    this.opener = new RecordReopener(source, this.compression, this.view);
    this.writer = new WarcWriter(this.held, { compression: this.compression });
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
      const piece = this.view.some(this.at, end - this.at);
      if (piece.length === 0) {
        throw new ArchiveError("HT_VERIFY", `${this.source.name}: shorter than it was`, this.place());
      }
      this.put(piece);
      this.at += piece.length;
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
    const replaced = this.options.isClaim?.(line) === true ? this.prove(line) : this.examined(line);
    if (typeof replaced === "string") return this.events.onLeft(line, replaced);
    const made = makeRevisit(line, opened, replaced);
    if (!hasReadableSize(made)) return this.events.onLeft(line, "header-size");
    this.writer.writeSmall(made);
    const revisit = this.held.take();
    if (length - revisit.length < this.options.minSaving) return this.events.onLeft(line, "saving");
    const outputOffset = this.written;
    this.put(revisit);
    this.at += length;
    this.events.onReplaced(line, {
      inputOffset: line.offset,
      inputLength: length,
      outputOffset,
      outputLength: revisit.length,
      id: line.id,
      recordDigest: formatDigest(replaced.digest),
      ...this.opener.stored(line.offset, length),
    });
  }

  /** What the record needs to be put together again, or why it cannot be. */
  private examined(line: ManifestLine): ReplacedRecord | string {
    return replacedOf(line) ?? this.opener.examine(line) ?? "irreversible";
  }

  /** The same by reading both the record and its original, whatever the line says. */
  private prove(line: ManifestLine): ReplacedRecord | string {
    const found = this.opener.examinePayload(line);
    if (found === undefined) return "irreversible";
    const { replaced, payload } = found;
    const told = replacedOf(line);
    const isAsTold =
      told === undefined || (equalDigests(told.digest, replaced.digest) && told.chunks === replaced.chunks);
    if (!isAsTold) return "unreadable";
    if (told === undefined && payload.storedDigest !== undefined) return "irreversible";
    return this.options.whyNotOriginal?.(line, payload) ?? replaced;
  }
}

function makeRevisit(line: ManifestLine, { head, http }: OpenedRecord, replaced: ReplacedRecord): Revisit {
  const { original } = line;
  const payloadDigest = line.digest === undefined ? undefined : parseDigest(line.digest);
  if (original?.uri === undefined || original.date === undefined || payloadDigest === undefined) {
    throw misfit(line, "the plan tells no original for this copy");
  }
  const reference = { uri: original.uri, date: original.date, id: original.id };
  return formatRevisit(head, http, reference, payloadDigest, { replaced });
}

/** What `resolve` found out about the record; absent where it was not asked. */
export function replacedOf(line: ManifestLine): ReplacedRecord | undefined {
  const digest = parseDigest(flagValue(line, "record") ?? "");
  return digest === undefined ? undefined : { digest, chunks: flagValue(line, "chunks") };
}

function misfit(line: ManifestLine, message: string): ArchiveError {
  const place = { file: line.file, offset: line.offset };
  return new ArchiveError("HT_VERIFY", `${formatPlace(place)}: ${message}`, place);
}
