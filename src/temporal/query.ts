/**
 * Questions to a timeline as of one commit. Answers come as they are read; nothing that is committed later changes them.
 * A cut in time repeats what is alive in the page behind it; each entry is told once all the same.
 */
import { ArchiveError } from "../base/index.ts";
import { mayChange } from "./change-map.ts";
import {
  aliveEntry,
  aliveEntryOf,
  entryOf,
  isAlive,
  mergeEntries,
  type TimelineEntry,
  type TimelineEvent,
} from "./entry.ts";
import type { Leaf } from "./leaf.ts";
import { BEGINNING, childAt, FOREVER, type KeyNode, type PageRef, type TimeNode } from "./node.ts";
import type { PageFile } from "./page-file.ts";
import type { Run } from "./run.ts";

export interface KeyRange {
  /** The first key. */
  readonly from?: string | undefined;
  /** The first key that is not in the range any more. */
  readonly to?: string | undefined;
}

/** A page that was found for a question. */
interface Found {
  readonly leaf: Leaf;
  readonly start: number;
  readonly end: number;
}

export class TimelineQuery {
  private readonly file: PageFile;
  private readonly root: PageRef;

  constructor(file: PageFile, root: PageRef) {
    this.file = file;
    this.root = root;
  }

  /** The leaf that has this point. */
  private find(key: string, time: number): Found {
    let ref = this.root;
    let [start, end] = [BEGINNING, FOREVER];
    while (ref.kind !== "leaf") {
      const node = this.file.node(ref);
      if (node.kind === "keys") ref = node.children[childAt(node.bounds, key)]!;
      else {
        const at = childAt(node.bounds, time);
        start = Math.max(start, node.bounds[at]!);
        end = Math.min(end, node.bounds[at + 1] ?? FOREVER);
        ref = node.children[at]!;
      }
    }
    return { leaf: this.file.leafToSearch(ref), start, end };
  }

  private runsAt(key: string, time: number): { readonly runs: readonly Run[]; readonly found: Found } {
    const found = this.find(key, time);
    const body = found.leaf.find(key);
    return { runs: body === undefined ? [] : found.leaf.runsIn(body), found };
  }

  /**
   * The entry that was valid then, as far as one page tells: what it is and since when. End, last visit and number of
   * visits may go on behind that page; `at` finds those too.
   */
  glance(key: string, time: number): TimelineEntry | undefined {
    const { leaf, end } = this.find(key, time);
    return aliveEntryOf(leaf, key, time, end);
  }

  /** The entry that was valid then, whole. */
  at(key: string, time: number): TimelineEntry | undefined {
    const entry = this.glance(key, time);
    return entry === undefined || entry.isWhole ? entry : this.whole(key, entry.birth, time);
  }

  /** The entry with its last copy, which is found by halving the time in which that can be. */
  private whole(key: string, birth: number, known: number): TimelineEntry {
    let [low, high] = [known, FOREVER];
    while (low < high) {
      const probe = high === FOREVER ? FOREVER - 1 : Math.floor((low + high) / 2);
      const { runs, found } = this.runsAt(key, probe);
      const index = runs.findLastIndex((run) => run.start === birth && run.digest !== undefined);
      if (index < 0) high = Math.min(probe, found.start);
      else {
        const entry = entryOf(key, runs, index, found.end)!;
        if (entry.isWhole) return entry;
        low = Math.max(probe, found.end);
      }
    }
    throw new ArchiveError("HT_CORRUPT", `${this.file.file.path}: an entry of ${JSON.stringify(key)} has no end`);
  }

  /** The entries of a key that were valid in [from, to], in order; all of them where no span is given. */
  history(key: string, from = BEGINNING, to = FOREVER - 1): TimelineEntry[] {
    const entries: TimelineEntry[] = [];
    let time = to;
    let isFirst = true;
    for (;;) {
      const { runs, found } = this.runsAt(key, time);
      let index = runs.findLastIndex((run) => run.start <= time);
      if (!isFirst) index--;
      for (; index >= 0; index--) {
        const run = runs[index]!;
        const next = runs[index + 1];
        if (next !== undefined && next.start <= from && run.start < from) return entries.reverse();
        const entry = entryOf(key, runs, index, found.end);
        if (entry !== undefined) entries.push(entry.isWhole ? entry : this.whole(key, entry.birth, time));
        if (run.start < found.start) break;
      }
      // All of them began in this page, so there are none before.
      if (index < 0) return entries.reverse();
      time = runs[index]!.start;
      if (time <= from) return entries.reverse();
      isFirst = false;
    }
  }

