/** Files as contents: small ones are read at once, large ones as often as they are needed. */
import { join } from "node:path";
import { ArchiveError } from "../base/index.ts";
import { type DiskFile, nodeDisk, readStandardInput, type ScratchFolder, scratchFolder } from "../disk/index.ts";
import type { Content } from "../store/index.ts";

const HELD_SIZE_MAX = 1 << 20;
const PIECE_SIZE = 1 << 18;

/** Throws HT_NOT_FOUND, and HT_USAGE for a folder. */
export function readContent(path: string): Content {
  const found = nodeDisk.stat(path);
  if (found === undefined) throw new ArchiveError("HT_NOT_FOUND", `${path}: no such file`, { file: path });
  if (found.kind === "folder") throw new ArchiveError("HT_USAGE", `${path}: a folder, not a file`, { file: path });
  if (found.kind === "file" && found.sizeBytes <= HELD_SIZE_MAX) return readWhole(path);
  return { [Symbol.asyncIterator]: () => pieces(path) };
}

function readWhole(path: string): Uint8Array {
  using file = nodeDisk.open(path, "read");
  const bytes = Buffer.alloc(file.size());
  return bytes.subarray(0, file.read(bytes, 0));
}

// Reading is synchronous, but whoever reads a content waits for each piece.
// oxlint-disable-next-line require-await
async function* pieces(path: string): AsyncGenerator<Uint8Array> {
  using file: DiskFile = nodeDisk.open(path, "read");
  const piece = Buffer.alloc(PIECE_SIZE);
  for (let at = 0; ; ) {
    const count = file.read(piece, at);
    if (count === 0) return;
    at += count;
    yield piece.subarray(0, count);
  }
}

/** Standard input can be read only once: a large one is kept in a file as long as it is needed. */
export class StandardInput implements Disposable {
  private folder: ScratchFolder | undefined;

  read(): Content {
    const first = Buffer.alloc(HELD_SIZE_MAX + 1);
    let size = 0;
    for (let count = -1; count !== 0 && size < first.length; size += count) {
      count = readStandardInput(first.subarray(size));
    }
    return size <= HELD_SIZE_MAX ? first.subarray(0, size) : this.keep(first);
  }

  private keep(first: Uint8Array): Content {
    this.folder = scratchFolder(nodeDisk);
    const path = join(this.folder.path, "input");
    using file = nodeDisk.open(path, "create", { permissions: 0o600 });
    file.write(first, 0);
    const piece = Buffer.alloc(PIECE_SIZE);
    for (let at = first.length; ; ) {
      const count = readStandardInput(piece);
      if (count === 0) return { [Symbol.asyncIterator]: () => pieces(path) };
      file.write(piece.subarray(0, count), at);
      at += count;
    }
  }

  [Symbol.dispose](): void {
    this.folder?.remove();
  }
}
