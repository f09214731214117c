/**
 * The block files of a tree. Blocks that share a signature have the numbers 0, 1, 2 … without a hole: the place of one
 * that was removed is kept by a gap as long as there are blocks above it, so that looking for them ends at the first
 * name that is not there, and no folder has to be listed.
 */
import { dirname, join } from "node:path";
import { ArchiveError } from "../../base/index.ts";
import type { Disk } from "../../disk/index.ts";
import type { BlockAddress } from "../content-key.ts";
import { othersTurn } from "../promised.ts";
import type { BlockData, BlockInfo, ByteRange } from "../volume.ts";
import { type BlockHeader, formatHeader, GAP, HEADER_SIZE, parseHeader } from "./block-header.ts";
import type { TreeFolders } from "./folders.ts";
import type { IncomingFile, IncomingFiles } from "./incoming.ts";
import { blockLocation, blocksFolder } from "./location.ts";

/** What is larger is read piece by piece. */
export const SMALL_SIZE_MAX = 1 << 20;
const PIECE_SIZE = 1 << 18;
/** Signatures whose lowest free number is remembered. */
const HINTS_MAX = 10_000;

/** What the files of a tree are made with. */
export interface FileParts {
  readonly disk: Disk;
  /** Of the volume. */
  readonly folder: string;
  readonly depth: number;
  readonly folders: TreeFolders;
  readonly incoming: IncomingFiles;
}

/** A block that is there. */
export interface TreeBlock extends BlockInfo {
  readonly leaving: boolean;
}

export class BlockFiles {
  readonly path: string;
  private readonly disk: Disk;
  private readonly depth: number;
  private readonly folders: TreeFolders;
  private readonly incoming: IncomingFiles;
  /** Below these numbers there is no free one. */
  private readonly hints = new Map<string, number>();

  constructor({ disk, folder, depth, folders, incoming }: FileParts) {
    this.disk = disk;
    this.path = blocksFolder(folder);
    this.depth = depth;
    this.folders = folders;
    this.incoming = incoming;
  }

  pathOf(address: BlockAddress): string {
    return join(this.path, blockLocation(address, this.depth));
  }

  /** A block or a gap; absent where there is neither. Throws HT_CORRUPT where the file is not whole. */
  private header(path: string): BlockHeader | undefined {
    const present = this.disk.stat(path);
    return present && checkHeader(this.readHeader(path), present.sizeBytes, path);
  }

  private readHeader(path: string): Buffer {
    using file = this.disk.open(path, "read");
    const bytes = Buffer.alloc(HEADER_SIZE);
    file.read(bytes, 0);
    return bytes;
  }

  get(address: BlockAddress): TreeBlock | undefined {
    const header = this.header(this.pathOf(address));
    return header === undefined || header.state === "gap" ? undefined : blockOf(address, header);
  }

  /** Blocks with this signature, in order of their numbers. */
  *with(signature: string): Generator<TreeBlock> {
    for (let overflow = 0; ; overflow++) {
      const header = this.header(this.pathOf({ signature, overflow }));
      if (header === undefined) return;
      if (header.state !== "gap") yield blockOf({ signature, overflow }, header);
    }
  }

  /** The same with those that are cut, and without those whose headers cannot be read. */
  *candidates(signature: string): Generator<TreeBlock> {
    for (let overflow = 0; ; overflow++) {
      const path = this.pathOf({ signature, overflow });
      if (this.disk.stat(path) === undefined) return;
      const header = parseHeader(this.readHeader(path), path);
      if (header !== undefined && header.state !== "gap") yield blockOf({ signature, overflow }, header);
    }
  }

  freeNumber(signature: string): number {
    for (let overflow = this.hints.get(signature) ?? 0; ; overflow++) {
      const path = this.pathOf({ signature, overflow });
      if (!this.holdsBlock(path)) return overflow;
    }
  }

  /** Header and data; absent where there is no such block. Data that is large is read when it is taken. */
  open(address: BlockAddress, range?: ByteRange): { block: TreeBlock; data: BlockData } | undefined {
    const path = this.pathOf(address);
    const present = this.disk.stat(path);
    if (present === undefined) return undefined;
    const small = present.sizeBytes - HEADER_SIZE <= SMALL_SIZE_MAX;
    const bytes = Buffer.allocUnsafe(small ? Math.max(present.sizeBytes, HEADER_SIZE) : HEADER_SIZE);
    {
      using file = this.disk.open(path, "read");
      file.read(bytes, 0);
    }
    const header = checkHeader(bytes, present.sizeBytes, path);
    if (header.state === "gap") return undefined;
    const { start, end } = cutRange(range, header.storedSize, path);
    const data = small
      ? bytes.subarray(HEADER_SIZE + start, HEADER_SIZE + end)
      : this.pieces(path, present.identity, header.storedSize, start, end);
    return { block: blockOf(address, header), data };
  }

