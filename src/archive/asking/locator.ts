/**
 * Where records lie for who reads as of an earlier commit. A compaction takes segments away that such a reader may not
 * have opened yet; the records are in others then, and the catalogue of now says where.
 */
import { ArchiveError } from "../../base/index.ts";
import type { Disk } from "../../disk/index.ts";
import { type OrderedStore, openRowsToRead } from "../../rows/index.ts";
import { type CaptureRow, Flag, has, type OriginalRow, type RecordPlace } from "../catalogue/capture-row.ts";
import type { Framing } from "../catalogue/catalogue-keys.ts";
import { CatalogueView, type FoundCapture } from "../catalogue/catalogue-view.ts";
import type { ContinuationRow } from "../catalogue/continuation-row.ts";
import { archivePaths, lastCatalogue } from "../segments/archive-folder.ts";
import type { ContinuationFinder } from "../segments/continuations.ts";
import type { RecordShelf } from "../segments/segments.ts";

export class Locator implements ContinuationFinder, Disposable {
  private readonly disk: Disk;
  private readonly folder: string;
  private readonly catalogue: CatalogueView;
  private readonly shelf: RecordShelf;
  private newer: { readonly store: OrderedStore; readonly catalogue: CatalogueView } | undefined;

  constructor(disk: Disk, folder: string, catalogue: CatalogueView, shelf: RecordShelf) {
    this.disk = disk;
    this.folder = folder;
    this.catalogue = catalogue;
    this.shelf = shelf;
  }

  /** As the snapshot has it, but for its place and kind of record. HT_CHANGED where it was removed since, bytes and all. */
  capture({ key, row }: FoundCapture): CaptureRow {
    const { kind, place, before, after } = this.follow(row, (catalogue) => {
      const now = catalogue.capture(key);
      return now === undefined || has(now, Flag.removed) ? undefined : now;
    });
    return { ...row, kind, place, before, after };
  }

  /** The record that holds a payload, of which the first half of the digest is given; absent where there is none. */
  original(half: Buffer): OriginalRow | undefined {
    const row = this.catalogue.anyOriginal(half);
    return row && this.follow(row, (catalogue) => catalogue.anyOriginal(half));
  }

  /** Where a record that holds a payload lies now. */
  holder(row: OriginalRow, half: Buffer, framing: Framing): RecordPlace {
    return this.follow(row, (catalogue) => catalogue.original(half, framing)).place;
  }

  /** The records that continue the one with this id, in the order of their numbers. */
  *continuations(origin: string): Generator<ContinuationRow> {
    for (const row of this.catalogue.continuations(origin)) {
      const isSame = ({ number, size }: ContinuationRow) => number === row.number && size === row.size;
      yield this.follow(row, (catalogue) => [...catalogue.continuations(origin)].find(isSame));
    }
  }

  private follow<T extends { readonly place: RecordPlace }>(row: T, look: (catalogue: CatalogueView) => T | undefined) {
    let now = row;
    for (let isFresh = false; !this.shelf.hold(now.place.segment); ) {
      const { segment } = now.place;
      const next: T | undefined = look(isFresh || this.newer === undefined ? this.openNewer() : this.newer.catalogue);
      // What the catalogue of now leads to as well is lost, not moved, and reading it will say so.
      if (next?.place.segment === segment && isFresh) return now;
      if (next === undefined && isFresh) throw this.gone(segment);
      now = next ?? now;
      isFresh = true;
    }
    return now;
  }

  /** Whether a segment that the snapshot knows is one no more: a compaction has taken what was in it elsewhere. */
  isTaken(segment: number): boolean {
    return this.openNewer().segment(segment) === undefined;
  }

  private gone(segment: number): ArchiveError {
    const file = this.shelf.nameOf(segment);
    const message = `${file}: what was there was removed from the archive while it was read; ask again`;
    return new ArchiveError("HT_CHANGED", message, { file });
  }

  private openNewer(): CatalogueView {
    this[Symbol.dispose]();
    const store = this.openLast();
    const catalogue = new CatalogueView(store.view());
    this.newer = { store, catalogue };
    catalogue.checkFormat(this.folder);
    return catalogue;
  }

  private openLast(): OrderedStore {
    const { disk, folder } = this;
    for (let number = lastCatalogue(disk, folder); ; ) {
      try {
        return openRowsToRead(disk, archivePaths(folder).catalogue(number));
      } catch (error) {
        // A writer may have put another one in its place meanwhile.
        const last = lastCatalogue(disk, folder);
        if (last === number || !(error instanceof ArchiveError)) throw error;
        number = last;
      }
    }
  }

  [Symbol.dispose](): void {
    this.newer?.store[Symbol.dispose]();
    this.newer = undefined;
  }
}
