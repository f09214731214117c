/** An open file of the forgetful disk. */
import { ArchiveError, invariant, systemClock } from "../base/index.ts";
import type { DiskFile, OpenMode } from "../disk/index.ts";
import type { FileNode } from "./forgetful-names.ts";
import type { Operations } from "./operations.ts";

export class ForgetfulFile implements DiskFile {
  readonly path: string;
  readonly #node: FileNode;
  readonly #mode: OpenMode;
  readonly #operations: Operations;
  #closed = false;

  constructor(path: string, node: FileNode, mode: OpenMode, operations: Operations) {
    this.path = path;
    this.#node = node;
    this.#mode = mode;
    this.#operations = operations;
  }

  size(): number {
    this.#check();
    return this.#node.content.now.length;
  }

  read(into: Uint8Array, position: number): number {
    this.#check();
    const bytes = this.#node.content.now.subarray(position, position + into.length);
    into.set(bytes);
    return bytes.length;
  }

  async readLater(into: Uint8Array, position: number): Promise<number> {
    await new Promise((resolve) => setImmediate(resolve));
    return this.read(into, position);
  }

  write(bytes: Uint8Array, position: number): void {
    this.#check("write");
    if (bytes.length === 0) return;
    this.#operations.runWrite(this.path, (part) => {
      this.#node.content.change({ position, bytes: bytes.subarray(0, Math.floor(bytes.length * part)) });
      this.#node.modifiedMs = systemClock.now();
    });
  }

  truncate(sizeBytes: number): void {
    this.#check("write");
    this.#operations.run("truncate", this.path, () => this.#node.content.change({ truncateTo: sizeBytes }));
  }

  sync(): void {
    this.#check();
    const end = this.#node.content.beginSync();
    this.#operations.runSync(
      "sync",
      this.path,
      () => end("durable"),
      () => end("doomed"),
    );
  }

  /** Takes a turn of the event loop, in which other operations may run, and the power may be cut. */
  async syncLater(): Promise<void> {
    this.#check();
    const end = this.#node.content.beginSync();
    const finish = this.#operations.beginSync("sync", this.path);
    await new Promise((resolve) => setImmediate(resolve));
    finish(
      () => end("durable"),
      () => end("doomed"),
    );
  }

  close(): void {
    this.#closed = true;
  }

  [Symbol.dispose](): void {
    this.close();
  }

  #check(use: "read" | "write" = "read"): void {
    invariant(!this.#closed, `${this.path} is used after close`);
    this.#operations.check();
    if (use === "write" && this.#mode === "read") {
      throw new ArchiveError("HT_IO", `${this.path}: open for reading only`, { file: this.path });
    }
  }
}
