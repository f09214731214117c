/**
 * Rows as a question wants them: forwards, backwards, the last ones, the nearest, or a page of them. They come in batches, and
 * a walk over millions holds no more than the rows that have to be put into another order, of which there is a bound.
 */
import type { Capture, CaptureQuery } from "../../archive/index.ts";
import type { Collection } from "../collection.ts";
import { CdxRow, type FieldReader } from "./cdx-row.ts";
import type { CdxScope } from "./cdx-scope.ts";
import { DigestMemory } from "./digest-memory.ts";
import type { RowTest, RowToken } from "./row-filter.ts";
import { RowSelection, type Span } from "./row-selection.ts";

/** Captures of a block, of which pages are made, as in the compressed indexes that pages were made for. */
export const BLOCK_SIZE = 3000;
/** Rows that are held to be put into another order. */
export const HELD_MAX = 10_000;

export interface RowPlan extends Span {
  readonly scope: CdxScope;
  readonly backwards: boolean;
  /** The nearest to this time first. */
  readonly closestMs?: number | undefined;
  /** Revisits get what their originals say, and rows the number of those before them with their digest. */
  readonly memory?: FieldReader | undefined;
  readonly tests: readonly RowTest[];
  readonly token?: RowToken | undefined;
  readonly offset: number;
  readonly limit: number;
  /** The limit is that of the last rows. */
  readonly isLast?: boolean | undefined;
  /** Captures before filters, by their places. */
  readonly page?: { readonly from: number; readonly count: number } | undefined;
  readonly after?: string | undefined;
}

export class RowWalk {
  private readonly collection: Collection;
  private readonly plan: RowPlan;
  private readonly signal: AbortSignal;
  private selection: RowSelection | undefined;
  /** Captures that were walked over, of a page those before it too. */
  private walked = 0;

  constructor(collection: Collection, plan: RowPlan, signal: AbortSignal) {
    this.collection = collection;
    this.plan = plan;
    this.signal = signal;
  }

  /** When the rows are over: where to go on, if there is more. */
  get resumeCursor(): string | undefined {
    return this.selection?.isFull === true ? this.selection.resumeCursor : undefined;
  }

  /** When the rows are over: whether the page that was asked for is one. The first one always is. */
  get isPage(): boolean {
    const { page } = this.plan;
    return page === undefined || page.from === 0 || this.walked > page.from;
  }

  async *rows(): AsyncGenerator<readonly CdxRow[]> {
    const { plan } = this;
    const memory = plan.memory && new DigestMemory(plan.memory);
    if (plan.isLast === true) yield* await this.lastRows(memory);
    else if (plan.closestMs !== undefined) yield* await this.nearestRows(memory, plan.closestMs);
    else yield* this.walk({ backwards: plan.backwards, limit: plan.limit, offset: plan.offset, memory });
  }

  /** The last rows in the order of times. Few are walked to from the end, many after they were counted. */
  private async lastRows(memory: DigestMemory | undefined): Promise<AsyncIterable<readonly CdxRow[]>> {
    const { plan } = this;
    if (plan.limit <= HELD_MAX && plan.memory === undefined && plan.page === undefined) {
      const rows = await gathered(this.walk({ backwards: true, limit: plan.limit, offset: 0, memory }));
      return batchOf(rows.reverse().slice(plan.offset));
    }
    let count = 0;
    const counted = { backwards: false, limit: Number.POSITIVE_INFINITY, offset: 0 };
    const before = plan.memory && new DigestMemory(plan.memory);
    for await (const rows of this.walk({ ...counted, memory: before })) count += rows.length;
    const first = Math.max(0, count - plan.limit) + plan.offset;
    return this.walk({ backwards: false, limit: plan.limit, offset: first, memory });
  }

