/**
 * Which captures of a walk become rows: those that pass the filters, the one that stands for several that are collapsed, and
 * of these so many as are asked for. Captures come in batches and in order; nothing waits here but one row.
 */
import type { Capture } from "../../archive/index.ts";
import { CdxRow } from "./cdx-row.ts";
import type { RowTest, RowToken } from "./row-filter.ts";

/** Both ends belong to it. */
export interface Span {
  readonly fromMs: number;
  readonly toMs: number;
}

export interface SelectionOptions {
  /** Done to every row before it is looked at. */
  readonly prepare?: ((row: CdxRow) => void) | undefined;
  /** Rows of other times are prepared, but count for nothing. */
  readonly span: Span;
  readonly tests: readonly RowTest[];
  /** Rows next to each other with one token are one: the first of them in time. */
  readonly token?: RowToken | undefined;
  /** The walk goes backwards. */
  readonly backwards: boolean;
  readonly offset: number;
  readonly limit: number;
}

export class RowSelection {
  private readonly options: SelectionOptions;
  private toSkip: number;
  private toGive: number;
  /** The row that may yet be collapsed with those that follow. */
  private pending: CdxRow | undefined;
  private pendingToken = "";
  /** Backwards: rows that were skipped since the pending one, and the latest of them. */
  private since = { count: 0, end: "" };
  private last: Capture | undefined;
  private full = false;

  constructor(options: SelectionOptions) {
    this.options = options;
    this.toSkip = options.offset;
    this.toGive = options.limit;
  }

  /** All that was asked for was given, and there is more. */
  get isFull(): boolean {
    return this.full;
  }

  /** Where to go on: behind the last capture that rows so far stand for. */
  get resumeCursor(): string | undefined {
    return this.last?.cursor;
  }

  take(captures: readonly Capture[]): CdxRow[] {
    const rows: CdxRow[] = [];
    for (const capture of captures) {
      const { timeMs } = capture;
      if (timeMs === undefined) continue;
      this.meet(new CdxRow(capture, timeMs), rows);
      if (this.full) break;
      this.last = capture;
    }
    return rows;
  }

  /** The last row. */
  finish(): CdxRow[] {
    const rows: CdxRow[] = [];
    if (!this.full) this.give(rows);
    return rows;
  }

  private meet(row: CdxRow, rows: CdxRow[]): void {
    const { prepare, span, tests, token, backwards } = this.options;
    prepare?.(row);
    if (row.timeMs < span.fromMs || row.timeMs > span.toMs) return;
    for (const test of tests) if (!test(row)) return this.skip(row);
    const own = token?.(row) ?? "";
    if (this.pending !== undefined && token !== undefined && own === this.pendingToken) {
      if (!backwards) return this.skip(row);
      row.skipCount = this.pending.skipCount + 1 + this.since.count;
      row.endTimestamp = this.pending.endTimestamp;
    } else {
      this.give(rows);
      if (this.toGive === 0) {
        this.full = true;
        return;
      }
      if (backwards && this.since.count > 0) {
        row.skipCount = this.since.count;
        row.endTimestamp = this.since.end;
      }
    }
    this.since = NONE;
    this.pending = row;
    this.pendingToken = own;
  }

  private skip(row: CdxRow): void {
    const { pending, since } = this;
    if (this.options.backwards) {
      this.since = { count: since.count + 1, end: since.count === 0 ? row.timestamp : since.end };
    } else if (pending !== undefined) {
      pending.skipCount++;
      pending.endTimestamp = row.timestamp;
    }
  }

  private give(rows: CdxRow[]): void {
    const { pending } = this;
    if (pending === undefined) return;
    this.pending = undefined;
    if (this.toSkip > 0) {
      this.toSkip--;
      return;
    }
    this.toGive--;
    rows.push(pending);
  }
}

const NONE = { count: 0, end: "" };
