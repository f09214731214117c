/** The real disk, through `node:fs`. */
import {
  type BigIntStats,
  closeSync,
  type Dirent,
  fchmodSync,
  fchownSync,
  fstatSync,
  fsyncSync,
  lstatSync,
  mkdirSync,
  openSync,
  readdirSync,
  renameSync,
  rmdirSync,
  statSync,
  unlinkSync,
} from "node:fs";
import { platform } from "node:os";
import { dirname, resolve } from "node:path";
import { ArchiveError } from "../base/index.ts";
import { strangers } from "./access.ts";
import type { Access, Disk, DiskFile, EntryKind, FileStat, FolderEntry, NewAccess, OpenMode } from "./disk.ts";
import { linkUnlessThere } from "./link.ts";
import { lockFile } from "./lock.ts";
import { NodeFile } from "./node-file.ts";
import { mayBeUnread, nameFromBytes, systemPath } from "./path-bytes.ts";
import { actsAs } from "./process-identity.ts";
import { attempt, systemCode, unlessAbsent } from "./system-call.ts";

const SET_GROUP_ID = 0o2000;
const FLAGS: Readonly<Record<OpenMode, string>> = { read: "r", update: "r+", create: "wx+", replace: "w+" };

function open(path: string, mode: OpenMode, access?: NewAccess): DiskFile {
  return attempt(path, () => {
    const given = mode === "create" ? access : undefined;
    const descriptor = openSync(systemPath(path), FLAGS[mode], given && permissionsIn(dirname(path), given));
    if (given?.isExact === true) carryOver(descriptor, given);
    return new NodeFile(path, descriptor);
  });
}

/** What something new in the folder may be given. */
function permissionsIn(folder: string, { permissions, group }: Access): number {
  return group === undefined || group === groupIn(folder) ? permissions : strangers(permissions);
}

/** The group that something new in the folder gets. */
function groupIn(folder: string): number | undefined {
  const { mode, gid } = statSync(systemPath(folder));
  const inherits = (mode & SET_GROUP_ID) !== 0 || platform() === "darwin" || platform() === "freebsd";
  return inherits ? gid : actsAs().group;
}

function carryOver(descriptor: number, { permissions, group }: Access): void {
  const { uid, gid } = fstatSync(descriptor);
  let isKept = group === undefined || group === gid;
  try {
    if (!isKept) fchownSync(descriptor, uid, group!);
    isKept = true;
  } catch (cause) {
    // Only members may give a file to a group.
    if (systemCode(cause) !== "EPERM") throw cause;
  }
  fchmodSync(descriptor, isKept ? permissions : strangers(permissions));
}

function rename(from: string, to: string, target: "replace" | "refuse" = "replace"): void {
  attempt(to, () => {
    if (target === "replace") return renameSync(systemPath(from), systemPath(to));
    const outcome = linkUnlessThere(from, to);
    if (outcome === "linked") return unlinkSync(systemPath(from));
    if (outcome === "there" || stat(to) !== undefined) {
      throw new ArchiveError("HT_EXISTS", `${to}: there already`, { file: to });
    }
    renameSync(systemPath(from), systemPath(to));
  });
}

function remove(path: string): void {
  attempt(path, () =>
    unlessAbsent(() => {
      try {
        unlinkSync(systemPath(path));
      } catch (cause) {
        const code = systemCode(cause);
        if (code !== "EISDIR" && code !== "EPERM") throw cause;
        rmdirSync(systemPath(path));
      }
    }),
  );
}

function kindOf(entry: Dirent | Dirent<Buffer> | BigIntStats): EntryKind {
  return entry.isFile() ? "file" : entry.isDirectory() ? "folder" : "other";
}

function list(folder: string): FolderEntry[] {
  const byName = (a: FolderEntry, b: FolderEntry) => (a.name < b.name ? -1 : 1);
  return attempt(folder, () => readFolder(folder)).sort(byName);
}

function readFolder(folder: string): FolderEntry[] {
  const path = systemPath(folder);
  const entries = readdirSync(path, { withFileTypes: true });
  if (!entries.some(({ name }) => mayBeUnread(name))) {
    return entries.map((entry) => ({ name: entry.name, kind: kindOf(entry) }));
  }
  const unread = readdirSync(path, { withFileTypes: true, encoding: "buffer" });
  return unread.map((entry) => ({ name: nameFromBytes(entry.name), kind: kindOf(entry) }));
}

function stat(path: string): FileStat | undefined {
  return toFileStat(attempt(path, () => unlessAbsent(() => statSync(systemPath(path), { bigint: true }))));
}

function statLink(path: string): FileStat | undefined {
  return toFileStat(attempt(path, () => unlessAbsent(() => lstatSync(systemPath(path), { bigint: true }))));
}

function toFileStat(found: BigIntStats | undefined): FileStat | undefined {
  if (found === undefined) return undefined;
  const { user } = actsAs();
  return {
    sizeBytes: Number(found.size),
    kind: kindOf(found),
    modifiedMs: Number(found.mtimeMs),
    changed: String(found.ctimeNs),
    // Inode numbers of some file systems are beyond the exact range of a number.
    identity: `${found.dev}:${found.ino}`,
    permissions: Number(found.mode & 0o777n),
    group: Number(found.gid),
    isOwn: user === undefined || found.uid === BigInt(user),
  };
}

function makeFolder(path: string, access?: Access): void {
  const folder = resolve(path);
  if (stat(folder)?.kind === "folder") return;
  const parent = dirname(folder);
  if (parent !== folder) makeFolder(parent);
  try {
    attempt(folder, () => mkdirSync(systemPath(folder), access && permissionsIn(parent, access)));
  } catch (error) {
    // Another process may have been faster; its folder is as good.
    if (stat(folder)?.kind !== "folder") throw error;
  }
  syncFolder(parent);
}

function syncFolder(path: string): void {
  attempt(path, () => {
    const descriptor = openSync(systemPath(path), "r");
    try {
      fsyncSync(descriptor);
    } catch (cause) {
      // Some network file systems cannot sync a folder and keep names durable by themselves.
      if (systemCode(cause) !== "EINVAL") throw cause;
    } finally {
      closeSync(descriptor);
    }
  });
}

export const nodeDisk: Disk = { open, rename, remove, list, stat, statLink, makeFolder, syncFolder, lock: lockFile };
