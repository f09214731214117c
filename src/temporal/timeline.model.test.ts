import fc from "fast-check";
import { describe, expect, it } from "vitest";
import { createDice } from "../testing/dice.ts";
import { ForgetfulDisk } from "../testing/forgetful-disk.ts";
import { expectSame, put, rangesAbout, takeBack } from "../testing/timeline-answers.ts";
import { type ModelVisit, TimelineModel } from "../testing/timeline-model.ts";
import { type TimelineSnapshot, TimelineWriter } from "./index.ts";

/** One byte, beginnings of each other, all bytes. */
const KEYS = [
  "a",
  "ab",
  "ab\0",
  "b",
  "com,example)/",
  "com,example)/1",
  "com,example)/12",
  "com,example,www)/",
  "\0",
  "\xff",
  "\xff\x00",
  "\xff\xff",
];

const keys = fc.oneof(
  fc.constantFrom(...KEYS),
  fc.nat(60).map((i) => `org,site)/${i}`),
  fc.uint8Array({ minLength: 1, maxLength: 40 }).map((bytes) => Buffer.from(bytes).toString("latin1")),
);

/** Few, so that they meet; or seconds from before 1970 to after 2100; or as early and late as can be. */
const times = fc.oneof(
  fc.integer({ min: -3, max: 40 }),
  fc.integer({ min: -(2 ** 33), max: 2 ** 33 }),
  fc.integer({ min: -(2 ** 51), max: 2 ** 51 }),
);

const digests = fc.option(
  fc.nat(3).map((i) => String.fromCharCode(65 + i)),
  { nil: undefined, freq: 6 },
);

const visits = fc.record<ModelVisit>({ key: keys, time: times, digest: digests });

const batches = fc.array(fc.array(visits, { maxLength: 120 }), { minLength: 1, maxLength: 6 });

const chosenTimes = fc.array(times, { maxLength: 5 });

async function expectHeld(held: { snapshot: TimelineSnapshot; model: TimelineModel }[], asked: readonly number[]) {
  for (const { snapshot, model } of held) {
    const ranges = rangesAbout(model.keys.slice(1, 3));
    await expectSame(snapshot, model, { times: asked, ranges });
  }
}

