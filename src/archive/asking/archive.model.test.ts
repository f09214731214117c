/** An archive beside a plain list of captures: whatever comes in whatever order, every question has the same answer. */
import fc from "fast-check";
import { expect, test } from "vitest";
import { digestOf } from "../../base/index.ts";
import {
  all,
  capturesOf,
  diagnose,
  historyOf,
  makeInput,
  openReader,
  openWriter,
  payloadOf,
  rebuild,
  type Visit,
  visitBytes,
  visitId,
} from "../../testing/archive-fixture.ts";
import { noise } from "../../testing/capture-text.ts";
import { newSeed, runsOf } from "../../testing/dice.ts";
import { ForgetfulDisk } from "../../testing/forgetful-disk.ts";
import { archiveKey } from "../catalogue/capture-key.ts";
import { contentIdentity } from "../catalogue/content.ts";
import type { Archive } from "./archive.ts";
import type { Lifespan } from "./lifespans.ts";

const PAYLOADS = [noise("one", 900), noise("two", 900), noise("three", 1500), Buffer.from("small"), Buffer.alloc(0)];
const URIS = [
  "http://a.example/",
  "http://www.a.example/",
  "http://a.example/x",
  "https://b.example/x?y=1",
  "no url at all",
];
const START_MS = Date.UTC(2020, 0, 1);
const HOUR_MS = 3_600_000;
const HOURS = 12;

/** As small as can be, so that a counterexample can be read. */
interface Told {
  readonly uri: number;
  readonly hour: number;
  readonly content: number;
  readonly answer: "found" | "missing" | "moved" | "elsewhere";
  readonly number: number;
}

const visit: fc.Arbitrary<Told> = fc.record({
  uri: fc.nat(URIS.length - 1),
  hour: fc.nat(HOURS),
  content: fc.nat(PAYLOADS.length - 1),
  answer: fc.constantFrom("found", "found", "found", "missing", "moved", "elsewhere"),
  number: fc.nat(1),
});

function toVisit({ uri, hour, content, answer, number }: Told): Visit {
  const visited = { uri: URIS[uri]!, timeMs: START_MS + hour * HOUR_MS, payload: PAYLOADS[content]!, number };
  if (answer === "found") return visited;
  if (answer === "missing") return { ...visited, status: 404 };
  return { ...visited, status: 301, location: `http://a.example/${answer}` };
}

type Step =
  | { readonly kind: "add" | "adopt"; readonly visits: readonly Told[] }
  | { readonly kind: "again" | "rebuild" | "compact" | "crash" }
  | { readonly kind: "remove"; readonly uri: number; readonly fromHour: number; readonly toHour: number }
  | { readonly kind: "removeContent"; readonly content: number };

const step: fc.Arbitrary<Step> = fc.oneof(
  {
    weight: 6,
    arbitrary: fc.record({ kind: fc.constant("add" as const), visits: fc.array(visit, { maxLength: 12 }) }),
  },
  {
    weight: 1,
    arbitrary: fc.record({
      kind: fc.constant("adopt" as const),
      visits: fc.array(visit, { minLength: 1, maxLength: 8 }),
    }),
  },
  { weight: 3, arbitrary: fc.record({ kind: fc.constantFrom("again", "rebuild", "compact", "crash") }) },
  {
    weight: 1,
    arbitrary: fc.record({
      kind: fc.constant("remove" as const),
      uri: fc.nat(URIS.length - 1),
      fromHour: fc.nat(HOURS),
      toHour: fc.nat(HOURS),
    }),
  },
  {
    weight: 1,
    arbitrary: fc.record({ kind: fc.constant("removeContent" as const), content: fc.nat(PAYLOADS.length - 1) }),
  },
) as fc.Arbitrary<Step>;

function sha256(payload: Buffer): string {
  return digestOf("sha256", payload).hex;
}

/** What a record is known by. */
function nameOf(each: Visit): string {
  const { uri, timeMs, status = 200, location, payload } = each;
  return `${uri} ${timeMs} ${visitId(each)} ${status} ${location} ${sha256(payload)}`;
}

interface Run {
  readonly visits: Visit[];
  readonly identity: string;
}

/** The list, and the answers that follow from it by its definition alone. */
class Model {
  readonly visits: Visit[] = [];
  private readonly removed = new Map<string, Visit>();

  /** A record is known by its URL, time, id, HTTP header and payload; one that was removed does not come back. */
  add(visits: readonly Visit[]): void {
    for (const each of visits) {
      if (this.removed.has(nameOf(each))) continue;
      if (!this.visits.some((other) => nameOf(other) === nameOf(each))) this.visits.push(each);
    }
  }

