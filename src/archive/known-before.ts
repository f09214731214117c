/** What the catalogue that counts knows, for who makes another one beside it. */
import { ArchiveError } from "../base/index.ts";
import type { Disk } from "../disk/index.ts";
import { type ArchivePaths, lastCatalogue } from "./archive-folder.ts";
import { CatalogueView } from "./catalogue.ts";
import type { OpenStore } from "./catalogue-copy.ts";

export interface KnownBefore {
  readonly captures: number;
  /** Entries of the journal that are in it. */
  readonly journal: number;
  /** How long each segment of our own was, by its number. */
  readonly ends: ReadonlyMap<number, number>;
}

/**
 * A catalogue that cannot be read is no obstacle; one of a newer Holotype is. Only a few rows are asked for: it may be
 * damaged, and LMDB believes what it finds.
 */
export async function knownBefore(
  disk: Disk,
  paths: ArchivePaths,
  openStore: OpenStore,
): Promise<KnownBefore | undefined> {
  const last = lastCatalogue(disk, paths.folder);
  if (last === 0) return undefined;
  try {
    const store = openStore(disk, paths.catalogue(last));
    try {
      using catalogue = new CatalogueView(store.view());
      catalogue.checkFormat();
      const { captures, journal, unfinished } = catalogue.state;
      if (unfinished > 0) return undefined;
      const ends = new Map<number, number>();
      for (const { number, row } of catalogue.segments()) if (row.adopted === undefined) ends.set(number, row.end);
      return { captures, journal, ends };
    } finally {
      await store.close();
    }
  } catch (error) {
    if (error instanceof ArchiveError && error.code === "HT_FORMAT_TOO_NEW") throw error;
    return undefined;
  }
}