  /** Every visit of a key in [from, to], in order; a digest is absent where the key was gone. */
  *visits(key: string, from = BEGINNING, to = FOREVER - 1): Generator<{ time: number; digest: string | undefined }> {
    for (let time = from; time <= to; ) {
      const { runs, found } = this.runsAt(key, time);
      for (const { digest, visits } of runs) {
        for (const visit of visits) if (visit >= from && visit <= to) yield { time: visit, digest };
      }
      time = found.end;
    }
  }

  /** Everything that was valid at that time, in the order of keys. */
  *slice(time: number, range: KeyRange = {}): Generator<TimelineEntry> {
    for (const { leaf, end, from, to } of this.leavesAt(this.root, time, FOREVER, range)) {
      for (let i = from; i < to; i++) {
        const entry = aliveEntry(leaf, i, time, end);
        if (entry !== undefined) yield entry;
      }
    }
  }

  /** The same from the last key to the first. */
  *sliceBackwards(time: number, range: KeyRange = {}): Generator<TimelineEntry> {
    for (const { leaf, end, from, to } of this.leavesAt(this.root, time, FOREVER, range, true)) {
      for (let i = to - 1; i >= from; i--) {
        const entry = aliveEntry(leaf, i, time, end);
        if (entry !== undefined) yield entry;
      }
    }
  }

  /** How many entries `slice` would give. Pages in which nothing changes behind that time are not read for it. */
  countSlice(time: number, range: KeyRange = {}): number {
    return this.countIn(this.root, time, range, { low: "", high: undefined });
  }

  private countIn(ref: PageRef, time: number, range: KeyRange, area: Keys): number {
    const { from = "", to } = range;
    const isInside = area.low >= from && (to === undefined || (area.high !== undefined && area.high <= to));
    if (isInside && time >= ref.lastChange) return ref.alive;
    let count = 0;
    if (ref.kind === "leaf") {
      const leaf = this.file.leaf(ref);
      const end = to === undefined ? leaf.keys.length : leaf.search(to);
      for (let i = leaf.search(from); i < end; i++) if (isAlive(leaf, i, time)) count++;
      return count;
    }
    const node = this.file.node(ref);
    if (node.kind === "times") return this.countIn(node.children[childAt(node.bounds, time)]!, time, range, area);
    const last = lastChild(node.bounds, to);
    for (let i = childAt(node.bounds, from); i <= last; i++) {
      const own = { low: node.bounds[i]!, high: node.bounds[i + 1] ?? area.high };
      count += this.countIn(node.children[i]!, time, range, own);
    }
    return count;
  }

  private *leavesAt(
    ref: PageRef,
    time: number,
    end: number,
    range: KeyRange,
    backwards = false,
  ): Generator<{ leaf: Leaf; end: number; from: number; to: number }> {
    if (ref.kind === "leaf") {
      const leaf = this.file.leaf(ref);
      const from = range.from === undefined ? 0 : leaf.search(range.from);
      const to = range.to === undefined ? leaf.keys.length : leaf.search(range.to);
      yield { leaf, end, from, to };
      return;
    }
    const node = this.file.node(ref);
    if (node.kind === "times") {
      const at = childAt(node.bounds, time);
      yield* this.leavesAt(node.children[at]!, time, Math.min(end, node.bounds[at + 1] ?? FOREVER), range, backwards);
      return;
    }
    for (const child of childrenIn(node, range, backwards)) yield* this.leavesAt(child, time, end, range, backwards);
  }

  /** Everything that was valid at some time in [from, to], in the order of keys and births. */
  span(from: number, to: number, range: KeyRange = {}): Generator<TimelineEntry> {
    return this.spanIn(this.root, { start: BEGINNING, end: FOREVER }, { from, to, range, backwards: false });
  }

  /** The same from the last key to the first; the entries of one key in the order of births. */
  spanBackwards(from: number, to: number, range: KeyRange = {}): Generator<TimelineEntry> {
    return this.spanIn(this.root, { start: BEGINNING, end: FOREVER }, { from, to, range, backwards: true });
  }

  /** What began or ended in (from, to], in the order of keys and times; pages in which nothing did are not read. */
  events(from: number, to: number, range: KeyRange = {}): Generator<TimelineEvent> {
    return this.eventsIn(this.root, { start: BEGINNING, end: FOREVER }, { from, to, range, backwards: false });
  }

