/** A folder for what one run needs and nobody after it: the sorted runs of an external sort. */
import { tmpdir } from "node:os";
import { join } from "node:path";
import { type Random, systemRandom } from "../base/index.ts";
import type { Disk } from "./disk.ts";
import { removeLeftovers, removeTree } from "./leftovers.ts";
import { partialPath } from "./partial-name.ts";

export interface ScratchFolder extends Disposable {
  readonly path: string;
  /** Removes the folder and all that is in it. May be called twice. */
  remove(): void;
}

/**
 * Makes a folder that only this user can read, in `parent` or the system's place for temporary files. Those that
 * killed processes left there go first: they are the large ones.
 */
export function scratchFolder(disk: Disk, options: { parent?: string; random?: Random } = {}): ScratchFolder {
  const parent = options.parent ?? tmpdir();
  if (disk.stat(parent) !== undefined) removeLeftovers(disk, parent);
  const path = partialPath(join(parent, "holotype-scratch"), options.random ?? systemRandom);
  disk.makeFolder(path, { permissions: 0o700 });
  const remove = () => removeTree(disk, path);
  return { path, remove, [Symbol.dispose]: remove };
}
