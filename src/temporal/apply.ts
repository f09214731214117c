/**
 * Takes visits into a timeline: goes down the pages that they concern, in the order of keys, and writes what changes as
 * new pages. Visits that are later than all that is known of their keys, as most are, are added to the bytes of their
 * pages; those that are not go the way of apply-past.ts.
 */
import { divide, type LeafNews, PastApplication, startNews, type Tally } from "./apply-past.ts";
import type { SortedVisits } from "./batch.ts";
import { changesOf } from "./changes.ts";
import { ALIVE_MOST, FILL, separator } from "./layout.ts";
import { isAt, type Leaf } from "./leaf.ts";
import { BEGINNING, FOREVER, type KeyNode, type PageRef, type TimeNode } from "./node.ts";
import type { PageFile } from "./page-file.ts";
import { type Area, Gathering, one, PageWriter, type Pieces } from "./page-writer.ts";
import type { Root } from "./slot.ts";

/** What a timeline becomes with the visits; not committed yet. */
export function applyVisits(file: PageFile, before: Root, visits: SortedVisits): Root {
  const application = new Application(file, before, visits);
  const root = application.run(before.root);
  const { tally, writer } = application;
  return { ...before, ...tally, root, live: writer.live, copies: writer.copies, end: file.size };
}

class Application {
  readonly writer: PageWriter;
  readonly tally: Tally;
  private readonly visits: SortedVisits;
  private readonly past: PastApplication;

  constructor(file: PageFile, before: Root, visits: SortedVisits) {
    const { keys, entries, visits: visitCount } = before;
    this.writer = new PageWriter(file, before, before);
    this.tally = { keys, entries, visits: visitCount };
    this.past = new PastApplication(this.writer, this.tally);
    this.visits = visits;
  }

  /** The new root. */
  run(root: PageRef): PageRef {
    return this.writer.wrap(this.apply(root, "", BEGINNING, 0, this.visits.keys.length));
  }

  /** Takes visits [from, to) into a page whose stretch has no end. */
  private apply(ref: PageRef, low: string, start: number, from: number, to: number): Pieces {
    if (from === to) return one(ref);
    if (ref.kind === "leaf") return this.applyLeaf(ref, { low, start, end: FOREVER }, from, to);
    const node = this.writer.file.node(ref);
    if (node.kind === "keys") {
      this.writer.dropNode(ref);
      return this.applyKeys(node, start, from, to);
    }
    if (this.visits.firstTime(from, to) < node.bounds.at(-1)!) {
      return this.past.apply(ref, { low, start, end: FOREVER }, changesOf(this.visits, from, to));
    }
    this.writer.dropNode(ref);
    return this.applyLast(node, low, from, to);
  }

  private applyKeys(node: KeyNode, start: number, from: number, to: number): Pieces {
    const gathered = new Gathering("keys");
    let alive = 0;
    for (const child of node.children) alive += child.alive;
    // About as many for each child as it has of all that are alive.
    const share = (to - from) / Math.max(1, alive);
    let at = from;
    for (let i = 0; i < node.children.length; i++) {
      const next = node.bounds[i + 1];
      const guess = at + Math.round(share * node.children[i]!.alive);
      const end = next === undefined ? to : this.visits.search(next, at, to, guess);
      gathered.add(node.bounds[i]!, this.apply(node.children[i]!, node.bounds[i]!, start, at, end), this.writer);
      at = end;
    }
    return this.writer.build("keys", gathered.bounds, gathered.refs);
  }

  /** Nothing before the last stretch of time changes. */
  private applyLast({ bounds, children }: TimeNode, low: string, from: number, to: number): Pieces {
    const gathered = new Gathering("times");
    const last = children.length - 1;
    for (let i = 0; i < last; i++) gathered.add(bounds[i]!, one(children[i]!), this.writer);
    gathered.add(bounds[last]!, this.apply(children[last]!, low, bounds[last]!, from, to), this.writer);
    return this.writer.build("times", gathered.bounds, gathered.refs);
  }

