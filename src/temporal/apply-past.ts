/**
 * Takes visits of any time into pages. What a visit changes about a run that goes on in later pages is carried on into
 * those. This is the general way; apply.ts has a shorter one for visits that are later than all that is known.
 */
import { withChange } from "./change-map.ts";
import { clipChanges, firstTime, isAllBehind, type KeyChange, mergeChanges } from "./changes.ts";
import { layOutBehind } from "./layout.ts";
import type { Leaf } from "./leaf.ts";
import { BEGINNING, FOREVER, type KeyNode, type PageRef, type TimeNode } from "./node.ts";
import type { PageFile } from "./page-file.ts";
import { type Area, Gathering, one, PageWriter, type Pieces } from "./page-writer.ts";
import { carriedOn, carryOf, changeVisits, type Run, sameCarry } from "./run.ts";
import type { Growth } from "./run-writer.ts";
import type { Root, Totals } from "./slot.ts";

/** Pieces, and what has to be carried into the pages behind, in order of keys. */
interface Changed extends Pieces {
  readonly carried: readonly KeyChange[];
}

/** What happens to a leaf while changes are taken in. */
export interface LeafNews extends Growth {
  lastVisit: number;
  /** The earliest of what is new. */
  firstNew: number;
  readonly carried: KeyChange[];
}

export function startNews(ref: PageRef, leaf: Leaf): LeafNews {
  const { lastChange, alive, changes } = ref;
  const { lastVisit } = leaf;
  return { lastChange, alive, changes, lastVisit, keys: 0, visits: 0, entries: 0, firstNew: FOREVER, carried: [] };
}

export type Tally = { -readonly [K in keyof Totals]: Totals[K] };

/** What a timeline becomes with changes of any time, in the order of their keys; not committed yet. */
export function applyChanges(file: PageFile, before: Root, changes: readonly KeyChange[]): Root {
  const { keys, entries, visits } = before;
  const tally = { keys, entries, visits };
  const writer = new PageWriter(file, before, before);
  const whole = { low: "", start: BEGINNING, end: FOREVER };
  const root = writer.wrap(new PastApplication(writer, tally).apply(before.root, whole, changes));
  return { ...before, ...tally, root, live: writer.live, copies: writer.copies, end: file.size };
}

export class PastApplication {
  private readonly writer: PageWriter;
  private readonly tally: Tally;

  constructor(writer: PageWriter, tally: Tally) {
    this.writer = writer;
    this.tally = tally;
  }

  apply(ref: PageRef, area: Area, changes: readonly KeyChange[]): Changed {
    if (changes.length === 0) return { ...one(ref), carried: [] };
    if (ref.kind === "leaf") return this.applyLeaf(ref, area, changes);
    const node = this.writer.file.node(ref);
    this.writer.dropNode(ref);
    return node.kind === "keys" ? this.applyKeys(node, area, changes) : this.applyTimes(node, area, changes);
  }

  private applyKeys(node: KeyNode, area: Area, changes: readonly KeyChange[]): Changed {
    const gathered = new Gathering("keys");
    const carried: KeyChange[] = [];
    let at = 0;
    for (const [i, ref] of node.children.entries()) {
      const next = node.bounds[i + 1];
      const from = at;
      while (at < changes.length && (next === undefined || changes[at]!.key < next)) at++;
      const low = node.bounds[i]!;
      const pieces = this.apply(ref, { ...area, low }, changes.slice(from, at));
      gathered.add(low, pieces, this.writer);
      for (const change of pieces.carried) carried.push(change);
    }
    return { ...this.writer.build("keys", gathered.bounds, gathered.refs), carried };
  }

  private applyTimes(node: TimeNode, area: Area, changes: readonly KeyChange[]): Changed {
    const gathered = new Gathering("times");
    let carried: readonly KeyChange[] = [];
    const last = node.children.length - 1;
    const isLate = isAllBehind(changes, node.bounds[last]!);
    for (const [i, ref] of node.children.entries()) {
      if (isLate && i < last) {
        gathered.add(node.bounds[i]!, one(ref), this.writer);
        continue;
      }
      const start = node.bounds[i]!;
      const end = node.bounds[i + 1] ?? area.end;
      const own = isLate ? changes : mergeChanges(clipChanges(changes, start, end, i === 0), carried);
      const pieces = this.apply(ref, { low: area.low, start, end }, own);
      gathered.add(start, pieces, this.writer);
      carried = pieces.carried;
    }
    return { ...this.writer.build("times", gathered.bounds, gathered.refs), carried };
  }

