/** One input of an `add`, as records are taken out of it again: as they lie in the file, or as WARC in gzip members. */
import { crc32 } from "node:zlib";
import { ArchiveError, type Digest, formatDigest, formatPlace, parseDigest } from "../../base/index.ts";
import type { Disk } from "../../disk/index.ts";
import {
  type ArcContext,
  type CaptureFacts,
  convertedFields,
  derivedId,
  examineRecord,
  headChecksumOf,
  type Input,
  type RecordFacts,
  RecordReopener,
  warcinfoBlock,
  warcinfoFields,
} from "../../pipeline/index.ts";
import {
  type ByteSink,
  bufferSource,
  completeRevisit,
  draftRevisit,
  encodeHead,
  HeldBytes,
  hasReadableSize,
  type OriginalReference,
  type RevisitDraft,
  SEPARATOR,
  SourceView,
  scanRecord,
  WarcReader,
  type WarcRecord,
  WarcWriter,
} from "../../warc/index.ts";
import { type OpenArchive, openArchive, readRecordOfOthers } from "../segments/segments.ts";

export class IntakeSource implements Disposable {
  readonly input: Input;
  private readonly archive: OpenArchive;
  private readonly reopener: RecordReopener;
  private readonly view: SourceView;
  private context: ArcContext | undefined;
  /** The revisit at hand, compressed: whether it is small enough is known only then. */
  private readonly held = new HeldBytes();
  private readonly revisits = new WarcWriter(this.held);

  constructor(disk: Disk, input: Input) {
    this.input = input;
    this.archive = openArchive(disk, input);
    this.view = new SourceView(this.archive.source);
    this.reopener = new RecordReopener(this.archive.source, this.archive.compression, this.view);
  }

  /** The name of the file without its folders. */
  get name(): string {
    return this.input.name.replace(/^.*[/!]/, "");
  }

  /** Whether the record can go into a segment with the very bytes that it has here. */
  private isCopied({ length, isArc, damaged, blockSize }: RecordFacts): boolean {
    if (damaged !== undefined || blockSize !== undefined || isArc === true) return false;
    return this.archive.compression === "gzip" && length !== undefined;
  }

  /** Writes the record to a sink that takes gzip members. Whether it has the very bytes that it has here. */
  keep(facts: RecordFacts, sink: ByteSink): boolean {
    const isCopied = this.isCopied(facts);
    if (isCopied) this.copy(facts, sink);
    else this.encode(facts, new WarcWriter(sink));
    return isCopied;
  }

  private copy(facts: RecordFacts, sink: ByteSink): void {
    let checksum = 0;
    for (const piece of this.raw(facts)) {
      checksum = crc32(piece, checksum);
      sink.write(piece);
    }
    this.compare(facts, checksum);
  }

  /** The record as it lies in the file. Pieces are valid until the next one. */
  private *raw({ offset, length = 0 }: RecordFacts): Generator<Uint8Array> {
    for (let at = offset; at < offset + length; ) {
      const piece = this.view.some(at, offset + length - at);
      if (piece.length === 0) return;
      yield piece;
      at += piece.length;
    }
  }

  /** What is taken must be what was examined: a file may change meanwhile, and a sick disk or server read otherwise. */
  private compare(facts: RecordFacts, checksum: number | undefined): void {
    if (facts.checksum === undefined || checksum === undefined || checksum === facts.checksum) return;
    throw this.changed(facts);
  }

  private changed({ offset }: RecordFacts): ArchiveError {
    const place = { file: this.input.name, offset };
    return new ArchiveError("HT_CHANGED", `${formatPlace(place)}: read again, it has other bytes`, place);
  }

  private read<T>(facts: RecordFacts, use: (record: WarcRecord) => T): T {
    const { offset, length = 0, inner = 0 } = facts;
    return readRecordOfOthers(this.archive, { offset, length, inner }, (record) => {
      const result = use(record);
      record.drain();
      this.compare(facts, record.checksum);
      if (facts.headChecksum !== undefined && facts.headChecksum !== headChecksumOf(record)) throw this.changed(facts);
      return result;
    });
  }

  private encode(facts: RecordFacts, writer: WarcWriter): void {
    const head = facts.isArc === true ? this.arcHead(facts) : undefined;
    this.read(facts, (record) => {
      writer.writeStream(
        head ?? Buffer.from(withSize(record.headers.text, facts.blockSize), "latin1"),
        record.chunks(),
      );
    });
  }

