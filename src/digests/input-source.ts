/** Any file as a source of captures: what it is, its first bytes tell. */
import { ArchiveError, isDamage } from "../base/index.ts";
import type { Disk } from "../disk/index.ts";
import { type Input, openInput } from "../pipeline/index.ts";
import { type ByteSource, bufferSource, gunzip, isGzip, isZstd, WarcReader, type WarcRecord } from "../warc/index.ts";
import { readStretches } from "./byte-lines.ts";
import { baseName } from "./cdx-entries.ts";
import type { DigestEntry } from "./entry.ts";
import type { Intake, Moment, SkipReason } from "./intake.ts";
import { entryOfRecord } from "./record-entries.ts";
import { detectText, TextReader } from "./text-source.ts";

/** Whatever captures come from: the crawl data iterator of the DigestIndexer, which anybody can write. */
export interface CaptureSource {
  readonly name: string;
  /** Gives all captures to the intake, and calls its `breathe` now and then. */
  readInto(intake: Intake): Promise<void>;
}

const HEAD_SIZE = 1 << 16;
const BREATH_BYTES = 4 << 20;

/** A source whose first bytes were looked at, also where it can be read only once. */
class PeekedSource implements ByteSource {
  readonly name: string;
  readonly seekable: boolean;
  readonly size: number | undefined;
  readonly head: Buffer;
  private readonly source: ByteSource;

  constructor(source: ByteSource) {
    this.source = source;
    this.name = source.name;
    this.seekable = source.seekable;
    this.size = source.size;
    const head = Buffer.alloc(HEAD_SIZE);
    let filled = 0;
    while (filled < head.length) {
      const count = source.read(head.subarray(filled), filled);
      if (count === 0) break;
      filled += count;
    }
    this.head = head.subarray(0, filled);
  }

  read(into: Uint8Array, position: number): number {
    if (position >= this.head.length) return this.source.read(into, position);
    const part = this.head.subarray(position, position + into.length);
    into.set(part);
    return part.length;
  }

  close(): void {
    this.source.close?.();
  }
}

/** What was read of a record, before it is known whether its member holds. */
interface PendingEntry {
  readonly entry: DigestEntry | SkipReason;
  readonly isSound: () => boolean;
  /** Absent where the record holds no payload of its own, or does not tell its URL and time. */
  readonly moment: Moment | undefined;
}

function momentOf({ type, uri, timeMs }: WarcRecord): Moment | undefined {
  return type === "revisit" || uri === undefined || timeMs === undefined ? undefined : { uri, timeMs };
}

export class InputSource implements CaptureSource {
  readonly name: string;
  private readonly disk: Disk;
  private readonly input: Input;

  constructor(disk: Disk, input: Input) {
    this.disk = disk;
    this.input = input;
    this.name = input.name;
  }

  async readInto(intake: Intake): Promise<void> {
    const source = new PeekedSource(openInput(this.disk, this.input));
    try {
      intake.begin(this.name);
      const { head } = source;
      const isCompressed = isGzip(head, 0, head.length);
      const text = isCompressed ? inflatedHead(head) : head;
      // Of a compressed file that begins with damage, only an archive can be read on behind it.
      if (isArchive(head, text) || (isCompressed && text.length === 0)) await this.readRecords(source, intake);
      else if (head.length > 0) await this.readText(source, text, isCompressed, intake);
    } finally {
      source.close();
    }
  }

  private async readText(source: ByteSource, head: Buffer, isCompressed: boolean, intake: Intake): Promise<void> {
    const kind = detectText(head);
    if (kind === undefined) {
      const message = `${this.name}: neither an archive nor a crawl.log, CDX or CDXJ`;
      throw new ArchiveError("HT_FORMAT_UNKNOWN", message, { file: this.name });
    }
    const reader = new TextReader(intake, this.name, kind);
    let bytes = 0;
    for (const stretch of readStretches(source, isCompressed)) {
      reader.take(stretch);
      bytes += stretch.readBytes;
      if (bytes < BREATH_BYTES) continue;
      await intake.breathe(bytes);
      bytes = 0;
    }
    await intake.breathe(bytes);
  }

  private async readRecords(source: ByteSource, intake: Intake): Promise<void> {
    const tell = (message: string) => intake.tellFault({ file: this.name, message });
    const reader = new WarcReader(source);
    const file = baseName(this.name);
    let reached = 0;
    let before: PendingEntry | undefined;
    const give = () => {
      if (before === undefined) return;
      const { entry, isSound, moment } = before;
      const isReadable = isSound() && entry !== "unreadable";
      if (moment !== undefined && (!isReadable || entry === "truncated")) intake.passOver(moment);
      if (isReadable) intake.take(entry);
      else tell("a damaged record");
      before = undefined;
    };
    try {
      for (let record = reader.next(); record !== undefined; record = reader.next()) {
        // Only now is it known whether the member of the one before held.
        give();
        const { offset, warnings } = record;
        const entry = entryOfRecord(record, file);
        const isSound = () => !warnings.some((warning) => warning.offset === offset && isDamage(warning));
        if (entry !== undefined) before = { entry, isSound, moment: momentOf(record) };
        if (offset - reached < BREATH_BYTES) continue;
        await intake.breathe(offset - reached);
        reached = offset;
      }
      give();
    } finally {
      reader.close();
    }
    await intake.breathe((source.size ?? reached) - reached);
  }
}

/** What a gzip file begins with, decompressed; empty where that cannot be said. */
function inflatedHead(head: Buffer): Buffer {
  try {
    for (const piece of gunzip(bufferSource(head, "head")))
      if (piece.length > 0) return Buffer.from(piece.subarray(0, HEAD_SIZE));
  } catch (error) {
    if (!(error instanceof ArchiveError)) throw error;
  }
  return Buffer.alloc(0);
}

const ARCHIVE_START = /^\s*(?:WARC\/\d|filedesc:)/;

function isArchive(head: Buffer, text: Buffer): boolean {
  return (head.length >= 4 && isZstd(head, 0)) || ARCHIVE_START.test(text.toString("latin1", 0, 200));
}
