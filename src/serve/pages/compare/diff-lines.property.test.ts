/** A diff says nothing that is not there: one side of it is the text before, the other the text after. */
import fc from "fast-check";
import { expect, it } from "vitest";
import { type DiffRow, diffLines } from "./diff-lines.ts";

function sideOf(rows: readonly DiffRow[], wanted: -1 | 1): string[] {
  return rows.flatMap((row) => {
    if (row.kind === "same") return row.lines;
    const parts = row.parts.filter(([side]) => side === 0 || side === wanted);
    return parts.length === 0
      ? []
      : parts
          .map(([, text]) => text)
          .join("")
          .split("\n");
  });
}

const line = fc.oneof(
  fc.constantFrom("one two three four", "one two five four", "", "a b c", "drawers and cabinets", "x"),
  fc.string({ maxLength: 40 }).map((text) => text.replaceAll("\n", " ")),
);

it("has both texts in it", () => {
  fc.assert(
    fc.property(fc.array(line, { maxLength: 12 }), fc.array(line, { maxLength: 12 }), (before, after) => {
      const { rows } = diffLines({ before, after });
      expect(sideOf(rows, -1)).toEqual(before);
      expect(sideOf(rows, 1)).toEqual(after);
    }),
    { numRuns: 500 },
  );
});

it("marks words where lines have much in common, and lines where they have not", () => {
  const { rows, added, removed } = diffLines({
    before: ["top", "forty drawers in a cabinet by the sea", "end"],
    after: ["top", "forty drawers in a house by the sea", "end"],
  });
  expect([added, removed]).toEqual([1, 1]);
  expect(rows[1]).toEqual({
    kind: "changed",
    parts: [
      [0, "forty drawers in a "],
      [-1, "cabinet"],
      [1, "house"],
      [0, " by the sea"],
    ],
  });
  const other = diffLines({ before: ["nothing in common here"], after: ["entirely other words follow"] });
  expect(other.rows).toEqual([
    {
      kind: "changed",
      parts: [
        [-1, "nothing in common here"],
        [1, "entirely other words follow"],
      ],
    },
  ]);
});

it("ends, and says so, where texts are too much to compare", () => {
  const words = (seed: number) =>
    Array.from({ length: 40_000 }, (_, i) => `${(i * seed) % 9973} ${(i * seed) % 7919} ${i % 3}`);
  const started = performance.now();
  const diff = diffLines({ before: words(31), after: words(37) });
  expect(diff.isCoarse).toBe(true);
  expect(performance.now() - started).toBeLessThan(20_000);
});