  private applyLeaf(ref: PageRef, { low, start, end }: Area, changes: readonly KeyChange[]): Changed {
    const { writer } = this;
    const { builder, settings } = writer;
    const leaf = writer.file.leaf(ref);
    if (leaf.keys.length === 0 && changes.every(addsNothing)) return { ...one(ref), carried: [] };
    const news = startNews(ref, leaf);
    const base = leaf.keys.length > 0 ? leaf.base : Math.max(start, changes[0]!.visits[0]?.time ?? start);
    if (leaf.keys.length === 0) news.lastVisit = base;
    builder.begin(base);
    let index = 0;
    for (const change of changes) {
      const at = leaf.search(change.key);
      builder.copy(leaf, index, at);
      index = at;
      const isKnown = leaf.keys[at] === change.key;
      this.changeRuns(change, isKnown ? leaf.runs(index++) : [], end, news);
      const { visits, carry } = change;
      news.lastVisit = Math.max(news.lastVisit, visits.at(-1)?.time ?? news.lastVisit);
      news.firstNew = Math.min(news.firstNew, carry === undefined ? firstTime(change) : start);
    }
    builder.copy(leaf, index, leaf.keys.length);
    const built = builder.finish(news.lastVisit);
    if (built.bytes.length <= settings.pageSize) {
      writer.dropLeaf(ref, leaf);
      return { ...one(writer.appendLeaf(built, news)), carried: news.carried };
    }
    return { ...divide(writer, ref, { low, start, end }, built, news), carried: news.carried };
  }

  /** Puts a key as it is with what is new into the leaf in the making. */
  changeRuns(change: KeyChange, old: readonly Run[], end: number, news: LeafNews): void {
    const carry = change.carry === undefined ? carryOf(old) : change.carry.run && carriedOn(change.carry.run);
    const runs = changeVisits(old, change.visits, change.forgotten ?? [], carry);
    this.count(old, -1);
    this.count(runs, 1);
    if (runs.length > 0) this.writer.builder.put(change.key, runs);
    if (end < FOREVER && !sameCarry(old.at(-1), runs.at(-1))) {
      news.carried.push({ key: change.key, visits: [], carry: { run: runs.at(-1) } });
    }
    news.alive += Number(runs.at(-1)?.digest !== undefined) - Number(old.at(-1)?.digest !== undefined);
    news.lastChange = Math.max(news.lastChange, runs.at(-1)?.start ?? news.lastChange);
    for (const { start, before } of runs) if (before === 0) news.changes = withChange(news.changes, start);
  }

  /** A key is counted where its first run is, a run where it began, a visit where it lies. */
  private count(runs: readonly Run[], sign: 1 | -1): void {
    if (runs.length > 0 && runs[0]!.before === 0) this.tally.keys += sign;
    for (const { before, digest, visits } of runs) {
      if (before === 0 && digest !== undefined) this.tally.entries += sign;
      this.tally.visits += sign * visits.length;
    }
  }
}

function addsNothing({ visits, carry }: KeyChange): boolean {
  return visits.length === 0 && carry?.run === undefined;
}

/** A leaf that became too large, in pieces. Where all that is new is behind what was known, that stays as it is. */
export function divide(
  writer: PageWriter,
  ref: PageRef,
  { low, start, end }: Area,
  built: Leaf,
  { firstNew }: LeafNews,
): Pieces {
  const { settings } = writer;
  const leaf = writer.file.leaf(ref);
  if (end === FOREVER && firstNew > start && firstNew > leaf.lastVisit) {
    const entries = built.keys.map((key, i) => ({ key, runs: built.runs(i) }));
    return writer.write(layOutBehind(entries, start, firstNew, end, settings), low, ref);
  }
  writer.dropLeaf(ref, leaf);
  return writer.layOut(built, { low, start, end });
}