  /** The header that an ARC record gets as WARC; it tells digests, so the record is read for it. */
  private arcHead(facts: RecordFacts): Buffer {
    const context = this.arcContext();
    return this.read(facts, (record) => {
      const scan = scanRecord(record, { block: ["sha1"], payload: ["sha1"] });
      const isHttp = scan.http !== undefined && record.type === "response";
      const payload = {
        isHttp,
        blockSize: scan.blockSize,
        blockDigest: scan.blockDigests[0]!,
        payloadDigest: scan.payloadDigests[0]!,
      };
      const fields = convertedFields(record, context, payload);
      // It is read by itself here, and does not know where it was.
      return encodeHead(
        "WARC/1.1",
        fields.map(([name, value]) => [name, name === "WARC-Record-ID" ? `<${facts.id!}>` : value]),
      );
    });
  }

  private arcContext(): ArcContext {
    this.context ??= {
      name: this.name,
      outputName: this.name,
      // A record without a date that can be read is filed under 1970.
      madeMs: 0,
      warcinfoId: derivedId(this.name, "warcinfo"),
      software: "holotype",
    };
    return this.context;
  }

  /** What says where the records of an ARC file come from; absent for others. */
  arcWarcinfo(facts: RecordFacts): { readonly id: string; write(sink: ByteSink): void } | undefined {
    if (facts.isArc !== true) return undefined;
    const context = this.arcContext();
    const write = (sink: ByteSink) =>
      void new WarcWriter(sink).write({
        fields: warcinfoFields({ ...context, madeMs: facts.timeMs ?? 0 }),
        block: warcinfoBlock(context, "ARC"),
      });
    return { id: context.warcinfoId, write };
  }

  /**
   * The revisit that stands for the record, as a gzip member, valid until the next one; or why there is none. With
   * `mayGrow` it may take more bytes than the record.
   */
  revisit(
    facts: RecordFacts,
    original: OriginalReference,
    replaced: Replaced,
    mayGrow: boolean,
  ): Uint8Array | "unreadable" | "header-size" | "saving" {
    const draft = facts.isArc === true ? this.draftConverted(facts) : this.draftPlain(facts, replaced);
    if (draft === undefined) return "unreadable";
    const revisit = completeRevisit(draft, original);
    if (!hasReadableSize(revisit)) return "header-size";
    this.revisits.writeSmall(revisit);
    const member = this.held.take();
    return !mayGrow && this.isCopied(facts) && member.length >= facts.length! ? "saving" : member;
  }

  private draftPlain(facts: RecordFacts, replaced: Replaced): RevisitDraft | undefined {
    const { offset, length, id, type } = facts;
    const { draft } = facts.capture!;
    // As whoever read the record first has made it.
    if (draft !== undefined) return draft;
    const digest = parseDigest(replaced?.digest ?? "");
    if (digest === undefined || length === undefined) return undefined;
    const opened = this.reopener.open({ offset, length, id, flags: flagsOf(type) });
    if (opened === undefined) return undefined;
    let checksum = 0;
    for (const piece of this.raw(facts)) checksum = crc32(piece, checksum);
    this.compare(facts, checksum);
    const { head, http } = opened;
    return draftRevisit(head, http, payloadOf(facts), { replaced: { digest, chunks: replaced?.chunks } });
  }

  /** What a revisit needs to stand for the record, by reading it once more; absent where none can. */
  examine(facts: RecordFacts): Replaced {
    return this.read(facts, (record) => {
      const { replaced } = examineRecord(record);
      return replaced && { digest: formatDigest(replaced.digest), chunks: replaced.chunks };
    });
  }

  /** An ARC record becomes WARC first, and that is what its revisit is made from. */
  private draftConverted(facts: RecordFacts): RevisitDraft | undefined {
    const head = this.arcHead(facts);
    const block = this.read(facts, (record) => {
      const { block: whole } = record;
      return whole === undefined ? undefined : Buffer.from(whole);
    });
    // A larger one is kept as it is.
    if (block === undefined) return undefined;
    const reader = new WarcReader(bufferSource(Buffer.concat([head, block, SEPARATOR])), { onWarning: () => {} });
    try {
      const { draft, storedDigest } = examineRecord(reader.next()!, { revisitDigest: payloadOf(facts) });
      return storedDigest === undefined ? draft : undefined;
    } finally {
      reader.close();
    }
  }

  [Symbol.dispose](): void {
    this.archive.source.close?.();
  }
}

type Replaced = CaptureFacts["replaced"];

function payloadOf({ capture }: RecordFacts): Digest {
  return { algorithm: "sha256", hex: capture!.sha256! };
}

function flagsOf(type: string): string[] {
  return type === "resource" ? ["resource"] : [];
}

/** The header with the size that the block really has, where it told another one. */
function withSize(head: string, size: number | undefined): string {
  if (size === undefined) return head;
  const told = /^content-length[ \t]*:.*$/im;
  if (told.test(head)) return head.replace(told, (line) => `Content-Length: ${size}${line.endsWith("\r") ? "\r" : ""}`);
  return head.replace(/\r?\n(?=\r?\n$)/, `\r\nContent-Length: ${size}\r\n`);
}