  /** Of one URL the archive has this order; others are held, and the nearest of them kept. */
  private async nearestRows(
    memory: DigestMemory | undefined,
    closestMs: number,
  ): Promise<AsyncIterable<readonly CdxRow[]>> {
    const { limit, offset, scope, token, page } = this.plan;
    if (scope.match === "exact" && token === undefined && memory === undefined && page === undefined)
      return this.walk({ backwards: false, isByDistance: true, limit, offset, memory });
    const wanted = Math.min(HELD_MAX, limit + offset);
    let rows: CdxRow[] = [];
    const distance = (row: CdxRow) => Math.abs(row.timeMs - closestMs);
    const cut = () => {
      rows = rows.sort((one, other) => distance(one) - distance(other)).slice(0, wanted);
    };
    for await (const batch of this.walk({ backwards: false, limit: Number.POSITIVE_INFINITY, offset: 0, memory })) {
      rows.push(...batch);
      if (rows.length >= 2 * wanted + BLOCK_SIZE) cut();
    }
    cut();
    return batchOf(rows.slice(offset));
  }

  private async *walk(way: Way): AsyncGenerator<readonly CdxRow[]> {
    const { plan } = this;
    const prepare = way.memory && (await this.prepared(way.memory, way.backwards));
    const { tests, token, fromMs, toMs } = plan;
    const selection = new RowSelection({ prepare, span: { fromMs, toMs }, tests, token, ...way });
    this.selection = selection;
    for await (const captures of this.captures(way)) {
      const rows = selection.take(captures);
      if (rows.length > 0) yield rows;
      if (selection.isFull || this.signal.aborted) return;
    }
    const rows = selection.finish();
    if (rows.length > 0) yield rows;
  }

  /** Originals are looked for in the order of times, and before the span that is asked for too. */
  private async prepared(memory: DigestMemory, backwards: boolean): Promise<(row: CdxRow) => void> {
    if (!backwards) return (row) => memory.meet(row);
    for await (const captures of this.collection.captures({ ...this.plan.scope, ...WIDEST })) {
      for (const capture of captures) memory.meet(new CdxRow(capture, capture.timeMs!));
      if (this.signal.aborted) break;
    }
    return (row) => memory.lead(row);
  }

  private async *captures(way: Way): AsyncGenerator<readonly Capture[]> {
    const { scope, page, after, tests, token, closestMs } = this.plan;
    // Originals may stand before the span that is asked for. Pages are those of the span.
    const span = way.memory === undefined || page !== undefined ? this.plan : WIDEST;
    const isPlain = tests.length === 0 && token === undefined && page === undefined && way.memory === undefined;
    const query: CaptureQuery = {
      ...scope,
      fromMs: span.fromMs,
      toMs: span.toMs,
      order: way.isByDistance === true ? "closest" : way.backwards ? "backwards" : "forwards",
      closestMs,
      after,
      // One more tells whether there is more.
      limit: isPlain ? way.offset + way.limit + 1 : undefined,
    };
    const end = page === undefined ? Number.POSITIVE_INFINITY : page.from + page.count;
    this.walked = 0;
    for await (const captures of this.collection.captures(query)) {
      const first = Math.max(0, (page?.from ?? 0) - this.walked);
      const last = end - this.walked;
      this.walked += captures.length;
      if (first === 0 && last >= captures.length) yield captures;
      else if (first < captures.length) yield captures.slice(first, last);
      if (this.walked >= end || this.signal.aborted) return;
    }
  }
}

/** How many captures are asked for. Walks over all of them. */
export async function countCaptures(collection: Collection, plan: RowPlan, signal: AbortSignal): Promise<number> {
  const { scope, fromMs, toMs } = plan;
  let count = 0;
  for await (const captures of collection.captures({ ...scope, fromMs, toMs })) {
    count += captures.length;
    if (signal.aborted) break;
  }
  return count;
}

interface Way {
  readonly backwards: boolean;
  /** The archive gives the captures of one URL in this order. */
  readonly isByDistance?: boolean | undefined;
  readonly limit: number;
  readonly offset: number;
  readonly memory: DigestMemory | undefined;
}

/** Everything with a date. */
const WIDEST: Span = { fromMs: Number.MIN_SAFE_INTEGER, toMs: Number.MAX_SAFE_INTEGER };

async function gathered(batches: AsyncIterable<readonly CdxRow[]>): Promise<CdxRow[]> {
  const all: CdxRow[] = [];
  for await (const rows of batches) all.push(...rows);
  return all;
}

async function* batchOf(rows: readonly CdxRow[]): AsyncGenerator<readonly CdxRow[]> {
  if (rows.length > 0) yield await Promise.resolve(rows);
}
