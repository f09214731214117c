/** Gathers the runs of one key as the bytes that a leaf holds, and knows where the last of them stands there. */
import type { SortedVisits } from "./batch.ts";
import { ByteWriter } from "./bytes.ts";
import { type ChangeMap, withChange } from "./change-map.ts";
import { CARRIED, GONE, type LastRun, type Leaf } from "./leaf.ts";
import type { Run } from "./run.ts";

/** What visits added to a leaf. */
export interface Growth {
  keys: number;
  visits: number;
  entries: number;
  /** Keys that hold something at the end. */
  alive: number;
  lastChange: number;
  changes: ChangeMap;
}

export class RunWriter {
  readonly out = new ByteWriter();
  /** Of the last run: where its digest is, or 0 where the key is gone; where its visits are told; the last of those. */
  digestAt = 0;
  visitsSizeAt = 0;
  lastVisit = 0;
  /** Visits of a run that has not ended. */
  private readonly visits = new ByteWriter(1 << 10);

  begin(): void {
    this.out.length = 0;
    this.visits.length = 0;
  }

  get isCarried(): boolean {
    return (this.out.bytes[0]! & CARRIED) !== 0;
  }

  /** A run, whose start is told as the difference to a reference. */
  put({ start, digest, value, before, lastBefore, visits }: Run, reference: number): void {
    const { out } = this;
    const isCarried = before > 0;
    out.number((digest === undefined ? GONE : 0) + (isCarried ? CARRIED : 0));
    out.signed(start - reference);
    this.digestAt = digest === undefined ? 0 : out.length;
    if (digest !== undefined) {
      out.text(digest);
      out.number(value.length);
      out.raw(value);
    }
    if (isCarried) {
      out.number(before);
      out.number(lastBefore - start);
    }
    this.lastVisit = isCarried ? lastBefore : start;
    for (let i = isCarried ? 0 : 1; i < visits.length; i++) this.visit(visits[i]!);
    this.end();
  }

  /** The runs of an entry as they are; the last one goes on, or has ended. */
  take(leaf: Leaf, index: number, last: LastRun, goesOn: boolean): void {
    const bodyAt = leaf.bodyAt(index);
    const end = leaf.entryAt(index + 1);
    this.begin();
    this.lastVisit = last.lastVisit;
    this.digestAt = last.digestAt === undefined ? 0 : last.digestAt - bodyAt;
    this.out.words(leaf.view, bodyAt, goesOn ? last.visitsSizeAt : end);
    if (goesOn) this.visits.words(leaf.view, last.visitsAt, end);
  }

  /** The last run of an entry as it is carried into a page behind, where it goes on; its start. */
  carry(leaf: Leaf, index: number, base: number): number {
    const { out } = this;
    const { start, lastVisit, digestAt, valueEnd, before, visitsAt } = leaf.findLast(index);
    this.begin();
    out.number((digestAt === undefined ? GONE : 0) + CARRIED);
    out.signed(start - base);
    this.digestAt = digestAt === undefined ? 0 : out.length;
    if (digestAt !== undefined) out.words(leaf.view, digestAt, valueEnd);
    out.number((before === 0 ? 1 : before) + countNumbers(leaf.bytes, visitsAt, leaf.entryAt(index + 1)));
    out.number(lastVisit - start);
    this.lastVisit = lastVisit;
    return start;
  }

  /** A visit of the run that goes on. */
  visit(time: number): void {
    this.visits.number(time - this.lastVisit);
    this.lastVisit = time;
  }

  /** A run that goes on, of which a visit is the first. */
  start(visits: SortedVisits, at: number, reference: number, growth: Growth): void {
    const { out } = this;
    const time = visits.times[at]!;
    const isGone = visits.isGone(at);
    out.number(isGone ? GONE : 0);
    out.signed(time - reference);
    this.digestAt = isGone ? 0 : out.length;
    if (!isGone) {
      const valueAt = visits.valueAt(at);
      out.words(visits.view, visits.digestAt(at), valueAt);
      out.number(visits.valueSize(at));
      out.words(visits.view, valueAt, valueAt + visits.valueSize(at));
      growth.entries++;
    }
    this.lastVisit = time;
    growth.visits++;
    if (time > growth.lastChange) growth.lastChange = time;
    growth.changes = withChange(growth.changes, time);
  }

  /** Further visits, [from, to), behind one that is there already, whose run goes on and began at `start`. */
  goOn(visits: SortedVisits, from: number, to: number, start: number, growth: Growth): void {
    let reference = start;
    for (let at = from; at < to; at++) {
      const time = visits.times[at]!;
      if (!visits.isSame(at - 1, at)) {
        this.end();
        this.start(visits, at, reference, growth);
        reference = time;
      } else if (time !== visits.times[at - 1]) {
        this.visit(time);
        growth.visits++;
      }
    }
    this.end();
  }

  end(): void {
    const { out, visits } = this;
    this.visitsSizeAt = out.length;
    out.number(visits.length);
    out.words(visits.view, 0, visits.length);
    visits.length = 0;
  }
}

/** How many numbers there are in a range of bytes: each ends with a byte below 128. */
function countNumbers(bytes: Uint8Array, from: number, to: number): number {
  let count = 0;
  for (let at = from; at < to; at++) if (bytes[at]! < 128) count++;
  return count;
}
