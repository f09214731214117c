/** LMDB beside a sorted list: every range, in both directions, as of every commit. */
import fc from "fast-check";
import { expect, test } from "vitest";
import { nodeDisk, scratchFolder } from "../disk/index.ts";
import { newSeed } from "../testing/dice.ts";
import { DiskStore } from "../testing/disk-store.ts";
import { ForgetfulDisk } from "../testing/forgetful-disk.ts";
import { openLmdb, openLmdbToRead } from "./lmdb-store.ts";
import type { StoreView } from "./ordered-store.ts";

const key = fc.uint8Array({ minLength: 1, maxLength: 3, max: 3 }).map((bytes) => Buffer.from(bytes).toString("latin1"));
const change = fc.tuple(key, fc.option(fc.integer({ min: 0, max: 99 }), { nil: undefined, freq: 3 }));
const range = fc.tuple(key, key, fc.boolean());

function shown(view: StoreView, [from, to, backwards]: [string, string, boolean]) {
  const ends = [Buffer.from(from, "latin1"), Buffer.from(to, "latin1"), backwards] as const;
  const pairs = [...view.range(...ends)].map(({ key: at, value }) => `${at.toString("hex")} ${value.toString()}`);
  const first = view.first(...ends);
  return { pairs, first: first && `${first.key.toString("hex")} ${first.value.toString()}` };
}

const SEED = newSeed();

test(`answers as a sorted list does; seed ${SEED}`, async () => {
  const commits = fc.array(fc.array(change, { maxLength: 12 }), { minLength: 1, maxLength: 4 });
  await fc.assert(
    fc.asyncProperty(commits, fc.array(range, { minLength: 1, maxLength: 12 }), async (batches, ranges) => {
      using folder = scratchFolder(nodeDisk);
      const lmdb = openLmdb(nodeDisk, folder.path);
      const list = new DiskStore(new ForgetfulDisk(), "/store");
      const views: [StoreView, StoreView][] = [];
      for (const batch of batches) {
        const changes = new Map(
          batch.map(([at, value]) => [at, value === undefined ? undefined : Buffer.from(String(value))]),
        );
        lmdb.commit(changes);
        list.commit(changes);
        views.push([lmdb.view(), list.view()]);
      }
      for (const [one, other] of views) {
        for (const [from, to, backwards] of ranges) {
          const asked: [string, string, boolean] = from <= to ? [from, to, backwards] : [to, from, backwards];
          expect(shown(one, asked)).toEqual(shown(other, asked));
        }
        one.close();
      }
      await lmdb.close();
    }),
    { seed: SEED, numRuns: 40 },
  );
});

test("a copy that is appended in order holds all, in fewer pages", async () => {
  using folder = scratchFolder(nodeDisk);
  const rows = new Map(
    Array.from({ length: 3000 }, (_, i) => [`${String.fromCharCode(1 + (i % 9))}${i}`, Buffer.alloc(80, i)]),
  );
  const store = openLmdb(nodeDisk, `${folder.path}/one`);
  for (const [at, value] of rows) store.commit(new Map([[at, value]]));
  const copy = openLmdb(nodeDisk, `${folder.path}/two`);
  const view = store.view();
  const pairs = [...view.range(Buffer.alloc(1), Buffer.alloc(64, 255))].map(
    ({ key: at, value }) => [at.toString("latin1"), Buffer.from(value)] as const,
  );
  expect(pairs).toHaveLength(rows.size);
  for (let from = 0; from < pairs.length; from += 700) copy.commit(new Map(pairs.slice(from, from + 700)), true);
  const copied = copy.view();
  for (const [at, value] of rows) expect(copied.get(Buffer.from(at, "latin1"))!.equals(value)).toBe(true);
  const size = (name: string) => nodeDisk.stat(`${folder.path}/${name}/catalogue.lmdb`)!.sizeBytes;
  expect(size("two")).toBeLessThan(size("one"));
  view.close();
  copied.close();
  await store.close();
  await copy.close();
});

test("one process writes what it has open already, but not what it only reads", async () => {
  using folder = scratchFolder(nodeDisk);
  const valueIn = (view: StoreView) => view.get(Buffer.from("key"))?.toString();
  const writer = openLmdb(nodeDisk, folder.path);
  writer.commit(new Map([["key", Buffer.from("1")]]));
  const beside = openLmdbToRead(nodeDisk, folder.path);
  writer.commit(new Map([["key", Buffer.from("2")]]));
  const view = beside.view();
  expect(valueIn(view)).toBe("2");
  view.close();
  await writer.close();
  await beside.close();

  const reader = openLmdbToRead(nodeDisk, folder.path);
  expect(() => openLmdb(nodeDisk, folder.path)).toThrow(expect.objectContaining({ code: "HT_LOCKED" }));
  const still = reader.view();
  expect(valueIn(still)).toBe("2");
  still.close();
  await reader.close();
  const again = openLmdb(nodeDisk, folder.path);
  again.commit(new Map([["key", Buffer.from("3")]]));
  await again.close();
});
