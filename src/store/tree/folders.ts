/** Folders of a tree, which must not be lost under what lies in them. */
import { dirname } from "node:path";
import type { Disk } from "../../disk/index.ts";

export class TreeFolders {
  private readonly disk: Disk;
  private readonly root: string;
  /** Set when a folder was made and its name may not be durable: it looks as if it had been there all the time. */
  private unsure = false;

  /** `root` is the folder of the volume. */
  constructor(disk: Disk, root: string) {
    this.disk = disk;
    this.root = root;
  }

  /** Makes a folder below the root, and those between, durably. */
  make(path: string): void {
    try {
      this.disk.makeFolder(path);
      if (this.unsure) this.syncAbove(path);
    } catch (error) {
      this.unsure = true;
      throw error;
    }
  }

  private syncAbove(path: string): void {
    for (let above = dirname(path); above.length >= this.root.length; above = dirname(above)) {
      this.disk.syncFolder(above);
      if (above === dirname(above)) break;
    }
  }
}
