/**
 * A rebuild changes no answer, wherever removals stand among what is added: what has a removed payload, or belongs to a
 * removed capture, may come later. In answers.property.test.ts all that a removal concerns is there before it, so that all
 * orders have one answer; and nothing is opened there.
 */
import fc from "fast-check";
import { expect, test } from "vitest";
import { digestOf } from "../../src/base/index.ts";
import { diagnose, FOLDER, openReader, openWriter, rebuild } from "../../src/testing/archive-fixture.ts";
import { listOf, payloadOf } from "../../src/testing/asked-archive.ts";
import { createDice, newSeed } from "../../src/testing/dice.ts";
import { ForgetfulDisk } from "../../src/testing/forgetful-disk.ts";
import { segmentRecords } from "../../src/testing/plain-records.ts";
import { answersOf, perform } from "./answers.ts";
import { anyPlan, inOrder, type Plan, type Step } from "./random-plan.ts";

const { HOLOTYPE_LONG_RUNS: long } = process.env;
const RUNS = long === undefined ? 60 : Number(long);
const SEED = long === undefined ? 20261118 : newSeed();

/**
 * The steps of the plan in its order, but for removals and compactions, which stand anywhere. Some of what was removed comes
 * back: a record of a file, or all of them.
 */
function scattered(plan: Plan, seed: number): Step[] {
  const dice = createDice(seed);
  const { steps } = inOrder(plan);
  const result = steps.filter((step) => "files" in step) as Step[];
  for (const step of steps) if (!("files" in step)) result.splice(dice.below(result.length + 1), 0, step);
  for (let count = plan.removals.length === 0 ? 0 : dice.below(3); count > 0; count--) {
    const at = dice.below(result.length + 1);
    const [before] = result.slice(0, at).filter((step) => "files" in step && step.kind === "add");
    if (before === undefined || !("files" in before)) continue;
    const records = before.files.flat();
    const files = dice.coin() ? before.files : [[records[dice.below(records.length)]!]];
    result.splice(at, 0, { kind: "add", files, readmit: true });
  }
  return result;
}

const CAPTURES = new Set(["response", "resource", "revisit"]);

/** What a compaction leaves of the records. Which captures are kept as revisits of others depends on the order. */
async function recordsLeft(disk: ForgetfulDisk): Promise<string[]> {
  const compacted = disk.reopen({ data: "keep", names: "keep", seed: 0 });
  {
    await using writer = openWriter(compacted);
    writer.compact({ all: true });
  }
  const told = segmentRecords(compacted, FOLDER).map(({ type, uri, id, date }) => {
    return `${CAPTURES.has(type) ? "capture" : type} ${uri} ${date} ${id}`;
  });
  return told.sort();
}

/** Every capture can be looked into, and has the payload and the status that it is listed with. */
async function checkContents(disk: ForgetfulDisk): Promise<void> {
  await using archive = await openReader(disk);
  for (const capture of await listOf(archive.captures({}))) {
    await using opened = await archive.open(capture);
    if (capture.sha256 === undefined) continue;
    const { hex } = digestOf("sha256", await payloadOf(archive, capture));
    expect(hex).toBe(capture.sha256);
    if (capture.status !== undefined) expect(opened.http?.status).toBe(capture.status);
  }
}

async function check(plan: Plan, seed: number, segmentSizeBytes: number): Promise<void> {
  const disk = new ForgetfulDisk();
  await perform(disk, { steps: scattered(plan, seed), segmentSizeBytes }, createDice(seed));
  const before = await answersOf(disk);
  const records = await recordsLeft(disk);
  expect(await diagnose(disk)).toEqual([]);
  await checkContents(disk);
  await rebuild(disk);
  expect(await recordsLeft(disk)).toEqual(records);
  expect(await answersOf(disk)).toEqual(before);
  await checkContents(disk);
  expect(await diagnose(disk)).toEqual([]);
}

test(`a rebuild changes no answer, whatever was removed when; seed ${SEED}`, { timeout: 3_600_000 }, async () => {
  const property = fc.asyncProperty(anyPlan, fc.nat(), fc.constantFrom(1, 2500, 1 << 20), check);
  await fc.assert(property, { numRuns: RUNS, seed: SEED, endOnFailure: false });
});
