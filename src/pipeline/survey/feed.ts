/**
 * Reads single records of a file in full, of which begin and end are known. For gzip members one reader serves them all:
 * it is given the stretches of the file one behind the other, as if nothing lay between them, and is spared the making
 * of a new inflater for each.
 */
import { isDamage, type Warning } from "../../base/index.ts";
import {
  type ByteSource,
  type RecordScan,
  rangeSource,
  type ScanRequest,
  scanRecord,
  WarcReader,
  type WarcRecord,
} from "../../warc/index.ts";

/** A payload is known by this digest and its size, never by what a header says. */
export const IDENTITY: ScanRequest = { payload: ["sha256"] };

export interface FedRecord {
  readonly scan: RecordScan;
  /** What was found wrong with its content. */
  readonly warnings: readonly Warning[];
}

/** What the scan found wrong, as warnings. */
export function findingsOf(record: WarcRecord, scan: RecordScan): Warning[] {
  return scan.findings.map((finding) => ({ ...finding, file: record.file, offset: record.offset }));
}

export class RecordFeed {
  private readonly source: ByteSource;
  private reader: WarcReader | undefined;
  /** Where the stretch at hand ends, in offsets of the file. */
  private end = 0;
  /** What is to be added to the reader's positions to have those of the file. */
  private shift = 0;
  /** The reader's position behind all that it was given. */
  private given = 0;
  private warnings: Warning[] = [];

  constructor(source: ByteSource) {
    this.source = source;
  }

  /**
   * Reads the record that lies from one offset to another. Absent where there is no sound record, or it does not end
   * there: perhaps that is not how the file is to be read.
   */
  read(from: number, to: number, compressed: boolean): FedRecord | undefined {
    if (!compressed) this.close();
    this.warnings = [];
    this.given = this.reader === undefined ? 0 : this.given;
    this.shift = from - this.given;
    this.end = to;
    this.reader ??= compressed ? this.readMembers() : this.readPlain(from, to);
    const record = this.reader.next();
    if (record !== undefined) {
      const scan = scanRecord(record, IDENTITY);
      record.drain();
      if (record.length === to - from && !this.warnings.some(isDamage)) {
        const findings = findingsOf(record, scan).map((finding) => this.inFile(finding));
        return { scan, warnings: [...this.warnings, ...findings] };
      }
    }
    this.close();
    return undefined;
  }

  private readMembers(): WarcReader {
    const read = (into: Uint8Array, position: number): number => {
      const offset = position + this.shift;
      const room = into.subarray(0, Math.max(0, Math.min(into.length, this.end - offset)));
      const count = room.length === 0 ? 0 : this.source.read(room, offset);
      this.given = position + count;
      return count;
    };
    return new WarcReader({ name: this.source.name, seekable: false, read }, { onWarning: this.onWarning });
  }

  private readPlain(from: number, to: number): WarcReader {
    return new WarcReader(rangeSource(this.source, from, to - from), { onWarning: this.onWarning });
  }

  private readonly onWarning = (warning: Warning): void => {
    this.warnings.push(this.inFile(warning));
  };

  private inFile(warning: Warning): Warning {
    return { ...warning, offset: warning.offset + this.shift };
  }

  close(): void {
    this.reader?.close();
    this.reader = undefined;
  }
}
