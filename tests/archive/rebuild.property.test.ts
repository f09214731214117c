/**
 * A rebuild changes no answer, wherever removals stand among what is added: what has a removed payload, or belongs to a
 * removed capture, may come later. In answers.property.test.ts all that a removal concerns is there before it, so that all
 * orders have one answer.
 */
import fc from "fast-check";
import { expect, test } from "vitest";
import { diagnose, rebuild } from "../../src/testing/archive-fixture.ts";
import { createDice, newSeed } from "../../src/testing/dice.ts";
import { ForgetfulDisk } from "../../src/testing/forgetful-disk.ts";
import { answersOf, perform } from "./answers.ts";
import { anyPlan, inOrder, type Plan, type Step } from "./random-plan.ts";

const { HOLOTYPE_LONG_RUNS: long } = process.env;
const RUNS = long === undefined ? 60 : Number(long);
const SEED = long === undefined ? 20261118 : newSeed();

/** The steps of the plan in its order, but for removals and compactions, which stand anywhere. */
function scattered(plan: Plan, seed: number): Step[] {
  const dice = createDice(seed);
  const { steps } = inOrder(plan);
  const result = steps.filter((step) => "files" in step) as Step[];
  for (const step of steps) if (!("files" in step)) result.splice(dice.below(result.length + 1), 0, step);
  return result;
}

async function check(plan: Plan, seed: number, segmentSizeBytes: number): Promise<void> {
  const disk = new ForgetfulDisk();
  await perform(disk, { steps: scattered(plan, seed), segmentSizeBytes }, createDice(seed));
  const before = await answersOf(disk);
  expect(await diagnose(disk)).toEqual([]);
  await rebuild(disk);
  expect(await answersOf(disk)).toEqual(before);
  expect(await diagnose(disk)).toEqual([]);
}

test(`a rebuild changes no answer, whatever was removed when; seed ${SEED}`, { timeout: 3_600_000 }, async () => {
  const property = fc.asyncProperty(anyPlan, fc.nat(), fc.constantFrom(1, 2500, 1 << 20), check);
  await fc.assert(property, { numRuns: RUNS, seed: SEED, endOnFailure: false });
});
