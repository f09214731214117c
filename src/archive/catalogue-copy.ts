/** A catalogue written anew, row by row in order: as small as it can be. */
import type { Disk } from "../disk/index.ts";
import { type ArchivePaths, unfinishedCatalogue } from "./archive-folder.ts";
import type { OrderedStore } from "./ordered-store.ts";

export type OpenStore = (disk: Disk, folder: string) => OrderedStore;

const ROWS_AT_ONCE = 50_000;
const LOWEST = Buffer.alloc(1);
const HIGHEST = Buffer.alloc(64, 255);

/** The copy is durable and closed when this resolves, under its unfinished name. */
export async function copyCatalogue(
  disk: Disk,
  paths: ArchivePaths,
  from: OrderedStore,
  number: number,
  openStore: OpenStore,
): Promise<void> {
  const to = openStore(disk, unfinishedCatalogue(paths, number));
  const view = from.view();
  try {
    let rows = new Map<string, Buffer>();
    for (const { key, value } of view.range(LOWEST, HIGHEST)) {
      rows.set(key.toString("latin1"), Buffer.from(value));
      if (rows.size < ROWS_AT_ONCE) continue;
      to.commit(rows, true);
      rows = new Map();
    }
    to.commit(rows, true);
  } finally {
    view.close();
    await to.close();
  }
}
