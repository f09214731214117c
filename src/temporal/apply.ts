/**
 * Takes visits into a timeline: goes down the pages that they concern, in the order of keys, and writes what changes as
 * new pages. What a visit changes about a run that goes on in later pages is carried on into those.
 */

import { type Layout, layOut, layOutBehind } from "./layout.ts";
import type { Leaf } from "./leaf.ts";
import { LeafBuilder } from "./leaf-builder.ts";
import { encodeNode, FOREVER, type KeyNode, type Node, type PageRef, type TimeNode } from "./node.ts";
import type { PageFile } from "./page-file.ts";
import { addVisits, type Carry, carriedOn, carryOf, lastSeen, type Run, sameCarry, type Visit } from "./run.ts";
import type { Settings, Totals } from "./slot.ts";

/** What is new about a key: visits in order, and perhaps what it held before. */
export interface KeyChange {
  readonly key: string;
  readonly visits: readonly Visit[];
  /** Given where what is carried into the page has changed. */
  readonly carry?: { readonly run: Carry } | undefined;
}

/** What a page became: one page, or several that divide its keys or its times. */
interface Pieces {
  readonly divide: "nothing" | "keys" | "times";
  readonly bounds: readonly (string | number)[];
  readonly refs: readonly PageRef[];
  /** What has to be carried into the pages behind, in order of keys. */
  readonly carried: readonly KeyChange[];
}

/** The plane that a page covers. */
interface Area {
  readonly low: string;
  readonly start: number;
  readonly end: number;
}

/** What happens to a leaf while changes are taken in. */
interface LeafNews {
  lastChange: number;
  lastVisit: number;
  /** The earliest of what is new. */
  firstNew: number;
  readonly carried: KeyChange[];
}

export class Application {
  keys: number;
  entries: number;
  visits: number;
  live: number;
  private readonly file: PageFile;
  private readonly settings: Settings;
  private readonly builder: LeafBuilder;

  constructor(file: PageFile, settings: Settings, totals: Totals & { readonly live: number }) {
    this.file = file;
    this.settings = settings;
    this.builder = new LeafBuilder(settings.digestSize);
    this.keys = totals.keys;
    this.entries = totals.entries;
    this.visits = totals.visits;
    this.live = totals.live;
  }

  /** The new root. */
  run(root: PageRef, area: Area, changes: readonly KeyChange[]): PageRef {
    return this.wrap(this.apply(root, area, changes));
  }

  private apply(ref: PageRef, area: Area, changes: readonly KeyChange[]): Pieces {
    if (changes.length === 0) return { ...one(ref), carried: [] };
    if (ref.kind === "leaf") return this.applyLeaf(ref, area, changes);
    const node = this.file.node(ref);
    this.live -= ref.length;
    return node.kind === "keys" ? this.applyKeys(node, area, changes) : this.applyTimes(node, area, changes);
  }

  private applyKeys(node: KeyNode, area: Area, changes: readonly KeyChange[]): Pieces {
    const gathered = new Gathering<string>("keys");
    const carried: KeyChange[] = [];
    let at = 0;
    for (const [i, ref] of node.children.entries()) {
      const next = node.bounds[i + 1];
      const from = at;
      while (at < changes.length && (next === undefined || changes[at]!.key < next)) at++;
      const low = node.bounds[i]!;
      const pieces = this.apply(ref, { ...area, low }, changes.slice(from, at));
      gathered.add(low, pieces, (inner) => this.wrap(inner));
      carried.push(...pieces.carried);
    }
    return { ...this.build("keys", gathered.bounds, gathered.refs), carried };
  }

  private applyTimes(node: TimeNode, area: Area, changes: readonly KeyChange[]): Pieces {
    const gathered = new Gathering<number>("times");
    let carried: readonly KeyChange[] = [];
    const last = node.children.length - 1;
    const isLate = isAllBehind(changes, node.bounds[last]!);
    for (const [i, ref] of node.children.entries()) {
      if (isLate && i < last) {
        gathered.add(node.bounds[i]!, { ...one(ref), carried }, (inner) => this.wrap(inner));
        continue;
      }
      const start = node.bounds[i]!;
      const end = node.bounds[i + 1] ?? area.end;
      const own = isLate ? changes : mergeChanges(clipChanges(changes, start, end, i === 0), carried);
      const pieces = this.apply(ref, { low: area.low, start, end }, own);
      gathered.add(start, pieces, (inner) => this.wrap(inner));
      carried = pieces.carried;
    }
    return { ...this.build("times", gathered.bounds, gathered.refs), carried };
  }

