/**
 * Proves a rewritten file against its input by reading both: every byte outside of the replaced records is the same, and
 * in the place of each replaced record stands a sound revisit that carries its HTTP header byte for byte, names the
 * original of the plan, and leads back to the record's own header.
 */
import { createHash } from "node:crypto";
import { ArchiveError, formatDigest, parseDigest } from "../base/index.ts";
import {
  type ByteSource,
  bracketed,
  encodeSmall,
  encodeText,
  formatRevisit,
  hasReadableSize,
  measureLayout,
  REPLACED_FIELD,
  RecordOpener,
  type ReplacedRecord,
  type Revisit,
  rangeSource,
  replacedHead,
  SourceView,
  WarcReader,
} from "../warc/index.ts";
import { detectCompression } from "./compression.ts";
import type { LedgerEntry } from "./ledger.ts";
import type { ManifestLine } from "./manifest-line.ts";
import { type OpenedRecord, RecordReopener } from "./record-reopener.ts";
import { replacedOf } from "./rewrite.ts";

export interface ReplacedLine {
  readonly line: ManifestLine;
  readonly entry: LedgerEntry;
}

/** Throws HT_VERIFY where anything is not as it should be; else the sha256 of the output. */
export function proveRewrite(input: ByteSource, output: ByteSource, replaced: Iterable<ReplacedLine>): string {
  return new RewriteProof(input, output).run(replaced);
}

class RewriteProof {
  private readonly input: ByteSource;
  private readonly output: ByteSource;
  private readonly opener: RecordReopener;
  private readonly member = new RecordOpener();
  private readonly compression;
  private readonly inputView: SourceView;
  private readonly outputView: SourceView;
  private readonly hash = createHash("sha256");
  private inputAt = 0;
  private outputAt = 0;

  constructor(input: ByteSource, output: ByteSource) {
    this.input = input;
    this.output = output;
    this.compression = detectCompression(input);
    this.inputView = new SourceView(input);
    this.outputView = new SourceView(output);
    this.opener = new RecordReopener(input, this.compression, this.inputView);
  }

  run(replaced: Iterable<ReplacedLine>): string {
    for (const { line, entry } of replaced) {
      this.compareTo(entry.inputOffset);
      if (this.outputAt !== entry.outputOffset) throw this.fail("a revisit is not where it should be");
      this.proveRevisit(line, entry);
      this.inputAt += entry.inputLength;
      this.hashTo(entry.outputOffset + entry.outputLength);
    }
    this.compareTo(this.input.size!);
    if (this.outputAt !== this.output.size) throw this.fail("the output goes on behind its end");
    return this.hash.digest("hex");
  }

  private compareTo(end: number): void {
    while (this.inputAt < end) {
      const wanted = this.inputView.some(this.inputAt, end - this.inputAt);
      const found = this.outputView.some(this.outputAt, wanted.length);
      if (found.length === 0 || !wanted.subarray(0, found.length).equals(found))
        throw this.fail("a byte was not copied");
      this.hash.update(found);
      this.inputAt += found.length;
      this.outputAt += found.length;
    }
  }

  private hashTo(end: number): void {
    while (this.outputAt < end) {
      const piece = this.outputView.some(this.outputAt, end - this.outputAt);
      if (piece.length === 0) throw this.fail("the output ends inside a revisit");
      this.hash.update(piece);
      this.outputAt += piece.length;
    }
  }

  private proveRevisit(line: ManifestLine, entry: LedgerEntry): void {
    const opened = this.opener.open(line);
    if (opened === undefined) throw this.fail("a record that was replaced cannot be read");
    const replaced = replacedOf(line) ?? this.opener.examine(line);
    if (replaced === undefined || formatDigest(replaced.digest) !== entry.recordDigest) {
      throw this.fail("a record that was replaced is not as the ledger tells");
    }
    const revisit = remake(opened, line, replaced);
    if (!hasReadableSize(revisit)) throw this.fail("a revisit has a header that is too large to be read");
    this.proveMeaning(revisit, opened, line, replaced);
    if (!this.isWritten(revisit, entry)) throw this.fail("a revisit is not as it was made");
  }

  /** Whether the output has this revisit in the entry's place, whole and sound, and nothing else there. */
  private isWritten(revisit: Revisit, { outputOffset, outputLength }: LedgerEntry): boolean {
    const content = encodeSmall(revisit);
    if (this.compression === "zstd") return this.isWrittenInFrames(content, outputOffset, outputLength);
    if (outputLength > this.outputView.capacity) return false;
    const written = this.outputView.view(outputOffset, outputLength);
    return this.compression === "gzip" ? this.member.holds(written, content) : written.equals(content);
  }

  private isWrittenInFrames(content: Buffer, offset: number, length: number): boolean {
    let odd = false;
    const onWarning = () => {
      odd = true;
    };
    const reader = new WarcReader(rangeSource(this.output, 0, offset + length), { start: offset, onWarning });
    try {
      const record = reader.next();
      if (record?.block === undefined) return false;
      const found = encodeSmall({ head: record.headers.text, block: record.block.toString("latin1") });
      return found.equals(content) && reader.next() === undefined && !odd;
    } finally {
      reader.close();
    }
  }

  /** What makes it a revisit of this record, whoever made it. */
  private proveMeaning(
    { head, block }: Revisit,
    opened: OpenedRecord,
    line: ManifestLine,
    replaced: ReplacedRecord,
  ): void {
    const { chunks, digest } = replaced;
    const { headers, blockSize } = opened.head;
    const { uri, date, id } = line.original!;
    const type = headers.get("warc-type") ?? "";
    const told = [
      `WARC-Refers-To-Target-URI: ${encodeText(bracketed(uri!))}`,
      `WARC-Refers-To-Date: ${encodeText(date!)}`,
      `${REPLACED_FIELD}: ${type} ${formatDigest(digest)}`,
      ...(id === undefined ? [] : [`WARC-Refers-To: <${encodeText(id)}>`]),
    ];
    const tells = REVISIT_TYPE.test(head) && told.every((field) => head.includes(`\n${field}\r\n`));
    if (!tells) throw this.fail("a revisit does not tell what it should");
    if (block !== (opened.http?.text ?? "")) throw this.fail("an HTTP header was not kept");
    const bodySize = chunks === undefined ? line.payloadSize : measureLayout(chunks).storedSize;
    if (blockSize !== block.length + (bodySize ?? 0)) throw this.fail("a block cannot be put together again");
    // The digest itself was compared with the block when the record was examined; here its text has to come back.
    const blockDigest = parseDigest(headers.get("warc-block-digest") ?? "");
    const back = replacedHead(head, type, blockSize, () => blockDigest);
    if (back !== headers.text) throw this.fail("a record's header cannot be put together again");
  }

  private fail(message: string): ArchiveError {
    const place = { file: this.output.name, offset: this.outputAt };
    return new ArchiveError("HT_VERIFY", `${this.output.name}:${this.outputAt}: ${message}; it was thrown away`, place);
  }
}

/** The revisit once more, from what is known without it. */
function remake({ head, http }: OpenedRecord, line: ManifestLine, replaced: ReplacedRecord): Revisit {
  const { uri, date, id } = line.original!;
  return formatRevisit(head, http, { uri: uri!, date: date!, id }, parseDigest(line.digest!)!, { replaced });
}

const REVISIT_TYPE = /^warc-type[ \t]*:[ \t]*revisit\s*$/im;
