/**
 * The power goes at any operation while records come in odd orders and small commits: silent 304s before the states that
 * they mean, revisits before their originals, requests in other files, removals. Who opens the archive again and goes on
 * with the step that was under way has the answers of the oracle.
 */
import fc from "fast-check";
import { describe, expect, it } from "vitest";
import type { Disk } from "../../src/disk/index.ts";
import type { Input } from "../../src/pipeline/index.ts";
import { diagnose, makeInput, openWriter } from "../../src/testing/archive-fixture.ts";
import { everyMoment } from "../../src/testing/every-stop.ts";
import { answersOf, expected } from "../archive/answers.ts";
import { anyPlan, inOrder, type Plan, type Schedule, shuffled } from "../archive/random-plan.ts";

const SEED = 20261118;

type Records = Plan["files"][number]["records"];

const seen = { id: "own", mime: "text/plain", etag: undefined, modified: undefined } as const;
const get = (url: number, time: number, payload: number, answer: "found" | "unchanged" = "found"): Records[number] => {
  const stored = { digest: "transferred", isChunked: false, cut: "no" } as const;
  return { kind: "response", ...seen, url, time, payload, answer, ...stored };
};
const revisit = (url: number, time: number, payload: number): Records[number] => {
  const told = { profile: "1.0", digest: "sha1", target: 0, byId: "no", byUri: "no", byDate: "no" } as const;
  return { kind: "revisit", ...seen, url, time, payload, answer: "found", ...told };
};
const ask = (target: number, hasCondition: boolean): Records[number] => {
  return { kind: "request", target, named: "by request", method: "GET", hasCondition, isOfThatUri: true };
};

/** A silent 304 and a revisit first, then what they mean, a state in between, requests, and that state removed. */
const BACKWARDS: Plan = {
  files: [
    [get(0, 4, 0, "unchanged"), get(3, 5, 0, "unchanged")],
    [revisit(3, 1, 1), revisit(1, 3, 3)],
    [get(0, 0, 1)],
    [ask(0, true), ask(1, false)],
    [get(2, 2, 3)],
  ].map((records) => ({ how: "add", records })),
  removals: [{ url: "http://a.example/", fromMs: Date.UTC(2020, 0, 2), toMs: Date.UTC(2020, 0, 3) }],
  compactions: 1,
  again: [0],
};

/** With all that the order of arrival may spoil. */
function isRich({ files, removals }: Plan): boolean {
  const records = files.flatMap((file) => file.records);
  return (
    removals.length > 0 &&
    records.some((each) => each.kind === "request") &&
    records.some((each) => each.kind === "revisit" && each.digest !== "none") &&
    records.some((each) => each.kind === "response" && each.answer === "unchanged")
  );
}

const RICH = fc.sample(anyPlan, { seed: SEED, numRuns: 300 }).filter(isRich);
const sizeOf = ({ files }: Plan) => files.reduce((sum, { records }) => sum + records.length, 0);

interface Trial {
  readonly plan: Plan;
  readonly schedule: Schedule;
  readonly commitChangeCount: number;
  /** Of so many operations one is looked at. */
  readonly stride: number;
}

type Inputs = readonly (readonly Input[])[];

/** Runs the steps from one on. */
async function perform(disk: Disk, trial: Trial, inputs: Inputs, from: number, onDone: (step: number) => unknown) {
  const { schedule, commitChangeCount } = trial;
  const { steps, segmentSizeBytes } = schedule;
  let nowMs = Date.UTC(2026, 0, 1);
  const clock = { now: () => ++nowMs };
  for (const [i, step] of steps.entries()) {
    if (i < from) continue;
    {
      await using writer = openWriter(disk, { segmentSizeBytes, clock, commitChangeCount });
      if (step.kind === "compact") writer.compact();
      else if (step.kind === "remove") await writer.remove(step.removal, { reason: "a test" });
      else await writer[step.kind](inputs[i]!);
    }
    await onDone(i);
  }
}

/** Gives the number of operations. */
async function stopEverywhere(trial: Trial): Promise<number> {
  const wanted = expected(trial.plan);
  let inputs: Inputs = [];
  let done = 0;
  let moments = 0;
  return await everyMoment(
    (disk, look) =>
      perform(disk, trial, inputs, 0, async (step) => {
        await look();
        done = step + 1;
      }),
    () => done,
    async (left, from) => {
      if (moments++ % trial.stride > 0) return;
      await perform(left, trial, inputs, from, () => {});
      expect(await answersOf(left)).toEqual(wanted);
      expect(await diagnose(left)).toEqual([]);
    },
    {
      seed: SEED,
      aftermathCount: 1,
      prepare: (disk) => {
        inputs = trial.schedule.steps.map((step) =>
          "files" in step ? step.files.map((records) => makeInput(disk, records)) : [],
        );
      },
    },
  );
}

describe("answers are those of the records after a power cut", { timeout: 300_000 }, () => {
  it.each([10, 1])(
    "at any operation, or any second one, with revisits before what they mean; rows in a commit: %i",
    async (count) => {
      const trial = {
        plan: BACKWARDS,
        schedule: inOrder(BACKWARDS),
        commitChangeCount: count,
        stride: count === 1 ? 2 : 1,
      };
      expect(await stopEverywhere(trial)).toBeGreaterThan(100);
    },
  );

  const small = RICH.filter((plan) => sizeOf(plan) <= 8).slice(0, 2);
  it.each(small.map((plan, i) => [i, plan] as const))("at any operation of a small plan: %i", async (i, plan) => {
    const trial = { plan, schedule: shuffled(plan, SEED + i), commitChangeCount: i === 0 ? 1 : 10, stride: 1 };
    expect(await stopEverywhere(trial)).toBeGreaterThan(50);
  });

  const large = RICH.filter((plan) => sizeOf(plan) > 8).slice(0, 8);
  it.each(large.map((plan, i) => [i, plan] as const))("at some operations of a large plan: %i", async (i, plan) => {
    const trial = { plan, schedule: shuffled(plan, SEED + i), commitChangeCount: i % 2 === 0 ? 1 : 10, stride: 17 };
    expect(await stopEverywhere(trial)).toBeGreaterThan(50);
  });
});
