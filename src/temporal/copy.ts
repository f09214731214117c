/** New files for a timeline: with nothing but the pages that its root leads to, in the order in which they are read. */
import { dirname } from "node:path";
import { systemRandom } from "../base/index.ts";
import { type Disk, partialPath } from "../disk/index.ts";
import { NO_CHANGES } from "./change-map.ts";
import { LeafBuilder } from "./leaf-builder.ts";
import { encodeNode, type PageRef } from "./node.ts";
import { PageFile } from "./page-file.ts";
import type { Root, Settings } from "./slot.ts";

/** A timeline in a file; or in one that does not have its name yet. */
export interface Filed {
  readonly pages: PageFile;
  readonly root: Root;
}

/** A partial file with a timeline that holds nothing. */
export function createEmpty(disk: Disk, path: string, settings: Settings, cacheBytes: number): Filed {
  const { pageSize, digestSize } = settings;
  const pages = PageFile.create(disk, partialPath(path, systemRandom), cacheBytes);
  const builder = new LeafBuilder(digestSize);
  builder.begin(0);
  const empty = builder.finish(0);
  const root = pages.appendLeaf(empty, { lastChange: 0, alive: 0, changes: NO_CHANGES });
  const totals = { keys: 0, entries: 0, visits: 0, copies: 0, live: empty.bytes.length };
  return { pages, root: { ...totals, pageSize, digestSize, generation: 1, since: 1, root, end: pages.size } };
}

/** A partial file with all pages in use of another. */
export function copyPages(disk: Disk, path: string, { pages: from, root }: Filed, cacheBytes: number): Filed {
  const pages = PageFile.create(disk, partialPath(path, systemRandom), cacheBytes);
  try {
    const copy = new Copy(from, pages);
    const copied = copy.page(root.root);
    return { pages, root: { ...root, root: copied, live: copy.live, end: pages.size } };
  } catch (error) {
    discard(disk, pages);
    throw error;
  }
}

class Copy {
  /** Bytes of the pages; not those of the old ones, since nodes tell where their children are. */
  live = 0;
  private readonly from: PageFile;
  private readonly to: PageFile;

  constructor(from: PageFile, to: PageFile) {
    this.from = from;
    this.to = to;
  }

  page(ref: PageRef): PageRef {
    const copied = ref.kind === "leaf" ? this.leaf(ref) : this.node(ref);
    this.live += copied.length;
    return copied;
  }

  private leaf(ref: PageRef): PageRef {
    const known = this.from.knownLeaf(ref);
    return known === undefined ? this.to.appendImage(this.from.read(ref), ref) : this.to.appendLeaf(known, ref);
  }

  private node(ref: PageRef): PageRef {
    const node = this.from.node(ref);
    const children = node.children.map((child) => this.page(child));
    const moved = { ...node, children };
    return this.to.appendNode(moved, encodeNode(moved), ref);
  }
}

export function discard(disk: Disk, pages: PageFile): void {
  pages.close();
  disk.remove(pages.file.path);
}

/** A partial file takes the place of the one that is there, whole and durable, and says what that said in its last commit. */
export function putInPlace(
  disk: Disk,
  path: string,
  { pages, root }: Filed,
  { generation, since }: Pick<Root, "generation" | "since">,
): Filed {
  try {
    const last = pages.begin({ ...root, generation: generation + 1, since });
    pages.close();
    disk.rename(pages.file.path, path);
    disk.syncFolder(dirname(path));
    return { pages: pages.reopen(disk, path, last), root: last };
  } catch (error) {
    discard(disk, pages);
    throw error;
  }
}
