/** Changes over rows beside a plain map. */
import fc from "fast-check";
import { expect, test } from "vitest";
import type { Pair, StoreView } from "./ordered-store.ts";
import { RowChanges } from "./row-changes.ts";

class MapView implements StoreView {
  readonly rows: ReadonlyMap<string, Buffer>;

  constructor(rows: ReadonlyMap<string, Buffer>) {
    this.rows = rows;
  }

  get(key: string): Buffer | undefined {
    return this.rows.get(key);
  }

  range(from: string, to: string, backwards = false): Pair[] {
    const keys = [...this.rows.keys()].filter((key) => key >= from && key < to).sort();
    return (backwards ? keys.reverse() : keys).map((key) => ({ key, value: this.rows.get(key)! }));
  }

  first(from: string, to: string, backwards = false): Pair | undefined {
    return this.range(from, to, backwards)[0];
  }
}

const key = fc.string({ unit: fc.constantFrom("a", "b", "\0", "\xfe"), maxLength: 5 });
const change = fc.tuple(key, fc.option(fc.nat(9), { nil: undefined }));

test("reads what is committed and what is not as one", () => {
  const check = (
    base: readonly [string, number][],
    batches: readonly (typeof change extends fc.Arbitrary<infer T> ? T : never)[][],
  ) => {
    let expected = new Map(base.map(([at, value]) => [at, Buffer.of(value)]));
    const changes = new RowChanges(new MapView(expected), "a\0");
    for (const batch of batches) {
      expected = new Map(expected);
      for (const [at, value] of batch) {
        changes.put(at, value === undefined ? undefined : Buffer.of(value));
        if (value === undefined) expected.delete(at);
        else expected.set(at, Buffer.of(value));
      }
      const view = new MapView(expected);
      for (const [from, to] of [
        ["", "\xff"],
        ["a", "b"],
        ["a\0", "a\xfe"],
        ["b", "a"],
      ] as const) {
        for (const backwards of [false, true]) {
          expect([...changes.range(from, to, backwards)]).toEqual(view.range(from, to, backwards));
          expect(changes.first(from, to, backwards)).toEqual(view.first(from, to, backwards));
        }
      }
      for (const [at] of batch) expect(changes.get(at)).toEqual(view.get(at));
      changes.take(() => view);
      expect(changes.size).toBe(0);
    }
  };
  const batches = fc.array(fc.array(change, { maxLength: 12 }), { maxLength: 4 });
  fc.assert(fc.property(fc.array(fc.tuple(key, fc.nat(9))), batches, check), { numRuns: 300, seed: 7 });
  // Enough for several chunks, in an order that divides them everywhere.
  const many = Array.from({ length: 3000 }, (_, i) => [`${(i * 7919) % 3000}`, i % 9] as [string, number]);
  check([], [many, many.map(([at]) => [at, undefined])]);
});
