/**
 * A timeline on a disk that stops, fails or is full at any moment. The last commit that returned is there whole, or the
 * one that was under way is, whole; `check` finds nothing; and what was lost can be said again.
 */
import { describe, expect, it } from "vitest";
import type { Disk } from "../../src/disk/index.ts";
import { openTimeline, type TimelineReader, TimelineWriter } from "../../src/temporal/index.ts";
import { createDice } from "../../src/testing/dice.ts";
import { everyFullDisk, everyMoment } from "../../src/testing/every-stop.ts";
import { ForgetfulDisk } from "../../src/testing/forgetful-disk.ts";
import { expectSame, put, takeBack } from "../../src/testing/timeline-answers.ts";
import { type ModelVisit, TimelineModel } from "../../src/testing/timeline-model.ts";

const FOLDER = "/archive/timeline";
const OPTIONS = { pageSize: 256, digestSize: 1 };
const KEYS = Array.from({ length: 14 }, (_, i) => `org,site)/${i}`);
const QUESTIONS = { times: [-1, 150, 2 ** 40], keys: KEYS.slice(3, 7) };
/** Of 24; there are some hundred moments, and every run looks at others. */
const AFTERMATH_COUNT = 3;

/** Crawls of which some come late, pages that change and go. */
function makeBatches(): ModelVisit[][] {
  const dice = createDice(7);
  return [0, 100, 200, 50, 300, 250, 400].map((start) =>
    Array.from({ length: 40 }, () => ({
      key: KEYS[dice.below(KEYS.length)]!,
      time: start + dice.below(90),
      digest: dice.below(12) === 0 ? undefined : String.fromCharCode(65 + dice.below(3)),
    })),
  );
}

const BATCHES = makeBatches();
/** What is taken back with each batch, of those before it. */
const REMOVED = BATCHES.map((_, i) => (i % 2 === 0 ? [] : BATCHES[i - 1]!.filter((_visit, at) => at % 4 === 0)));
/** The timeline after so many batches. */
const MODELS = [new TimelineModel()];
for (const [i, batch] of BATCHES.entries()) {
  const next = MODELS.at(-1)!.copy();
  for (const visit of batch) next.add(visit);
  for (const visit of REMOVED[i]!) next.remove(visit);
  MODELS.push(next);
}

async function say(writer: TimelineWriter, number: number): Promise<void> {
  for (const visit of BATCHES[number]!) await put(writer, visit);
  await takeBack(writer, REMOVED[number]!);
}

/** How many batches were answered, and how many there are when the one that was under way is there. */
interface Progress {
  committed: number;
  underWay: number;
}

let progress: Progress = { committed: 0, underWay: 0 };

async function commitBatch(writer: TimelineWriter, number: number): Promise<void> {
  await say(writer, number);
  progress.underWay = number + 1;
  writer.commit();
  progress.committed = number + 1;
}

/** Commits all batches, compacts in between, and opens anew in the middle. */
async function run(disk: Disk): Promise<void> {
  progress = { committed: 0, underWay: 0 };
  for (const [from, to] of [
    [0, 4],
    [4, BATCHES.length],
  ] as const) {
    using writer = TimelineWriter.open(disk, FOLDER, OPTIONS);
    for (let i = from; i < to; i++) {
      await commitBatch(writer, i);
      if (i % 3 === 1) writer.compact();
    }
  }
}

/** It is in one of the two states. */
const TORN_ROOT = expect.objectContaining({ message: expect.stringContaining("a root is damaged") });

async function expectState(reader: TimelineReader, { committed, underWay }: Progress): Promise<void> {
  const states = [...new Set([committed, underWay])];
  const state = states.find((count) => MODELS[count]!.visitCount === reader.info.visits);
  expect(state, `${reader.info.visits} visits after ${states.join(" or ")} batches`).toBeDefined();
  await expectSame(reader, MODELS[state!]!, { ...QUESTIONS, findings: [TORN_ROOT] });
}

async function check(disk: Disk, { committed, underWay }: Progress): Promise<void> {
  // Who only reads finds it as it is, before a writer clears up.
  if (disk.stat(`${FOLDER}/timeline.pages`) !== undefined) {
    using reader = openTimeline(disk, FOLDER);
    const findings = [...reader.check()];
    if (findings.length > 0) expect(findings).toEqual([TORN_ROOT]);
    await expectState(reader, { committed, underWay });
  } else expect(committed).toBe(0);
  using writer = TimelineWriter.open(disk, FOLDER, OPTIONS);
  {
    using snapshot = writer.snapshot();
    await expectState(snapshot, { committed, underWay });
  }
  // What was under way can be said again, whether it is there or not, and the rest after it.
  const last = Math.min(committed + 2, BATCHES.length);
  for (let i = committed; i < last; i++) await say(writer, i);
  writer.commit();
  using after = writer.snapshot();
  await expectSame(after, MODELS[last]!, QUESTIONS);
  expect(disk.list(FOLDER).filter(({ name }) => name.endsWith(".partial"))).toEqual([]);
}