  private *spanIn(ref: PageRef, stretch: Stretch, asked: Asked): Generator<TimelineEntry> {
    const { from, to, range, backwards } = asked;
    if (ref.kind === "leaf") {
      yield* this.spanInLeaf(this.file.leaf(ref), stretch, asked);
      return;
    }
    const node = this.file.node(ref);
    if (node.kind === "keys") {
      for (const child of childrenIn(node, range, backwards)) yield* this.spanIn(child, stretch, asked);
      return;
    }
    const streams = stretchesIn(node, stretch, from, to).map(([child, own]) => this.spanIn(child, own, asked));
    yield* mergeEntries(streams, backwards);
  }

  private *spanInLeaf(leaf: Leaf, { start, end }: Stretch, asked: Asked): Generator<TimelineEntry> {
    const { from, to, range, backwards } = asked;
    const first = range.from === undefined ? 0 : leaf.search(range.from);
    const last = (range.to === undefined ? leaf.keys.length : leaf.search(range.to)) - 1;
    const step = backwards ? -1 : 1;
    for (let i = backwards ? last : first; i >= first && i <= last; i += step) {
      const runs = leaf.runs(i);
      for (const [index, run] of runs.entries()) {
        const next = runs[index + 1];
        if (run.start > to || (next !== undefined && next.start <= from && run.start < from)) continue;
        // Of its copies the one in the page where the span begins for it counts.
        const point = Math.max(run.start, from);
        const entry = point < start || point >= end ? undefined : entryOf(leaf.keys[i]!, runs, index, end);
        if (entry !== undefined) yield entry;
      }
    }
  }

  private *eventsIn(ref: PageRef, stretch: Stretch, asked: Asked): Generator<TimelineEvent> {
    const { from, to, range } = asked;
    if (ref.lastChange <= from || !mayChange(ref.changes, from, to)) return;
    if (ref.kind === "leaf") {
      const leaf = this.file.leaf(ref);
      const last = range.to === undefined ? leaf.keys.length : leaf.search(range.to);
      for (let i = range.from === undefined ? 0 : leaf.search(range.from); i < last; i++) {
        const runs = leaf.runs(i);
        for (const [index, run] of runs.entries()) {
          if (run.start <= from || run.start > to || run.before > 0) continue;
          const replaced = runs[index - 1]?.digest !== undefined;
          yield {
            ...entryOf(leaf.keys[i]!, runs, index, stretch.end, true)!,
            replaced,
            isGone: run.digest === undefined,
          };
        }
      }
      return;
    }
    const node = this.file.node(ref);
    if (node.kind === "keys") {
      for (const child of childrenIn(node, range, false)) yield* this.eventsIn(child, stretch, asked);
      return;
    }
    const streams = stretchesIn(node, stretch, from, to)
      .filter(([child]) => mayChange(child.changes, from, to))
      .map(([child, own]) => this.eventsIn(child, own, asked));
    yield* mergeEntries(streams, false);
  }
}

/** The keys of a page: from the lowest, up to one that is not among them. */
interface Keys {
  readonly low: string;
  readonly high: string | undefined;
}

interface Stretch {
  readonly start: number;
  readonly end: number;
}

interface Asked {
  readonly from: number;
  readonly to: number;
  readonly range: KeyRange;
  readonly backwards: boolean;
}

/** The children of a node that have keys of the range. */
function childrenIn(node: KeyNode, range: KeyRange, backwards: boolean): PageRef[] {
  const first = range.from === undefined ? 0 : childAt(node.bounds, range.from);
  const children = node.children.slice(first, lastChild(node.bounds, range.to) + 1);
  return backwards ? children.reverse() : children;
}

/** The children of a node that meet a span, with their stretches of time. */
function stretchesIn(node: TimeNode, { start, end }: Stretch, from: number, to: number): [PageRef, Stretch][] {
  const found: [PageRef, Stretch][] = [];
  const last = childAt(node.bounds, to);
  for (let i = childAt(node.bounds, from); i <= last; i++) {
    const own = { start: Math.max(start, node.bounds[i]!), end: Math.min(end, node.bounds[i + 1] ?? FOREVER) };
    found.push([node.children[i]!, own]);
  }
  return found;
}

/** The last child with a key below `to`. */
function lastChild(bounds: readonly string[], to: string | undefined): number {
  if (to === undefined) return bounds.length - 1;
  const at = childAt(bounds, to);
  return at > 0 && bounds[at] === to ? at - 1 : at;
}
