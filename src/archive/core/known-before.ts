/** What the catalogue that counts knows, for who makes another one beside it. */
import { ArchiveError } from "../../base/index.ts";
import type { Disk } from "../../disk/index.ts";
import { type OrderedStore, openRowsToRead } from "../../rows/index.ts";
import { CatalogueView, type JournalEnd } from "../catalogue/catalogue-view.ts";
import { type ArchivePaths, lastCatalogue } from "../segments/archive-folder.ts";

/** To be closed. */
export interface KnownBefore extends Disposable {
  readonly captures: number;
  /** How many entries of the journal are in it. */
  readonly journal: number;
  /** How far the journal has to reach. */
  readonly journalEnds: readonly JournalEnd[];
  /** How long each segment of our own was, by its number. */
  readonly ends: ReadonlyMap<number, number>;
  /** Absent where it is of an earlier form. Any question to it may find it damaged. */
  readonly catalogue: CatalogueView | undefined;
}

/**
 * A catalogue that cannot be read is no obstacle; one of a newer Holotype is. Only a few rows are asked for: it may be
 * damaged.
 */
export function knownBefore(disk: Disk, paths: ArchivePaths): KnownBefore | undefined {
  const last = lastCatalogue(disk, paths.folder);
  if (last === 0) return undefined;
  let store: OrderedStore | undefined;
  try {
    store = openRowsToRead(disk, paths.catalogue(last));
    const known = knownIn(store);
    if (known === undefined) store[Symbol.dispose]();
    return known;
  } catch (error) {
    store?.[Symbol.dispose]();
    if (error instanceof ArchiveError && error.code === "HT_FORMAT_TOO_NEW") throw error;
    return undefined;
  }
}

function knownIn(store: OrderedStore): KnownBefore | undefined {
  const view = new CatalogueView(store.view());
  view.refuseNewer();
  const { captures, journal, unfinished } = view.state;
  if (unfinished > 0) return undefined;
  const ends = new Map<number, number>();
  for (const { number, row } of view.segments()) if (row.adopted === undefined) ends.set(number, row.end);
  const catalogue = view.isCurrent ? view : undefined;
  const { journalEnds } = view;
  return { captures, journal, journalEnds, ends, catalogue, [Symbol.dispose]: () => store[Symbol.dispose]() };
}
