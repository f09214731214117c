/**
 * A disk in memory that forgets what was not synced, for crash tests.
 *
 * The fault model. A power cut comes at the k-th operation: that one may still have happened or not, it and all after
 * it throw `PowerCut`. What `reopen` then finds:
 *
 * - Bytes. Whatever was written before a sync of the file that succeeded is there. What came later is gone (`drop`),
 *   there (`keep`, as when only the process died), or torn (`tear`): cut off at some byte, or any of its sectors of
 *   512 or 4096 bytes missing, with or without zeros in their place. A sector is never half old and half new.
 * - Names. A file or folder that was created, renamed or removed is so for sure once its folder was synced (both
 *   folders, if it went from one to another); before that it is so or not, by the same three fates, each change by
 *   itself. Syncing a file does not keep its name. A rename is whole or has not happened; one that refuses a target
 *   that is there is two changes, as on the real disk.
 * - A sync that fails loses what it should have kept: no later sync of that file brings it back.
 * - A full disk takes half of the write that finds it full.
 *
 * Not modelled: bytes that rot, reads that fail, other processes. Locks die at the power cut.
 */
import { posix } from "node:path";
import { ArchiveError, systemClock } from "../base/index.ts";
import type { Disk, DiskFile, FileStat, FolderEntry, Lock, NewAccess, OpenMode } from "../disk/index.ts";
import { createDice } from "./dice.ts";
import { type Fate, ForgetfulContent } from "./forgetful-content.ts";
import { ForgetfulFile } from "./forgetful-file.ts";
import { type FolderNode, ForgetfulNames, newFile, newFolder } from "./forgetful-names.ts";
import { type Faults, Operations } from "./operations.ts";

export interface Aftermath {
  readonly data: Fate;
  readonly names: Fate;
  readonly seed: number;
}

export class ForgetfulDisk implements Disk {
  readonly operations: Operations;
  readonly #names: ForgetfulNames;
  readonly #locks = new Set<string>();

  constructor(faults: Faults = {}, root?: FolderNode) {
    this.operations = new Operations(faults);
    this.#names = new ForgetfulNames(root);
  }

  /** The disk that is found when the power comes back. This one stays as it is, so other aftermaths can be tried. */
  reopen(aftermath: Aftermath, faults: Faults = {}): ForgetfulDisk {
    const dice = createDice(aftermath.seed);
    return new ForgetfulDisk(faults, this.#names.afterPowerCut(aftermath.names, aftermath.data, dice));
  }

  open(path: string, mode: OpenMode, access?: NewAccess): DiskFile {
    return this.operations.run("open", path, () => {
      const present = this.#names.find(path);
      if (present !== undefined && mode === "create") throw exists(path);
      if (present?.kind === "folder") throw new ArchiveError("HT_IO", `${path}: is a folder`, { file: path });
      if (present !== undefined || mode === "read" || mode === "update") {
        const node = present ?? this.#names.existing(path);
        if (node.kind === "file" && mode === "replace") node.content.change({ truncateTo: 0 });
        if (node.kind === "file") return new ForgetfulFile(path, node, mode, this.operations);
      }
      const node = newFile(new ForgetfulContent(), systemClock.now(), access?.permissions);
      this.#names.change({ ...this.#names.slot(path), node });
      return new ForgetfulFile(path, node, mode, this.operations);
    });
  }

  rename(from: string, to: string, target: "replace" | "refuse" = "replace"): void {
    this.operations.run("rename", to, () => {
      const node = this.#names.existing(from);
      const source = { ...this.#names.slot(from), node: undefined };
      const goal = { ...this.#names.slot(to), node };
      if (target === "replace") return this.#names.change(source, goal);
      if (this.#names.find(to) !== undefined) throw exists(to);
      this.#names.change(goal);
      this.#names.change(source);
    });
  }

  remove(path: string): void {
    this.operations.run("remove", path, () => {
      const node = this.#names.find(path);
      if (node === undefined) return;
      if (node.kind === "folder" && node.entries.size > 0) {
        throw new ArchiveError("HT_IO", `${path}: the folder is not empty`, { file: path });
      }
      this.#names.change({ ...this.#names.slot(path), node: undefined });
    });
  }

  list(folder: string): FolderEntry[] {
    this.operations.check();
    const entries = [...this.#names.folder(folder).entries].map(([name, { kind }]) => ({ name, kind }));
    return entries.sort((a, b) => (a.name < b.name ? -1 : 1));
  }

  stat(path: string): FileStat | undefined {
    this.operations.check();
    const node = this.#names.find(path);
    if (node === undefined) return undefined;
    const identity = `forgetful:${node.id}`;
    const rest = { identity, group: 0, isOwn: true };
    if (node.kind === "folder")
      return { sizeBytes: 0, kind: "folder", modifiedMs: 0, changed: "0", permissions: 0o755, ...rest };
    const { content, modifiedMs, permissions } = node;
    return {
      sizeBytes: content.now.length,
      kind: "file",
      modifiedMs,
      changed: String(modifiedMs),
      permissions,
      ...rest,
    };
  }

  /** It has no links. */
  statLink(path: string): FileStat | undefined {
    return this.stat(path);
  }

  makeFolder(path: string): void {
    const whole = posix.resolve("/", path);
    const present = this.#names.find(whole);
    if (present?.kind === "folder") return this.operations.check();
    if (present !== undefined) throw exists(path);
    this.makeFolder(posix.dirname(whole));
    this.operations.run("makeFolder", path, () =>
      this.#names.change({ ...this.#names.slot(whole), node: newFolder() }),
    );
    this.syncFolder(posix.dirname(whole));
  }

  syncFolder(path: string): void {
    this.operations.runSync("syncFolder", path, () => this.#names.sync(this.#names.folder(path)));
  }

  lock(path: string): Lock {
    this.operations.check();
    this.#names.slot(path);
    const whole = posix.resolve("/", path);
    if (this.#locks.has(whole)) throw new ArchiveError("HT_LOCKED", `${path}: locked by this process`, { file: path });
    this.#locks.add(whole);
    let held = true;
    const release = () => {
      if (held) this.#locks.delete(whole);
      held = false;
    };
    return { path, release, [Symbol.dispose]: release };
  }
}

function exists(path: string): ArchiveError {
  return new ArchiveError("HT_EXISTS", `${path}: there already`, { file: path });
}
