/** A segment as a file, for readers that fetch records by their places. */
import { ArchiveError } from "../../base/index.ts";
import type { CatalogueView } from "../catalogue/catalogue-view.ts";
import type { ByteRange } from "./opened-capture.ts";
import type { Snapshot } from "./snapshot.ts";

export interface SegmentFile {
  /** Of what is committed: more may have been appended since. */
  readonly size: number;
  /** Bytes from one position up to before another; chunks are the caller's. */
  read(range: ByteRange): AsyncGenerator<Uint8Array>;
}

const NAME = /^\d{6,12}(?:\.odd)?\.warc\.gz$/;
const PIECE_SIZE = 1 << 18;

/**
 * One of our own segments by the name of its file; absent where there is none, for adopted files, and for a segment that
 * waits for compaction: bytes of removed captures may be in it.
 */
export function segmentNumber(catalogue: CatalogueView, nameOf: (segment: number) => string, name: string) {
  if (!NAME.test(name)) return undefined;
  for (const { number, row } of catalogue.segments())
    if (row.adopted === undefined && nameOf(number).replace(/^.*\//, "") === name)
      return catalogue.isLoose(number) ? undefined : { number, size: row.end };
  return undefined;
}

export async function* readSegment({ shelf }: Snapshot, segment: number, range: ByteRange): AsyncGenerator<Uint8Array> {
  const { source, start } = await shelf.later({ segment, offset: range.from, length: range.to - range.from, inner: 0 });
  for (let at = 0; at < range.to - range.from; ) {
    const piece = Buffer.allocUnsafe(Math.min(PIECE_SIZE, range.to - range.from - at));
    const count = await source.readLater(piece, start + at);
    if (count === 0) {
      const file = shelf.nameOf(segment);
      throw new ArchiveError("HT_CORRUPT", `${file}: the file ends before its last record`, { file });
    }
    yield piece.subarray(0, count);
    at += count;
  }
}
