/**
 * Two texts compared line by line, and word by word where lines differ. Time is bounded: where words take too long, lines
 * count as changed as a whole, and where lines do, everything between what both begin and end with.
 */
import { diffArrays, diffWordsWithSpace } from "diff";

/** 0: in both. -1: only before. 1: only after. */
export type DiffPart = readonly [side: -1 | 0 | 1, text: string];

export type DiffRow =
  | { readonly kind: "same"; readonly lines: readonly string[] }
  | { readonly kind: "changed"; readonly parts: readonly DiffPart[] };

export interface TextDiff {
  readonly rows: readonly DiffRow[];
  /** Lines that only one side has. */
  readonly added: number;
  readonly removed: number;
  /** It took too long to compare word by word, or line by line. */
  readonly isCoarse: boolean;
}

export interface DiffTask {
  readonly before: readonly string[];
  readonly after: readonly string[];
}

const LINES_TIMEOUT_MS = 2000;
const WORDS_TIMEOUT_MS = 1500;
/** A block that is longer is not compared by words. */
const WORDS_SIZE_MAX = 20_000;

export function diffLines({ before, after }: DiffTask, clock: () => number = () => performance.now()): TextDiff {
  const rows: DiffRow[] = [];
  const start = commonStart(before, after);
  const end = commonEnd(before, after, start);
  const [old, young] = [before.slice(start, before.length - end), after.slice(start, after.length - end)];
  const found = diffArrays([...old], [...young], { timeout: LINES_TIMEOUT_MS });
  const changes = found ?? [
    { value: old, removed: true, added: false },
    { value: young, removed: false, added: true },
  ];
  let isCoarse = found === undefined;
  let [added, removed] = [0, 0];
  const same = (lines: readonly string[]) => {
    if (lines.length > 0) rows.push({ kind: "same", lines });
  };
  same(before.slice(0, start));
  const deadline = clock() + WORDS_TIMEOUT_MS;
  for (let i = 0; i < changes.length; i++) {
    const { value, removed: isRemoved, added: isAdded } = changes[i]!;
    if (!isRemoved && !isAdded) {
      same(value);
      continue;
    }
    const next = changes[i + 1];
    const isPair = isRemoved && next?.added === true;
    const [out, into] = [isRemoved ? value : [], isPair ? next.value : isAdded ? value : []];
    if (isPair) i++;
    removed += out.length;
    added += into.length;
    for (const [older, younger] of pairsOf(out, into)) {
      const parts = wordsOf(older, younger, deadline - clock());
      if (parts === undefined) isCoarse = true;
      rows.push({ kind: "changed", parts: parts ?? wholeOf(older, younger) });
    }
  }
  same(end === 0 ? [] : before.slice(-end));
  return { rows, added, removed, isCoarse };
}

/** As many lines on both sides are compared one by one. */
function pairsOf(out: readonly string[], into: readonly string[]): (readonly [readonly string[], readonly string[]])[] {
  return out.length === into.length ? out.map((line, i) => [[line], [into[i]!]]) : [[out, into]];
}

function commonStart(before: readonly string[], after: readonly string[]): number {
  const most = Math.min(before.length, after.length);
  let count = 0;
  while (count < most && before[count] === after[count]) count++;
  return count;
}

function commonEnd(before: readonly string[], after: readonly string[], start: number): number {
  const most = Math.min(before.length, after.length) - start;
  let count = 0;
  while (count < most && before[before.length - 1 - count] === after[after.length - 1 - count]) count++;
  return count;
}

function wholeOf(out: readonly string[], into: readonly string[]): DiffPart[] {
  const parts: DiffPart[] = [];
  if (out.length > 0) parts.push([-1, out.join("\n")]);
  if (into.length > 0) parts.push([1, into.join("\n")]);
  return parts;
}

/** Lines that have less in common are shown whole: marks on every other word tell nobody anything. */
const SHARE_MIN = 0.4;
/** What lies between two changes and is shorter is a coincidence. */
const ISLAND_MIN = 4;

/** Absent where that would take too long. */
function wordsOf(out: readonly string[], into: readonly string[], timeout: number): DiffPart[] | undefined {
  if (out.length === 0 || into.length === 0) return wholeOf(out, into);
  const [before, after] = [out.join("\n"), into.join("\n")];
  if (before.length + after.length > WORDS_SIZE_MAX || timeout <= 0) return undefined;
  const found = diffWordsWithSpace(before, after, { timeout });
  if (found === undefined) return undefined;
  const parts = found.map(({ value, added, removed }): DiffPart => [removed ? -1 : added ? 1 : 0, value]);
  const inBoth = parts.reduce((sum, [side, text]) => sum + (side === 0 ? lettersIn(text) : 0), 0);
  if (inBoth < SHARE_MIN * Math.max(lettersIn(before), lettersIn(after))) return wholeOf(out, into);
  return withoutIslands(parts);
}

function lettersIn(text: string): number {
  return text.replace(/\s+/g, "").length;
}

/** Changes with next to nothing between them become one: what was, and then what is. */
function withoutIslands(parts: readonly DiffPart[]): DiffPart[] {
  const merged: DiffPart[] = [];
  let [old, young] = ["", ""];
  const end = () => {
    if (old !== "") merged.push([-1, old]);
    if (young !== "") merged.push([1, young]);
    [old, young] = ["", ""];
  };
  for (const [i, [side, text]] of parts.entries()) {
    const isIsland =
      side === 0 && i > 0 && i < parts.length - 1 && lettersIn(text) < ISLAND_MIN && !text.includes("\n");
    if (side === 0 && !isIsland) {
      end();
      merged.push([0, text]);
      continue;
    }
    if (side <= 0) old += text;
    if (side >= 0) young += text;
  }
  end();
  return merged;
}
