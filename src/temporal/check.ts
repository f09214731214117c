/** Every invariant of a timeline, looked at one after another. */
import { isDeepStrictEqual } from "node:util";
import { ArchiveError } from "../base/index.ts";
import { mayChange } from "./change-map.ts";
import { BEGINNING, FOREVER, type PageRef, type PageSummary, summarize } from "./node.ts";
import type { PageFile } from "./page-file.ts";
import { carriedOn, carryOf, type Run, sameCarry } from "./run.ts";
import type { Root } from "./slot.ts";

export interface TimelineFinding {
  readonly code: "HT_CORRUPT";
  readonly message: string;
  readonly file: string;
  readonly offset: number;
}

interface Area {
  readonly low: string;
  readonly high: string | undefined;
  readonly start: number;
  readonly end: number;
}

export function* checkPages(pages: PageFile, root: Root): Generator<TimelineFinding> {
  yield* new PageCheck(pages).run(root);
}

class PageCheck {
  private readonly pages: PageFile;
  private keys = 0;
  private entries = 0;
  private visits = 0;
  private live = 0;
  private copies = 0;

  constructor(pages: PageFile) {
    this.pages = pages;
  }

  *run(root: Root): Generator<TimelineFinding> {
    for (const offset of this.pages.brokenSlots()) {
      const message = "a root is damaged; its copy, or the other root, is used instead, and the next writer repairs it";
      yield this.finding({ offset }, message);
    }
    yield* this.page(root.root, { low: "", high: undefined, start: BEGINNING, end: FOREVER });
    const { keys, entries, visits } = this;
    if (keys !== root.keys || entries !== root.entries || visits !== root.visits) {
      const found = `${keys} keys, ${entries} entries and ${visits} visits`;
      yield this.finding(root.root, `${found}, but the root tells ${root.keys}, ${root.entries} and ${root.visits}`);
    }
    const { live, copies } = this;
    if (live !== root.live || copies !== root.copies) {
      const found = `${live} bytes of pages and ${copies} carried runs`;
      yield this.finding(root.root, `${found}, but the root tells ${root.live} and ${root.copies}`);
    }
  }

  private finding(ref: Pick<PageRef, "offset">, message: string): TimelineFinding {
    const file = this.pages.file.path;
    return { code: "HT_CORRUPT", message: `${file}:${ref.offset}: ${message}`, file, offset: ref.offset };
  }

  private *page(ref: PageRef, area: Area): Generator<TimelineFinding> {
    try {
      // The cache may know it as it was before it was damaged.
      this.live += this.pages.read(ref).length;
      if (ref.kind === "leaf") yield* this.leaf(ref, area);
      else yield* this.node(ref, area);
    } catch (error) {
      if (!(error instanceof ArchiveError)) throw error;
      yield this.finding(ref, error.message);
    }
  }

  private *node(ref: PageRef, area: Area): Generator<TimelineFinding> {
    const node = this.pages.node(ref);
    const { bounds, children } = node;
    const own = node.kind === "keys" ? area.low : area.start;
    if (bounds[0] !== own) yield this.finding(ref, "a node that does not begin where its range does");
    for (let i = 1; i < bounds.length; i++) {
      if (!(bounds[i - 1]! < bounds[i]!)) yield this.finding(ref, "bounds that are not in order");
    }
    if (!isDeepStrictEqual(summarize(node.kind, children), summaryOf(ref))) {
      yield this.finding(ref, "a node of which its parent tells something else");
    }
    for (const [i, child] of children.entries()) {
      if (node.kind === "keys") {
        yield* this.page(child, { ...area, low: node.bounds[i]!, high: node.bounds[i + 1] ?? area.high });
        continue;
      }
      const start = node.bounds[i]!;
      yield* this.page(child, { ...area, start, end: node.bounds[i + 1] ?? area.end });
      if (i > 0) yield* this.seam(ref, children[i - 1]!, child);
    }
  }

