/**
 * What a pack volume holds at this moment: the index as of its last commit, and what happened since. Changes are made
 * here in the order in which their records are appended; whoever answers a client waits until those are durable.
 */
import { invariant } from "../../base/index.ts";
import { type BlockAddress, formatAddress, sameAddress } from "../content-key.ts";
import type { Answer, BlockEntry, IndexChanges, IndexTotals, PackIndex, SegmentState } from "./pack-index.ts";
import type { PackRecord } from "./pack-record.ts";

class Changes {
  readonly blocks = new Map<string, readonly BlockEntry[]>();
  readonly answers = new Map<string, Answer>();
  readonly former = new Map<string, BlockAddress | undefined>();
  readonly segments = new Map<number, SegmentState | undefined>();

  get count(): number {
    return this.blocks.size + this.answers.size + this.former.size + this.segments.size;
  }
}

/** Where a record is, or will be when it is durable. */
export interface RecordPlace {
  readonly segment: number;
  readonly offset: number;
  readonly headSize: number;
  readonly end: number;
}

export class PackState {
  readonly segments: Map<number, SegmentState>;
  /** The highest number of a segment so far. */
  highestSegment = 0;
  private readonly index: PackIndex;
  private current = new Changes();
  /** What is on its way into the index. */
  private leaving: Changes | undefined;
  /** What the index said last. */
  private lookedUp: { readonly signature: string; readonly entries: readonly BlockEntry[] } | undefined;
  private readonly totals: { -readonly [K in keyof IndexTotals]: number };
  private lastSequence: number;
  /** While segments are read: changes of blocks that have not been met yet, the last of each. */
  private early: Map<string, { readonly record: PackRecord; readonly place: RecordPlace }> | undefined;

  constructor(index: PackIndex) {
    this.index = index;
    this.segments = index.segments();
    for (const segment of this.segments.keys()) this.highestSegment = Math.max(this.highestSegment, segment);
    this.totals = { ...index.state.totals };
    this.lastSequence = index.state.sequence;
  }

  get summary(): IndexTotals {
    return this.totals;
  }

  /** How much the index does not know yet. */
  get uncommitted(): number {
    return this.current.count;
  }

  nextSequence(): number {
    return ++this.lastSequence;
  }

  blocks(signature: string): readonly BlockEntry[] {
    return this.current.blocks.get(signature) ?? this.leaving?.blocks.get(signature) ?? this.indexed(signature);
  }

  /** A change looks at its signature three times before it is made. */
  private indexed(signature: string): readonly BlockEntry[] {
    if (this.lookedUp?.signature !== signature) this.lookedUp = { signature, entries: this.index.blocks(signature) };
    return this.lookedUp.entries;
  }

  block({ signature, overflow }: BlockAddress): BlockEntry | undefined {
    return this.blocks(signature).find((entry) => entry.overflow === overflow);
  }

  /** Those of which the index does not know all. */
  recentSignatures(): string[] {
    return [...this.current.blocks.keys(), ...(this.leaving?.blocks.keys() ?? [])];
  }

  answer(requestId: string): Answer | undefined {
    const { current, leaving, index } = this;
    return current.answers.get(requestId) ?? leaving?.answers.get(requestId) ?? index.answer(requestId);
  }

  former(key: string): BlockAddress | undefined {
    for (const changes of [this.current, this.leaving]) if (changes?.former.has(key)) return changes.former.get(key);
    return this.index.former(key);
  }

  /**
   * Segments are read again from here until `endReplay`. Their order is not always that in which things happened: a
   * large block lies in a segment of its own, and a change of it may lie in one with a lower number.
   */
  beginReplay(): void {
    this.early = new Map();
  }

  endReplay(): void {
    this.early = undefined;
  }

  /** Takes in a record, be it one that was just written or one that is found again. Older news changes nothing. */
  apply(record: PackRecord, place: RecordPlace): void {
    this.lastSequence = Math.max(this.lastSequence, record.sequence);
    this.extend(place);
    if (record.requestId !== undefined) this.current.answers.set(record.requestId, answerOf(record));
    const before = this.block(record);
    if (before === undefined && (record.change !== "block" || this.early !== undefined)) {
      if (!this.isTimely(record, place)) return;
    } else if (before !== undefined && before.sequence >= record.sequence) return;
    this.replace(record, place, before);
    const name = formatAddress(record);
    const late = this.early?.get(name);
    if (late === undefined || record.change !== "block") return;
    this.early!.delete(name);
    this.apply(late.record, late.place);
  }

