import fc from "fast-check";
import { describe, expect, it } from "vitest";
import { createDice } from "../testing/dice.ts";
import { KeyOrder } from "./key-order.ts";
import { sortKeys } from "./key-sort.ts";

function sorted(keys: readonly string[]): string[] {
  return [...sortKeys(keys)].map((at) => keys[at]!);
}

describe("keys", () => {
  it("come into the order of their bytes, whatever they are", () => {
    const letters = fc.constantFrom("\0", "\x01", "a", "b", "\xff");
    const key = fc.array(letters, { minLength: 1, maxLength: 14 }).map((all) => all.join(""));
    fc.assert(
      fc.property(fc.array(key, { maxLength: 300 }), (keys) => {
        expect(sorted(keys)).toEqual([...keys].sort());
      }),
    );
  });

  it("are told once each, in order already, in reverse, and all the same", () => {
    const dice = createDice(4);
    const keys = Array.from({ length: 3000 }, (_, i) => `org,site)/section/${dice.below(9)}/${(i * 7919) % 3001}`);
    for (const given of [keys, [...keys].sort(), [...keys].sort().reverse(), keys.map(() => "one")]) {
      expect(sorted(given)).toEqual([...given].sort());
      expect(new Set(sortKeys(given)).size).toBe(given.length);
    }
  });

  it("may begin each other, thousands deep", () => {
    const keys = Array.from({ length: 4000 }, (_, i) => "k".repeat((i * 2741) % 4001));
    expect(sorted(keys)).toEqual([...keys].sort());
  });
});

describe("keys that come again", () => {
  it("come into order whatever came before, and however many are remembered", () => {
    const key = fc.string({ unit: fc.constantFrom("a", "b", "\xff"), minLength: 1, maxLength: 5 });
    const batches = fc.array(fc.array(key, { maxLength: 60 }), { maxLength: 8 });
    fc.assert(
      fc.property(batches, fc.integer({ min: 0, max: 150 }), (all, rememberedMax) => {
        const order = new KeyOrder(rememberedMax);
        for (const keys of all) {
          const found = order.sort(keys);
          const wanted = [...keys].sort();
          expect(found.keys).toEqual(wanted);
          expect([...found.order].map((at) => keys[at])).toEqual(wanted);
          expect(new Set(found.order).size).toBe(keys.length);
          expect([...found.ends]).toEqual(wanted.map((one) => wanted.lastIndexOf(one) + 1));
        }
      }),
      { numRuns: 1000 },
    );
  });

  it("tell how many that are known lie between them", () => {
    const order = new KeyOrder();
    order.sort(["b", "d", "f", "h", "j"]);
    const { keys, gaps } = order.sort(["h", "c", "d", "h", "k"]);
    expect(keys).toEqual(["c", "d", "h", "h", "k"]);
    expect([...gaps]).toEqual([1, 0, 1, 0, 1]);
  });

  it("are remembered where many new ones come once, and forgotten where they come again and again", () => {
    const many = (first: string) => Array.from({ length: 8 }, (_, i) => `${first}${i}`);
    const order = new KeyOrder();
    order.sort(["b", "d", "f", "h", "j"]);
    order.sort(many("x"));
    expect([...order.sort(["b", "f", "j"]).gaps]).toEqual([0, 1, 1]);
    order.sort(many("y"));
    order.sort(many("z"));
    expect([...order.sort(["b", "f", "j"]).gaps]).toEqual([0, 0, 0]);
  });

  it.each([
    [80_000, 80_000, 80_000],
    [70_000, 100_000, 131_072],
    [10, 131_073, 131_072, 5],
  ])("are forgotten where there are too many: %d, %d", (...sizes) => {
    const order = new KeyOrder();
    for (const size of sizes) {
      const keys = Array.from({ length: size }, (_, i) => `org,site)/${(i * 7919) % size}`);
      const wanted = [...keys].sort();
      // To show how two lists of so many differ would take minutes.
      expect([...order.sort(keys).order].every((at, i) => keys[at] === wanted[i])).toBe(true);
    }
  });
});
