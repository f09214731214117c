/** The store of the catalogue beside a plain map, over many runs that become one early, closings, power cuts and faults. */
import fc from "fast-check";
import { expect, test } from "vitest";
import { ArchiveError } from "../base/index.ts";
import { newSeed } from "../testing/dice.ts";
import type { Fate } from "../testing/forgetful-content.ts";
import { ForgetfulDisk } from "../testing/forgetful-disk.ts";
import type { Faults } from "../testing/operations.ts";
import { type OrderedStore, type StoreView } from "./ordered-store.ts";
import { openRows, openRowsToRead } from "./row-store.ts";

const SEED = newSeed();
const FOLDER = "/store";
const RUNS_ENOUGH = 2;

type Batch = readonly (readonly [string, number | undefined])[];
type List = ReadonlyMap<string, string>;
/** How one who writes ends: by closing, or by a fault at the n-th operation. */
interface Life {
  readonly batches: readonly Batch[];
  readonly fault: "none" | "power" | "full" | "sync";
  readonly at: number;
  readonly data: Fate;
  readonly names: Fate;
  readonly seed: number;
}

// Many keys with long common beginnings, the empty one, and such that are beginnings of others.
const key = fc
  .tuple(fc.constantFrom("", "a", "a".repeat(300), "\x00", "b\xff"), fc.integer({ min: 0, max: 9 }))
  .map(([start, number]) => (number === 0 ? start : start + String.fromCharCode(250 - number).repeat(number % 4)));
const size = fc.oneof(fc.integer({ min: 0, max: 40 }), fc.constantFrom(0, 127, 128, 2047, 5000));
const change = fc.tuple(key, fc.option(size, { nil: undefined, freq: 2 }));
const fate = fc.constantFrom<Fate>("drop", "tear", "keep");
const life: fc.Arbitrary<Life> = fc.record({
  batches: fc.array(fc.array(change, { maxLength: 5 }), { minLength: 1, maxLength: 8 }),
  fault: fc.constantFrom("none", "none", "power", "power", "full", "sync"),
  at: fc.integer({ min: 1, max: 30 }),
  data: fate,
  names: fate,
  seed: fc.nat(),
});

function valueOf(at: string, length: number): Buffer {
  return Buffer.alloc(length, `${at} ${length}`, "latin1");
}

function withBatch(list: List, batch: Batch): List {
  const next = new Map(list);
  for (const [at, length] of batch) {
    if (length === undefined) next.delete(at);
    else next.set(at, valueOf(at, length).toString("latin1"));
  }
  return next;
}

function commit(store: OrderedStore, batch: Batch): void {
  store.commit(new Map(batch.map(([at, length]) => [at, length === undefined ? undefined : valueOf(at, length)])));
}

function listOf(view: StoreView, backwards = false): [string, string][] {
  return [...view.range("", "\xff", backwards)].map((pair) => [pair.key, pair.value.toString("latin1")]);
}

const sorted = (list: List) => [...list].sort(([one], [other]) => (one < other ? -1 : 1));

function expectList(view: StoreView, list: List): void {
  const wanted = sorted(list);
  expect(listOf(view)).toEqual(wanted);
  expect(listOf(view, true)).toEqual(wanted.toReversed());
  for (const [at, value] of wanted) {
    expect(view.get(at)?.toString("latin1")).toBe(value);
    expect(view.get(`${at}?`)?.toString("latin1")).toBe(list.get(`${at}?`));
    expect(view.first(at, "\xff")?.key).toBe(at);
    expect(view.first("", at, true)?.key).toBe(wanted.findLast(([other]) => other < at)?.[0]);
  }
}

function faultsOf({ fault, at }: Life): Faults {
  if (fault === "power") return { stopAt: at };
  return fault === "full" ? { fullFromWrite: at } : fault === "sync" ? { failSyncAt: at } : {};
}

/** Commits as far as it comes. What is sure then, and what may be there in its place. */
function live(disk: ForgetfulDisk, { batches, fault }: Life, sure: List): { sure: List; maybe: List } {
  let [now, maybe] = [sure, sure];
  const readers: [OrderedStore, List][] = [];
  try {
    using store = openRows(disk, FOLDER, RUNS_ENOUGH);
    expectList(store.view(), now);
    for (const batch of batches) {
      maybe = withBatch(now, batch);
      commit(store, batch);
      now = maybe;
      expectList(store.view(), now);
      readers.push([openRowsToRead(disk, FOLDER), now]);
    }
    // Whatever has been committed since, each reader has what it found.
    for (const [reader, as] of readers) expectList(reader.view(), as);
    store.copyTo("/copy");
    using copy = openRowsToRead(disk, "/copy");
    expectList(copy.view(), now);
  } catch (error) {
    if (fault === "none" || (!disk.operations.stopped && !(error instanceof ArchiveError))) throw error;
  }
  return { sure: now, maybe };
}

test(`has what was committed, whatever ended who wrote; seed ${SEED}`, () => {
  const lives = fc.array(life, { minLength: 1, maxLength: 6 });
  fc.assert(
    fc.property(lives, (all) => {
      let disk = new ForgetfulDisk();
      let sure: List = new Map();
      for (const each of all) {
        disk = disk.reopen({ data: "keep", names: "keep", seed: 0 }, faultsOf(each));
        const left = live(disk, each, sure);
        disk = disk.reopen(each);
        using store = openRows(disk, FOLDER, RUNS_ENOUGH);
        const found = listOf(store.view());
        const isAhead = JSON.stringify(found) === JSON.stringify(sorted(left.maybe));
        sure = isAhead ? left.maybe : left.sure;
        expectList(store.view(), sure);
        using reader = openRowsToRead(disk, FOLDER);
        expectList(reader.view(), sure);
      }
    }),
    { seed: SEED, numRuns: 60 },
  );
});

test("can be opened after a power cut in its first commit, and one before that while it was made", () => {
  const fates = ["drop", "tear", "keep"] as const;
  for (let first = 1; first <= 9; first++) {
    for (let second = 1; second <= 12; second++) {
      for (const [i, data] of fates.entries()) {
        let disk = new ForgetfulDisk({ stopAt: first });
        for (const faults of [{ stopAt: second }, {}]) {
          try {
            using store = openRows(disk, FOLDER);
            store.commit(new Map([["key", Buffer.from("value")]]));
          } catch (error) {
            if (!disk.operations.stopped) throw error;
          }
          disk = disk.reopen({ data, names: "keep", seed: 10 * second + i }, faults);
        }
        using store = openRows(disk, FOLDER);
        store.commit(new Map([["key", Buffer.from("value")]]));
        expect(listOf(store.view())).toEqual([["key", "value"]]);
      }
    }
  }
});
