/**
 * Nothing was lost, nothing was added: a file is read beside its original. All bytes outside of what was replaced must be
 * the same, and in the place of each revisit that is not in the original stands a record there that has its id and the
 * digest that the revisit tells. Where that fails, `difference.ts` says what is missing.
 */
import { isDamage } from "../../base/index.ts";
import { type ByteSource, rangeSource, WarcReader } from "../../warc/index.ts";
import type { RevisitLine } from "../capture-line.ts";
import { digestOfRecord, type GoneRecord } from "./difference.ts";

/** A record of the original, and the revisit that stands for it. */
export interface StandingRecord {
  readonly revisit: RevisitLine;
  readonly record: GoneRecord;
}

/** Where the two part for the first time. */
export interface Parting {
  readonly offset: number;
  readonly originalOffset: number;
}

const COMPARE_SIZE = 1 << 20;
/** Bytes that are read for one record at first; most are smaller. */
const REACH_SIZE = 1 << 16;
const REACH_FACTOR = 16;

/**
 * Compares a file with its original. `ours` are the revisits of Holotype's in it, in order of their offsets. Absent where
 * everything holds; `onStanding` has then been told of every record that was replaced.
 */
export function compareFiles(
  file: ByteSource,
  original: ByteSource,
  ours: Iterable<RevisitLine>,
  onStanding: (standing: StandingRecord) => void,
  onProgress: (bytes: number) => void,
): Parting | undefined {
  return new FileComparison(file, original, onProgress).run(ours, onStanding);
}

class FileComparison {
  private readonly file: ByteSource;
  private readonly original: ByteSource;
  private readonly onProgress: (bytes: number) => void;
  private readonly one = Buffer.allocUnsafeSlow(COMPARE_SIZE);
  private readonly other = Buffer.allocUnsafeSlow(COMPARE_SIZE);
  private at = 0;
  private originalAt = 0;

  constructor(file: ByteSource, original: ByteSource, onProgress: (bytes: number) => void) {
    this.file = file;
    this.original = original;
    this.onProgress = onProgress;
  }

  run(ours: Iterable<RevisitLine>, onStanding: (standing: StandingRecord) => void): Parting | undefined {
    for (const revisit of ours) {
      const { offset, length } = revisit;
      // One that shares its member is none that we wrote there: it must stand in the original, like all that is around it.
      if (length === undefined) continue;
      if (!this.isEqual(offset - this.at)) return this.parting();
      if (this.isEqual(length)) continue;
      const record = this.replacedBy(revisit, length);
      if (record === undefined) return this.parting();
      onStanding({ revisit, record });
    }
    const left = (this.file.size ?? 0) - this.at;
    const isSame = left === (this.original.size ?? 0) - this.originalAt && this.isEqual(left);
    return isSame ? undefined : this.parting();
  }

  /** The first bytes behind here that differ. */
  private parting(): Parting {
    const { one, other } = this;
    const count = this.file.read(one, this.at);
    const found = this.original.read(other, this.originalAt);
    let same = 0;
    while (same < Math.min(count, found) && one[same] === other[same]) same++;
    return { offset: this.at + same, originalOffset: this.originalAt + same };
  }

  /** Compares so many bytes of both, and moves behind them, or up to the piece in which they differ. */
  private isEqual(size: number): boolean {
    const end = this.at + size;
    while (this.at < end) {
      const wanted = Math.min(COMPARE_SIZE, end - this.at);
      const count = this.file.read(this.one.subarray(0, wanted), this.at);
      const found = this.original.read(this.other.subarray(0, wanted), this.originalAt);
      if (count !== wanted || found !== wanted) return false;
      if (!this.one.subarray(0, wanted).equals(this.other.subarray(0, wanted))) return false;
      this.at += wanted;
      this.originalAt += wanted;
      this.onProgress(this.originalAt);
    }
    return true;
  }

  /** The record of the original at hand, if it is what the revisit took the place of. */
  private replacedBy({ id, replaced }: RevisitLine, length: number): GoneRecord | undefined {
    if (replaced === undefined) return undefined;
    const size = this.original.size!;
    for (let reach = REACH_SIZE; ; reach *= REACH_FACTOR) {
      const end = Math.min(size, this.originalAt + reach);
      const found = this.readRecord(end);
      const isIt = found?.digest === replaced && found.id === id;
      if (found !== undefined && isIt) {
        this.originalAt += found.length;
        this.at += length;
        return found;
      }
      // What looks broken or strange may only have been cut off.
      if (end === size) return undefined;
    }
  }

  /** The record of the original at hand as far as it lies before `end`; absent where it does not, or is not sound. */
  private readRecord(end: number) {
    const { original, originalAt } = this;
    const reader = new WarcReader(rangeSource(original, 0, end), { start: originalAt });
    try {
      const record = reader.next();
      if (record?.offset !== originalAt) return undefined;
      const { uri, dateText: date, id } = record;
      const digest = digestOfRecord(record);
      const { length } = record;
      // A separator other than the usual one is not in the digest, and would not come back.
      const isOdd = record.warnings.some((warning) => isDamage(warning) || warning.code === "HT_RECORD_SEPARATOR");
      return isOdd || length === undefined ? undefined : { uri, date, id, digest, length };
    } finally {
      reader.close();
    }
  }
}
