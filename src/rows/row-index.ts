/**
 * The index of a run while that is written: where each block ends, and what tells its keys apart from those before. Kept as
 * bytes, since a large run has millions of blocks. Obeys docs/format/catalogue.md.
 */
import { crc32 } from "node:zlib";
import { ArchiveError } from "../base/index.ts";

export const INDEX_ENTRY_SIZE = 10;
/** Who reads holds it in memory. */
export const INDEX_SIZE_MAX = 2 ** 30;

export class IndexBuilder {
  private table: Buffer = Buffer.allocUnsafe(1 << 10);
  private separators: Buffer = Buffer.allocUnsafe(1 << 10);
  private separatorsSize = 0;
  private count = 0;

  get isEmpty(): boolean {
    return this.count === 0;
  }

  /** `end` is that of the block, from the beginning of the run. */
  add(separator: string, end: number): void {
    const at = 4 + INDEX_ENTRY_SIZE * this.count++;
    this.table = withRoom(this.table, at, INDEX_ENTRY_SIZE);
    this.separators = withRoom(this.separators, this.separatorsSize, separator.length);
    this.separatorsSize += this.separators.write(separator, this.separatorsSize, "latin1");
    this.table.writeUInt32BE(this.separatorsSize, at);
    this.table.writeUIntBE(end, at + 4, 6);
  }

  /** With its checksum. */
  finish(): Buffer {
    const table = this.table.subarray(0, 4 + INDEX_ENTRY_SIZE * this.count);
    table.writeUInt32BE(this.count, 0);
    const size = table.length + this.separatorsSize;
    const index = Buffer.concat([table, this.separators.subarray(0, this.separatorsSize)], size + 4);
    index.writeUInt32BE(crc32(index.subarray(0, size)), size);
    return index;
  }
}

function withRoom(bytes: Buffer, size: number, more: number): Buffer {
  if (size + more <= bytes.length) return bytes;
  if (size + more > INDEX_SIZE_MAX / 2) throw new ArchiveError("HT_TOO_LARGE", "too many rows for one catalogue");
  const larger = Buffer.allocUnsafe(2 * (size + more));
  bytes.copy(larger, 0, 0, size);
  return larger;
}
