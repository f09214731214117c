/**
 * The disk as Holotype sees it, and the whole surface on which it can fail. Calls are synchronous, because the hot
 * paths move megabytes at a time and a promise for each would cost more than it frees; only `syncLater` and `readLater`
 * are not.
 * Every failure is an `ArchiveError` whose place is the path; absence is `undefined` where it is an answer.
 */

/** `create` refuses a file that is there (HT_EXISTS), `replace` empties it; the other two want it there (HT_NOT_FOUND). */
export type OpenMode = "read" | "update" | "create" | "replace";

export type EntryKind = "file" | "folder" | "other";

/** One name in a folder. A symbolic link is `other`, wherever it leads; `stat` follows it. */
export interface FolderEntry {
  readonly name: string;
  readonly kind: EntryKind;
}

/** Who may read a file beside its owner: the nine permission bits, and the group that the middle ones are for. */
export interface Access {
  readonly permissions: number;
  readonly group?: number | undefined;
}

export interface FileStat extends Access {
  readonly sizeBytes: number;
  readonly kind: EntryKind;
  readonly modifiedMs: number;
  /** Another text after every change of the file, its name or its access; nobody can set it. */
  readonly changed: string;
  /** Device and inode: equal for two paths exactly if they lead to one file. */
  readonly identity: string;
  /** It belongs to the user that this process runs as. */
  readonly isOwn: boolean;
}

/** With `isExact`, what the umask takes away is given back, and the group is kept where that is possible. */
export interface NewAccess extends Access {
  readonly isExact?: boolean;
}

export interface DiskFile extends Disposable {
  readonly path: string;
  size(): number;
  /** Fills `into` from `position` on and gives the count; less than its length only at the end of the file, 0 past it. */
  read(into: Uint8Array, position: number): number;
  /** The same off the main thread: for whoever must not make others wait for a slow disk. */
  readLater(into: Uint8Array, position: number): Promise<number>;
  /** Writes all of `bytes`, which are the caller's again at once. After a failure any part of them may be there. */
  write(bytes: Uint8Array, position: number): void;
  truncate(sizeBytes: number): void;
  /** Returns when all that was written is durable. The name of a new file is not: that is `syncFolder`'s. */
  sync(): void;
  /** The same off the main thread, for what was written before the call. Writes may go on meanwhile. */
  syncLater(): Promise<void>;
  /** May be called twice, and while a `syncLater` or `readLater` runs, which then ends first. */
  close(): void;
}

/** A lock with a `beacon` is known for dead in other containers of the machine too; there is a socket beside its file. */
export type LockKind = "plain" | "beacon";

/** Held until released or until the process ends, however it ends. */
export interface Lock extends Disposable {
  readonly path: string;
  /** May be called twice. */
  release(): void;
}

export interface Disk {
  /**
   * A file that is made with `create` is at no moment readable to more people than `access` allows; if it comes to be of
   * another group, that group may do no more than everybody. Without `access`, and otherwise, 0o666 less the umask.
   */
  open(path: string, mode: OpenMode, access?: NewAccess): DiskFile;
  /**
   * Atomic: a reader finds the old file or the new one. With `refuse`, a target that is there stays (HT_EXISTS), and
   * a crash may leave both names on the one file.
   */
  rename(from: string, to: string, target?: "replace" | "refuse"): void;
  /** Removes a file or an empty folder. One that is absent is fine. */
  remove(path: string): void;
  /** Sorted by name. */
  list(folder: string): FolderEntry[];
  stat(path: string): FileStat | undefined;
  /** The same, but a symbolic link is not followed: it is `other`. */
  statLink(path: string): FileStat | undefined;
  /** Makes the folder and those above it, as far as they are missing, and makes their names durable. */
  makeFolder(path: string, access?: Access): void;
  /** Makes names durable: what was created in this folder, renamed into or out of it, or removed from it. */
  syncFolder(path: string): void;
  /**
   * Takes the lock that the file `path` stands for, or throws HT_LOCKED with the holder's pid, be it our own. Never
   * waits.
   */
  lock(path: string, kind?: LockKind): Lock;
}
