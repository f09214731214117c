/** What the catalogue that counts knows, for who makes another one beside it. */
import { ArchiveError } from "../../base/index.ts";
import type { Disk } from "../../disk/index.ts";
import type { StoreView } from "../../rows/index.ts";
import { openRowsToRead } from "../../rows/index.ts";
import { CatalogueView, type JournalEnd } from "../catalogue/catalogue-view.ts";
import { type ArchivePaths, lastCatalogue } from "../segments/archive-folder.ts";

export interface KnownBefore {
  readonly captures: number;
  /** How far the journal has to reach. */
  readonly journalEnds: readonly JournalEnd[];
  /** How long each segment of our own was, by its number. */
  readonly ends: ReadonlyMap<number, number>;
}

/**
 * A catalogue that cannot be read is no obstacle; one of a newer Holotype is. Only a few rows are asked for: it may be
 * damaged.
 */
export function knownBefore(disk: Disk, paths: ArchivePaths): KnownBefore | undefined {
  const last = lastCatalogue(disk, paths.folder);
  if (last === 0) return undefined;
  const folder = paths.catalogue(last);
  try {
    using store = openRowsToRead(disk, folder);
    return knownIn(store.view());
  } catch (error) {
    if (error instanceof ArchiveError && error.code === "HT_FORMAT_TOO_NEW") throw error;
    return undefined;
  }
}

function knownIn(view: StoreView): KnownBefore | undefined {
  const catalogue = new CatalogueView(view);
  catalogue.refuseNewer();
  const { captures, unfinished } = catalogue.state;
  if (unfinished > 0) return undefined;
  const ends = new Map<number, number>();
  for (const { number, row } of catalogue.segments()) if (row.adopted === undefined) ends.set(number, row.end);
  return { captures, journalEnds: catalogue.journalEnds, ends };
}
