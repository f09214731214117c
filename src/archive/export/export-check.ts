/**
 * Reads the WARC files of an export back: every record is sound, every capture that was asked for is there, in its place,
 * with the payload that the archive has of it. What is read is told on for the index and the list of pages.
 */
import { ArchiveError, formatPlace, isDamage, type Warning } from "../../base/index.ts";
import { isIndexed } from "../../pipeline/index.ts";
import { type ByteSource, type RecordScan, scanRecord, WarcReader, type WarcRecord } from "../../warc/index.ts";
import { archiveKey, idMark, markIn, urlKeyOf } from "../catalogue/capture-key.ts";
import { Flag, has } from "../catalogue/capture-row.ts";
import type { SelectedCapture } from "./export-selection.ts";

export interface CheckParts {
  /** The captures in the order in which they were written. */
  readonly captures: Iterator<SelectedCapture>;
  /** Gets every record with the first bytes of its payload. Views are valid during the call. */
  readonly onRecord: (record: WarcRecord, scan: RecordScan, start: Uint8Array, capture?: SelectedCapture) => void;
  /** Waits where others should have their turn. */
  readonly pause: (bytes: number) => Promise<void>;
}

const CAPTURES = new Set(["response", "resource", "revisit"]);
/** Where the title of a page is to be found. */
const START_SIZE = 1 << 15;

export class ExportCheck {
  private readonly parts: CheckParts;
  private readonly start = Buffer.alloc(START_SIZE);
  private startSize = 0;

  constructor(parts: CheckParts) {
    this.parts = parts;
  }

  /** Throws HT_VERIFY where something is not as it should be. */
  async file(source: ByteSource): Promise<void> {
    const onWarning = (warning: Warning) => {
      // A line of a header that is none was there when the record came; what it says is compared all the same.
      if (isDamage(warning) && warning.code !== "HT_RECORD_HEADER") throw failure(warning, warning.message);
    };
    const reader = new WarcReader(source, { onWarning });
    try {
      for (let record = reader.next(); record !== undefined; record = reader.next()) {
        this.record(record);
        await this.parts.pause(record.length ?? 0);
      }
    } finally {
      reader.close();
    }
  }

  private record(record: WarcRecord): void {
    this.startSize = 0;
    const isCapture = CAPTURES.has(record.type);
    const needsSha1 = isIndexed(record) && record.payloadDigest === undefined && record.type !== "revisit";
    const scan = scanRecord(record, {
      payload: [...(isCapture ? (["sha256"] as const) : []), ...(needsSha1 ? (["sha1"] as const) : [])],
      onPayload: (bytes) => this.keepStart(bytes),
    });
    record.drain();
    if (record.length === undefined) throw failure(record, "the record shares its member");
    const capture = isCapture ? this.capture(record, scan) : undefined;
    this.parts.onRecord(record, scan, this.start.subarray(0, this.startSize), capture);
  }

  private keepStart(bytes: Uint8Array): void {
    const part = bytes.subarray(0, START_SIZE - this.startSize);
    this.start.set(part, this.startSize);
    this.startSize += part.length;
  }

  private capture(record: WarcRecord, scan: RecordScan): SelectedCapture {
    const next = this.parts.captures.next();
    if (next.done === true) throw failure(record, "a capture that was not asked for");
    const { row, key } = next.value;
    if (!markIn(key).startsWith(idMark(record.id)) || urlKeyOf(key) !== archiveKey(record.uri))
      throw failure(record, "another capture than the one that stands here");
    if (record.type === "revisit") {
      if (row.kind !== "revisit" && row.kind !== "replaced") throw failure(record, "a revisit that was none");
      return next.value;
    }
    const sha256 = scan.payloadDigests.find(({ algorithm }) => algorithm === "sha256")!;
    // What a 304 stands for is not in its record, and of a segmented capture only the beginning is.
    const isOwn = !has(row, Flag.notModified | Flag.segmented) || row.kind === "revisit";
    if (isOwn && row.payload?.sha256.toString("hex") !== sha256.hex)
      throw failure(record, "another payload than the archive has of it");
    return next.value;
  }

  /** To be called behind the last file. */
  end(): void {
    if (this.parts.captures.next().done !== true) throw new ArchiveError("HT_VERIFY", "captures are missing");
  }
}

function failure({ file, offset }: { readonly file: string; readonly offset: number }, message: string): ArchiveError {
  const place = { file, offset };
  return new ArchiveError("HT_VERIFY", `${formatPlace(place)}: ${message}`, place);
}
