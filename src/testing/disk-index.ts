/** The index of a pack volume as one file, written anew at each commit: for disks on which LMDB cannot be. */
import { createDurably, type Disk } from "../disk/index.ts";
import type { IndexChanges } from "../store/index.ts";
import { MemoryIndex } from "./memory-index.ts";

export class DiskIndex extends MemoryIndex {
  private readonly disk: Disk;
  private readonly path: string;

  constructor(disk: Disk, folder: string) {
    super();
    this.disk = disk;
    this.path = `${folder}/index.json`;
    const size = disk.stat(this.path)?.sizeBytes;
    if (size === undefined) return;
    using file = disk.open(this.path, "read");
    const bytes = Buffer.alloc(size);
    file.read(bytes, 0);
    this.restore(bytes.toString());
  }

  override async commit(changes: IndexChanges): Promise<void> {
    await super.commit(changes);
    const text = this.save();
    createDurably(this.disk, this.path, (output) => output.write(Buffer.from(text)), { replace: true });
  }
}
