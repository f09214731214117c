/**
 * A file that grows at its end: small writes gather in a buffer, what was written last can be cut off again, and nothing
 * counts before it was synced. Unlike an `AppendLog` it leaves to its owner when to sync.
 */
import { dirname } from "node:path";
import type { Disk, DiskFile } from "./disk.ts";

const BUFFER_SIZE = 1 << 20;

export class GrowingFile implements Disposable {
  private readonly file: DiskFile;
  private readonly buffer = Buffer.allocUnsafeSlow(BUFFER_SIZE);
  private buffered = 0;
  private flushed: number;
  /** Counts writes and cuts. */
  private changes = 0;
  /** The changes that are durable. */
  private synced = 0;

  /** Goes on at the end of the file, or creates it, with its name durable. */
  constructor(disk: Disk, path: string) {
    const isNew = disk.stat(path) === undefined;
    this.file = disk.open(path, isNew ? "create" : "update");
    if (isNew) disk.syncFolder(dirname(path));
    this.flushed = this.file.size();
  }

  get path(): string {
    return this.file.path;
  }

  get end(): number {
    return this.flushed + this.buffered;
  }

  /** Up to here what was written can be read. */
  get flushedEnd(): number {
    return this.flushed;
  }

  write(bytes: Uint8Array): void {
    if (this.buffered + bytes.length > BUFFER_SIZE) this.flush();
    this.changes++;
    if (bytes.length >= BUFFER_SIZE) {
      this.file.write(bytes, this.flushed);
      this.flushed += bytes.length;
      return;
    }
    this.buffer.set(bytes, this.buffered);
    this.buffered += bytes.length;
  }

  /** What was written can be read when this returns. */
  flush(): void {
    if (this.buffered === 0) return;
    this.file.write(this.buffer.subarray(0, this.buffered), this.flushed);
    this.flushed += this.buffered;
    this.buffered = 0;
  }

  /** What was written is durable when this returns. */
  sync(): void {
    if (this.synced === this.changes) return;
    this.flush();
    this.file.sync();
    this.synced = this.changes;
  }

  /** What was written before the call is durable when it resolves. Writing may go on meanwhile. */
  async syncLater(): Promise<void> {
    if (this.synced === this.changes) return;
    this.flush();
    const { changes } = this;
    await this.file.syncLater();
    this.synced = Math.max(this.synced, changes);
  }

  /** Takes back what was written after this position. */
  cut(end: number): void {
    this.changes++;
    // A write that failed may have left some of its bytes.
    this.flushed = Math.min(this.flushed, end);
    this.buffered = end - this.flushed;
    this.file.truncate(this.flushed);
  }

  [Symbol.dispose](): void {
    this.file.close();
  }
}
