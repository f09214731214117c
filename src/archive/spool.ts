/** Inputs that cannot be read twice, as files that can: standard input, and what lies deflated in a ZIP file. */
import { type Disk, type ScratchFolder, scratchFolder } from "../disk/index.ts";
import { type Input, openInput, STANDARD_INPUT } from "../pipeline/index.ts";

const PIECE_SIZE = 1 << 20;

/** Copies are gone when it is disposed of. */
export class Spool implements Disposable {
  private readonly disk: Disk;
  private readonly parent: string;
  private folder: ScratchFolder | undefined;
  private count = 0;

  constructor(disk: Disk, parent: string) {
    this.disk = disk;
    this.parent = parent;
  }

  /** The same input under the same name, copied where it has to be. */
  take(input: Input): Input {
    if (input.entries.length === 0 && input.path !== STANDARD_INPUT) return input;
    const source = openInput(this.disk, input);
    try {
      if (source.seekable && input.size !== undefined) return input;
      this.folder ??= scratchFolder(this.disk, { parent: this.parent });
      const path = `${this.folder.path}/${++this.count}`;
      using file = this.disk.open(path, "create");
      const piece = Buffer.allocUnsafe(PIECE_SIZE);
      let size = 0;
      for (let read = source.read(piece, 0); read > 0; read = source.read(piece, size)) {
        file.write(piece.subarray(0, read), size);
        size += read;
      }
      return { name: input.name, path, entries: [], size };
    } finally {
      source.close?.();
    }
  }

  [Symbol.dispose](): void {
    this.folder?.remove();
  }
}
