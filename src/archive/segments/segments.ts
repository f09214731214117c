/** The segments of an archive: where they lie, one that is written to, and records of all of them read by their places. */
import { join } from "node:path";
import { ArchiveError, formatPlace, isDamage, type Warning } from "../../base/index.ts";
import { createDurably, type Disk, type FileStat, GrowingFile } from "../../disk/index.ts";
import {
  arcId,
  damageOf,
  detectCompression,
  factsOf,
  type Input,
  openInput,
  type RecordFacts,
  readFacts,
  splitName,
} from "../../pipeline/index.ts";
import {
  type AsyncByteSource,
  type ByteSource,
  broughtSource,
  type Compression,
  type HttpHead,
  laterRange,
  laterSource,
  parseHttpHead,
  type RecordHead,
  RecordOpener,
  type RecordOpening,
  rangeSource,
  unbracket,
  WarcReader,
  type WarcRecord,
} from "../../warc/index.ts";
import type { RecordPlace } from "../catalogue/capture-row.ts";
import type { SegmentRow } from "../catalogue/catalogue-view.ts";

const NAME = /^(\d{6,})(\.odd)?\.warc\.gz$/;

/** Segments of records at which other readers stop have numbers above this, and are called by what is above it. */
const ODD_SEGMENTS = 2 ** 30;

export function isOddSegment(number: number): boolean {
  return number > ODD_SEGMENTS;
}

export function segmentPath(folder: string, number: number): string {
  const isOdd = isOddSegment(number);
  const digits = String(isOdd ? number - ODD_SEGMENTS : number).padStart(6, "0");
  return join(folder, `${digits}${isOdd ? ".odd" : ""}.warc.gz`);
}

/** The numbers of our own segments, in order. */
export function listSegments(disk: Disk, folder: string): number[] {
  const numbers = disk.list(folder).flatMap(({ name }) => {
    const [, number, odd] = NAME.exec(name) ?? [];
    return number === undefined ? [] : [Number(number) + (odd === undefined ? 0 : ODD_SEGMENTS)];
  });
  return numbers.sort((one, other) => one - other);
}

/** The last segment of a kind, which is the one that is written to; absent where there is none. */
export function lastSegment(disk: Disk, folder: string, isOdd: boolean): number | undefined {
  return listSegments(disk, folder).findLast((number) => isOddSegment(number) === isOdd);
}

/** The number of a segment of that kind behind all of these. */
export function numberBehind(numbers: Iterable<number>, isOdd: boolean): number {
  let highest = isOdd ? ODD_SEGMENTS : 0;
  for (const number of numbers) if (isOddSegment(number) === isOdd) highest = Math.max(highest, number);
  return highest + 1;
}

/** A segment of our own as an input. */
export function segmentInput(path: string, size: number): Input {
  return { name: path, path, entries: [], size };
}

/** The name of an adopted file as an input: a path, and the entries where it lies in a ZIP file. */
export function adoptedInput(disk: Disk, name: string, size: number): Input {
  const [path, ...entries] = splitName(disk, name);
  return { name, path, entries, size };
}

/** The file that the name of an adopted one begins with; absent where it is not there. */
export function statAdopted(disk: Disk, name: string): FileStat | undefined {
  const stat = disk.stat(splitName(disk, name)[0]);
  return stat?.kind === "file" ? stat : undefined;
}

/** An archive file that is open for reading records out of it. */
export interface OpenArchive {
  readonly source: ByteSource;
  readonly compression: Compression;
}

export function openArchive(disk: Disk, input: Input): OpenArchive {
  const source = openInput(disk, input);
  return { source, compression: detectCompression(source) };
}

/** Where a record lies in its file; see `RecordPlace`. */
type PlaceInFile = Omit<RecordPlace, "segment">;

/** A record that is open. To be closed. */
interface RecordAt extends Disposable {
  readonly record: WarcRecord;
  /** To be called when it has been read: HT_CORRUPT where it was not whole. */
  prove(): void;
}

