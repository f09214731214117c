/**
 * How the entries of an overfull leaf are laid out anew. The plane of keys and times is cut so that every page is small
 * enough, and so that at every moment of its stretch of time a page holds enough that is alive: then a slice reads
 * pages in proportion to what it gives, however long the history.
 *
 * A cut in time copies what is alive at that moment into the page behind it. A cut between keys copies nothing, but it
 * is made only where both sides have enough alive at every moment.
 */
import { sharedLength } from "./leaf.ts";
import { clipRuns, type Run } from "./run.ts";

export interface KeyRuns {
  readonly key: string;
  readonly runs: readonly Run[];
}

export type Layout =
  | { readonly kind: "leaf"; readonly entries: readonly KeyRuns[] }
  /** What was there before, as it is. */
  | { readonly kind: "kept" }
  | { readonly kind: "keys"; readonly bounds: readonly string[]; readonly parts: readonly Layout[] }
  | { readonly kind: "times"; readonly bounds: readonly number[]; readonly parts: readonly Layout[] };

/** Shares of a page: what may be alive after a cut in time, what pages are filled to then, what must be alive at least. */
export const ALIVE_MOST = 0.4;
export const FILL = 0.55;
const ALIVE_LEAST = 0.15;
/** A cut in time that leaves more than this share on one side is not worth its copies. */
const CUT_MOST = 0.8;
/** Where keys only come, the share of them that the part before a cut may have. */
const GROWN_MOST = 0.25;
/** Moments that are tried for a cut. */
const MOMENTS = 32;
/** What a run, a visit and a key take beside their texts. */
const RUN_COST = 8;
const VISIT_COST = 3;
const KEY_COST = 4;

export interface LayoutRules {
  readonly pageSize: number;
  readonly digestSize: number;
}

/** Lays out what a leaf over [start, end) would hold. */
export function layOut(entries: readonly KeyRuns[], start: number, end: number, rules: LayoutRules): Layout {
  const measured = measure(entries, rules);
  const { pageSize } = rules;
  if (measured.size <= pageSize) return { kind: "leaf", entries };
  const moments = cutMoments(entries, start);
  const { best, grown } = cutChoices(entries, moments, measured.size, rules);
  const goodCut = best !== undefined && best.larger <= CUT_MOST * measured.size;
  if (goodCut) return cutTime(entries, start, best.moment, end, rules);
  const halves = entries.length < 2 ? undefined : cutInHalf(entries, measured.sizes);
  if (halves === undefined) {
    if (best === undefined || best.larger >= measured.size) return { kind: "leaf", entries };
    return cutTime(entries, start, best.moment, end, rules);
  }
  if (grown === undefined || aliveEverywhere(halves, moments, start, rules)) return cutKeys(halves, start, end, rules);
  return cutTime(entries, start, grown, end, rules);
}

/** Lays out what is alive at `moment` and comes later; what was before stays in the page in which it is. */
export function layOutBehind(
  entries: readonly KeyRuns[],
  start: number,
  moment: number,
  end: number,
  rules: LayoutRules,
): Layout {
  const later = clip(entries, moment, end);
  const { size, sizes } = measure(later, rules);
  const last =
    size > ALIVE_MOST * rules.pageSize && later.length > 1
      ? cutEvenly(later, sizes, size, moment, end, rules)
      : layOut(later, moment, end, rules);
  return { kind: "times", bounds: [start, moment], parts: [{ kind: "kept" }, last] };
}

function cutEvenly(
  entries: readonly KeyRuns[],
  sizes: readonly number[],
  size: number,
  start: number,
  end: number,
  rules: LayoutRules,
): Layout {
  const target = size / Math.ceil(size / (FILL * rules.pageSize));
  const groups: KeyRuns[][] = [[]];
  let filled = 0;
  for (const [i, entry] of entries.entries()) {
    if (filled + sizes[i]! / 2 > target * groups.length && groups.at(-1)!.length > 0) groups.push([]);
    groups.at(-1)!.push(entry);
    filled += sizes[i]!;
  }
  if (groups.length === 1) return layOut(entries, start, end, rules);
  return {
    kind: "keys",
    bounds: groups.map((group, i) => (i === 0 ? "" : separator(groups[i - 1]!.at(-1)!.key, group[0]!.key))),
    parts: groups.map((group) => layOut(group, start, end, rules)),
  };
}

function cutKeys(
  [left, right]: readonly [readonly KeyRuns[], readonly KeyRuns[]],
  start: number,
  end: number,
  rules: LayoutRules,
): Layout {
  const bounds = ["", separator(left.at(-1)!.key, right[0]!.key)];
  return { kind: "keys", bounds, parts: [layOut(left, start, end, rules), layOut(right, start, end, rules)] };
}

function cutTime(entries: readonly KeyRuns[], start: number, moment: number, end: number, rules: LayoutRules): Layout {
  const parts = [
    layOut(clip(entries, start, moment), start, moment, rules),
    layOut(clip(entries, moment, end), moment, end, rules),
  ];
  return { kind: "times", bounds: [start, moment], parts };
}

/** The shortest text that divides the two. */
export function separator(left: string, right: string): string {
  return right.slice(0, sharedLength(left, right) + 1);
}

