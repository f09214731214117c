/** The store of the catalogue beside a plain list: every question, in both directions, as of every commit, and crashes. */
import fc from "fast-check";
import { expect, test } from "vitest";
import { newSeed } from "../testing/dice.ts";
import { ForgetfulDisk } from "../testing/forgetful-disk.ts";
import type { StoreView } from "./ordered-store.ts";
import { openRows, openRowsToRead } from "./row-store.ts";

const key = fc.uint8Array({ minLength: 1, maxLength: 3, max: 3 }).map((bytes) => Buffer.from(bytes).toString("latin1"));
const change = fc.tuple(key, fc.option(fc.integer({ min: 0, max: 99 }), { nil: undefined, freq: 3 }));
const range = fc.tuple(key, key);
const SEED = newSeed();
const FOLDER = "/store";
const FILE = `${FOLDER}/catalogue.rows`;

type List = ReadonlyMap<string, string>;
type Changes = readonly (readonly [string, number | undefined])[];

/** Values are long enough that there are several blocks. */
function valueOf(number: number): Buffer {
  return Buffer.from(`${number} `.repeat(1 + 20 * number));
}

function commitTo(store: { commit: ReturnType<typeof openRows>["commit"] }, list: List, changes: Changes): List {
  store.commit(new Map(changes.map(([at, value]) => [at, value === undefined ? undefined : valueOf(value)])));
  const next = new Map(list);
  for (const [at, value] of changes) {
    if (value === undefined) next.delete(at);
    else next.set(at, valueOf(value).toString());
  }
  return next;
}

function expectSame(view: StoreView, list: List, ranges: readonly (readonly [string, string])[]): void {
  const keys = [...list.keys()].sort();
  for (const [one, other] of ranges) {
    const [from, to] = one <= other ? [one, other] : [other, one];
    expect(view.get(from)?.toString()).toBe(list.get(from));
    const wanted = keys.filter((at) => at >= from && at < to).map((at) => [at, list.get(at)]);
    for (const backwards of [false, true]) {
      if (backwards) wanted.reverse();
      const pairs = [...view.range(from, to, backwards)].map((pair) => [pair.key, pair.value.toString()]);
      expect(pairs).toEqual(wanted);
      const first = view.first(from, to, backwards);
      expect(first && [first.key, first.value.toString()]).toEqual(wanted[0]);
    }
  }
}

test(`answers as a sorted list does, as of every commit, and so does a copy; seed ${SEED}`, () => {
  const commits = fc.array(fc.array(change, { maxLength: 12 }), { minLength: 1, maxLength: 24 });
  fc.assert(
    fc.property(commits, fc.array(range, { minLength: 1, maxLength: 12 }), (batches, ranges) => {
      const disk = new ForgetfulDisk();
      using store = openRows(disk, FOLDER);
      let list: List = new Map();
      const views: [StoreView, List][] = [];
      for (const batch of batches) {
        list = commitTo(store, list, batch);
        views.push([store.view(), list]);
      }
      for (const [view, as] of views) expectSame(view, as, ranges);
      store.copyTo("/copy");
      for (const folder of [FOLDER, "/copy"]) {
        using reader = openRowsToRead(disk, folder);
        expectSame(reader.view(), list, ranges);
      }
      using copy = openRowsToRead(disk, "/copy");
      expect(copy.isLoose()).toBe(false);
    }),
    { seed: SEED, numRuns: 60 },
  );
});

test("reads what the last commit left, and goes on from there", () => {
  const disk = new ForgetfulDisk();
  const valueIn = (view: StoreView) => view.get("key")?.toString();
  using writer = openRows(disk, FOLDER);
  writer.commit(new Map([["key", Buffer.from("1")]]));
  using reader = openRowsToRead(disk, FOLDER);
  writer.commit(new Map([["key", Buffer.from("2")]]));
  using later = openRowsToRead(disk, FOLDER);
  expect([valueIn(reader.view()), valueIn(later.view())]).toEqual(["1", "2"]);
});

test("stays bounded in the number of its runs, however many commits there are", () => {
  const disk = new ForgetfulDisk();
  using store = openRows(disk, FOLDER);
  for (let i = 0; i < 300; i++) store.commit(new Map([[`key ${i}`, Buffer.from(String(i))]]));
  using reader = openRowsToRead(disk, FOLDER);
  expect([...reader.view().range("", "~")]).toHaveLength(300);
  expect(store.isLoose()).toBe(true);
});

test("refuses a file that was cut off, or in which a byte has changed, and says what to do", () => {
  const disk = new ForgetfulDisk();
  {
    using store = openRows(disk, FOLDER);
    store.commit(new Map(Array.from({ length: 300 }, (_, i) => [`key ${i}`, Buffer.from(`value ${i}`)])));
  }
  const size = disk.stat(FILE)!.sizeBytes;
  using file = disk.open(FILE, "update");
  const whole = Buffer.alloc(size);
  file.read(whole, 0);
  const refused = expect.objectContaining({
    code: "HT_CORRUPT",
    message: expect.stringContaining("holotype rebuild") as string,
  });
  const readAll = () => {
    using reader = openRowsToRead(disk, FOLDER);
    return [...reader.view().range("", "~")].length;
  };
  // Of the slots and the copy of the newer one two are enough; what follows them counts to the last byte.
  for (let at = 3 * 1024; at < size; at += 7) {
    file.write(Buffer.of(whole[at]! ^ 0x40), at);
    expect(readAll, `byte ${at}`).toThrow(refused);
    file.write(whole.subarray(at, at + 1), at);
  }
  expect(readAll()).toBe(300);
  for (const left of [size - 1, 3 * 1024, 2048, 2047, 1024, 100, 0]) {
    file.truncate(left);
    expect(readAll, `${left} bytes`).toThrow(refused);
    expect(() => openRows(disk, FOLDER), `${left} bytes`).toThrow(refused);
    expect(disk.stat(FILE)!.sizeBytes).toBe(left);
  }
});
