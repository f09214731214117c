import fc from "fast-check";
import { describe, expect, test } from "vitest";
import { newSeed } from "../testing/dice.ts";
import { CaptureSet } from "./capture-set.ts";

const SEED = newSeed();

describe(`seed ${SEED}`, () => {
  test("forgets nothing, whatever was added", () => {
    fc.assert(
      fc.property(fc.array(fc.string({ unit: "grapheme" }), { maxLength: 200 }), (keys) => {
        const set = new CaptureSet(20);
        for (const key of keys) set.add(key);
        expect(keys.every((key) => set.has(key))).toBe(true);
        expect(keys.every((key) => set.add(key))).toBe(true);
      }),
      { seed: SEED },
    );
  });
});

test("an empty one has nothing", () => {
  expect(new CaptureSet(10).has("")).toBe(false);
  expect(new CaptureSet().has("")).toBe(false);
});

test("takes few strangers for members, as long as there are no more than it was made for", () => {
  const count = 100_000;
  const set = new CaptureSet(count);
  const key = (i: number) => `2020-01-01T00:00:00 http://host-${i % 97}.example/page/${i}.html?id=${i * 7}`;
  let wrong = 0;
  for (let i = 0; i < count; i++) if (set.add(key(i))) wrong++;
  let strangers = 0;
  for (let i = count; i < 2 * count; i++) if (set.has(key(i))) strangers++;
  // One in 250 is promised.
  expect(strangers / count).toBeLessThan(1 / 200);
  expect(wrong / count).toBeLessThan(1 / 400);
});

test("grows where more come than it was made for", () => {
  const set = new CaptureSet(1);
  const keys = Array.from({ length: 200_000 }, (_, i) => `http://a.example/${i}`);
  const wrong = keys.filter((key) => set.add(key)).length;
  expect(keys.every((key) => set.has(key))).toBe(true);
  const strangers = keys.filter((key) => set.has(`${key}/`)).length;
  expect(strangers / keys.length).toBeLessThan(1 / 200);
  expect(wrong / keys.length).toBeLessThan(1 / 200);
  expect(set.isOverfull).toBe(false);
});

test("with more than it may grow to it says so, says yes too often, and never a false no", () => {
  const set = new CaptureSet(1, 10_000);
  const keys = Array.from({ length: 100_000 }, (_, i) => `http://a.example/${i}`);
  for (const key of keys) set.add(key);
  expect(set.isOverfull).toBe(true);
  expect(keys.every((key) => set.has(key))).toBe(true);
  expect(keys.filter((key) => set.has(`${key}/`)).length).toBeGreaterThan(0);
});
