/**
 * Questions to a timeline as of one commit. Answers come as they are read; nothing that is committed later changes them.
 * A cut in time repeats what is alive in the page behind it; each entry is told once all the same.
 */
import { ArchiveError } from "../base/index.ts";
import type { AliveRun, Leaf } from "./leaf.ts";
import { BEGINNING, childAt, FOREVER, type KeyNode, type PageRef, type TimeNode } from "./node.ts";
import type { PageFile } from "./page-file.ts";
import { lastSeen, type Run, visitCount } from "./run.ts";

/** What a key held, and for how long. Some of it may be read only when it is asked for: copy it field by field. */
export interface TimelineEntry {
  readonly key: string;
  readonly birth: number;
  /** When something else was found, or nothing; absent as long as that is not known. */
  readonly end: number | undefined;
  /** Each character one byte. */
  readonly digest: string;
  readonly value: Uint8Array;
  /** The last visit that found it. Of a slice: as far as the page tells that was read for it, see `isWhole`. */
  readonly lastSeen: number;
  /** Visits that found it, the first included. */
  readonly visits: number;
  /** False where end, last visit and number of visits are only those up to some later time, as slices tell them. */
  readonly isWhole: boolean;
}

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
    return { leaf: this.file.leaf(ref), start, end };
  }

  private runsAt(key: string, time: number): { readonly runs: readonly Run[]; readonly found: Found } {
    const found = this.find(key, time);
    const at = found.leaf.search(key);
    return { runs: found.leaf.keys[at] === key ? found.leaf.runs(at) : [], found };
  }

  /**
   * The entry that was valid then, as far as one page tells: what it is and since when. End, last visit and number of
   * visits may go on behind that page; `at` finds those too.
   */
  glance(key: string, time: number): TimelineEntry | undefined {
    const { leaf, end } = this.find(key, time);
    const index = leaf.search(key);
    return leaf.keys[index] === key ? aliveEntry(leaf, index, time, end) : undefined;
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
    if (ref.lastChange <= from) return;
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
    const streams = stretchesIn(node, stretch, from, to).map(([child, own]) => this.eventsIn(child, own, asked));
    yield* mergeEntries(streams, false);
  }
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

/** Something that began, or the end of something. */
export interface TimelineEvent extends TimelineEntry {
  /** Whether the key held something else right before. */
  readonly replaced: boolean;
  /** Nothing began: the key was found to be gone. */
  readonly isGone: boolean;
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

/** Absent for a run that says "gone", unless that is asked for. */
function entryOf(
  key: string,
  runs: readonly Run[],
  index: number,
  pageEnd: number,
  withGone = false,
): TimelineEntry | undefined {
  const run = runs[index]!;
  if (run.digest === undefined && !withGone) return undefined;
  const next = runs[index + 1];
  return {
    key,
    birth: run.start,
    end: next?.start,
    digest: run.digest ?? "",
    value: run.value,
    lastSeen: lastSeen(run),
    visits: visitCount(run),
    isWhole: next !== undefined || pageEnd === FOREVER,
  };
}

/** An entry of a slice: what few ask for is read from the page when somebody does. */
class AliveEntry implements TimelineEntry {
  readonly key: string;
  readonly birth: number;
  readonly end: number | undefined;
  readonly isWhole: boolean;
  private readonly leaf: Leaf;
  private readonly at: number;
  private readonly reference: number;
  private read: Run | undefined;

  constructor(leaf: Leaf, index: number, { at, reference, start, next }: AliveRun, pageEnd: number) {
    this.key = leaf.keys[index]!;
    this.birth = start;
    this.end = next;
    this.isWhole = next !== undefined || pageEnd === FOREVER;
    this.leaf = leaf;
    this.at = at;
    this.reference = reference;
  }

  private get run(): Run {
    this.read ??= this.leaf.runAt(this.at, this.reference);
    return this.read;
  }

  get digest(): string {
    return this.run.digest!;
  }

  get value(): Uint8Array {
    return this.run.value;
  }

  get lastSeen(): number {
    return lastSeen(this.run);
  }

  get visits(): number {
    return visitCount(this.run);
  }
}

const alive: AliveRun = { at: 0, reference: 0, start: 0, isGone: false, next: undefined };

/** The entry that is alive in a page at a moment; absent where there is none. */
function aliveEntry(leaf: Leaf, index: number, time: number, pageEnd: number): TimelineEntry | undefined {
  return leaf.findAlive(index, time, alive) && !alive.isGone ? new AliveEntry(leaf, index, alive, pageEnd) : undefined;
}

/** Streams in the order of keys and births as one. */
function* mergeEntries<T extends TimelineEntry>(streams: readonly Generator<T>[], backwards: boolean): Generator<T> {
  if (streams.length === 1) {
    yield* streams[0]!;
    return;
  }
  const heads = streams.map((stream) => ({ stream, next: stream.next() })).filter(({ next }) => next.done !== true);
  while (heads.length > 0) {
    let first = 0;
    for (let i = 1; i < heads.length; i++) {
      if (isBefore(heads[i]!.next.value as T, heads[first]!.next.value as T, backwards)) first = i;
    }
    const head = heads[first]!;
    yield head.next.value as T;
    head.next = head.stream.next();
    if (head.next.done === true) heads.splice(first, 1);
  }
}

function isBefore(one: TimelineEntry, other: TimelineEntry, backwards: boolean): boolean {
  return one.key === other.key ? one.birth < other.birth : one.key < other.key !== backwards;
}
