/**
 * Files that are on their way: written under a number in one folder, synced, and then renamed to where they belong, so
 * that what lies there is whole. The folder is emptied when the volume is opened.
 */
import { dirname, join } from "node:path";
import { ArchiveError } from "../../base/index.ts";
import type { Disk, DiskFile } from "../../disk/index.ts";
import { othersTurn } from "../promised.ts";
import { incomingFolder } from "./location.ts";

const PIECE_SIZE = 1 << 18;

export class IncomingFiles {
  readonly path: string;
  private readonly disk: Disk;
  private count = 0;
  /** Names of files that somebody is writing. */
  readonly inUse = new Set<string>();

  constructor(disk: Disk, folder: string) {
    this.disk = disk;
    this.path = incomingFolder(folder);
  }

  /** Removes what nobody is writing any more: what a dead process left. */
  clear(): void {
    this.disk.makeFolder(this.path);
    for (const { name } of this.disk.list(this.path)) {
      if (!this.inUse.has(name)) this.disk.remove(join(this.path, name));
    }
  }

  begin(): IncomingFile {
    const name = String(++this.count);
    const file = this.disk.open(join(this.path, name), "replace");
    this.inUse.add(name);
    return new IncomingFile(this.disk, file, () => this.inUse.delete(name));
  }

  /** Makes the file `path` of these bytes, or replaces it: durable when this returns. The folder must be there. */
  put(path: string, ...pieces: readonly Uint8Array[]): void {
    using file = this.begin();
    for (const piece of pieces) file.append(piece);
    file.sync();
    file.move(path);
  }
}

export class IncomingFile implements Disposable {
  size = 0;
  private readonly disk: Disk;
  private readonly file: DiskFile;
  private readonly onEnd: () => void;
  private moved = false;

  constructor(disk: Disk, file: DiskFile, onEnd: () => void) {
    this.disk = disk;
    this.file = file;
    this.onEnd = onEnd;
  }

  append(bytes: Uint8Array): void {
    this.file.write(bytes, this.size);
    this.size += bytes.length;
  }

  /** Overwrites the beginning. */
  writeHead(bytes: Uint8Array): void {
    this.file.write(bytes, 0);
    this.size = Math.max(this.size, bytes.length);
  }

  sync(): void {
    this.file.sync();
  }

  syncLater(): Promise<void> {
    return this.file.syncLater();
  }

  /** From an offset to the end, as often as one likes. A piece is valid until the next one. */
  async *read(from: number): AsyncGenerator<Uint8Array> {
    const buffer = Buffer.allocUnsafe(PIECE_SIZE);
    for (let at = from; at < this.size; at += PIECE_SIZE) {
      await othersTurn();
      yield buffer.subarray(0, this.file.read(buffer.subarray(0, Math.min(PIECE_SIZE, this.size - at)), at));
    }
  }

  /** Gives the synced file its place, and takes that of a file that is there: durable when this returns. */
  move(path: string): void {
    this.disk.rename(this.file.path, path);
    this.moved = true;
    this.disk.syncFolder(dirname(path));
    this.disk.syncFolder(dirname(this.file.path));
  }

  [Symbol.dispose](): void {
    this.onEnd();
    try {
      this.file.close();
      if (!this.moved) this.disk.remove(this.file.path);
    } catch (error) {
      // Most often there is an error on its way already; the next opening removes the file.
      if (!(error instanceof ArchiveError)) throw error;
    }
  }
}