  /** Opens the file only when the first piece is asked for, because data may be left alone. */
  private async *pieces(
    path: string,
    identity: string,
    storedSize: number,
    start: number,
    end: number,
  ): AsyncGenerator<Uint8Array> {
    const present = this.disk.stat(path);
    if (present?.identity !== identity || present.sizeBytes !== HEADER_SIZE + storedSize) {
      throw new ArchiveError("HT_NOT_FOUND", `${path}: was removed before it was read`, { file: path });
    }
    using file = this.disk.open(path, "read");
    const buffer = Buffer.allocUnsafe(Math.min(PIECE_SIZE, end - start));
    for (let at = start; at < end; at += PIECE_SIZE) {
      await othersTurn();
      yield buffer.subarray(0, file.read(buffer.subarray(0, Math.min(PIECE_SIZE, end - at)), HEADER_SIZE + at));
    }
  }

  /** Makes the folders that a block of this signature lies in. */
  prepare(address: BlockAddress): void {
    this.folders.make(dirname(this.pathOf(address)));
  }

  /** A synced file becomes a block. Durable when this returns. */
  place(address: BlockAddress, file: IncomingFile): void {
    file.move(this.pathOf(address));
    if (this.hints.size >= HINTS_MAX) this.hints.clear();
    this.hints.set(address.signature, address.overflow + 1);
  }

  /** Writes the header in place. It is durable only when the file is synced. */
  update(block: TreeBlock): void {
    using file = this.disk.open(this.pathOf(block), "update");
    file.write(formatHeader(headerOf(block)), 0);
  }

  /** Writes the header in place, whatever is there, and makes it durable. False where there is no block. */
  async restore(block: TreeBlock): Promise<boolean> {
    const path = this.pathOf(block);
    if (!this.holdsBlock(path)) return false;
    using file = this.disk.open(path, "update");
    file.write(formatHeader(headerOf(block)), 0);
    await file.syncLater();
    return true;
  }

  /** A header that was torn is that of a block: gaps are never written in place. */
  private holdsBlock(path: string): boolean {
    if (this.disk.stat(path) === undefined) return false;
    return parseHeader(this.readHeader(path), path)?.state !== "gap";
  }

  /** Makes durable what was written in place. A block that is gone by now is fine. */
  async sync(address: BlockAddress): Promise<void> {
    const path = this.pathOf(address);
    if (this.disk.stat(path) === undefined) return;
    using file = this.disk.open(path, "update");
    await file.syncLater();
  }

  /** Makes the names in the folder of a block durable, and those of files on their way. */
  syncNames(address: BlockAddress): void {
    this.disk.syncFolder(dirname(this.pathOf(address)));
    this.disk.syncFolder(this.incoming.path);
  }

  /** Removes a block, or what is left of that. Durable when this returns. */
  drop(address: BlockAddress): void {
    const { signature, overflow } = address;
    const path = this.pathOf(address);
    if ((this.hints.get(signature) ?? 0) > overflow) this.hints.set(signature, overflow);
    if (this.disk.stat(dirname(path)) === undefined) return;
    if (this.disk.stat(this.pathOf({ signature, overflow: overflow + 1 })) !== undefined) {
      return this.incoming.put(path, formatHeader(GAP));
    }
    this.disk.remove(path);
    // Gaps that nothing lies above any more; after a crash some of them may be gone already.
    for (let below = overflow - 1; below >= 0; below--) {
      const lower = this.pathOf({ signature, overflow: below });
      if (this.disk.stat(lower) === undefined) continue;
      if (this.holdsBlock(lower)) break;
      this.disk.remove(lower);
    }
    this.disk.syncFolder(dirname(path));
  }
}

function headerOf({ compression, size, storedSize, references, leaving }: TreeBlock): BlockHeader {
  return { compression, size, storedSize, references, state: leaving ? "leaving" : "held" };
}

function blockOf({ signature, overflow }: BlockAddress, header: BlockHeader): TreeBlock {
  const { size, storedSize, compression, references, state } = header;
  return { signature, overflow, size, storedSize, compression, references, leaving: state === "leaving" };
}

function checkHeader(bytes: Buffer, fileSize: number, path: string): BlockHeader {
  const header = parseHeader(bytes, path);
  if (header === undefined) throw new ArchiveError("HT_CORRUPT", `${path}: not the header of a block`, { file: path });
  if (fileSize === HEADER_SIZE + header.storedSize) return header;
  const message = `${path}: has ${fileSize} bytes, and should have ${HEADER_SIZE + header.storedSize}`;
  throw new ArchiveError("HT_CORRUPT", message, { file: path });
}

function cutRange(range: ByteRange | undefined, storedSize: number, path: string): ByteRange {
  if (range === undefined) return { start: 0, end: storedSize };
  const { start, end } = range;
  if (start > storedSize || start < 0) {
    throw new ArchiveError("HT_USAGE", `${path}: has ${storedSize} bytes, and was asked for those from ${start} on`);
  }
  return { start, end: Math.max(start, Math.min(end, storedSize)) };
}