function clip(entries: readonly KeyRuns[], start: number, end: number): KeyRuns[] {
  const clipped: KeyRuns[] = [];
  for (const { key, runs } of entries) {
    const part = clipRuns(runs, start, end);
    if (part.length > 0) clipped.push({ key, runs: part });
  }
  return clipped;
}

function runSize(run: Run, rules: LayoutRules): number {
  return RUN_COST + (run.digest === undefined ? 0 : rules.digestSize + run.value.length);
}

function measure(entries: readonly KeyRuns[], rules: LayoutRules): { size: number; sizes: number[] } {
  let size = 0;
  let before = "";
  const sizes = entries.map(({ key, runs }) => {
    let own = KEY_COST + key.length - sharedLength(before, key);
    before = key;
    for (const run of runs) own += runSize(run, rules) + VISIT_COST * run.visits.length;
    size += own;
    return own;
  });
  return { size, sizes };
}

function cutInHalf(
  entries: readonly KeyRuns[],
  sizes: readonly number[],
): readonly [readonly KeyRuns[], readonly KeyRuns[]] {
  const half = sizes.reduce((sum, size) => sum + size, 0) / 2;
  let filled = 0;
  let at = 0;
  while (at < entries.length - 1 && (at === 0 || filled + sizes[at]! / 2 < half)) filled += sizes[at++]!;
  return [entries.slice(0, at), entries.slice(at)];
}

/** Moments at which the entries could be cut, evenly chosen from all visits behind the start. */
function cutMoments(entries: readonly KeyRuns[], start: number): number[] {
  const times = new Set<number>();
  for (const { runs } of entries) for (const { visits } of runs) for (const time of visits) times.add(time);
  times.delete(start);
  const sorted = [...times].sort((one, other) => one - other);
  // Nothing would be left before the first, unless something was carried here.
  const carried = entries.some(({ runs }) => runs[0]!.before > 0 || runs[0]!.start === start);
  if (!carried) sorted.shift();
  if (sorted.length <= MOMENTS) return sorted;
  return Array.from({ length: MOMENTS }, (_, i) => sorted[Math.floor(((i + 0.5) * sorted.length) / MOMENTS)]!);
}

/**
 * Two moments for a cut: the one at which the larger part is smallest; and the last by which at most a quarter of it all was
 * there. Where keys only come and nothing changes, no cut makes the later part smaller; one at the second moment leaves
 * a later part that is dense from its beginning, and an earlier one of a quarter, so that all of them together copy
 * a third of what there is. Any other would be repeated for every few visits, each time with a copy of everything.
 */
function cutChoices(
  entries: readonly KeyRuns[],
  moments: readonly number[],
  size: number,
  rules: LayoutRules,
): { readonly best: { moment: number; larger: number } | undefined; readonly grown: number | undefined } {
  let best: { moment: number; larger: number } | undefined;
  let grown: number | undefined;
  for (const moment of moments) {
    const { left, right } = sizesAt(entries, moment, rules);
    const larger = Math.max(left, right);
    if (best === undefined || larger < best.larger) best = { moment, larger };
    if (left <= GROWN_MOST * size) grown = moment;
  }
  return { best, grown };
}

/** What the two parts of a cut at this moment take. */
function sizesAt(entries: readonly KeyRuns[], moment: number, rules: LayoutRules): { left: number; right: number } {
  let [left, right] = [0, 0];
  for (const { key, runs } of entries) {
    const keyCost = KEY_COST + key.length / 3;
    let [isLeft, isRight] = [false, false];
    for (const [i, run] of runs.entries()) {
      const own = runSize(run, rules);
      const earlier = countBefore(run.visits, moment);
      const later = run.visits.length - earlier;
      const ends = runs[i + 1]?.start ?? Number.POSITIVE_INFINITY;
      const inLeft = earlier > 0 || run.before > 0;
      const inRight = later > 0 || (inLeft && ends >= moment);
      left += inLeft ? own + VISIT_COST * earlier : 0;
      right += inRight ? own + VISIT_COST * later : 0;
      isLeft ||= inLeft;
      isRight ||= inRight;
    }
    left += isLeft ? keyCost : 0;
    right += isRight ? keyCost : 0;
  }
  return { left, right };
}

function countBefore(times: readonly number[], moment: number): number {
  let [low, high] = [0, times.length];
  while (low < high) {
    const middle = (low + high) >>> 1;
    if (times[middle]! < moment) low = middle + 1;
    else high = middle;
  }
  return low;
}

/** Whether both halves have enough alive at every moment. */
function aliveEverywhere(
  halves: readonly [readonly KeyRuns[], readonly KeyRuns[]],
  moments: readonly number[],
  start: number,
  rules: LayoutRules,
): boolean {
  const least = ALIVE_LEAST * rules.pageSize;
  return halves.every((half) => [start, ...moments].every((moment) => aliveSize(half, moment, rules) >= least));
}

function aliveSize(entries: readonly KeyRuns[], moment: number, rules: LayoutRules): number {
  let size = 0;
  for (const { key, runs } of entries) {
    const alive = runs.findLast((run) => run.start <= moment);
    if (alive?.digest !== undefined) size += KEY_COST + key.length / 3 + runSize(alive, rules);
  }
  return size;
}
