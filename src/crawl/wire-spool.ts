/**
 * The bytes of a message as they come from the wire, until it is decided what becomes of them: in memory up to a limit,
 * then in a file that has no name any more, so that nothing is left of it when the process ends, however it ends.
 */
import { type Random, systemRandom } from "../base/index.ts";
import { type Disk, type DiskFile, partialPath } from "../disk/index.ts";

export interface SpoolOptions {
  readonly disk: Disk;
  /** Where the files lie; it has to be there. */
  readonly folder: string;
  readonly random?: Random | undefined;
  /** More than this goes to a file. */
  readonly memoryMaxBytes?: number | undefined;
}

const MEMORY_DEFAULT = 256 * 1024;
const MEMORY_FIRST = 32 * 1024;

export class WireSpool implements Disposable {
  private readonly options: SpoolOptions;
  private readonly memoryMax: number;
  /** What is not in the file yet. It stays for the next message. */
  private memory: Buffer;
  private held = 0;
  private file: DiskFile | undefined;
  private written = 0;

  constructor(options: SpoolOptions) {
    this.options = options;
    this.memoryMax = options.memoryMaxBytes ?? MEMORY_DEFAULT;
    this.memory = Buffer.allocUnsafeSlow(Math.min(MEMORY_FIRST, this.memoryMax));
  }

  get size(): number {
    return this.written + this.held;
  }

  /** Copies the bytes. */
  push(bytes: Uint8Array): void {
    const size = this.held + bytes.length;
    if (size > this.memoryMax) this.spill(bytes);
    else {
      if (size > this.memory.length) this.enlarge(size);
      this.memory.set(bytes, this.held);
      this.held = size;
    }
  }

  private enlarge(size: number): void {
    const larger = Buffer.allocUnsafeSlow(Math.min(this.memoryMax, Math.max(size, 2 * this.memory.length)));
    this.memory.copy(larger, 0, 0, this.held);
    this.memory = larger;
  }

  private spill(bytes: Uint8Array): void {
    const file = (this.file ??= this.openFile());
    for (const piece of [this.memory.subarray(0, this.held), bytes]) {
      file.write(piece, this.written);
      this.written += piece.length;
    }
    this.held = 0;
  }

  private openFile(): DiskFile {
    const { disk, folder, random = systemRandom } = this.options;
    const path = partialPath(`${folder}/spool`, random);
    const file = disk.open(path, "create", { permissions: 0o600 });
    disk.remove(path);
    return file;
  }

  /** All bytes in order, as often as it is asked for. A piece is valid until the next one. */
  *pieces(): Generator<Uint8Array> {
    if (this.file !== undefined) {
      const piece = Buffer.allocUnsafe(Math.min(MEMORY_DEFAULT, this.written));
      for (let at = 0; at < this.written; ) {
        const count = this.file.read(piece.subarray(0, Math.min(piece.length, this.written - at)), at);
        yield piece.subarray(0, count);
        at += count;
      }
    }
    if (this.held > 0) yield this.memory.subarray(0, this.held);
  }

  /** Forgets all bytes; the next message may come. */
  clear(): void {
    this.file?.close();
    this.file = undefined;
    this.written = 0;
    this.held = 0;
  }

  [Symbol.dispose](): void {
    this.clear();
  }
}

/** Spools that are used again: most messages then need no memory of their own. */
export class SpoolPool implements Disposable {
  private readonly options: SpoolOptions;
  private readonly free: WireSpool[] = [];

  constructor(options: SpoolOptions) {
    this.options = options;
  }

  take(): WireSpool {
    return this.free.pop() ?? new WireSpool(this.options);
  }

  give(spool: WireSpool): void {
    spool.clear();
    this.free.push(spool);
  }

  [Symbol.dispose](): void {
    for (const spool of this.free) spool[Symbol.dispose]();
    this.free.length = 0;
  }
}
