/** A disk on which nothing below one folder can be written: mounted read-only, another's, or full. */
import { fromSystemError } from "../base/index.ts";
import type { Disk, DiskFile } from "../disk/index.ts";

export function refusingDisk(disk: Disk, folder: string, code: "EROFS" | "EACCES" | "ENOSPC"): Disk {
  const guard = (path: string) => {
    if (path !== folder && !path.startsWith(`${folder}/`)) return;
    const cause = Object.assign(new Error(`${code}: no writing here`), { code });
    throw fromSystemError(cause, { file: path }) as Error;
  };
  const guarded = (file: DiskFile): DiskFile => {
    const refuse = () => guard(file.path);
    return Object.assign(Object.create(file) as DiskFile, { write: refuse, truncate: refuse, sync: refuse });
  };
  return {
    ...disk,
    open(path, mode, access) {
      if (mode === "read") return disk.open(path, mode);
      // A file that is there can be opened on a full disk, and takes nothing.
      if (code === "ENOSPC" && mode === "update") return guarded(disk.open(path, mode));
      guard(path);
      return disk.open(path, mode, access);
    },
    rename(from, to, target) {
      guard(to);
      disk.rename(from, to, target);
    },
    remove(path) {
      if (code !== "ENOSPC") guard(path);
      disk.remove(path);
    },
    makeFolder(path, access) {
      if (disk.stat(path) === undefined) guard(path);
      disk.makeFolder(path, access);
    },
    lock(path, kind) {
      guard(path);
      return disk.lock(path, kind);
    },
  };
}
