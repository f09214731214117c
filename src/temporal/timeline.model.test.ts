import fc from "fast-check";
import { describe, expect, it } from "vitest";
import { ForgetfulDisk } from "../testing/forgetful-disk.ts";
import { type ModelVisit, TimelineModel } from "../testing/timeline-model.ts";
import { type TimelineEntry, type TimelineSnapshot, TimelineWriter } from "./index.ts";

const KEYS = [
  "a",
  "ab",
  "b",
  "com,example)/",
  "com,example)/1",
  "com,example)/2",
  "com,example,www)/",
  "z",
  "\xff\x00",
];

const visits = fc.record<ModelVisit>({
  key: fc.oneof(
    fc.constantFrom(...KEYS),
    fc.nat(60).map((i) => `org,site)/${i}`),
  ),
  time: fc.oneof(fc.integer({ min: -3, max: 40 }), fc.integer({ min: -(2 ** 40), max: 2 ** 40 })),
  digest: fc.option(
    fc.nat(3).map((i) => String.fromCharCode(65 + i)),
    { nil: undefined, freq: 6 },
  ),
});

const batches = fc.array(fc.array(visits, { maxLength: 120 }), { minLength: 1, maxLength: 8 });

function put(writer: TimelineWriter, { key, time, digest }: ModelVisit): void {
  const bytes = Buffer.from(key, "latin1");
  if (digest === undefined) writer.end(bytes, time);
  else writer.insert(bytes, time, Buffer.from(`value of ${digest}`), Buffer.from(digest));
}

/** What both tell, of an entry that is whole. */
function told({ key, birth, end, digest, lastSeen, visits: count }: TimelineEntry) {
  return { key, birth, end, digest, lastSeen, visits: count };
}

function identity({ key, birth, digest }: { key: string; birth: number; digest: string }) {
  return { key, birth, digest };
}

function compareAll(snapshot: TimelineSnapshot, model: TimelineModel, times: readonly number[]): void {
  const { keys, visits: visitCount } = snapshot.info;
  expect({ keys, visitCount }).toEqual({ keys: model.keys.length, visitCount: model.visitCount });
  for (const key of [...model.keys, "never"]) {
    expect(snapshot.history(key).map(told)).toEqual(model.history(key));
    for (const time of times) {
      const entry = snapshot.at(key, time);
      expect(entry === undefined ? undefined : told(entry)).toEqual(model.at(key, time));
      if (entry !== undefined) expect(Buffer.from(entry.value).toString()).toBe(`value of ${entry.digest}`);
    }
  }
  for (const time of times) {
    expect([...snapshot.slice(time)].map(identity)).toEqual(model.slice(time).map(identity));
    expect([...snapshot.sliceBackwards(time)].map(identity)).toEqual(model.slice(time).map(identity).reverse());
  }
  for (const [i, from] of times.entries()) {
    const to = times[(i * 7 + 3) % times.length]!;
    if (to < from) continue;
    expect([...snapshot.span(from, to)].map(identity)).toEqual(model.span(from, to).map(identity));
    const events = [...snapshot.events(from, to)];
    const shown = events.map(({ key, birth, isGone, replaced }) => ({ key, time: birth, isGone, replaced }));
    expect(shown).toEqual(model.events(from, to));
    for (const key of model.keys.slice(0, 4)) {
      expect(snapshot.history(key, from, to).map(told)).toEqual(model.history(key, from, to));
    }
  }
  expect([...snapshot.check()]).toEqual([]);
}

describe("a timeline", () => {
  it("answers as a list of all visits would, in whatever order they come", () => {
    fc.assert(
      fc.property(
        batches,
        fc.constantFrom(256, 400, 1000),
        fc.array(fc.integer({ min: -5, max: 45 }), { maxLength: 6 }),
        (all, pageSize, chosen) => {
          const disk = new ForgetfulDisk();
          const model = new TimelineModel();
          const times = [-(2 ** 45), ...chosen, 20, 2 ** 45].sort((one, other) => one - other);
          const held: { snapshot: TimelineSnapshot; model: TimelineModel }[] = [];
          using writer = TimelineWriter.open(disk, "/timeline", { pageSize, digestSize: 1 });
          for (const batch of all) {
            for (const visit of batch) {
              put(writer, visit);
              model.add(visit);
            }
            writer.commit();
            const snapshot = writer.snapshot();
            compareAll(snapshot, model, times);
            held.push({ snapshot, model: model.copy() });
            if (batch.length % 5 === 0) writer.compact();
          }
          for (const { snapshot, model: then } of held) {
            compareAll(snapshot, then, times);
            snapshot[Symbol.dispose]();
          }
        },
      ),
      { numRuns: 60 },
    );
  });
});