describe("a timeline on a disk that", () => {
  it("stops at any moment has the last commit, whole", async () => {
    const count = await everyMoment(
      (disk) => run(disk),
      () => ({ ...progress }),
      (disk, noted) => check(disk, noted),
      { aftermathCount: AFTERMATH_COUNT },
    );
    expect(progress.committed).toBe(BATCHES.length);
    expect(count).toBeGreaterThan(50);
  });

  it("is full at any moment says so, loses nothing, and goes on when there is room", async () => {
    const count = await everyFullDisk(run, async (disk, failure) => {
      if (failure !== undefined) expect(failure).toMatchObject({ code: "HT_NO_SPACE" });
      for (const data of ["drop", "tear", "keep"] as const) {
        await check(disk.reopen({ data, names: data, seed: progress.committed }), progress);
      }
    });
    expect(count).toBeGreaterThan(15);
  });

  it("is full in the middle of a commit: the same writer and its snapshots go on", async () => {
    const before = new ForgetfulDisk();
    {
      using writer = TimelineWriter.open(before, FOLDER, OPTIONS);
      await commitBatch(writer, 0);
    }
    const all = MODELS[1]!.copy();
    for (const visit of BATCHES[1]!) all.add(visit);
    // Of pages, copy and slot: once the first two are durable, the commit counts.
    for (const fullFromWrite of [1, 2, 3]) {
      const disk = before.reopen({ data: "keep", names: "keep", seed: 0 }, { fullFromWrite });
      using writer = TimelineWriter.open(disk, FOLDER, OPTIONS);
      using held = writer.snapshot();
      for (let i = 0; i < 2; i++) {
        for (const visit of BATCHES[1]!) await put(writer, visit);
        expect(() => writer.commit()).toThrow(expect.objectContaining({ code: "HT_NO_SPACE" }));
        using snapshot = writer.snapshot();
        await expectSame(snapshot, fullFromWrite === 3 ? all : MODELS[1]!, { ...QUESTIONS, findings: [TORN_ROOT] });
        await expectSame(held, MODELS[1]!, { ...QUESTIONS, findings: [TORN_ROOT] });
      }
    }
  });

  it("fails to sync at any moment: the commit says so, and later ones hold", async () => {
    let failures = 0;
    for (let failSyncAt = 1; failSyncAt <= 30; failSyncAt++) {
      const before = new ForgetfulDisk();
      before.makeFolder(FOLDER);
      const disk = before.reopen({ data: "keep", names: "keep", seed: 0 }, { failSyncAt });
      let after = { committed: BATCHES.length, underWay: BATCHES.length };
      try {
        await run(disk);
      } catch (error) {
        failures++;
        expect(error).toMatchObject({ code: "HT_IO" });
        // The same process goes on with another writer, then the power is cut.
        await check(disk, progress);
        const committed = Math.min(progress.committed + 2, BATCHES.length);
        after = { committed, underWay: committed };
      }
      for (const data of ["drop", "tear", "keep"] as const) {
        await check(disk.reopen({ data, names: data, seed: failSyncAt }), after);
      }
    }
    expect(failures).toBeGreaterThan(15);
  });

  it("fails to sync at any moment: the same writer goes on, and nothing that it committed is lost", async () => {
    let failures = 0;
    for (let failSyncAt = 1; failSyncAt <= 30; failSyncAt++) {
      const before = new ForgetfulDisk();
      TimelineWriter.open(before, FOLDER, OPTIONS)[Symbol.dispose]();
      const disk = before.reopen({ data: "keep", names: "keep", seed: 0 }, { failSyncAt });
      using writer = TimelineWriter.open(disk, FOLDER, OPTIONS);
      const attempt = (work: () => void) => {
        try {
          work();
        } catch (error) {
          failures++;
          expect(error).toMatchObject({ code: "HT_IO" });
          return false;
        }
        return true;
      };
      for (const i of BATCHES.keys()) {
        do await say(writer, i);
        while (!attempt(() => writer.commit()));
        if (i % 3 === 1) attempt(() => writer.compact());
      }
      const after = { committed: BATCHES.length, underWay: BATCHES.length };
      for (const data of ["drop", "tear", "keep"] as const) {
        await check(disk.reopen({ data, names: data, seed: failSyncAt }), after);
      }
    }
    expect(failures).toBeGreaterThan(15);
  });
});
