/**
 * Every answer of an archive against the oracle: random sets of captures of every class, requests, revisits of every kind,
 * adoptions, removals and compactions, added in two orders, and rebuilt. `npm run test:long` runs many more of these.
 */
import fc from "fast-check";
import { expect, test } from "vitest";
import { diagnose, rebuild } from "../../src/testing/archive-fixture.ts";
import { createDice, newSeed, runsOf } from "../../src/testing/dice.ts";
import { ForgetfulDisk } from "../../src/testing/forgetful-disk.ts";
import { answersOf, expected, perform } from "./answers.ts";
import { anyPlan, inOrder, type Plan, shuffled } from "./random-plan.ts";

const SEED = newSeed();

async function check(plan: Plan, order: number): Promise<void> {
  const wanted = expected(plan);
  for (const schedule of [inOrder(plan), shuffled(plan, order)]) {
    const disk = new ForgetfulDisk();
    await perform(disk, schedule, createDice(order));
    expect(await answersOf(disk)).toEqual(wanted);
    expect(await diagnose(disk)).toEqual([]);
    await rebuild(disk);
    expect(await answersOf(disk)).toEqual(wanted);
    expect(await diagnose(disk)).toEqual([]);
  }
}

test(`answers are those of the records, whatever the order; seed ${SEED}`, { timeout: 7_200_000 }, async () => {
  const property = fc.asyncProperty(anyPlan, fc.nat(), check);
  await fc.assert(property, { numRuns: runsOf(100), seed: SEED });
});
