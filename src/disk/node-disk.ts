/** The real disk, through `node:fs`. */
import {
  type BigIntStats,
  closeSync,
  type Dirent,
  fchmodSync,
  fsyncSync,
  mkdirSync,
  openSync,
  readdirSync,
  renameSync,
  rmdirSync,
  statSync,
  unlinkSync,
} from "node:fs";
import { dirname, resolve } from "node:path";
import { ArchiveError } from "../base/index.ts";
import type { Disk, DiskFile, EntryKind, FileStat, FolderEntry, OpenMode } from "./disk.ts";
import { linkUnlessThere } from "./link.ts";
import { lockFile } from "./lock.ts";
import { NodeFile } from "./node-file.ts";
import { attempt, systemCode, unlessAbsent } from "./system-call.ts";

const FLAGS: Readonly<Record<OpenMode, string>> = { read: "r", update: "r+", create: "wx+", replace: "w+" };

function open(path: string, mode: OpenMode, permissions?: number): DiskFile {
  return attempt(path, () => {
    const descriptor = openSync(path, FLAGS[mode], mode === "create" ? permissions : undefined);
    // Never more than asked for, not even for a moment; and now those that the umask took away.
    if (permissions !== undefined && mode === "create") fchmodSync(descriptor, permissions);
    return new NodeFile(path, descriptor);
  });
}

function rename(from: string, to: string, target: "replace" | "refuse" = "replace"): void {
  attempt(to, () => {
    if (target === "replace") return renameSync(from, to);
    const outcome = linkUnlessThere(from, to);
    if (outcome === "linked") return unlinkSync(from);
    if (outcome === "there" || stat(to) !== undefined) {
      throw new ArchiveError("HT_EXISTS", `${to}: there already`, { file: to });
    }
    renameSync(from, to);
  });
}

function remove(path: string): void {
  attempt(path, () =>
    unlessAbsent(() => {
      try {
        unlinkSync(path);
      } catch (cause) {
        const code = systemCode(cause);
        if (code !== "EISDIR" && code !== "EPERM") throw cause;
        rmdirSync(path);
      }
    }),
  );
}

function kindOf(entry: Dirent | BigIntStats): EntryKind {
  return entry.isFile() ? "file" : entry.isDirectory() ? "folder" : "other";
}

function list(folder: string): FolderEntry[] {
  const entries = attempt(folder, () => readdirSync(folder, { withFileTypes: true }));
  const byName = (a: FolderEntry, b: FolderEntry) => (a.name < b.name ? -1 : 1);
  return entries.map((entry) => ({ name: entry.name, kind: kindOf(entry) })).sort(byName);
}

function stat(path: string): FileStat | undefined {
  const found = attempt(path, () => unlessAbsent(() => statSync(path, { bigint: true })));
  if (found === undefined) return undefined;
  return {
    sizeBytes: Number(found.size),
    kind: kindOf(found),
    modifiedMs: Number(found.mtimeMs),
    // Inode numbers of some file systems are beyond the exact range of a number.
    identity: `${found.dev}:${found.ino}`,
    permissions: Number(found.mode & 0o777n),
  };
}

function makeFolder(path: string, permissions?: number): void {
  const folder = resolve(path);
  if (stat(folder)?.kind === "folder") return;
  const parent = dirname(folder);
  if (parent !== folder) makeFolder(parent);
  try {
    attempt(folder, () => mkdirSync(folder, permissions));
  } catch (error) {
    // Another process may have been faster; its folder is as good.
    if (stat(folder)?.kind !== "folder") throw error;
  }
  syncFolder(parent);
}

function syncFolder(path: string): void {
  attempt(path, () => {
    const descriptor = openSync(path, "r");
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

export const nodeDisk: Disk = { open, rename, remove, list, stat, makeFolder, syncFolder, lock: lockFile };
