/**
 * Proves a restored file against the one it was made from, by reading both: every byte outside of our revisits is the
 * same, and in the place of each stands the record that it tells of, as its digest proves.
 */
import { createHash, type Hash } from "node:crypto";
import { ArchiveError, formatDigest } from "../../base/index.ts";
import { type ByteSource, WarcReader } from "../../warc/index.ts";
import type { LedgerEntry } from "../ledger.ts";
import { RecordHasher } from "./record.ts";
import type { RestoreStep } from "./steps.ts";

const COMPARE_SIZE = 1 << 20;

export interface RestoreProof {
  readonly restored: number;
  /** Every record that has an entry in the ledger lies where it lay, with the bytes that it had. */
  readonly identical: boolean;
  /** Of the file that was restored, as it is now: sha256 in hex. */
  readonly sourceDigest: string;
  /** Of the restored file. */
  readonly outputDigest: string;
}

/** Throws HT_VERIFY where anything is not as it should be. */
export function proveRestore(source: ByteSource, output: ByteSource, steps: Iterable<RestoreStep>): RestoreProof {
  return new Proof(source, output).run(steps);
}

class Proof {
  private readonly source: ByteSource;
  private readonly output: ByteSource;
  private readonly one = Buffer.allocUnsafeSlow(COMPARE_SIZE);
  private readonly other = Buffer.allocUnsafeSlow(COMPARE_SIZE);
  private readonly sourceHash = createHash("sha256");
  private readonly outputHash = createHash("sha256");
  private sourceAt = 0;
  private outputAt = 0;
  private identical = true;

  constructor(source: ByteSource, output: ByteSource) {
    this.source = source;
    this.output = output;
  }

  run(steps: Iterable<RestoreStep>): RestoreProof {
    let restored = 0;
    for (const step of steps) {
      this.compareTo(step.line.offset);
      this.proveRecord(step);
      this.sourceAt = this.read(this.source, this.sourceAt, step.line.length, [this.sourceHash]);
      restored++;
    }
    this.compareTo(this.source.size!);
    if (this.outputAt !== this.output.size) throw this.fail("the output goes on behind its end");
    const [sourceDigest, outputDigest] = [this.sourceHash.digest("hex"), this.outputHash.digest("hex")];
    return { restored, identical: this.identical, sourceDigest, outputDigest };
  }

  private compareTo(end: number): void {
    while (this.sourceAt < end) {
      const size = Math.min(COMPARE_SIZE, end - this.sourceAt);
      const wanted = this.source.read(this.one.subarray(0, size), this.sourceAt);
      const found = this.output.read(this.other.subarray(0, wanted), this.outputAt);
      const written = this.other.subarray(0, found);
      if (wanted === 0 || !this.one.subarray(0, wanted).equals(written)) throw this.fail("a byte was not copied");
      this.sourceHash.update(written);
      this.outputHash.update(written);
      this.sourceAt += wanted;
      this.outputAt += found;
    }
  }

  /** Reads a stretch into digests and gives its end. */
  private read(from: ByteSource, start: number, length: number, hashes: readonly Hash[]): number {
    let at = start;
    while (at < start + length) {
      const count = from.read(this.one.subarray(0, Math.min(COMPARE_SIZE, start + length - at)), at);
      if (count === 0) break;
      for (const hash of hashes) hash.update(this.one.subarray(0, count));
      at += count;
    }
    return at;
  }

  private proveRecord({ entry, revisit }: RestoreStep): void {
    const same = entry !== undefined && this.isAsItLay(entry);
    if (!same || this.outputAt !== entry.inputOffset) this.identical = false;
    const length = same ? entry.inputLength : this.proveContent(formatDigest(revisit.replaced.digest));
    const end = this.read(this.output, this.outputAt, length, [this.outputHash]);
    if (end !== this.outputAt + length) throw this.fail("the output ends inside a record");
    this.outputAt = end;
  }

  /** The bytes are those that the ledger has the digest of, which is more than that the records are equal. */
  private isAsItLay({ inputLength, storedDigest }: LedgerEntry): boolean {
    const hash = createHash("sha256");
    this.read(this.output, this.outputAt, inputLength, [hash]);
    return `sha256:${hash.digest("hex")}` === storedDigest;
  }

  /** The record that begins here has the digest; gives its length. */
  private proveContent(digest: string): number {
    const reader = new WarcReader(this.output, { start: this.outputAt });
    try {
      const record = reader.next();
      if (record?.offset !== this.outputAt) throw this.fail("no record where one was restored");
      const hasher = new RecordHasher(Buffer.from(record.headers.text, "latin1"));
      for (let piece = record.read(); piece !== undefined; piece = record.read()) hasher.update(piece);
      const { length, warnings } = record;
      if (length === undefined || warnings.length > 0) throw this.fail("a restored record is not sound");
      if (hasher.finish() !== digest) throw this.fail("a restored record is not the one that was replaced");
      return length;
    } finally {
      reader.close();
    }
  }

  private fail(message: string): ArchiveError {
    const { name } = this.output;
    const place = { file: name, offset: this.outputAt };
    return new ArchiveError("HT_VERIFY", `${name}:${this.outputAt}: ${message}`, place);
  }
}
