/**
 * A block that is too large to be held: it gets a segment of its own. Its bytes go to an unfinished file while they
 * come and are verified there; the header, for which room was left, and the name come last.
 */
import { createHash } from "node:crypto";
import { ArchiveError, type Random } from "../../base/index.ts";
import { type Disk, type DiskFile, partialPath } from "../../disk/index.ts";
import { SEPARATOR } from "../../warc/index.ts";
import type { BlockData } from "../volume.ts";
import type { RecordPlace } from "./pack-state.ts";
import { segmentFolder, segmentPath } from "./segment.ts";

/** Room for the header; with all its fields it takes less than 1,000 bytes, and as much again for keys of migrations. */
export const LARGE_HEAD_SIZE = 4096;
const PIECE_SIZE = 1 << 18;

export class LargeBlock implements Disposable {
  storedSize = 0;
  readonly digest: string;
  private readonly disk: Disk;
  private readonly folder: string;
  private readonly file: DiskFile;
  private finished = false;

  /** Resolves when all bytes are durable, under an unfinished name. */
  static async receive(
    disk: Disk,
    folder: string,
    random: Random,
    data: AsyncIterable<Uint8Array>,
  ): Promise<LargeBlock> {
    const file = disk.open(partialPath(`${segmentFolder(folder)}/large`, random), "create");
    const hash = createHash("sha256");
    let size = 0;
    try {
      for await (const piece of data) {
        file.write(piece, LARGE_HEAD_SIZE + size);
        hash.update(piece);
        size += piece.length;
      }
      file.write(SEPARATOR, LARGE_HEAD_SIZE + size);
      await file.syncLater();
    } catch (error) {
      discard(disk, file);
      throw error;
    }
    return new LargeBlock(disk, folder, file, size, hash.digest("hex"));
  }

  private constructor(disk: Disk, folder: string, file: DiskFile, storedSize: number, digest: string) {
    this.disk = disk;
    this.folder = folder;
    this.file = file;
    this.storedSize = storedSize;
    this.digest = digest;
  }

  /** The bytes, read back; as often as one likes. */
  data(): BlockData {
    const { file, storedSize } = this;
    return (async function* () {
      const buffer = Buffer.allocUnsafe(PIECE_SIZE);
      for (let at = 0; at < storedSize; at += PIECE_SIZE) {
        const piece = buffer.subarray(0, Math.min(PIECE_SIZE, storedSize - at));
        file.read(piece, LARGE_HEAD_SIZE + at);
        yield await Promise.resolve(piece);
      }
    })();
  }

  /** Gives it its header and its name: durable when this returns. */
  finish(head: Buffer, segment: number): RecordPlace {
    if (head.length !== LARGE_HEAD_SIZE) {
      throw new ArchiveError("HT_TOO_LARGE", `a header of ${head.length} bytes for a large block`);
    }
    this.file.write(head, 0);
    this.file.sync();
    this.file.close();
    this.disk.rename(this.file.path, segmentPath(this.folder, segment), "refuse");
    this.finished = true;
    this.disk.syncFolder(segmentFolder(this.folder));
    return { segment, offset: 0, headSize: head.length, end: head.length + this.storedSize + SEPARATOR.length };
  }

  [Symbol.dispose](): void {
    if (!this.finished) discard(this.disk, this.file);
  }
}

/** A disk that refuses even that leaves the file to the next opening. */
function discard(disk: Disk, file: DiskFile): void {
  try {
    file.close();
    disk.remove(file.path);
  } catch (error) {
    if (!(error instanceof ArchiveError)) throw error;
  }
}