  private applyLeaf(ref: PageRef, { low, start, end }: Area, changes: readonly KeyChange[]): Pieces {
    const leaf = this.file.leaf(ref);
    const news: LeafNews = { lastChange: ref.lastChange, lastVisit: leaf.lastVisit, firstNew: FOREVER, carried: [] };
    const first = changes[0]!;
    const base = leaf.keys.length > 0 ? leaf.base : Math.max(start, first.visits[0]?.time ?? start);
    if (leaf.keys.length === 0) news.lastVisit = base;
    this.builder.begin(base);
    let index = 0;
    for (const change of changes) {
      const at = leaf.search(change.key);
      this.builder.copy(leaf, index, at);
      index = at;
      if (leaf.keys[at] !== change.key) this.changeRuns(change, [], end, news);
      else if (!this.appendVisit(leaf, index++, change, end, news)) this.changeRuns(change, leaf.runs(at), end, news);
      const { visits, carry } = change;
      news.lastVisit = Math.max(news.lastVisit, visits.at(-1)?.time ?? news.lastVisit);
      news.firstNew = Math.min(news.firstNew, carry === undefined ? visits[0]!.time : start);
    }
    this.builder.copy(leaf, index, leaf.keys.length);
    const { carried, lastChange, firstNew } = news;
    const built = this.builder.finish(news.lastVisit);
    if (built.bytes.length <= this.settings.pageSize) {
      this.live -= ref.length;
      return { ...one(this.append(built, lastChange)), carried };
    }
    const isAppended = end === FOREVER && firstNew > start && firstNew > leaf.lastVisit;
    const all = built.keys.map((key, i) => ({ key, runs: built.runs(i) }));
    const layout = isAppended
      ? layOutBehind(all, start, firstNew, end, this.settings)
      : layOut(all, start, end, this.settings);
    if (!isAppended) this.live -= ref.length;
    return { ...this.write(layout, low, ref), carried };
  }

  /** The usual case, done on the bytes: one visit behind all others, and no page behind this one. */
  private appendVisit(leaf: Leaf, index: number, { visits, carry }: KeyChange, end: number, news: LeafNews): boolean {
    const [visit] = visits;
    if (end < FOREVER || carry !== undefined || visits.length !== 1 || visit === undefined) return false;
    const last = leaf.lastRun(index);
    if (visit.time <= last.lastVisit) return false;
    const isNew = !leaf.hasDigest(last.digestAt, visit.digest);
    this.builder.append(leaf, index, last, visit);
    this.visits++;
    if (isNew && visit.digest !== undefined) this.entries++;
    if (isNew) news.lastChange = Math.max(news.lastChange, visit.time);
    return true;
  }

  private changeRuns(change: KeyChange, old: readonly Run[], end: number, news: LeafNews): void {
    const carry = change.carry === undefined ? carryOf(old) : change.carry.run && carriedOn(change.carry.run);
    const runs = addVisits(old, change.visits, carry);
    this.count(old, -1);
    this.count(runs, 1);
    if (runs.length > 0) this.builder.put(change.key, runs);
    if (end < FOREVER && !sameCarry(old.at(-1), runs.at(-1))) {
      news.carried.push({ key: change.key, visits: [], carry: { run: runs.at(-1) } });
    }
    news.lastChange = Math.max(news.lastChange, runs.at(-1)?.start ?? news.lastChange);
  }

  /** A key is counted where its first run is, a run where it began, a visit where it lies. */
  private count(runs: readonly Run[], sign: 1 | -1): void {
    if (runs.length > 0 && runs[0]!.before === 0) this.keys += sign;
    for (const { before, digest, visits } of runs) {
      if (before === 0 && digest !== undefined) this.entries += sign;
      this.visits += sign * visits.length;
    }
  }

  private append(leaf: Leaf, lastChange: number): PageRef {
    this.live += leaf.bytes.length;
    return this.file.appendLeaf(leaf, lastChange);
  }

  private write(layout: Layout, low: string, kept: PageRef): Omit<Pieces, "carried"> {
    if (layout.kind === "kept") return one(kept);
    if (layout.kind === "leaf") {
      const { entries } = layout;
      const base = entries[0]?.runs[0]!.start ?? 0;
      let [lastChange, lastVisit] = [base, base];
      this.builder.begin(base);
      for (const { key, runs } of entries) {
        lastChange = Math.max(lastChange, runs.at(-1)!.start);
        lastVisit = Math.max(lastVisit, lastSeen(runs.at(-1)!));
        this.builder.put(key, runs);
      }
      return one(this.append(this.builder.finish(lastVisit), lastChange));
    }
    const gathered = new Gathering<string | number>(layout.kind);
    for (const [i, part] of layout.parts.entries()) {
      const bound = layout.bounds[i] === "" ? low : layout.bounds[i]!;
      const inside = this.write(part, typeof bound === "string" ? bound : low, kept);
      gathered.add(bound, { ...inside, carried: [] }, (inner) => this.wrap(inner));
    }
    return { divide: layout.kind, bounds: gathered.bounds, refs: gathered.refs };
  }

