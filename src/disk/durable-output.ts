/**
 * Files that are whole or not there. The bytes go to an unfinished name beside the target and are synced before the
 * target's name leads to them; then the folder is synced. What a crash can leave: the old target (or none), perhaps
 * with an unfinished file beside it that `removeLeftovers` knows; or the new target, complete.
 */
import { dirname } from "node:path";
import { ArchiveError, invariant, type Random, systemRandom } from "../base/index.ts";
import { commonAccess } from "./access.ts";
import type { Access, Disk, DiskFile, FileStat, NewAccess } from "./disk.ts";
import { partialPath } from "./partial-name.ts";

export interface DurableOptions {
  /** Without it, a target that is there stays and the call throws HT_EXISTS. With it, permissions carry over. */
  readonly replace?: boolean;
  /** Who may read the target, at most; see `Disk.open`. */
  readonly access?: Access | undefined;
  readonly random?: Random;
}

/** What was there is kept, as far as that is allowed. */
function accessFor(present: FileStat | undefined, access: Access | undefined): NewAccess | undefined {
  if (present === undefined) return access;
  const { permissions, group } = (access && commonAccess([present, access])) ?? present;
  return { permissions, group, isExact: true };
}

/** Where bytes go in order. They are the caller's again when `write` returns. */
export interface ByteSink {
  write(bytes: Uint8Array): void;
}

const BUFFER_SIZE = 1 << 20;
/** Most files are small, and a job writes many of them. */
const BUFFER_SIZE_FIRST = 1 << 14;

export class DurableOutput implements ByteSink, Disposable {
  readonly path: string;
  readonly #disk: Disk;
  readonly #file: DiskFile;
  readonly #replace: boolean;
  #buffer = new Uint8Array(0);
  #bufferedSize = 0;
  #writtenSize = 0;
  #state: "open" | "committed" | "aborted" = "open";

  private constructor(disk: Disk, path: string, replace: boolean, file: DiskFile) {
    this.#disk = disk;
    this.path = path;
    this.#replace = replace;
    this.#file = file;
  }

  static begin(disk: Disk, path: string, options: DurableOptions = {}): DurableOutput {
    const replace = options.replace ?? false;
    const present = disk.stat(path);
    // Told before the long work; the rename will see to it that nothing came between.
    if (present !== undefined && !replace)
      throw new ArchiveError("HT_EXISTS", `${path}: there already`, { file: path });
    const folder = dirname(path);
    if (present === undefined && disk.stat(folder) === undefined) {
      throw new ArchiveError("HT_NOT_FOUND", `${folder}: no such folder`, { file: folder });
    }
    const partial = partialPath(path, options.random ?? systemRandom);
    return new DurableOutput(disk, path, replace, disk.open(partial, "create", accessFor(present, options.access)));
  }

  /** Bytes given to `write` so far. */
  get size(): number {
    return this.#writtenSize + this.#bufferedSize;
  }

  /** Small writes gather in a buffer that grows to 1 MB; those as large as the buffer go past it. */
  write(bytes: Uint8Array): void {
    this.#checkOpen();
    if (this.#bufferedSize + bytes.length > BUFFER_SIZE) this.flush();
    if (bytes.length >= BUFFER_SIZE) {
      this.#file.write(bytes, this.#writtenSize);
      this.#writtenSize += bytes.length;
      return;
    }
    this.#reserve(this.#bufferedSize + bytes.length);
    this.#buffer.set(bytes, this.#bufferedSize);
    this.#bufferedSize += bytes.length;
  }

  #reserve(size: number): void {
    if (size <= this.#buffer.length) return;
    const larger = new Uint8Array(Math.min(BUFFER_SIZE, Math.max(BUFFER_SIZE_FIRST, 2 * size)));
    larger.set(this.#buffer.subarray(0, this.#bufferedSize));
    this.#buffer = larger;
  }

  /** Hands what is buffered to the system. It is not durable by that. */
  flush(): void {
    this.#checkOpen();
    if (this.#bufferedSize === 0) return;
    this.#file.write(this.#buffer.subarray(0, this.#bufferedSize), this.#writtenSize);
    this.#writtenSize += this.#bufferedSize;
    this.#bufferedSize = 0;
  }

  /** Makes durable what was written so far, under its unfinished name. */
  sync(): void {
    this.flush();
    this.#file.sync();
  }

  /** Reads back what was written so far, to verify it before it gets its name. The caller closes it before `commit`. */
  openForReading(): DiskFile {
    this.flush();
    return this.#disk.open(this.#file.path, "read");
  }

  /** Returns when the file is durable under its name. When it throws, the target may be there, but then complete. */
  commit(): void {
    this.flush();
    this.#file.sync();
    this.#file.close();
    this.#disk.rename(this.#file.path, this.path, this.#replace ? "replace" : "refuse");
    this.#state = "committed";
    this.#buffer = new Uint8Array(0);
    this.#disk.syncFolder(dirname(this.path));
  }

  /** Gives up, unless committed. A disk that refuses even that leaves the unfinished file to `removeLeftovers`. */
  abort(): void {
    if (this.#state !== "open") return;
    this.#state = "aborted";
    this.#buffer = new Uint8Array(0);
    try {
      this.#file.close();
      this.#disk.remove(this.#file.path);
    } catch (error) {
      // Most often there is an error on its way already, and that one tells more.
      if (!(error instanceof ArchiveError)) throw error;
    }
  }

  [Symbol.dispose](): void {
    this.abort();
  }

  #checkOpen(): void {
    invariant(this.#state === "open", `${this.path} is written after commit or abort`);
  }
}

/** Makes the file `path` of what `fill` writes: durable and complete when this returns, or else not there. */
export function createDurably(
  disk: Disk,
  path: string,
  fill: (output: ByteSink) => void,
  options: DurableOptions = {},
): void {
  using output = DurableOutput.begin(disk, path, options);
  fill(output);
  output.commit();
}
