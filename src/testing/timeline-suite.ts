/** The contract of a timeline, for every backend: each runs this suite. Digests are of one byte in it. */
import fc from "fast-check";
import { describe, expect, it } from "vitest";
import { type Answer, KEY_SIZE_MAX, TIME_MAX, type TimelineStore, VALUE_SIZE_MAX } from "../temporal/index.ts";
import { expectSame, gather, put, rangesAbout, takeBack } from "./timeline-answers.ts";
import { type ModelVisit, TimelineModel } from "./timeline-model.ts";

/** Gives an empty timeline whose digests have one byte. */
export type OpenStore = () => Answer<TimelineStore & (Disposable | AsyncDisposable | object)>;

const VALUE = Buffer.from("value of A");
const DIGEST = Buffer.from("A");

async function expectVisits(store: TimelineStore, visits: readonly ModelVisit[], times: readonly number[]) {
  const model = new TimelineModel();
  for (const visit of visits) {
    await put(store, visit);
    model.add(visit);
  }
  await store.commit();
  await using snapshot = await store.snapshot();
  await expectSame(snapshot, model, { times, ranges: rangesAbout(model.keys) });
}

const visit = fc.record<ModelVisit>({
  key: fc.oneof(fc.constantFrom("a", "ab", "b"), fc.string({ minLength: 1, maxLength: 6, unit: "binary-ascii" })),
  time: fc.integer({ min: -4, max: 30 }),
  digest: fc.option(fc.constantFrom("A", "B", "C"), { nil: undefined, freq: 5 }),
});

export function timelineSuite(name: string, open: OpenStore): void {
  describe(`${name} keeps the contract of a timeline:`, () => {
    it("answers as a list of all visits would", async () => {
      await fc.assert(
        fc.asyncProperty(fc.array(visit, { maxLength: 60 }), async (visits) => {
          await expectVisits(await open(), visits, [-5, 0, 12, 30]);
        }),
        { numRuns: 25 },
      );
    });

    it("an empty one answers nothing to everything", async () => {
      await expectVisits(await open(), [], [0]);
    });

    it("takes keys of any bytes, of one and of 64 KB, and keys that begin each other", async () => {
      const all = Array.from({ length: 256 }, (_, i) => String.fromCharCode(i));
      const long = "k".repeat(KEY_SIZE_MAX - 1);
      const keys = [...all, all.join(""), "kk", "kkk", long, `${long}1`, `${long}2`, `${long}\xff`];
      await expectVisits(
        await open(),
        keys.map((key, i) => ({ key, time: i, digest: "A" })),
        [5, 300],
      );
    });

    it("takes times before 1970 and after 2100, up to its limits", async () => {
      const times = [-TIME_MAX, -62_135_596_800_000, -1, 0, 4_102_444_800_000, TIME_MAX];
      const visits = times.map((time, i) => ({ key: "k", time, digest: "AB"[i % 2]! }));
      await expectVisits(await open(), visits, [...times, 5]);
    });

    it("keeps all contents of one moment, by digest, and gone is last", async () => {
      const store = await open();
      const digests = [undefined, "B", "A"];
      await expectVisits(
        store,
        digests.map((digest) => ({ key: "k", time: 5, digest })),
        [4, 5, 6],
      );
      await using snapshot = await store.snapshot();
      expect((await snapshot.history("k")).map(({ digest }) => digest)).toEqual(["A", "B"]);
      expect(await snapshot.at("k", 5)).toBeUndefined();
    });

    it("refuses what cannot be, and is none the worse for it", async () => {
      const store = await open();
      const refuse = async (code: string, work: () => Answer<void>) =>
        expect(async () => await work()).rejects.toMatchObject({ code });
      await store.insert("good", 1, VALUE, DIGEST);
      await refuse("HT_USAGE", () => store.insert("", 1, VALUE, DIGEST));
      await refuse("HT_USAGE", () => store.insert(new Uint8Array(0), 1, VALUE, DIGEST));
      await refuse("HT_USAGE", () => store.insert("k".repeat(KEY_SIZE_MAX + 1), 1, VALUE, DIGEST));
      await refuse("HT_USAGE", () => store.insert("\u0100", 1, VALUE, DIGEST));
      for (const time of [1.5, Number.NaN, Number.POSITIVE_INFINITY, TIME_MAX + 1, -TIME_MAX - 1]) {
        await refuse("HT_USAGE", () => store.insert("k", time, VALUE, DIGEST));
        await refuse("HT_USAGE", () => store.end("k", time));
      }
      await refuse("HT_USAGE", () => store.insert("k", 1, VALUE, Buffer.from("AB")));
      await refuse("HT_USAGE", () => store.insert("k", 1, VALUE, Buffer.alloc(0)));
      await refuse("HT_TOO_LARGE", () => store.insert("k", 1, Buffer.alloc(VALUE_SIZE_MAX + 1), DIGEST));
      await expectVisits(store, [{ key: "good", time: 1, digest: "A" }], [0, 1, 2]);
    });

    it("forgets visits as if they had never been heard of, in whatever commit they came", async () => {
      const step = fc.record({ visit, isRemoved: fc.boolean(), isCommitted: fc.boolean() });
      await fc.assert(
        fc.asyncProperty(fc.array(step, { maxLength: 80 }), fc.array(visit), async (steps, unknown) => {
          const store = await open();
          const model = new TimelineModel();
          const known: ModelVisit[] = [];
          for (const { visit: own, isRemoved, isCommitted } of steps) {
            known.push(own);
            await put(store, own);
            model.add(own);
            if (isCommitted) await store.commit();
            if (!isRemoved) continue;
            const removed = [...known.filter((_, i) => i % 3 === known.length % 3), ...unknown];
            await takeBack(store, removed);
            for (const each of removed) model.remove(each);
          }
          await store.commit();
          await using snapshot = await store.snapshot();
          await expectSame(snapshot, model, { times: [-5, 0, 12, 30], ranges: rangesAbout(model.keys) });
        }),
        { numRuns: 25 },
      );
    });

    it("shows nothing before a commit, and a snapshot stays as it is", async () => {
      const store = await open();
      await store.insert("k", 1, VALUE, DIGEST);
      await using before = await store.snapshot();
      expect(await before.at("k", 1)).toBeUndefined();
      await store.commit();
      await using first = await store.snapshot();
      await store.end("k", 0);
      await store.end("k", 2);
      await store.commit();
      expect(await before.at("k", 1)).toBeUndefined();
      expect((await first.history("k")).map(({ birth, end }) => [birth, end])).toEqual([[1, undefined]]);
      await using second = await store.snapshot();
      expect((await second.history("k")).map(({ birth, end }) => [birth, end])).toEqual([[1, 2]]);
      expect(await gather(second.slice(2))).toEqual([]);
    });
  });
}
