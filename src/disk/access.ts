/** Who may read what is made from other files: nobody who could not read all of those. */
import type { Access } from "./disk.ts";

const OWNER = 0o600;
const SHARED = 0o066;

/** As far as all of these may be read by others; absent where there are none. What it is given to is its owner's. */
export function commonAccess(all: Iterable<Access>): Access | undefined {
  let common: Access | undefined;
  for (const { permissions, group } of all) {
    if (common === undefined || common.group === group) {
      common = { permissions: (common?.permissions ?? SHARED) & permissions, group };
    } else {
      common = { permissions: strangers(common.permissions) & strangers(permissions), group: undefined };
    }
  }
  return common && { ...common, permissions: common.permissions | OWNER };
}

/** The same for a folder: who may read it may enter it. */
export function folderAccess({ permissions, group }: Access): Access {
  return { permissions: permissions | 0o100 | ((permissions & 0o044) >> 2), group };
}

/** Those who may read a file in a folder, as far as that is up to the folder: who may enter it. */
export function entryAccess({ permissions, group }: Access): Access {
  return { permissions: (permissions & 0o111) << 2, group };
}

/** A group of which nothing is known may do no more than everybody. */
export function strangers(permissions: number): number {
  return permissions & (0o707 | ((permissions & 0o007) << 3));
}
