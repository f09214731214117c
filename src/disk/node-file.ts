/** An open file of the operating system. */
import { closeSync, fdatasync, fdatasyncSync, fstatSync, ftruncateSync, read, readSync, writeSync } from "node:fs";
import { invariant } from "../base/index.ts";
import type { DiskFile } from "./disk.ts";
import { attempt, systemCode, toDiskError } from "./system-call.ts";

export class NodeFile implements DiskFile {
  readonly path: string;
  readonly #descriptor: number;
  #closed = false;
  /** Calls that run off the main thread. */
  #laterCount = 0;

  /** Owns the descriptor from here on. */
  constructor(path: string, descriptor: number) {
    this.path = path;
    this.#descriptor = descriptor;
  }

  size(): number {
    return attempt(this.path, () => fstatSync(this.#open()).size);
  }

  read(into: Uint8Array, position: number): number {
    const descriptor = this.#open();
    let count = 0;
    while (count < into.length) {
      try {
        const got = readSync(descriptor, into, count, into.length - count, position + count);
        if (got === 0) break;
        count += got;
      } catch (cause) {
        // The one call that Node does not repeat by itself after a signal.
        if (systemCode(cause) === "EINTR") continue;
        throw toDiskError(cause, { file: this.path, offset: position + count });
      }
    }
    return count;
  }

  write(bytes: Uint8Array, position: number): void {
    const descriptor = this.#open();
    let count = 0;
    while (count < bytes.length) {
      try {
        count += writeSync(descriptor, bytes, count, bytes.length - count, position + count);
      } catch (cause) {
        throw toDiskError(cause, { file: this.path, offset: position + count });
      }
    }
  }

  truncate(sizeBytes: number): void {
    attempt(this.path, () => ftruncateSync(this.#open(), sizeBytes));
  }

  sync(): void {
    attempt(this.path, () => fdatasyncSync(this.#open()));
  }

  async readLater(into: Uint8Array, position: number): Promise<number> {
    let count = 0;
    while (count < into.length) {
      const got = await this.#later(
        position + count,
        (descriptor, done: (cause: Error | null, count: number) => void) =>
          read(descriptor, into, count, into.length - count, position + count, done),
      );
      if (got === 0) break;
      count += got;
    }
    return count;
  }

  async syncLater(): Promise<void> {
    await this.#later(undefined, (descriptor, done: (cause: Error | null, _?: undefined) => void) =>
      fdatasync(descriptor, done),
    );
  }

  /** Does something off the main thread. */
  #later<T>(
    offset: number | undefined,
    begin: (descriptor: number, done: (cause: Error | null, value: T) => void) => void,
  ): Promise<T> {
    const descriptor = this.#open();
    this.#laterCount++;
    return new Promise((resolve, reject) => {
      begin(descriptor, (cause, value) => {
        this.#laterCount--;
        // Closing earlier could have given the number to another file, which would then have been used instead.
        if (this.#closed && this.#laterCount === 0) closeSync(descriptor);
        if (cause === null) resolve(value);
        else reject(toDiskError(cause, { file: this.path, offset }));
      });
    });
  }

  close(): void {
    if (this.#closed) return;
    this.#closed = true;
    if (this.#laterCount === 0) attempt(this.path, () => closeSync(this.#descriptor));
  }

  [Symbol.dispose](): void {
    this.close();
  }

  #open(): number {
    invariant(!this.#closed, `${this.path} is used after close`);
    return this.#descriptor;
  }
}
