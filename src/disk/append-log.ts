/**
 * Appending with group commit. Whatever is appended while one fdatasync runs is written meanwhile and shares the next
 * one, so that many small appends cost few writes and few syncs.
 *
 * 1. An append resolves only when its bytes, and all bytes before them, are durable.
 * 2. Positions follow the order of the calls.
 * 3. After one failed write or sync nothing is tried again: the system may have dropped the pages and call the next
 *    sync a success. Every append that was not acknowledged rejects, and so does every later one.
 * 4. At most one buffer is held in memory; the bytes of appends that must wait stay the caller's.
 */
import { ArchiveError, invariant } from "../base/index.ts";
import type { DiskFile } from "./disk.ts";

export interface AppendLogOptions {
  /** Small appends are gathered into writes of this size. */
  readonly bufferSizeBytes?: number;
  /** Appends beyond so many bytes that are not durable yet wait for the sync that runs. */
  readonly unsyncedSizeMaxBytes?: number;
}

interface Pending {
  readonly pieces: readonly Uint8Array[];
  readonly size: number;
  readonly resolve: (position: number) => void;
  readonly reject: (error: unknown) => void;
}

interface Accepted {
  readonly position: number;
  readonly resolve: (position: number) => void;
  readonly reject: (error: unknown) => void;
}

export class AppendLog implements AsyncDisposable {
  readonly #file: DiskFile;
  readonly #buffer: Uint8Array;
  readonly #unsyncedSizeMax: number;
  #bufferedSize = 0;
  /** End of what is durable, and of what was accepted. */
  #durableEnd: number;
  #end: number;
  #waiting: Pending[] = [];
  #group: Accepted[] = [];
  #running: Promise<void> | undefined;
  #failure: Error | undefined;
  #closed = false;

  /** Owns the file and appends at its end: whoever opened it has cut off a torn tail before. */
  constructor(file: DiskFile, options: AppendLogOptions = {}) {
    this.#file = file;
    this.#buffer = new Uint8Array(options.bufferSizeBytes ?? 1 << 20);
    this.#unsyncedSizeMax = options.unsyncedSizeMaxBytes ?? 16 << 20;
    this.#end = file.size();
    this.#durableEnd = this.#end;
  }

  /** The position behind all that was accepted. */
  get end(): number {
    return this.#end;
  }

  /** The position behind all that is durable. */
  get durableEnd(): number {
    return this.#durableEnd;
  }

  /**
   * Resolves to the position of the pieces, which follow each other, once they are durable. They must not change before
   * that. An empty append resolves when all before it is durable.
   */
  append(...pieces: readonly Uint8Array[]): Promise<number> {
    invariant(!this.#closed, `${this.#file.path} is appended to after close`);
    if (this.#failure !== undefined) return Promise.reject(this.#failure);
    let size = 0;
    for (const piece of pieces) size += piece.length;
    return new Promise((resolve, reject) => {
      this.#waiting.push({ pieces, size, resolve, reject });
      this.#acceptWaiting();
      this.#running ??= this.#run();
    });
  }

  /** Resolves when every append is settled and the file is closed. What failed was told to the appends. */
  async close(): Promise<void> {
    this.#closed = true;
    await this.#running;
    this.#file.close();
  }

  [Symbol.asyncDispose](): Promise<void> {
    return this.close();
  }

  #acceptWaiting(): void {
    let count = 0;
    for (const pending of this.#waiting) {
      const unsyncedSize = this.#end - this.#durableEnd;
      // One that is larger than the limit by itself goes when nothing else is under way.
      if (unsyncedSize > 0 && unsyncedSize + pending.size > this.#unsyncedSizeMax) break;
      count++;
      const { resolve, reject } = pending;
      this.#group.push({ position: this.#end, resolve, reject });
      for (const piece of pending.pieces) {
        this.#end += piece.length;
        this.#put(piece);
      }
    }
    this.#waiting.splice(0, count);
  }

  #put(bytes: Uint8Array): void {
    if (this.#bufferedSize + bytes.length > this.#buffer.length) this.#flush(bytes.length);
    if (bytes.length >= this.#buffer.length) return this.#write(bytes, this.#end - bytes.length);
    this.#buffer.set(bytes, this.#bufferedSize);
    this.#bufferedSize += bytes.length;
  }

  /** Writes the buffer, which ends `behindSize` bytes before the end. */
  #flush(behindSize: number): void {
    if (this.#bufferedSize === 0) return;
    const position = this.#end - behindSize - this.#bufferedSize;
    this.#write(this.#buffer.subarray(0, this.#bufferedSize), position);
    this.#bufferedSize = 0;
  }

  #write(bytes: Uint8Array, position: number): void {
    if (this.#failure !== undefined) return;
    try {
      this.#file.write(bytes, position);
    } catch (cause) {
      this.#fail(cause);
    }
  }

  #fail(cause: unknown): void {
    const file = this.#file.path;
    this.#failure ??=
      cause instanceof Error ? cause : new ArchiveError("HT_IO", `${file}: write failed`, { file }, cause);
  }

  async #run(): Promise<void> {
    // All that is appended in this turn of the event loop belongs to the first group.
    await new Promise((resolve) => setImmediate(resolve));
    while (this.#group.length > 0) {
      this.#flush(0);
      if (this.#failure !== undefined) break;
      const group = this.#group;
      const end = this.#end;
      this.#group = [];
      try {
        await this.#file.syncLater();
      } catch (cause) {
        this.#fail(cause);
        for (const { reject } of group) reject(cause);
        break;
      }
      this.#durableEnd = end;
      for (const { resolve, position } of group) resolve(position);
      this.#acceptWaiting();
    }
    this.#running = undefined;
    if (this.#failure !== undefined) this.#rejectAll(this.#failure);
  }

  #rejectAll(failure: Error): void {
    const unacknowledged = [...this.#group, ...this.#waiting];
    this.#group = [];
    this.#waiting = [];
    for (const { reject } of unacknowledged) reject(failure);
  }
}