  private applyLeaf(ref: PageRef, area: Area, from: number, to: number): Pieces {
    const { visits, writer } = this;
    const { builder } = writer;
    const leaf = writer.file.leaf(ref);
    const news = startNews(ref, leaf);
    news.firstNew = visits.firstTime(from, to);
    const isEmpty = leaf.keys.length === 0;
    if (isEmpty) news.lastVisit = news.firstNew;
    const isBehind = news.firstNew > area.start && news.firstNew > leaf.lastVisit;
    // What will be too large is not made to its end where other pages go on from it anyway.
    const growthMost = isBehind ? writer.settings.pageSize - leaf.bytes.length : Number.POSITIVE_INFINITY;
    builder.begin(isEmpty ? news.firstNew : leaf.base, leaf.keys);
    const { keys, places } = leaf.readKeys();
    let index = 0;
    for (let at = from; at < to; ) {
      if (builder.size - places[2 * index]! > growthMost) return this.continueLeaf(ref, area, from, to);
      const key = visits.keys[at]!;
      const place = leaf.searchFrom(key, index, at === from ? 0 : visits.gapBefore(at));
      builder.copy(leaf, index, place);
      index = place;
      const confirmed = builder.confirm(leaf, index, visits, at, to, news);
      if (confirmed > 0) {
        at += confirmed;
        index += confirmed;
        continue;
      }
      const end = visits.keyEnd(at);
      if (!isAt(keys, place, key)) builder.start(visits, at, end, news);
      else if (!builder.extend(leaf, index++, visits, at, end, news)) {
        this.past.changeRuns(changesOf(visits, at, end)[0]!, leaf.runs(place), FOREVER, news);
      }
      if (visits.times[end - 1]! > news.lastVisit) news.lastVisit = visits.times[end - 1]!;
      at = end;
    }
    builder.copy(leaf, index, leaf.keys.length);
    const built = builder.finish(news.lastVisit);
    const isLarge = built.bytes.length > writer.settings.pageSize;
    if (isLarge && isBehind) return this.continueLeaf(ref, area, from, to);
    this.count(news);
    if (isLarge) return divide(writer, ref, area, built, news);
    writer.dropLeaf(ref, leaf);
    return one(writer.appendLeaf(built, news));
  }

  private count({ keys, entries, visits }: LeafNews): void {
    this.tally.keys += keys;
    this.tally.entries += entries;
    this.tally.visits += visits;
  }

  /** All visits are behind what a leaf has: it stays as it is, and they go into pages behind it with what is alive then. */
  private continueLeaf(ref: PageRef, area: Area, from: number, to: number): Pieces {
    const { visits, writer } = this;
    const { builder } = writer;
    const leaf = writer.file.leaf(ref);
    const news = startNews(ref, leaf);
    const moment = visits.firstTime(from, to);
    builder.begin(moment, leaf.keys);
    let index = 0;
    for (let at = from; at < to; ) {
      const key = visits.keys[at]!;
      const end = visits.keyEnd(at);
      const place = leaf.searchFrom(key, index, at === from ? 0 : visits.gapBefore(at));
      for (; index < place; index++) builder.carry(leaf, index, visits, at, at, news);
      if (isAt(leaf.keys, place, key)) builder.carry(leaf, index++, visits, at, end, news);
      else builder.start(visits, at, end, news);
      if (visits.times[end - 1]! > news.lastVisit) news.lastVisit = visits.times[end - 1]!;
      at = end;
    }
    for (; index < leaf.keys.length; index++) builder.carry(leaf, index, visits, to, to, news);
    this.count(news);
    const behind = cutEvenly(writer, builder.finish(news.lastVisit), { ...area, start: moment });
    const gathered = new Gathering("times");
    gathered.add(area.start, one(ref), writer);
    gathered.add(moment, behind, writer);
    return { divide: "times", bounds: gathered.bounds, refs: gathered.refs };
  }
}

/** Leaves for what one would hold that may be too large, with room for what comes. */
function cutEvenly(writer: PageWriter, built: Leaf, area: Area): Pieces {
  const { pageSize } = writer.settings;
  const { runs, ...summary } = built.summarize();
  const size = built.bytes.length;
  const count = built.keys.length;
  // With much history in it, a cut between keys alone would leave little alive in each page.
  if (runs > 2 * count || (count === 1 && size > pageSize)) return writer.layOut(built, area);
  const parts = size <= ALIVE_MOST * pageSize ? 1 : Math.ceil(size / (FILL * pageSize));
  if (parts === 1) return one(writer.appendLeaf(built, summary));
  const gathered = new Gathering("keys");
  for (let from = 0; from < count; ) {
    let to = from + 1;
    const target = (size * (gathered.refs.length + 1)) / parts;
    while (to < count && (built.entryAt(to) + built.entryAt(to + 1)) / 2 <= target) to++;
    writer.builder.begin(built.base);
    writer.builder.copy(built, from, to);
    const part = writer.builder.finish(built.lastVisit);
    const low = from === 0 ? area.low : separator(built.keys[from - 1]!, built.keys[from]!);
    const pieces =
      part.bytes.length > pageSize
        ? writer.layOut(part, { ...area, low })
        : one(writer.appendLeaf(part, part.summarize()));
    gathered.add(low, pieces, writer);
    from = to;
  }
  return gathered.refs.length === 1
    ? one(gathered.refs[0]!)
    : { divide: "keys", bounds: gathered.bounds, refs: gathered.refs };
}