  /** One page that leads to all of the pieces. */
  private wrap(pieces: Omit<Pieces, "carried">): PageRef {
    let { divide, bounds, refs } = pieces;
    while (divide !== "nothing") ({ divide, bounds, refs } = this.build(divide, bounds, refs));
    return refs[0]!;
  }

  /** Nodes over pages that divide keys or times: one, or several where one would be too large. */
  private build(
    divide: "keys" | "times",
    bounds: readonly (string | number)[],
    refs: readonly PageRef[],
  ): Omit<Pieces, "carried"> {
    if (refs.length === 1) return one(refs[0]!);
    const image = encodeNode({ kind: divide, bounds, children: refs } as Node);
    if (image.length <= this.settings.pageSize || refs.length < 4) return one(this.appendNode(image, divide, refs));
    const count = Math.ceil(image.length / (this.settings.pageSize / 2));
    const each = Math.max(2, Math.ceil(refs.length / count));
    const [outer, nodes]: [(string | number)[], PageRef[]] = [[], []];
    for (let at = 0; at < refs.length; at += each) {
      const part = refs.slice(at, at + each);
      const inner = { kind: divide, bounds: bounds.slice(at, at + each), children: part } as Node;
      outer.push(bounds[at]!);
      nodes.push(part.length === 1 ? part[0]! : this.appendNode(encodeNode(inner), divide, part));
    }
    return { divide, bounds: outer, refs: nodes };
  }

  private appendNode(image: Buffer, kind: "keys" | "times", children: readonly PageRef[]): PageRef {
    this.live += image.length;
    return this.file.append(
      image,
      kind,
      children.reduce((last, { lastChange }) => Math.max(last, lastChange), -FOREVER),
    );
  }
}

function one(ref: PageRef): Omit<Pieces, "carried"> {
  return { divide: "nothing", bounds: [""], refs: [ref] };
}

/** The children of a node in the making. What divides the same as the node is taken up into it. */
class Gathering<T extends string | number> {
  readonly bounds: T[] = [];
  readonly refs: PageRef[] = [];
  private readonly divide: "keys" | "times";

  constructor(divide: "keys" | "times") {
    this.divide = divide;
  }

  add(bound: T, pieces: Pieces, wrap: (pieces: Pieces) => PageRef): void {
    if (pieces.divide !== this.divide) {
      this.bounds.push(bound);
      this.refs.push(wrap(pieces));
      return;
    }
    for (const [i, ref] of pieces.refs.entries()) {
      this.bounds.push(i === 0 ? bound : (pieces.bounds[i] as T));
      this.refs.push(ref);
    }
  }
}

/** Whether all that is new lies behind this moment: then no page before it changes. */
function isAllBehind(changes: readonly KeyChange[], moment: number): boolean {
  for (const { visits, carry } of changes) if (carry !== undefined || visits[0]!.time < moment) return false;
  return true;
}

/** The changes in [start, end); those without any are left out, but for what is carried into the first stretch. */
function clipChanges(
  changes: readonly KeyChange[],
  start: number,
  end: number,
  isFirst: boolean,
): readonly KeyChange[] {
  const clipped: KeyChange[] = [];
  for (const change of changes) {
    const { key, visits, carry } = change;
    const own = visits.filter(({ time }) => time >= start && time < end);
    if (isFirst && carry !== undefined) clipped.push({ key, visits: own, carry });
    else if (own.length > 0) clipped.push({ key, visits: own });
  }
  return clipped;
}

/** Changes of a stretch, and what is carried into it. */
function mergeChanges(changes: readonly KeyChange[], carried: readonly KeyChange[]): readonly KeyChange[] {
  if (carried.length === 0) return changes;
  const merged: KeyChange[] = [];
  let at = 0;
  for (const change of carried) {
    while (at < changes.length && changes[at]!.key < change.key) merged.push(changes[at++]!);
    const same = changes[at]?.key === change.key ? changes[at++]! : undefined;
    merged.push({ key: change.key, visits: same?.visits ?? [], carry: change.carry });
  }
  while (at < changes.length) merged.push(changes[at++]!);
  return merged;
}
