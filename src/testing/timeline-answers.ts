/** Every question to a timeline, asked of a model too. */
import { isDeepStrictEqual } from "node:util";
import { expect } from "vitest";
import {
  type Answer,
  type Answers,
  type KeyRange,
  prefixRange,
  rangeBehind,
  type TimelineEntry,
  type TimelineReader,
  type TimelineStore,
} from "../temporal/index.ts";
import type { ModelVisit, TimelineModel } from "./timeline-model.ts";

/** Digests of the model are one character; values tell which digest they belong to. */
export function put(store: TimelineStore, { key, time, digest }: ModelVisit): Answer<void> {
  const bytes = Buffer.from(key, "latin1");
  if (digest === undefined) return store.end(bytes, time);
  return store.insert(bytes, time, Buffer.from(`value of ${digest}`, "latin1"), Buffer.from(digest, "latin1"));
}

/** Takes visits back. */
export function takeBack(store: TimelineStore, visits: readonly ModelVisit[]): Answer<void> {
  const byKey = new Map<string, ModelVisit[]>();
  for (const visit of visits) byKey.set(visit.key, [...(byKey.get(visit.key) ?? []), visit]);
  return store.remove(byKey);
}

/** All that a stream gives; at once where nothing has to be waited for. */
export function gather<T>(answers: Answers<T>): Answer<T[]> {
  return Symbol.iterator in answers ? [...answers] : gatherLater(answers);
}

async function gatherLater<T>(answers: AsyncIterable<T>): Promise<T[]> {
  const all: T[] = [];
  for await (const one of answers) all.push(one);
  return all;
}

/** As `expect` does, which is slow and therefore asked only where they differ. */
function same(found: unknown, expected: unknown): void {
  if (!isDeepStrictEqual(found, expected)) expect(found).toEqual(expected);
}

/** What both tell of an entry that is whole. */
export function told({ key, birth, end, digest, lastSeen, visits }: TimelineEntry) {
  return { key, birth, end, digest, lastSeen, visits };
}

export function identity({ key, birth, digest }: { key: string; birth: number; digest: string }) {
  return { key, birth, digest };
}

/** An entry that is not whole tells what was true up to some time: nothing that is not in the whole one. */
function expectPart(entry: TimelineEntry, model: TimelineModel): void {
  const whole = model.history(entry.key).find(({ birth, digest }) => birth === entry.birth && digest === entry.digest)!;
  if (entry.isWhole) same(told(entry), whole);
  else {
    same(entry.end, undefined);
    same(entry.visits <= whole.visits, true);
    same(entry.lastSeen <= whole.lastSeen, true);
  }
  same(Buffer.from(entry.value).toString("latin1"), `value of ${entry.digest}`);
}

/** What is asked. Keys in it may be ones that the timeline does not have. */
export interface Questions {
  readonly times: readonly number[];
  readonly ranges?: readonly KeyRange[];
  readonly keys?: readonly string[];
  /** What `check` may find; nothing, unless told. */
  readonly findings?: readonly unknown[];
}

/** The same answers to all questions: about each key, each time, each two of the times, each range. */
export async function expectSame(reader: TimelineReader, model: TimelineModel, questions: Questions): Promise<void> {
  const { keys, entries, visits } = reader.info;
  const counts = { keys: model.keys.length, entries: model.entryCount, visits: model.visitCount };
  same({ keys, entries, visits }, counts);
  for (const key of questions.keys ?? [...model.keys, "never"])
    await expectSameKey(reader, model, key, questions.times);
  for (const range of [{}, ...(questions.ranges ?? [])]) await expectSameRange(reader, model, range, questions.times);
  const findings = await gather(reader.check());
  if (findings.length > 0) expect(findings).toEqual(questions.findings ?? []);
}

async function expectSameKey(
  reader: TimelineReader,
  model: TimelineModel,
  key: string,
  times: readonly number[],
): Promise<void> {
  same((await reader.history(key)).map(told), model.history(key));
  same(
    await gather(reader.visits(key)),
    model.visits(key).map(({ time, digest }) => ({ time, digest })),
  );
  for (const [i, time] of times.entries()) {
    const entry = await reader.at(key, time);
    same(entry === undefined ? undefined : told(entry), model.at(key, time));
    if (entry !== undefined) expectPart(entry, model);
    const to = times[(i * 5 + 2) % times.length]!;
    if (to < time) continue;
    same((await reader.history(key, time, to)).map(told), model.history(key, time, to));
    const visits = await gather(reader.visits(key, time, to));
    same(
      visits,
      model.visits(key, time, to).map(({ time: at, digest }) => ({ time: at, digest })),
    );
  }
}

async function expectSameRange(
  reader: TimelineReader,
  model: TimelineModel,
  range: KeyRange,
  times: readonly number[],
): Promise<void> {
  for (const [i, time] of times.entries()) {
    const slice = await gather(reader.slice(time, range));
    same(slice.map(identity), model.slice(time, range).map(identity));
    for (const entry of slice) expectPart(entry, model);
    same(await reader.countSlice(time, range), slice.length);
    await expectResumes(slice, (rest) => reader.slice(time, rest), range, i);
    const to = times[(i * 7 + 3) % times.length]!;
    if (to >= time) await expectSameSpan(reader, model, range, time, to);
  }
}

async function expectSameSpan(
  reader: TimelineReader,
  model: TimelineModel,
  range: KeyRange,
  from: number,
  to: number,
): Promise<void> {
  const span = await gather(reader.span(from, to, range));
  same(span.map(identity), model.span(from, to, range).map(identity));
  for (const entry of span) expectPart(entry, model);
  await expectResumes(span, (rest) => reader.span(from, to, rest), range, from);
  const events = await gather(reader.events(from, to, range));
  const shown = events.map(({ key, birth, isGone, replaced }) => ({ key, time: birth, isGone, replaced }));
  same(shown, model.events(from, to, range));
  await expectResumes(events, (rest) => reader.events(from, to, rest), range, to);
  const key = range.from ?? "com,";
  for (const count of [0, 1, 3]) {
    const { before, after } = await reader.nearest(key, from, to, count);
    const expected = model.nearest(key, from, to, count);
    same(before.map(identity), expected.before.map(identity));
    same(after.map(identity), expected.after.map(identity));
  }
}

/** A stream that is left behind one of its keys goes on there. */
async function expectResumes<T extends TimelineEntry>(
  all: readonly T[],
  ask: (range: KeyRange) => Answers<T>,
  range: KeyRange,
  seed: number,
): Promise<void> {
  if (all.length === 0) return;
  const { key } = all[Math.abs(seed) % all.length]!;
  const rest = await gather(ask(rangeBehind(key, range)));
  const expected = all.slice(all.findLastIndex((entry) => entry.key === key) + 1);
  same(rest.map(identity), expected.map(identity));
}

/** Ranges about some keys: with such a beginning, from one up to another, of nothing at all. */
export function rangesAbout(keys: readonly string[]): KeyRange[] {
  const [first = "a", second = "b"] = [keys[0], keys.at(-1)];
  const [low, high] = first < second ? [first, second] : [second, first];
  return [prefixRange(first.slice(0, 4)), { from: low, to: high }, { from: high, to: low }, { to: high }];
}