/** HT_CORRUPT where no record is in that place. One that fails its checksum is whole if it is allowed to be that. */
function recordAt({ source, compression }: OpenArchive, place: PlaceInFile, allowsChecksum: boolean): RecordAt {
  const { offset, length, inner } = place;
  let damage: Warning | undefined;
  const onWarning = (warning: Warning) => {
    const kind = damageOf([warning]);
    if (kind === "cut" || (kind === "checksum" && !allowsChecksum)) damage ??= warning;
  };
  // A zstd file may begin with a dictionary, so its frames cannot be read by themselves.
  const isAlone = length > 0 && compression !== "zstd";
  const reader = isAlone
    ? new WarcReader(rangeSource(source, offset, length), { onWarning })
    : new WarcReader(source, { start: offset, onWarning });
  try {
    let record = reader.next();
    while (length === 0 && record !== undefined && (record.inner ?? 0) !== inner) record = reader.next();
    if (record === undefined) throw unreadable(source, offset, "no record there");
    const prove = () => {
      // What is behind it is not looked at, but its checksum is.
      if (isAlone) reader.next();
      if (damage !== undefined) throw unreadable(source, offset, damage.message);
    };
    return { record, prove, [Symbol.dispose]: () => reader.close() };
  } catch (error) {
    reader.close();
    if (error instanceof ArchiveError && error.code === "HT_FORMAT_UNKNOWN")
      throw unreadable(source, offset, "no record");
    throw error;
  }
}

/** Hands one record to `use`. Throws HT_CORRUPT where no whole record is in that place; see `recordAt`. */
export function readRecord<T>(
  archive: OpenArchive,
  place: PlaceInFile,
  use: (record: WarcRecord) => T,
  allowsChecksum = false,
): T {
  using at = recordAt(archive, place, allowsChecksum);
  const result = use(at.record);
  at.prove();
  return result;
}

/**
 * The same for a file of others, in which a record may reach into the next member: read by itself it is cut off, with what
 * stands behind it, it is not. `use` may write what it gets, so it is called once, when it is known how to read.
 */
export function readRecordOfOthers<T>(archive: OpenArchive, place: PlaceInFile, use: (record: WarcRecord) => T): T {
  return readRecord(archive, placeOfOthers(archive, place), use, true);
}

function placeOfOthers(archive: OpenArchive, place: PlaceInFile): PlaceInFile {
  return place.length > 0 && !isWhole(archive, place) ? { ...place, length: 0 } : place;
}

function isWhole(archive: OpenArchive, place: PlaceInFile): boolean {
  try {
    readRecord(archive, place, (record) => record.drain(), true);
    return true;
  } catch (error) {
    if (error instanceof ArchiveError && error.code === "HT_CORRUPT") return false;
    throw error;
  }
}

function unreadable({ name }: ByteSource, offset: number, message: string): ArchiveError {
  const at = { file: name, offset };
  return new ArchiveError("HT_CORRUPT", `${formatPlace(at)}: ${message}`, at);
}

/** `name` is that of its file, without folders: a record of an ARC file gets its id by that and its place. */
export function idIn(record: WarcRecord, name: string, place: PlaceInFile): string | undefined {
  return record.arc === undefined ? record.id : unbracket(arcId(name, record, place));
}

/** What reading gives; absent where what should be read is damaged or not there. */
export function readable<T>(read: () => T, onError: (error: ArchiveError) => void = () => {}): T | undefined {
  try {
    return read();
  } catch (error) {
    if (!(error instanceof ArchiveError)) throw error;
    onError(error);
    return undefined;
  }
}

const OPEN_MAX = 64;
/** Compressed, the headers of most records take much less. */
const OPENING_SIZE = 1 << 13;
/** And so do those of most HTTP messages, uncompressed. */
const HTTP_SIZE = 1 << 12;

/** Of a record that is brought at once. */
const BROUGHT_MAX = 1 << 20;

/** Where the record ends; anywhere, for one that shares its member with others. */
function endOf({ offset, length }: RecordPlace): number {
  return length === 0 ? Number.POSITIVE_INFINITY : offset + length;
}

/** Reads records by their places. Files stay open while they are in use. */
export class RecordShelf implements Disposable {
  private readonly disk: Disk;
  private readonly folder: string;
  private readonly segmentOf: (number: number) => SegmentRow | undefined;
  private readonly beforeRead: (segment: number, end: number) => void;
  private readonly opener = new RecordOpener();
  private readonly opening = Buffer.allocUnsafeSlow(OPENING_SIZE);
  /** In order of their last use. */
  private readonly open = new Map<number, OpenArchive>();

  /** `beforeRead` sees to it that what was written to a segment is there, up to an end. */
  constructor(
    disk: Disk,
    folder: string,
    segmentOf: (number: number) => SegmentRow | undefined,
    beforeRead: (segment: number, end: number) => void = () => {},
  ) {
    this.disk = disk;
    this.folder = folder;
    this.segmentOf = segmentOf;
    this.beforeRead = beforeRead;
  }

