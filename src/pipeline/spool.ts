/** Inputs that cannot be read twice, as files that can: standard input, and what lies deflated in a ZIP file. */
import { type Disk, type ScratchFolder, scratchFolder } from "../disk/index.ts";
import { type Input, openInput, STANDARD_INPUT } from "./inputs.ts";

const PIECE_SIZE = 1 << 20;

/** Copies are gone when it is disposed of. */
export class Spool implements Disposable {
  private readonly disk: Disk;
  private readonly parent: string | undefined;
  private folder: ScratchFolder | undefined;
  /** By the names of the inputs. */
  private readonly copies = new Map<string, Input>();

  /** Copies lie in `parent`, or in the system's place for temporary files. */
  constructor(disk: Disk, parent?: string) {
    this.disk = disk;
    this.parent = parent;
  }

  /** The same input under the same name, copied where it has to be. */
  take(input: Input): Input {
    if (input.entries.length === 0 && input.path !== STANDARD_INPUT) return input;
    const there = this.copies.get(input.name);
    if (there !== undefined) return there;
    const source = openInput(this.disk, input);
    try {
      if (source.seekable && source.size !== undefined) return input;
      this.folder ??= scratchFolder(this.disk, this.parent === undefined ? {} : { parent: this.parent });
      const path = `${this.folder.path}/${this.copies.size}`;
      using file = this.disk.open(path, "replace");
      const piece = Buffer.allocUnsafe(PIECE_SIZE);
      let size = 0;
      for (let read = source.read(piece, 0); read > 0; read = source.read(piece, size)) {
        file.write(piece.subarray(0, read), size);
        size += read;
      }
      const copy = { name: input.name, path, entries: [], size, crc: input.crc };
      this.copies.set(input.name, copy);
      return copy;
    } finally {
      source.close?.();
    }
  }

  [Symbol.dispose](): void {
    this.folder?.remove();
  }
}
