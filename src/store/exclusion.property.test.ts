import fc from "fast-check";
import { describe, expect, it } from "vitest";
import { Exclusion } from "./exclusion.ts";
import { othersTurn } from "./promised.ts";

describe("exclusion", () => {
  it("lets in one at a time of each name, in order, and all names at once", async () => {
    const works = fc.array(fc.record({ name: fc.constantFrom("a", "b", "c"), turns: fc.nat(3), fails: fc.boolean() }));
    await fc.assert(
      fc.asyncProperty(works, async (all) => {
        const exclusion = new Exclusion();
        const inside = new Set<string>();
        const order: number[] = [];
        const results = await Promise.allSettled(
          all.map(({ name, turns, fails }, i) =>
            exclusion.run(name, async () => {
              expect(inside.has(name)).toBe(false);
              inside.add(name);
              for (let turn = 0; turn < turns; turn++) await othersTurn();
              inside.delete(name);
              order.push(i);
              if (fails) throw new Error(String(i));
              return i;
            }),
          ),
        );
        for (const [i, result] of results.entries()) {
          if (all[i]!.fails) expect(result).toMatchObject({ status: "rejected", reason: { message: String(i) } });
          else expect(result).toEqual({ status: "fulfilled", value: i });
        }
        for (const name of ["a", "b", "c"]) {
          const own = order.filter((i) => all[i]!.name === name);
          expect(own).toEqual(own.toSorted((one, other) => one - other));
        }
      }),
      { numRuns: 50 },
    );
  });

  it("does not let one name wait for another", async () => {
    const exclusion = new Exclusion();
    let finish = () => {};
    const long = exclusion.run("long", () => new Promise<void>((resolve) => (finish = resolve)));
    expect(await exclusion.run("short", () => Promise.resolve(7))).toBe(7);
    finish();
    await long;
  });
});