  /** How a segment is called: its path, or that of the adopted file. */
  nameOf(segment: number): string {
    return this.segmentOf(segment)?.adopted?.path ?? segmentPath(this.folder, segment);
  }

  /** Whether a segment of our own is there; then it is open, until many others were asked for. */
  hold(segment: number): boolean {
    if (this.segmentOf(segment)?.adopted !== undefined) return true;
    try {
      this.segment(segment, 0);
      return true;
    } catch (error) {
      if (error instanceof ArchiveError && error.code === "HT_LOST") return false;
      throw error;
    }
  }

  /** Hands the record to `use`; it is gone afterwards. HT_CORRUPT where no whole record is there; see `recordAt`. */
  read<T>(place: RecordPlace, use: (record: WarcRecord) => T, allowsChecksum = false): T {
    const segment = this.segment(place.segment, endOf(place));
    // What is our own is sound, or has rotted; what was adopted is what it is.
    const isAdopted = this.segmentOf(place.segment)?.adopted !== undefined;
    return isAdopted ? readRecordOfOthers(segment, place, use) : readRecord(segment, place, use, allowsChecksum);
  }

  /** The block of a record, piece by piece. Throws HT_CORRUPT where no whole record is in that place. */
  *block(place: RecordPlace): Generator<Uint8Array> {
    const segment = this.segment(place.segment, endOf(place));
    const isAdopted = this.segmentOf(place.segment)?.adopted !== undefined;
    using at = recordAt(segment, isAdopted ? placeOfOthers(segment, place) : place, isAdopted);
    yield* at.record.chunks();
    at.prove();
  }

  /** What the first record of a segment tells; absent where it cannot be read. */
  first<T>(segment: number, tell: (record: WarcRecord) => T): T | undefined {
    return readable(() => this.read({ segment, offset: 0, length: 0, inner: 0 }, tell));
  }

  /** A record with those that lie beside it, one after the other; one that shares its member comes alone. */
  *facts({ place, before, after }: { place: RecordPlace; before: number; after: number }): Generator<RecordFacts> {
    const { segment, offset, length } = place;
    const name = this.nameOf(segment).replace(/^.*[/!]/, "");
    const { source, compression } = this.segment(segment, endOf(place) + after);
    if (length === 0 || compression === "zstd") {
      yield this.read(place, (record) => factsOf(record, name, () => {}));
      return;
    }
    const range = rangeSource(source, offset - before, before + length + after);
    const reader = new WarcReader(range, { onWarning: () => {} });
    try {
      yield* readFacts(reader, name);
    } finally {
      reader.close();
    }
  }

  /** The record's id, without brackets; of an ARC record the one that it gets when it is converted. */
  idOf(place: RecordPlace): string | undefined {
    const name = this.nameOf(place.segment).replace(/^.*[/!]/, "");
    return this.read(place, (record) => idIn(record, name, place));
  }

  /** The header of a record, without the rest of it; absent where only reading the whole record tells it. */
  head(place: RecordPlace): RecordHead | undefined {
    return this.openingOf(place, 0)?.head;
  }

  /** The HTTP header of a record that begins with one; absent as above. */
  httpHead(place: RecordPlace): HttpHead | undefined {
    const { start } = this.openingOf(place, HTTP_SIZE) ?? {};
    return start && parseHttpHead(start, 0, start.length, false);
  }

  private openingOf(place: RecordPlace, blockSize: number): RecordOpening | undefined {
    const { source } = this.segment(place.segment, endOf(place));
    if (place.length === 0) return undefined;
    const count = source.read(this.opening.subarray(0, Math.min(place.length, OPENING_SIZE)), place.offset);
    return this.opener.open(this.opening, 0, count, blockSize);
  }

  /**
   * Where a record is read from without making others wait: its own bytes, or a file from a position on. Those of a record
   * that is not large are in memory then, so that whoever reads them has its buffers for a moment only.
   */
  async later(place: RecordPlace): Promise<{ readonly source: AsyncByteSource; readonly start: number }> {
    const { source, compression } = this.segment(place.segment, endOf(place));
    const file = laterSource(source);
    // A record of others may reach into the next member.
    const isAlone = place.length > 0 && compression !== "zstd" && this.segmentOf(place.segment)?.adopted === undefined;
    const start = isAlone ? 0 : place.offset;
    const all = isAlone ? laterRange(file, place.offset, place.length) : file;
    const isBrought = place.length > 0 && place.length <= BROUGHT_MAX;
    return { source: isBrought ? await broughtSource(all, start, place.length) : all, start };
  }

