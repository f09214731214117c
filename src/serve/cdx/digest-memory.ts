/**
 * What a walk remembers of the digests that it has seen: how often, and the first row that has the payload itself. It forgets
 * the digest that was not seen for longest, so that a walk over millions of rows takes no more memory than one over many.
 */
import { type CdxRow, type FieldReader, REVISIT, type RowOriginal } from "./cdx-row.ts";

interface Seen {
  count: number;
  original: RowOriginal | undefined;
}

const DIGESTS_MAX = 50_000;

export class DigestMemory {
  private readonly mime: FieldReader;
  private readonly sizeMax: number;
  private readonly seen = new Map<string, Seen>();

  /** `mime` says what the type of a row is, and by that which rows are revisits. */
  constructor(mime: FieldReader, sizeMax = DIGESTS_MAX) {
    this.mime = mime;
    this.sizeMax = sizeMax;
  }

  /** Notes the row, and says what is known of its digest from rows before it. */
  meet(row: CdxRow): void {
    const { digest } = row;
    if (digest === undefined) return;
    const mime = this.mime(row);
    const entry = this.seen.get(digest);
    if (entry === undefined) this.makeRoom();
    else this.seen.delete(digest);
    const known = entry ?? { count: 0, original: undefined };
    this.seen.set(digest, known);
    row.dupeCount = known.count++;
    if (mime === REVISIT) row.original = known.original;
    else known.original ??= originalOf(row, mime);
  }

  /** The same for rows that come in another order than that of times, when all were met before. */
  lead(row: CdxRow): void {
    if (row.digest !== undefined && this.mime(row) === REVISIT) row.original = this.seen.get(row.digest)?.original;
  }

  private makeRoom(): void {
    if (this.seen.size < this.sizeMax) return;
    for (const oldest of this.seen.keys()) {
      this.seen.delete(oldest);
      return;
    }
  }
}

function originalOf(row: CdxRow, mime: string | undefined): RowOriginal {
  const { capture, status, length, file } = row;
  return { mime, status, length, offset: String(capture.offset), file };
}
