import { expect, test } from "vitest";
import { BoundedShares, detach, TopList } from "./bounded.ts";

test("no more names are held than twice the capacity", () => {
  const shares = new BoundedShares(100);
  for (let i = 0; i < 100_000; i++) {
    shares.of(`name ${i}`).records++;
    if (i % 9973 === 0) expect(shares.toTable(Number.MAX_SAFE_INTEGER).rows.length).toBeLessThanOrEqual(200);
  }
  const { rows, others } = shares.toTable(10);
  expect(rows.length).toBe(10);
  expect(others!.records).toBe(99_990);
  // Names are counted with a filter that may take one for another, never the other way round.
  expect(others!.names).toBeLessThanOrEqual(99_990);
  expect(others!.names).toBeGreaterThan(99_900);
});

test("looking at a table changes nothing in it", () => {
  const shares = new BoundedShares(2);
  for (const name of ["a", "b", "c", "d", "e", "a"]) shares.of(name).savedBytes += 10;
  expect(shares.toTable(1)).toEqual(shares.toTable(1));
});

test("names that were folded say so when they come again", () => {
  const shares = new BoundedShares(1);
  shares.of("large").duplicateBytes += 100;
  shares.of("small").duplicateBytes += 1;
  shares.of("another").duplicateBytes += 1;
  shares.of("small").duplicateBytes += 1;
  const { rows, others } = shares.toTable(10);
  expect(rows.map(({ name, duplicateBytes, atLeast }) => [name, duplicateBytes, atLeast])).toContainEqual([
    "large",
    100,
    false,
  ]);
  expect(rows.map(({ name, duplicateBytes, atLeast }) => [name, duplicateBytes, atLeast])).toContainEqual([
    "small",
    1,
    true,
  ]);
  expect(others).toMatchObject({ duplicateBytes: 2, names: 2 });
});

test("a list holds the first of its order, and tells the rest", () => {
  let dropped = 0;
  const list = new TopList<number>(
    10,
    (one, other) => other - one,
    (value) => (dropped += value),
  );
  const values = Array.from({ length: 1000 }, (_, i) => (i * 7919) % 1000);
  for (const value of values) list.add(value);
  expect(list.toArray()).toEqual([999, 998, 997, 996, 995, 994, 993, 992, 991, 990]);
  expect(list.bar).toBe(990);
  expect(dropped + list.toArray().reduce((sum, value) => sum + value)).toBe(499_500);
});

test("texts are detached from what they were cut from", () => {
  expect(detach("a\ud800\u05d0😀")).toBe("a\ud800\u05d0😀");
});