  /** The bytes of a record and of those around it as they lie in the file. Pieces are valid until the next one. */
  *raw(segment: number, from: number, to: number): Generator<Uint8Array> {
    const { source } = this.segment(segment, to);
    if (from < 0)
      throw unreadable(
        source,
        to,
        "what belongs to the record lies in another segment; `holotype rebuild` puts it right",
      );
    const buffer = Buffer.allocUnsafeSlow(Math.min(1 << 20, Math.max(1, to - from)));
    for (let at = from; at < to; ) {
      const count = source.read(buffer.subarray(0, Math.min(buffer.length, to - at)), at);
      if (count === 0) throw unreadable(source, at, "the file ends before");
      yield buffer.subarray(0, count);
      at += count;
    }
  }

  /** Whether the records that lie there can be read by themselves, and nothing is wrong with them. */
  isSound(segment: number, from: number, to: number): boolean {
    const { source } = this.segment(segment, to);
    let isSound = true;
    const onWarning = (warning: Warning) => {
      isSound &&= !isDamage(warning);
    };
    const reader = new WarcReader(rangeSource(source, from, to - from), { onWarning });
    try {
      for (let record = reader.next(); record !== undefined; record = reader.next()) record.drain();
      return isSound;
    } catch (error) {
      if (error instanceof ArchiveError && error.code === "HT_FORMAT_UNKNOWN") return false;
      throw error;
    } finally {
      reader.close();
    }
  }

  private segment(number: number, end: number): OpenArchive {
    this.beforeRead(number, end);
    const there = this.open.get(number);
    if (there !== undefined) {
      this.open.delete(number);
      this.open.set(number, there);
      return there;
    }
    const segment = this.openFile(number);
    this.open.set(number, segment);
    if (this.open.size > OPEN_MAX) this.forget(this.open.keys().next().value!);
    return segment;
  }

  /** The file of a segment, to be closed by whoever opened it. HT_LOST where it is not there. */
  openFile(number: number): OpenArchive {
    const name = this.nameOf(number);
    const isAdopted = this.segmentOf(number)?.adopted !== undefined;
    try {
      return openArchive(this.disk, isAdopted ? adoptedInput(this.disk, name, 0) : segmentInput(name, 0));
    } catch (cause) {
      if (!(cause instanceof ArchiveError) || cause.code !== "HT_NOT_FOUND") throw cause;
      const what = isAdopted ? "an adopted file that is not there any more" : "a segment that is not there any more";
      const advice = isAdopted
        ? "bring it back, or adopt it where it lies now; `holotype doctor` tells what is in it"
        : "bring it back; `holotype doctor` tells what is in it";
      // What the catalogue leads to is lost with it; to who asks, that is not as if there were nothing.
      throw new ArchiveError("HT_LOST", `${name}: ${what}; ${advice}`, { file: name }, cause);
    }
  }

  /** To be called when a segment has changed or goes away. */
  forget(number: number): void {
    this.open.get(number)?.source.close?.();
    this.open.delete(number);
  }

  [Symbol.dispose](): void {
    for (const { source } of this.open.values()) source.close?.();
    this.open.clear();
  }
}

/** The segment that is written to. Nothing of it counts before `sync`. */
export class SegmentWriter extends GrowingFile {
  readonly number: number;

  constructor(disk: Disk, folder: string, number: number) {
    super(disk, segmentPath(folder, number));
    this.number = number;
  }
}

/** Copies what lies behind a position of a segment to a file beside it, before it is cut off. */
export function saveTail(disk: Disk, folder: string, number: number, from: number): void {
  const path = segmentPath(folder, number);
  using file = disk.open(path, "read");
  const piece = Buffer.alloc(1 << 16);
  createDurably(
    disk,
    `${path}.cut-at-${from}`,
    (output) => {
      for (let at = from, count = file.read(piece, at); count > 0; count = file.read(piece, at)) {
        output.write(piece.subarray(0, count));
        at += count;
      }
    },
    { replace: true },
  );
}

/** Cuts a segment off at this position, durably. */
export function cutSegment(disk: Disk, folder: string, number: number, end: number): void {
  using file = disk.open(segmentPath(folder, number), "update");
  file.truncate(end);
  file.sync();
}
