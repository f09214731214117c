/**
 * When a capture came, beside others: with which file, and where in it. What a revisit means was there when it came, if
 * there is any such thing. Files of one kind are told apart by their numbers, and only an added and an adopted one by the
 * clock.
 */
import type { CaptureRow } from "../catalogue/capture-row.ts";
import { ADOPTED_SOURCES, type CatalogueView } from "../catalogue/catalogue-view.ts";

type Arrived = Pick<CaptureRow, "source" | "place">;

export class Arrival {
  private readonly catalogue: CatalogueView;
  private readonly own: Arrived | undefined;

  /** Without a row, of one that is about to come. */
  constructor(catalogue: CatalogueView, own: Arrived | undefined) {
    this.catalogue = catalogue;
    this.own = own;
  }

  /** Whether another capture came no later. */
  isBehind(other: Arrived): boolean {
    return this.own === undefined || this.compare(other, this.own) <= 0;
  }

  /** Whether another file came no later. */
  isFileBehind(source: number): boolean {
    return this.own === undefined || this.compareFiles(source, this.own.source) <= 0;
  }

  /** Orders captures: first what came no later, then what did, as it came. */
  inTurn(one: Arrived, other: Arrived): number {
    const [isOneBehind, isOtherBehind] = [this.isBehind(one), this.isBehind(other)];
    if (isOneBehind || isOtherBehind) return Number(isOtherBehind) - Number(isOneBehind);
    return this.compare(one, other) || one.place.segment - other.place.segment;
  }

  /** The first of these that came no later; else the one of them that came first. */
  first(rows: Iterable<CaptureRow>): CaptureRow | undefined {
    let first: CaptureRow | undefined;
    for (const row of rows) {
      if (this.isBehind(row)) return row;
      if (first === undefined || this.inTurn(row, first) < 0) first = row;
    }
    return first;
  }

  compareFiles(one: number, other: number): number {
    if (one >= ADOPTED_SOURCES === other >= ADOPTED_SOURCES) return one - other;
    return this.addedMs(one) - this.addedMs(other);
  }

  private addedMs(source: number): number {
    return this.catalogue.source(source)?.addedMs ?? 0;
  }

  /** Of one file, what lies in one segment is in order; a compaction may have carried one segment behind another. */
  private compare(one: Arrived, other: Arrived): number {
    if (one.source !== other.source) return this.compareFiles(one.source, other.source);
    if (one.place.segment !== other.place.segment) return 0;
    return one.place.offset - other.place.offset || one.place.inner - other.place.inner;
  }
}