describe("a timeline", () => {
  it("answers as a list of all visits would, in whatever order they come, at every commit", async () => {
    await fc.assert(
      fc.asyncProperty(batches, fc.constantFrom(256, 400, 1000), chosenTimes, async (all, pageSize, chosen) => {
        const disk = new ForgetfulDisk();
        const model = new TimelineModel();
        const asked = [-(2 ** 51), ...chosen, 20, 2 ** 51].sort((one, other) => one - other);
        const held: { snapshot: TimelineSnapshot; model: TimelineModel }[] = [];
        const writer = TimelineWriter.open(disk, "/timeline", { pageSize, digestSize: 1, cacheBytes: 1 << 14 });
        for (const batch of all) {
          for (const visit of batch) {
            await put(writer, visit);
            model.add(visit);
          }
          writer.commit();
          const last = { snapshot: writer.snapshot(), model: model.copy() };
          await expectHeld([last], asked);
          held.push(last);
          if (batch.length % 5 === 0) writer.compact();
        }
        await expectHeld(held, asked);
        writer[Symbol.dispose]();
        await expectHeld(held, asked);
        for (const { snapshot } of held) snapshot[Symbol.dispose]();
      }),
      { numRuns: Number(process.env["HOLOTYPE_RUNS"] ?? 25) },
    );
  });

  it("forgets any visits, and hears of some of them again, at every commit", async () => {
    const steps = fc.array(fc.record({ batch: fc.array(visits, { maxLength: 120 }), every: fc.nat(5) }), {
      minLength: 1,
      maxLength: 6,
    });
    await fc.assert(
      fc.asyncProperty(steps, fc.constantFrom(256, 400, 1000), chosenTimes, async (all, pageSize, chosen) => {
        const model = new TimelineModel();
        const asked = [-(2 ** 51), ...chosen, 20, 2 ** 51].sort((one, other) => one - other);
        const held: { snapshot: TimelineSnapshot; model: TimelineModel }[] = [];
        const known: ModelVisit[] = [];
        const settings = { pageSize, digestSize: 1, cacheBytes: 1 << 14 };
        const writer = TimelineWriter.open(new ForgetfulDisk(), "/timeline", settings);
        let removed: readonly ModelVisit[] = [];
        for (const { batch, every } of all) {
          for (const visit of [...batch, ...removed.slice(0, 40)]) {
            await put(writer, visit);
            model.add(visit);
          }
          known.push(...batch);
          if (batch.length % 2 === 0) writer.commit();
          removed = known.filter((_, i) => every === 0 || i % every === 1);
          await takeBack(writer, removed);
          for (const visit of removed) model.remove(visit);
          writer.commit();
          const last = { snapshot: writer.snapshot(), model: model.copy() };
          await expectHeld([last], asked);
          held.push(last);
          if (batch.length % 5 === 0) writer.compact();
        }
        await expectHeld(held, asked);
        writer[Symbol.dispose]();
        for (const { snapshot } of held) snapshot[Symbol.dispose]();
      }),
      { numRuns: Number(process.env["HOLOTYPE_RUNS"] ?? 25) },
    );
  });

  it("is the same for sorted, reversed and shuffled visits, in one commit or many, given once or twice", async () => {
    await fc.assert(
      fc.asyncProperty(fc.array(visits, { minLength: 1, maxLength: 300 }), fc.nat(), async (all, seed) => {
        const model = new TimelineModel();
        for (const visit of all) model.add(visit);
        const sorted = [...all].sort((one, other) => one.time - other.time);
        const dice = createDice(seed);
        const shuffled = sorted.map((visit) => ({ visit, at: dice.below(1 << 30) })).sort((a, b) => a.at - b.at);
        const orders = [sorted, [...sorted].reverse(), shuffled.map(({ visit }) => visit), [...all, ...sorted]];
        for (const [i, order] of orders.entries()) {
          using writer = TimelineWriter.open(new ForgetfulDisk(), "/timeline", { pageSize: 512, digestSize: 1 });
          for (const [at, visit] of order.entries()) {
            await put(writer, visit);
            if (at % (i * 40 + 7) === 0) writer.commit();
          }
          writer.commit();
          using snapshot = writer.snapshot();
          await expectSame(snapshot, model, { times: [-(2 ** 40), 5, 20], ranges: rangesAbout(["org,site)/2", "b"]) });
        }
      }),
      { numRuns: 12 },
    );
  });

  it("keeps the order of what was found at one time: by digest, and gone is last", async () => {
    const model = new TimelineModel();
    using writer = TimelineWriter.open(new ForgetfulDisk(), "/timeline", { pageSize: 256, digestSize: 1 });
    for (const digest of [undefined, "C", "A", "B", "A", undefined]) {
      for (const time of [7, 3, 7]) {
        const visit = { key: "k", time, digest };
        await put(writer, visit);
        model.add(visit);
        writer.commit();
      }
    }
    using snapshot = writer.snapshot();
    await expectSame(snapshot, model, { times: [2, 3, 4, 7, 8] });
    expect(snapshot.history("k").map(({ birth, end, digest }) => [birth, end, digest])).toEqual([
      [3, 3, "A"],
      [3, 3, "B"],
      [3, 3, "C"],
      [7, 7, "A"],
      [7, 7, "B"],
      [7, 7, "C"],
    ]);
  });
});

/** A site that is crawled again and again: new pages, changed ones, some that go and come back. */
function* crawls(count: number, pages: number, seed: number): Generator<ModelVisit[]> {
  const dice = createDice(seed);
  for (let crawl = 0; crawl < count; crawl++) {
    const batch: ModelVisit[] = [];
    for (let page = 0; page < pages + crawl; page++) {
      if (dice.below(4) === 0) continue;
      const digest = dice.below(30) === 0 ? undefined : String.fromCharCode(65 + dice.below(2) + ((page * crawl) >> 7));
      batch.push({ key: `org,site)/page/${page % 7}/${page}`, time: crawl * 1000 + dice.below(900), digest });
    }
    yield batch;
  }
}

describe("a long history", () => {
  it.each(["forward", "backward", "shuffled"])("has the same answers when crawls come %s", async (order) => {
    const all = [...crawls(40, 70, 5)];
    if (order === "backward") all.reverse();
    const dice = createDice(9);
    if (order === "shuffled") all.sort(() => (dice.coin() ? 1 : -1));
    const model = new TimelineModel();
    using writer = TimelineWriter.open(new ForgetfulDisk(), "/timeline", { pageSize: 1000, digestSize: 1 });
    const asked = {
      times: [-1, 450, 20_500, 2 ** 40],
      ranges: rangesAbout(["org,site)/page/3", "z"]),
    };
    const held: { snapshot: TimelineSnapshot; model: TimelineModel }[] = [];
    for (const [i, batch] of all.entries()) {
      for (const visit of batch) {
        await put(writer, visit);
        model.add(visit);
      }
      writer.commit();
      if (i % 20 === 10) held.push({ snapshot: writer.snapshot(), model: model.copy() });
      if (i % 20 === 15) writer.compact();
    }
    held.push({ snapshot: writer.snapshot(), model });
    for (const { snapshot, model: then } of held) {
      await expectSame(snapshot, then, asked);
      snapshot[Symbol.dispose]();
    }
  });
});
