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
  it("come into order whatever came before", () => {
    const key = fc.string({ unit: fc.constantFrom("a", "b", "\xff"), minLength: 1, maxLength: 5 });
    fc.assert(
      fc.property(fc.array(fc.array(key, { maxLength: 60 }), { maxLength: 8 }), (batches) => {
        const order = new KeyOrder();
        for (const keys of batches) {
          const found = order.sort(keys);
          expect([...found].map((at) => keys[at])).toEqual([...keys].sort());
          expect(new Set(found).size).toBe(keys.length);
        }
      }),
    );
  });

  it("are forgotten where there are too many", () => {
    const order = new KeyOrder();
    for (let round = 0; round < 4; round++) {
      const keys = Array.from({ length: 60_000 }, (_, i) => `org,site)/${round >> 1}/${(i * 7919) % 60_000}`);
      expect([...order.sort(keys)].map((at) => keys[at]) as string[]).toEqual([...keys].sort());
    }
  });
});
