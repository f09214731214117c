/** Going through the folders of a tree in the order of signatures. */
import { join } from "node:path";
import type { Disk } from "../../disk/index.ts";
import type { BlockAddress } from "../content-key.ts";
import { addressAt } from "./location.ts";

export interface TreeShape {
  readonly depth: number;
  /** Bytes of a signature. */
  readonly signatureSize: number;
}

/** A file or folder in the tree; one without an address does not belong there. */
export interface TreeEntry {
  readonly path: string;
  readonly address: BlockAddress | undefined;
}

/**
 * Everything that lies in the tree, in the order of signatures and overflow numbers, from behind `after`. Folders are
 * listed when their turn comes.
 */
export function* walkTree(disk: Disk, root: string, shape: TreeShape, after?: BlockAddress): Generator<TreeEntry> {
  if (disk.stat(root) !== undefined) yield* walkFolder(disk, root, shape, [], after);
}

function* walkFolder(
  disk: Disk,
  path: string,
  shape: TreeShape,
  folders: readonly string[],
  after: BlockAddress | undefined,
): Generator<TreeEntry> {
  if (folders.length === shape.depth - 1) return yield* walkLeaves(disk, path, shape, folders, after);
  const level = folders.length;
  const least = after?.signature.slice(2 * level, 2 * level + 2) ?? "";
  for (const { name, kind } of disk.list(path)) {
    const below = join(path, name);
    if (kind !== "folder" || !/^[0-9A-F]{2}$/.test(name)) yield { path: below, address: undefined };
    else if (name >= least)
      yield* walkFolder(disk, below, shape, [...folders, name], name === least ? after : undefined);
  }
}

function* walkLeaves(
  disk: Disk,
  path: string,
  { signatureSize }: TreeShape,
  folders: readonly string[],
  after: BlockAddress | undefined,
): Generator<TreeEntry> {
  const entries = disk.list(path).map(({ name, kind }) => ({
    path: join(path, name),
    address: kind === "file" ? addressAt(folders, name, signatureSize) : undefined,
  }));
  entries.sort((one, other) => compare(one.address, other.address));
  for (const entry of entries) {
    if (after === undefined || entry.address === undefined || compare(entry.address, after) > 0) yield entry;
  }
}

function compare(one: BlockAddress | undefined, other: BlockAddress | undefined): number {
  if (one === undefined || other === undefined) return one === other ? 0 : one === undefined ? -1 : 1;
  if (one.signature === other.signature) return one.overflow - other.overflow;
  return one.signature < other.signature ? -1 : 1;
}
