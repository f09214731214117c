/**
 * A disk on which large files cost nothing where they hold zeros: what is written is kept, and what was never written,
 * or is a long run of zeros, is not. For offsets that no small file has. It forgets nothing and has no links.
 */
import { ArchiveError } from "../base/index.ts";
import type { Disk, DiskFile, FileStat, FolderEntry, Lock, OpenMode } from "../disk/index.ts";

const ZEROS = Buffer.alloc(1 << 20);
/** Shorter runs of zeros are kept like other bytes. */
const RUN_SIZE_LEAST = 1 << 16;

interface Content {
  readonly id: number;
  size: number;
  /** In the order in which they were written. */
  pieces: { readonly start: number; readonly bytes: Buffer }[];
}

class HollowFile implements DiskFile {
  readonly path: string;
  private readonly content: Content;

  constructor(path: string, content: Content) {
    this.path = path;
    this.content = content;
  }

  size(): number {
    return this.content.size;
  }

  read(into: Uint8Array, position: number): number {
    const count = Math.max(0, Math.min(into.length, this.content.size - position));
    into.fill(0, 0, count);
    for (const { start, bytes } of this.content.pieces) {
      const from = Math.max(start, position);
      const to = Math.min(start + bytes.length, position + count);
      if (from < to) into.set(bytes.subarray(from - start, to - start), from - position);
    }
    return count;
  }

  readLater(into: Uint8Array, position: number): Promise<number> {
    return Promise.resolve(this.read(into, position));
  }

  write(bytes: Uint8Array, position: number): void {
    const { content } = this;
    const isRun = bytes.length >= RUN_SIZE_LEAST && ZEROS.subarray(0, bytes.length).equals(bytes);
    if (!isRun || position < content.size) content.pieces.push({ start: position, bytes: Buffer.from(bytes) });
    content.size = Math.max(content.size, position + bytes.length);
  }

  /** Leaves a hole up to there. */
  truncate(sizeBytes: number): void {
    const { content } = this;
    content.pieces = content.pieces
      .filter(({ start }) => start < sizeBytes)
      .map(({ start, bytes }) => ({ start, bytes: bytes.subarray(0, sizeBytes - start) }));
    content.size = sizeBytes;
  }

  sync(): void {}

  syncLater(): Promise<void> {
    return Promise.resolve();
  }

  close(): void {}

  [Symbol.dispose](): void {}
}

export class HollowDisk implements Disk {
  private readonly files = new Map<string, Content>();
  private readonly folders = new Set<string>(["/"]);
  private count = 0;

  open(path: string, mode: OpenMode): DiskFile {
    const there = this.files.get(path);
    if (there === undefined && (mode === "read" || mode === "update")) throw missing(path);
    if (there !== undefined && mode === "create") throw new ArchiveError("HT_EXISTS", path, { file: path });
    const content = there !== undefined && mode !== "replace" ? there : { id: ++this.count, size: 0, pieces: [] };
    this.files.set(path, content);
    return new HollowFile(path, content);
  }

  rename(from: string, to: string, target: "replace" | "refuse" = "replace"): void {
    const content = this.files.get(from);
    if (content === undefined) throw missing(from);
    if (target === "refuse" && this.files.has(to)) throw new ArchiveError("HT_EXISTS", to, { file: to });
    this.files.set(to, content);
    this.files.delete(from);
  }

  remove(path: string): void {
    this.files.delete(path);
    this.folders.delete(path);
  }

  list(folder: string): FolderEntry[] {
    const inside = (path: string) => path.startsWith(`${folder}/`) && !path.slice(folder.length + 1).includes("/");
    const entries = (paths: Iterable<string>, kind: "file" | "folder") =>
      [...paths].filter(inside).map((path) => ({ name: path.slice(folder.length + 1), kind }));
    return [...entries(this.files.keys(), "file"), ...entries(this.folders, "folder")].sort((one, other) =>
      one.name < other.name ? -1 : 1,
    );
  }

  stat(path: string): FileStat | undefined {
    const there = this.files.get(path);
    const rest = { changed: "0", modifiedMs: 0, permissions: 0o644, isOwn: true };
    if (there !== undefined) return { sizeBytes: there.size, kind: "file", identity: `hollow:${there.id}`, ...rest };
    return this.folders.has(path) ? { sizeBytes: 0, kind: "folder", identity: path, ...rest } : undefined;
  }

  statLink(path: string): FileStat | undefined {
    return this.stat(path);
  }

  makeFolder(path: string): void {
    for (let at = path; at !== "/" && at !== ""; at = at.slice(0, at.lastIndexOf("/"))) this.folders.add(at);
  }

  syncFolder(): void {}

  lock(path: string): Lock {
    return { path, release: () => {}, [Symbol.dispose]: () => {} };
  }
}

function missing(path: string): ArchiveError {
  return new ArchiveError("HT_NOT_FOUND", `${path}: not there`, { file: path });
}
