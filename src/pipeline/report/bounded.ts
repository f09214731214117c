/** Tables and lists that stay small whatever goes in, and tell what they left out. */
import { CaptureSet } from "../../dedup/index.ts";
import { shorten } from "../../markup/index.ts";
import type { Share, ShareRow, ShareTable } from "./shape.ts";

/** Folded names that the filter tells apart well; it takes 2 MB. Beyond them more and more rows say `atLeast`. */
const FOLDED_SIZE = 1_000_000;

/** A share that grows. */
export class Tally implements Share {
  records = 0;
  recordBytes = 0;
  payloadBytes = 0;
  duplicates = 0;
  duplicateBytes = 0;
  replaced = 0;
  savedBytes = 0;

  add(share: Share): void {
    this.records += share.records;
    this.recordBytes += share.recordBytes;
    this.payloadBytes += share.payloadBytes;
    this.duplicates += share.duplicates;
    this.duplicateBytes += share.duplicateBytes;
    this.replaced += share.replaced;
    this.savedBytes += share.savedBytes;
  }
}

class Entry extends Tally {
  readonly name: string;
  /** The rank that the name may have had when it was folded, so that one who comes often is not folded for ever. */
  readonly inherited: number;
  readonly atLeast: boolean;

  constructor(name: string, atLeast: boolean, inherited: number) {
    super();
    this.name = name;
    this.atLeast = atLeast;
    this.inherited = inherited;
  }

  get rank(): number {
    return this.inherited + this.duplicateBytes + this.savedBytes;
  }
}

/** Whose duplicates are largest comes first; of those without any, whose payloads are. Names break ties, for one order. */
function byRank(one: Entry, other: Entry): number {
  return other.rank - one.rank || other.payloadBytes - one.payloadBytes || compareText(one.name, other.name);
}

function bySaving(one: Share & { name: string }, other: Share & { name: string }): number {
  return (
    other.savedBytes - one.savedBytes ||
    other.duplicateBytes - one.duplicateBytes ||
    other.payloadBytes - one.payloadBytes ||
    compareText(one.name, other.name)
  );
}

export function compareText(one: string, other: string): number {
  return one < other ? -1 : one > other ? 1 : 0;
}

/**
 * Shares by name, of the names that matter most. At twice its capacity the lower half is folded into the others. A name
 * that comes again after that begins anew and says so, and inherits the highest rank that was ever folded, as in the
 * Space-Saving algorithm of Metwally and others.
 *
 * Invariants: rows and others together are all that was added; a row that does not say `atLeast` is exact.
 */
export class BoundedShares {
  private readonly capacity: number;
  private readonly entries = new Map<string, Entry>();
  private readonly others = new Tally();
  private folded: CaptureSet | undefined;
  private foldedNames = 0;
  private floor = 0;

  constructor(capacity: number) {
    this.capacity = capacity;
  }

  /** The share of a name, to be added to at once; it may be folded by the next call. Long names are cut. */
  of(name: string): Tally {
    const key = shorten(name, NAME_LENGTH_MAX);
    const entry = this.entries.get(key);
    if (entry !== undefined) return entry;
    if (this.entries.size >= 2 * this.capacity) this.fold();
    const wasFolded = this.folded?.has(key) === true;
    const fresh = new Entry(detach(key), wasFolded, wasFolded ? this.floor : 0);
    this.entries.set(fresh.name, fresh);
    return fresh;
  }

  /** Does not change what is held, so that more can be added behind it. */
  toTable(rowsMax: number): ShareTable {
    const sorted = [...this.entries.values()].sort(bySaving);
    const others = new Tally();
    others.add(this.others);
    let names = this.foldedNames;
    for (const entry of sorted.slice(rowsMax)) {
      others.add(entry);
      if (!entry.atLeast) names++;
    }
    const rows = sorted.slice(0, rowsMax).map((entry): ShareRow => {
      return { name: entry.name, ...plainShare(entry), atLeast: entry.atLeast };
    });
    return { rows, others: names === 0 ? undefined : { names, ...plainShare(others) } };
  }

  private fold(): void {
    const leaving = [...this.entries.values()].sort(byRank).slice(this.capacity);
    this.folded ??= new CaptureSet(FOLDED_SIZE, FOLDED_SIZE);
    this.floor = Math.max(this.floor, leaving[0]?.rank ?? 0);
    for (const entry of leaving) {
      this.entries.delete(entry.name);
      this.others.add(entry);
      if (!this.folded.add(entry.name)) this.foldedNames++;
    }
  }
}

function plainShare(share: Share): Share {
  const { records, recordBytes, payloadBytes, duplicates, duplicateBytes, replaced, savedBytes } = share;
  return { records, recordBytes, payloadBytes, duplicates, duplicateBytes, replaced, savedBytes };
}

/** The first `limit` items in an order, whatever the number of those that come. */
export class TopList<T> {
  private readonly limit: number;
  private readonly compare: (one: T, other: T) => number;
  private readonly onDrop: ((item: T) => void) | undefined;
  private items: T[] = [];
  private last: T | undefined;

  /** `compare` as for sorting, first the best; `onDrop` gets each item that will not be in the list. */
  constructor(limit: number, compare: (one: T, other: T) => number, onDrop?: (item: T) => void) {
    this.limit = limit;
    this.compare = compare;
    this.onDrop = onDrop;
  }

  add(item: T): void {
    if (this.last !== undefined && this.compare(item, this.last) >= 0) {
      this.onDrop?.(item);
      return;
    }
    this.items.push(item);
    if (this.items.length >= 2 * this.limit) this.cut();
  }

  /** The last that a full list holds; what comes behind it in the order need not be added. */
  get bar(): T | undefined {
    return this.last;
  }

  toArray(): T[] {
    this.cut();
    return [...this.items];
  }

  private cut(): void {
    this.items.sort(this.compare);
    for (const item of this.items.slice(this.limit)) this.onDrop?.(item);
    this.items = this.items.slice(0, this.limit);
    if (this.items.length === this.limit) this.last = this.items.at(-1);
  }
}

const NAME_LENGTH_MAX = 256;

/** A copy of its own: a part of a line, held on to, would hold the whole line. */
export function detach(text: string): string {
  return Buffer.from(text, "utf16le").toString("utf16le");
}
