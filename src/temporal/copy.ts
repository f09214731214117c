/** A new file for a timeline, with nothing but the pages that its root leads to, in the order in which they are read. */
import { dirname } from "node:path";
import { systemRandom } from "../base/index.ts";
import { type Disk, partialPath } from "../disk/index.ts";
import { NO_CHANGES } from "./change-map.ts";
import { encodeNode, type PageRef, type PageSummary } from "./node.ts";
import { PageFile } from "./page-file.ts";
import type { Root } from "./slot.ts";

const EMPTY: PageSummary = { lastChange: 0, alive: 0, changes: NO_CHANGES };

/** The file takes the place of the one that is there, whole and durable; or it is that of a timeline without pages. */
export function copyPages(
  disk: Disk,
  path: string,
  from: PageFile | undefined,
  root: Root | (Omit<Root, "root" | "end"> & { readonly image: Buffer }),
  cacheBytes: number,
): { pages: PageFile; root: Root } {
  const partial = partialPath(path, systemRandom);
  const pages = PageFile.create(disk, partial, cacheBytes);
  try {
    const { generation, keys, entries, visits, copies, pageSize, digestSize } = root;
    const ref = "image" in root ? pages.append(root.image, "leaf", EMPTY) : copyPage(from!, root.root, pages);
    const live = pages.bytesAppended;
    const next: Root = {
      generation: generation + 1,
      keys,
      entries,
      visits,
      copies,
      pageSize,
      digestSize,
      live,
      root: ref,
      end: pages.size,
    };
    pages.commit(next);
    pages.close();
    disk.rename(partial, path);
    disk.syncFolder(dirname(path));
    return { pages: pages.reopen(disk, path), root: next };
  } catch (error) {
    pages.close();
    disk.remove(partial);
    throw error;
  }
}

function copyPage(from: PageFile, ref: PageRef, to: PageFile): PageRef {
  if (ref.kind === "leaf") {
    const known = from.knownLeaf(ref);
    return known === undefined ? to.append(from.read(ref), "leaf", ref) : to.appendLeaf(known, ref);
  }
  const node = from.node(ref);
  const children = node.children.map((child) => copyPage(from, child, to));
  return to.append(encodeNode({ ...node, children }), ref.kind, ref);
}
