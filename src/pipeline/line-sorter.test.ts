import fc from "fast-check";
import { describe, expect, it } from "vitest";
import type { DiskFile } from "../disk/index.ts";
import { ForgetfulDisk } from "../testing/forgetful-disk.ts";
import { LineSorter, mergeSorted } from "./line-sorter.ts";

const SCRATCH = "/scratch";

interface Sorted {
  readonly lines: string[];
  /** Files that were written on the way. */
  readonly runs: number;
  readonly disk: ForgetfulDisk;
}

class CountingDisk extends ForgetfulDisk {
  created = 0;

  override open(...[path, mode, permissions]: Parameters<ForgetfulDisk["open"]>): DiskFile {
    if (mode === "create") this.created++;
    return super.open(path, mode, permissions);
  }
}

/** Sorts on a disk in memory with room for `memoryBytes`, and counts the runs. */
function sort(lines: readonly string[], memoryBytes: number, add: "lines" | "text" | "bytes" = "lines"): Sorted {
  const disk = new CountingDisk();
  disk.makeFolder(SCRATCH);
  using sorter = new LineSorter(disk, { memoryBytes, scratchParent: SCRATCH });
  const text = lines.map((line) => `${line}\n`).join("");
  if (add === "lines") for (const line of lines) sorter.add(line);
  else sorter.addText(add === "text" ? text : Buffer.from(text));
  const sorted = Buffer.concat([...sorter.sorted()]).toString();
  return { lines: sorted === "" ? [] : sorted.split("\n").slice(0, -1), runs: disk.created, disk };
}

function sortByBytes(lines: readonly string[]): string[] {
  return [...lines].sort((a, b) => Buffer.compare(Buffer.from(a), Buffer.from(b)));
}

/** Without line ends. */
const line = fc
  .oneof(fc.string({ unit: "grapheme", maxLength: 12 }), fc.string({ unit: "binary", maxLength: 12 }), fc.constant(""))
  .map((text) => text.replaceAll("\n", " "));

describe("the line sorter", () => {
  it("gives the order of bytes, with any memory", () => {
    const way = fc.constantFrom("lines" as const, "text" as const, "bytes" as const);
    fc.assert(
      fc.property(fc.array(line, { maxLength: 60 }), fc.integer({ min: 1, max: 3000 }), way, (lines, memory, add) => {
        expect(sort(lines, memory, add).lines).toEqual(sortByBytes(lines));
      }),
      { numRuns: 150 },
    );
  });

  it("puts characters beyond 16 bits behind those before them, unlike strings of JavaScript", () => {
    const lines = ["\u{1f600}", "\uffee", "é", "z", "~", ""];
    const expected = ["", "z", "~", "é", "\uffee", "\u{1f600}"];
    expect(sort(lines, 1 << 20).lines).toEqual(expected);
    expect(sort(lines, 1).lines).toEqual(expected);
    expect([...lines].sort()).not.toEqual(expected);
  });

  it("keeps lines that are there twice", () => {
    expect(sort(["b", "a", "b", "a"], 1).lines).toEqual(["a", "a", "b", "b"]);
  });

  it("needs no disk where everything fits, and for nothing at all", () => {
    expect(sort(["b", "a"], 1 << 20)).toMatchObject({ lines: ["a", "b"], runs: 0 });
    expect(sort([], 1)).toMatchObject({ lines: [], runs: 0 });
  });

  it("merges more runs than it opens at once, in several rounds", () => {
    const lines = Array.from({ length: 300 }, (_, i) => `${(i * 7919) % 300} line`);
    const { lines: sorted, runs } = sort(lines, 1);
    expect(sorted).toEqual(sortByBytes(lines));
    // 300 runs of one line each, and those that merging 64 of them at a time makes until 64 are left.
    expect(runs).toBe(304);
  });

  it("leaves nothing on the disk", () => {
    const { disk } = sort(["c", "b", "a"], 1);
    expect(disk.list(SCRATCH)).toEqual([]);
  });

  it("sorts lines longer than what it reads at once", () => {
    const lines = ["b".repeat(600_000), "a".repeat(300_000), `${"a".repeat(300_000)}!`, "c"];
    expect(sort(lines, 1).lines).toEqual(sortByBytes(lines));
  });
});

describe("merging", () => {
  it("is stable: of equal lines, that of the earlier sequence comes first", () => {
    const taken: number[] = [];
    function* source(rank: number, lines: readonly string[]): Generator<string> {
      for (const each of lines) {
        yield each;
        taken.push(rank);
      }
    }
    const merged = [...mergeSorted([source(0, ["a", "c"]), source(1, ["a", "b"]), source(2, ["a"])])];
    expect(merged).toEqual(["a", "a", "a", "b", "c"]);
    expect(taken).toEqual([0, 1, 2, 1, 0]);
  });

  it("of nothing is nothing", () => {
    expect([...mergeSorted([])]).toEqual([]);
    expect([...mergeSorted([[][Symbol.iterator]() as Iterator<string>])]).toEqual([]);
  });
});