  /** What one stretch of time ends with, the next must have been given, key by key. */
  private *seam(ref: PageRef, earlier: PageRef, later: PageRef): Generator<TimelineFinding> {
    const ends = this.edge(earlier, "end");
    const starts = this.edge(later, "start");
    let [end, start] = [ends.next(), starts.next()];
    while (end.done !== true || start.done !== true) {
      const [left, right] = [end.value as Edge | undefined, start.value as Edge | undefined];
      const isPair = left !== undefined && right !== undefined && left.key === right.key;
      if (isPair && sameCarry(carriedOn(left.run), right.run)) [end, start] = [ends.next(), starts.next()];
      else {
        const key = left !== undefined && (right === undefined || left.key <= right.key) ? left.key : right!.key;
        yield this.finding(ref, `${JSON.stringify(key)} is not the same on both sides of a cut in time`);
        if (left?.key === key) end = ends.next();
        if (right?.key === key) start = starts.next();
      }
    }
  }

  /** The runs at one end of a stretch of time, in the order of keys. */
  private *edge(ref: PageRef, side: "start" | "end"): Generator<Edge> {
    if (ref.kind === "leaf") {
      const leaf = this.pages.leaf(ref);
      for (const [i, key] of leaf.keys.entries()) {
        const runs = leaf.runs(i);
        const run = side === "end" ? runs.at(-1) : carryOf(runs);
        if (run !== undefined) yield { key, run: side === "end" ? run : { ...run, visits: [] } };
      }
      return;
    }
    const node = this.pages.node(ref);
    if (node.kind === "keys") for (const child of node.children) yield* this.edge(child, side);
    else yield* this.edge(node.children.at(side === "end" ? -1 : 0)!, side);
  }

  private *leaf(ref: PageRef, area: Area): Generator<TimelineFinding> {
    const leaf = this.pages.leaf(ref);
    let before: string | undefined;
    let carried = 0;
    for (const [i, key] of leaf.keys.entries()) {
      if (before !== undefined && key <= before) yield this.finding(ref, "keys that are not in order");
      if (key < area.low || (area.high !== undefined && key >= area.high)) {
        yield this.finding(ref, `${JSON.stringify(key)} lies outside of the range of its page`);
      }
      before = key;
      const runs = leaf.runs(i);
      if (carryOf(runs) !== undefined) carried++;
      const wrong = this.wrongRuns(runs, area, ref, leaf.lastVisit);
      if (wrong !== undefined) yield this.finding(ref, `${JSON.stringify(key)}: ${wrong}`);
    }
    this.copies += carried;
    if (carried !== leaf.carried) yield this.finding(ref, `${carried} carried runs, but it tells ${leaf.carried}`);
    const { alive } = leaf.summarize();
    if (alive !== ref.alive)
      yield this.finding(ref, `${alive} keys alive at its end, but its parent tells ${ref.alive}`);
  }

  private wrongRuns(runs: readonly Run[], area: Area, ref: PageRef, lastVisit: number): string | undefined {
    if (runs.length === 0) return "a key without runs";
    if (runs[0]!.before === 0) this.keys++;
    for (const [i, run] of runs.entries()) {
      const isCarried = run.before > 0;
      if (!isCarried && run.digest !== undefined) this.entries++;
      this.visits += run.visits.length;
      if (isCarried && (i > 0 || run.start >= area.start)) return "a run that is carried, and cannot be";
      if (!isCarried && run.visits[0] !== run.start) return "a run that does not begin with a visit";
      if (!isCarried && run.start > ref.lastChange) return "a run that began later than its page knows";
      if (!isCarried && !mayChange(ref.changes, run.start - 1, run.start))
        return "a run that its page does not know of";
      const next = runs[i + 1];
      if (next !== undefined && next.digest === run.digest) return "two runs of one content in a row";
      let before = isCarried ? run.lastBefore : run.start;
      for (const [j, time] of run.visits.entries()) {
        const isBehind = j === 0 ? time >= before : time > before;
        if (!isBehind || time < area.start || time >= area.end || time > lastVisit) return "a visit out of place";
        if (next !== undefined && time > next.start) return "a visit behind the end of its run";
        before = time;
      }
    }
    return undefined;
  }
}

function summaryOf({ lastChange, alive, changes }: PageRef): PageSummary {
  return { lastChange, alive, changes };
}

interface Edge {
  readonly key: string;
  readonly run: Run;
}