  remove(isRemoved: (each: Visit) => boolean): void {
    const gone = this.visits.filter(isRemoved);
    for (const each of gone) this.removed.set(nameOf(each), each);
    const left = this.visits.filter((each) => !gone.includes(each));
    this.visits.splice(0, this.visits.length, ...left);
  }

  of(key: string): Visit[] {
    return this.visits.filter(({ uri }) => archiveKey(uri) === key);
  }

  /** Of what was removed it is still known that there was a visit. */
  wasRemovedBetween(key: string, fromMs: number, toMs: number): boolean {
    return [...this.removed.values()].some(
      ({ uri, timeMs }) => archiveKey(uri) === key && timeMs > fromMs && timeMs < toMs,
    );
  }

  keys(): string[] {
    return [...new Set(this.visits.map(({ uri }) => archiveKey(uri)))].sort();
  }

  runs(key: string): Run[] {
    const identityOf = ({ status = 200, location, payload }: Visit) =>
      contentIdentity(status, location, sha256(payload)).toString("latin1");
    const sorted = this.of(key)
      .map((each) => ({ each, identity: identityOf(each) }))
      .sort(
        (one, other) =>
          one.each.timeMs - other.each.timeMs ||
          (one.identity < other.identity ? -1 : one.identity > other.identity ? 1 : 0),
      );
    const runs: Run[] = [];
    for (const { each, identity } of sorted) {
      const last = runs.at(-1);
      if (last?.identity === identity) last.visits.push(each);
      else runs.push({ visits: [each], identity });
    }
    return runs;
  }
}

function shown({ visits }: Run, next: Run | undefined) {
  const [first] = visits;
  const { payload, status = 200 } = first!;
  const times = new Set(visits.map(({ timeMs }) => timeMs));
  return {
    birth: first!.timeMs,
    end: next?.visits[0]!.timeMs,
    lastSeen: visits.at(-1)!.timeMs,
    captures: times.size,
    sha256: sha256(payload),
    status,
  };
}

function told({ birth, end, lastSeen, captures, sha256: digest, status }: Lifespan) {
  return { birth, end, lastSeen, captures, sha256: digest, status };
}

async function checkAnswers(archive: Archive, model: Model): Promise<void> {
  for (const uri of URIS) {
    const runs = model.runs(archiveKey(uri));
    expect((await historyOf(archive, uri)).map(told)).toEqual(runs.map((run, i) => shown(run, runs[i + 1])));
    await checkCaptures(archive, model, uri);
    for (let half = -1; half <= 2 * HOURS + 1; half++) {
      const timeMs = START_MS + (half * HOUR_MS) / 2;
      await checkMoment(archive, model, uri, timeMs);
      await checkNearest(archive, model, uri, timeMs);
    }
  }
  for (let hour = -1; hour <= HOURS; hour += 3) await checkSlice(archive, model, START_MS + hour * HOUR_MS);
  for (const payload of PAYLOADS) {
    const seen = (await all(archive.same(sha256(payload)))).map(({ url, timeMs }) => `${url} ${timeMs}`);
    const wanted = model.visits.filter((each) => each.payload.equals(payload));
    expect(seen.sort()).toEqual(wanted.map((each) => `${each.uri} ${each.timeMs}`).sort());
  }
}

async function checkMoment(archive: Archive, model: Model, uri: string, timeMs: number): Promise<void> {
  const key = archiveKey(uri);
  const runs = model.runs(key);
  const at = runs.findLastIndex(({ visits }) => visits[0]!.timeMs <= timeMs);
  const moment = await archive.at(uri, timeMs);
  expect(moment && told(moment.lifespan)).toEqual(at < 0 ? undefined : shown(runs[at]!, runs[at + 1]));
  if (moment === undefined) return;
  const own = runs[at]!.visits.map((each) => each.timeMs);
  const [last, next] = [own.findLast((time) => time <= timeMs)!, own.find((time) => time > timeMs)];
  const isSure = last === timeMs || (next !== undefined && !model.wasRemovedBetween(key, last, next));
  expect(moment.certainty).toBe(isSure ? "observed" : "presumed");
  expect(moment.capture.timeMs).toBe(last);
  const times = model.of(key).map((each) => each.timeMs);
  expect(moment.others).toHaveLength(times.filter((time) => time === last).length - 1);
  expect(moment.before?.timeMs).toBe(Math.max(...times.filter((time) => time <= timeMs)));
  expect(moment.after?.timeMs).toBe(times.filter((time) => time > timeMs).sort((one, other) => one - other)[0]);
}

/** Of two visits that are equally near, the earlier one. */
async function checkNearest(archive: Archive, model: Model, uri: string, timeMs: number): Promise<void> {
  const times = model.of(archiveKey(uri)).map((each) => each.timeMs);
  const [nearest] = times.sort((one, other) => Math.abs(one - timeMs) - Math.abs(other - timeMs) || one - other);
  expect((await archive.nearest(uri, timeMs))?.capture.timeMs).toBe(nearest);
}

