/** When a capture came, beside others: with which file, and where in it. What a revisit means was there when it came, if there is any such thing. */
import type { CaptureRow, RecordPlace } from "./capture-row.ts";
import type { CatalogueView } from "./catalogue-view.ts";

type Arrived = Pick<CaptureRow, "source" | "place">;

export class Arrival {
  private readonly catalogue: CatalogueView;
  private readonly own: Arrived | undefined;

  /** Without a row, of one that is about to come. */
  constructor(catalogue: CatalogueView, own: Arrived | undefined) {
    this.catalogue = catalogue;
    this.own = own;
  }

  get timeMs(): number {
    return this.own === undefined ? Number.POSITIVE_INFINITY : this.addedMs(this.own.source);
  }

  addedMs(source: number): number {
    return this.catalogue.source(source)?.addedMs ?? 0;
  }

  /** Whether another capture came no later. */
  isBehind(row: CaptureRow): boolean {
    return this.delayOf(row) === 0;
  }

  private delayOf({ source, place }: Arrived): number {
    if (this.own === undefined) return 0;
    // Less than any delay between two files.
    if (source === this.own.source) return inPlace(place, this.own.place) > 0 ? 0.5 : 0;
    return Math.max(0, this.addedMs(source) - this.timeMs || source - this.own.source);
  }

  /** Orders captures: first what came no later, then what did, as it came. */
  inTurn(one: CaptureRow, other: CaptureRow): number {
    const [oneDelay, otherDelay] = [this.delayOf(one), this.delayOf(other)];
    if (oneDelay !== otherDelay || oneDelay === 0) return oneDelay - otherDelay;
    return inPlace(one.place, other.place);
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
}

function inPlace(one: RecordPlace, other: RecordPlace): number {
  return one.segment - other.segment || one.offset - other.offset || one.inner - other.inner;
}
