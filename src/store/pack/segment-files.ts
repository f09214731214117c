/** Open segments to read from, as many at a time as is sensible. */
import { ArchiveError } from "../../base/index.ts";
import type { Disk, DiskFile } from "../../disk/index.ts";
import type { BlockData, ByteRange } from "../volume.ts";
import type { BlockEntry } from "./pack-index.ts";
import { segmentPath } from "./segment.ts";

const OPEN_MAX = 64;
/** Blocks up to this size are read at once. */
export const SMALL_SIZE_MAX = 1 << 20;
const PIECE_SIZE = 1 << 18;

export class SegmentFiles implements Disposable {
  private readonly disk: Disk;
  private readonly folder: string;
  private readonly files = new Map<number, DiskFile>();

  constructor(disk: Disk, folder: string) {
    this.disk = disk;
    this.folder = folder;
  }

  private file(segment: number): DiskFile {
    const known = this.files.get(segment);
    if (known !== undefined) return known;
    const file = this.disk.open(segmentPath(this.folder, segment), "read");
    if (this.files.size >= OPEN_MAX) this.forget(this.files.keys().next().value!);
    this.files.set(segment, file);
    return file;
  }

  /** Before a segment goes. */
  forget(segment: number): void {
    this.files.get(segment)?.close();
    this.files.delete(segment);
  }

  /** The stored bytes of a block, or a range of them. */
  read(entry: BlockEntry, range?: ByteRange): BlockData {
    const { start, end } = cut(entry, range);
    const from = entry.offset + entry.headSize + start;
    const size = end - start;
    if (size > SMALL_SIZE_MAX) return this.stream(entry.segment, from, size);
    const bytes = Buffer.allocUnsafe(size);
    this.fill(this.file(entry.segment), bytes, from);
    return bytes;
  }

  private fill(file: DiskFile, into: Uint8Array, from: number): void {
    if (into.length === 0 || file.read(into, from) === into.length) return;
    throw new ArchiveError("HT_CORRUPT", `${file.path}: ends inside a block`, { file: file.path, offset: from });
  }

  /** With a file of its own, for the segment may be compacted away meanwhile. */
  private async *stream(segment: number, from: number, size: number): AsyncGenerator<Uint8Array> {
    using file = this.disk.open(segmentPath(this.folder, segment), "read");
    const buffer = Buffer.allocUnsafe(PIECE_SIZE);
    for (let at = 0; at < size; at += PIECE_SIZE) {
      const piece = buffer.subarray(0, Math.min(PIECE_SIZE, size - at));
      this.fill(file, piece, from + at);
      yield await Promise.resolve(piece);
    }
  }

  [Symbol.dispose](): void {
    for (const segment of this.files.keys()) this.forget(segment);
  }
}

function cut({ storedSize }: BlockEntry, range: ByteRange | undefined): ByteRange {
  if (range === undefined) return { start: 0, end: storedSize };
  if (range.start > storedSize || range.start > range.end || range.start < 0) {
    throw new ArchiveError("HT_USAGE", `a range from ${range.start} to ${range.end} of ${storedSize} bytes`);
  }
  return { start: range.start, end: Math.min(range.end, storedSize) };
}