  /** Whether a record about a block that is not there can be carried out now. */
  private isTimely(record: PackRecord, place: RecordPlace): boolean {
    const name = formatAddress(record);
    const known = this.early?.get(name);
    if (record.change === "block") {
      const gone = known !== undefined && known.record.references === 0 && known.record.sequence > record.sequence;
      return !gone;
    }
    invariant(this.early !== undefined, `${name} is changed, and is not there`);
    if (known === undefined || known.record.sequence < record.sequence) this.early.set(name, { record, place });
    return false;
  }

  private replace(record: PackRecord, place: RecordPlace, before: BlockEntry | undefined): void {
    const { signature } = record;
    const after = entryAfter(record, place, before);
    const others = this.blocks(signature).filter(({ overflow }) => overflow !== record.overflow);
    if (after !== undefined) others.push(after);
    if (others.length > 1) others.sort((one, other) => one.overflow - other.overflow);
    this.current.blocks.set(signature, others);
    this.count(before, -1);
    this.count(after, 1);
    this.linkFormer(record, before, after);
  }

  /** A former key leads to the block that said it last. */
  private linkFormer(record: PackRecord, before: BlockEntry | undefined, after: BlockEntry | undefined): void {
    const { signature, overflow } = record;
    if (after === undefined) {
      for (const key of before?.formerKeys ?? []) this.current.former.set(key, undefined);
      return;
    }
    for (const key of record.formerKeys) {
      const holder = this.former(key);
      if (holder !== undefined && !sameAddress(holder, record)) this.takeFormer(holder, key);
      this.current.former.set(key, { signature, overflow });
    }
  }

  private takeFormer({ signature, overflow }: BlockAddress, key: string): void {
    const entries = this.blocks(signature).map((entry) =>
      entry.overflow === overflow ? { ...entry, formerKeys: entry.formerKeys.filter((other) => other !== key) } : entry,
    );
    this.current.blocks.set(signature, entries);
  }

  private count(entry: BlockEntry | undefined, sign: 1 | -1): void {
    if (entry === undefined) return;
    const { totals } = this;
    totals.blocks += sign;
    totals.contentBytes += sign * entry.size;
    totals.storedBytes += sign * entry.storedSize;
    totals.references += sign * entry.references;
    const state = this.segments.get(entry.segment);
    if (state === undefined) return;
    const live = state.live + sign * (entry.headSize + entry.storedSize);
    this.setSegment(entry.segment, { end: state.end, live });
  }

  /** The segment reaches so far, at least. */
  extend({ segment, end }: { readonly segment: number; readonly end: number }): void {
    const state = this.segments.get(segment);
    if (state === undefined || state.end < end) this.setSegment(segment, { end, live: state?.live ?? 0 });
  }

  private setSegment(segment: number, state: SegmentState): void {
    this.highestSegment = Math.max(this.highestSegment, segment);
    this.segments.set(segment, state);
    this.current.segments.set(segment, state);
  }

  dropSegment(segment: number): void {
    this.segments.delete(segment);
    this.current.segments.set(segment, undefined);
  }

  /** Takes the changes so far; they go into the index with `commit`, once their records are durable. */
  prepareCommit(): IndexChanges {
    invariant(this.leaving === undefined, "one commit at a time");
    this.leaving = this.current;
    this.current = new Changes();
    const { blocks, answers, former, segments } = this.leaving;
    return { blocks, answers, former, segments, state: { sequence: this.lastSequence, totals: { ...this.totals } } };
  }

  async commit(changes: IndexChanges): Promise<void> {
    await this.index.commit(changes);
    this.leaving = undefined;
    this.lookedUp = undefined;
  }
}

const NO_KEYS: readonly string[] = [];

function entryAfter(record: PackRecord, place: RecordPlace, before: BlockEntry | undefined): BlockEntry | undefined {
  if (record.references === 0) return undefined;
  const { segment, offset, headSize } = record.change === "block" ? place : before!;
  const old = before?.formerKeys ?? NO_KEYS;
  return {
    overflow: record.overflow,
    size: record.size,
    storedSize: record.storedSize,
    compression: record.compression,
    references: record.references,
    segment,
    offset,
    headSize,
    counterSegment: place.segment,
    sequence: record.sequence,
    leaving: record.leaving,
    formerKeys: record.formerKeys.length === 0 ? old : [...new Set([...old, ...record.formerKeys])],
  };
}

export function answerOf(record: PackRecord): Answer {
  const { signature, overflow, size, storedSize, compression, references, change } = record;
  const outcome = change === "block" ? "new" : change === "reference" || change === "count" ? "duplicate" : "removed";
  const isAdopted = record.formerKeys.length > 0;
  return { signature, overflow, size, storedSize, compression, references, outcome, isAdopted };
}
