/**
 * Proves a rewritten file against its input by reading both: every byte outside of the replaced records is the same, and
 * in the place of each replaced record stands a sound revisit that carries its HTTP header byte for byte, names the
 * original of the plan, and leads back to the record's own header.
 */
import { createHash } from "node:crypto";
import { ArchiveError, parseDigest } from "../base/index.ts";
import {
  type ByteSource,
  formatRevisit,
  measureLayout,
  rangeSource,
  refersToOf,
  replacedBy,
  replacedHead,
  WarcReader,
  type WarcRecord,
} from "../warc/index.ts";
import type { LedgerEntry } from "./ledger.ts";
import { flagValue, type ManifestLine } from "./manifest-line.ts";
import { detectCompression, type OpenedRecord, RecordReopener } from "./rewrite.ts";

const COMPARE_SIZE = 1 << 20;

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
  private readonly compression;
  private readonly one = Buffer.allocUnsafeSlow(COMPARE_SIZE);
  private readonly other = Buffer.allocUnsafeSlow(COMPARE_SIZE);
  private readonly hash = createHash("sha256");
  private inputAt = 0;
  private outputAt = 0;

  constructor(input: ByteSource, output: ByteSource) {
    this.input = input;
    this.output = output;
    this.compression = detectCompression(input);
    this.opener = new RecordReopener(input, this.compression);
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
      const size = Math.min(COMPARE_SIZE, end - this.inputAt);
      const wanted = this.input.read(this.one.subarray(0, size), this.inputAt);
      const found = this.output.read(this.other.subarray(0, wanted), this.outputAt);
      const written = this.other.subarray(0, found);
      if (wanted === 0 || !this.one.subarray(0, wanted).equals(written)) throw this.fail("a byte was not copied");
      this.hash.update(written);
      this.inputAt += wanted;
      this.outputAt += found;
    }
  }

  private hashTo(end: number): void {
    while (this.outputAt < end) {
      const count = this.output.read(this.one.subarray(0, Math.min(COMPARE_SIZE, end - this.outputAt)), this.outputAt);
      if (count === 0) throw this.fail("the output ends inside a revisit");
      this.hash.update(this.one.subarray(0, count));
      this.outputAt += count;
    }
  }

  private proveRevisit(line: ManifestLine, entry: LedgerEntry): void {
    let odd = false;
    const onWarning = () => {
      odd = true;
    };
    const { outputOffset, outputLength } = entry;
    const isZstd = this.compression === "zstd";
    const reader = isZstd
      ? new WarcReader(rangeSource(this.output, 0, outputOffset + outputLength), { start: outputOffset, onWarning })
      : new WarcReader(rangeSource(this.output, outputOffset, outputLength), { onWarning });
    try {
      const revisit = reader.next();
      if (revisit === undefined || revisit.type !== "revisit") throw this.fail("no revisit where one was written");
      this.proveHead(revisit, line, entry);
      if (reader.next() !== undefined || odd) throw this.fail("a revisit is not sound");
    } finally {
      reader.close();
    }
  }

  private proveHead(revisit: WarcRecord, line: ManifestLine, entry: LedgerEntry): void {
    const { original } = line;
    const refersTo = refersToOf(revisit);
    const opened = this.opener.open(line);
    const replaced = replacedBy(revisit);
    const block = revisit.block;
    if (opened === undefined || replaced === undefined || block === undefined) throw this.fail("a revisit is not ours");
    if (refersTo?.uri !== original?.uri || refersTo?.date !== original?.date || refersTo?.id !== original?.id) {
      throw this.fail("a revisit refers to another original than the plan's");
    }
    if (block.toString("latin1") !== (opened.http?.text ?? "")) throw this.fail("an HTTP header was not kept");
    const { head } = opened;
    const bodySize = replaced.chunks === undefined ? line.payloadSize : measureLayout(replaced.chunks).storedSize;
    if (head.blockSize !== block.length + (bodySize ?? 0)) throw this.fail("a block cannot be put together again");
    const claim = head.headers.get("warc-block-digest");
    // The digest itself was compared with the block when the record was examined; here its text has to come back.
    const back = replacedHead(revisit.headers.text, replaced.type, head.blockSize ?? 0, () => undefined);
    const wanted = claim === undefined ? back : restoreClaim(back, claim);
    if (wanted !== head.headers.text) throw this.fail("a record's header cannot be put together again");
    const chunks = flagValue(line, "chunks") ?? replaced.chunks;
    if (revisit.headers.text !== this.remake(opened, line, entry, chunks))
      throw this.fail("a revisit is not as it was made");
  }

  /** The revisit's header once more, from what is known without it. */
  private remake(
    { head, http }: OpenedRecord,
    line: ManifestLine,
    entry: LedgerEntry,
    chunks: string | undefined,
  ): string {
    const { uri, date, id } = line.original!;
    const digest = parseDigest(entry.recordDigest)!;
    const original = { uri: uri!, date: date!, id };
    const { head: made } = formatRevisit(head, http, original, parseDigest(line.digest!)!, {
      replaced: { digest, chunks },
    });
    return made.toString("latin1");
  }

  private fail(message: string): ArchiveError {
    const place = { file: this.output.name, offset: this.outputAt };
    return new ArchiveError("HT_VERIFY", `${this.output.name}:${this.outputAt}: ${message}; it was thrown away`, place);
  }
}

/** Puts the record's own block digest where the revisit's stood. */
function restoreClaim(head: string, claim: string): string {
  return head.replace(/^(warc-block-digest[ \t]*:[ \t]*)\S+/im, (_, name: string) => name + claim);
}