/** Every capture is there, with its payload and its HTTP header. */
async function checkCaptures(archive: Archive, model: Model, uri: string): Promise<void> {
  const found: string[] = [];
  for (const capture of await capturesOf(archive, uri)) {
    await using opened = await archive.open(capture);
    const location = opened.http?.headers.get("location");
    const payload = sha256(await payloadOf(archive, capture));
    expect(payload).toBe(capture.sha256);
    found.push(`${capture.timeMs} ${capture.url} ${opened.id} ${opened.http?.status} ${location} ${payload}`);
  }
  const expected = model
    .of(archiveKey(uri))
    .map(
      (each) =>
        `${each.timeMs} ${each.uri} ${visitId(each)} ${each.status ?? 200} ${each.location} ${sha256(each.payload)}`,
    );
  expect(found.sort()).toEqual(expected.sort());
}

async function checkSlice(archive: Archive, model: Model, timeMs: number): Promise<void> {
  const alive = model.keys().flatMap((key) => {
    const run = model.runs(key).findLast(({ visits }) => visits[0]!.timeMs <= timeMs);
    return run === undefined ? [] : [`${key} ${sha256(run.visits[0]!.payload)} ${run.visits[0]!.status ?? 200}`];
  });
  const found = await all(archive.slice(timeMs));
  expect(found.map(({ key, sha256: digest, status }) => `${key} ${digest} ${status}`)).toEqual(alive);
  const changes = await all(archive.changes(timeMs, timeMs + 4 * HOUR_MS));
  const changed = changes.map(({ key, timeMs: time }) => `${key} ${time}`);
  const expected = model.keys().flatMap((key) =>
    model.runs(key).flatMap(({ visits }) => {
      const birth = visits[0]!.timeMs;
      return birth > timeMs && birth <= timeMs + 4 * HOUR_MS ? [`${key} ${birth}`] : [];
    }),
  );
  expect(changed).toEqual(expected);
}

async function play(steps: readonly Step[]): Promise<void> {
  let disk = new ForgetfulDisk();
  const model = new Model();
  const inputs: ReturnType<typeof makeInput>[] = [];
  for (const step of steps) {
    const { kind } = step;
    if (kind === "rebuild") {
      await withWriter(disk, () => Promise.resolve());
      await rebuild(disk);
    } else if (kind === "crash") disk = disk.reopen({ data: "drop", names: "drop", seed: 1 });
    else
      await withWriter(disk, async (writer) => {
        switch (step.kind) {
          case "add":
          case "adopt": {
            const visits = step.visits.map(toVisit);
            const input = makeInput(disk, visits.map(visitBytes), kind === "add" ? "/inputs" : "/holdings");
            if (kind === "add") inputs.push(input);
            await (kind === "add" ? writer.add([input]) : writer.adopt([input]));
            model.add(visits);
            break;
          }
          case "again":
            expect(await writer.add(inputs)).toMatchObject({ captures: 0, bytesKept: 0 });
            break;
          case "compact":
            writer.compact({ deadShare: 0.01 });
            break;
          case "remove": {
            const [fromMs, toMs] = [START_MS + step.fromHour * HOUR_MS, START_MS + step.toHour * HOUR_MS];
            const key = archiveKey(URIS[step.uri]!);
            await writer.remove({ url: URIS[step.uri]!, fromMs, toMs }, { reason: "a test" });
            model.remove(({ uri, timeMs }) => archiveKey(uri) === key && timeMs >= fromMs && timeMs <= toMs);
            break;
          }
          case "removeContent": {
            const payload = PAYLOADS[step.content]!;
            await writer.remove({ sha256: sha256(payload) }, { reason: "a test" });
            model.remove((each) => each.payload.equals(payload));
            break;
          }
          default:
        }
      });
    await withWriter(disk, () => Promise.resolve());
    await using archive = await openReader(disk);
    await checkAnswers(archive, model);
    expect(await diagnose(disk)).toEqual([]);
  }
}

async function withWriter(
  disk: ForgetfulDisk,
  use: (writer: ReturnType<typeof openWriter>) => Promise<unknown>,
): Promise<void> {
  await using writer = openWriter(disk, { segmentSizeBytes: 6000 });
  await use(writer);
}

const SEED = newSeed();

test(`answers as a plain list does; seed ${SEED}`, { timeout: 3_600_000 }, async () => {
  await fc.assert(fc.asyncProperty(fc.array(step, { minLength: 1, maxLength: 8 }), play), {
    seed: SEED,
    numRuns: runsOf(40),
  });
});
