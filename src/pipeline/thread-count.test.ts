import { availableParallelism } from "node:os";
import { expect, it } from "vitest";
import { usefulThreads } from "./thread-count.ts";

const MEGABYTE = 1 << 20;

it("starts no thread for what is read sooner than a thread is there", () => {
  expect(usefulThreads([])).toBe(1);
  expect(usefulThreads([{ size: 8 * MEGABYTE }, { size: 8 * MEGABYTE }])).toBe(1);
});

it("takes every core for much, and for what nobody knows the size of", () => {
  expect(usefulThreads([{ size: 1 << 30 }, { size: 2 ** 40 }])).toBe(availableParallelism());
  expect(usefulThreads([{ size: 5 }, {}])).toBe(availableParallelism());
});
