import fc from "fast-check";
import { describe, expect, it } from "vitest";
import { othersTurn } from "../promised.ts";
import { Doorway } from "./doorway.ts";

describe("a doorway", () => {
  it("lets many through at once, and one alone when all others have left", async () => {
    const visits = fc.array(
      fc.record({ alone: fc.boolean(), wait: fc.nat(4), turns: fc.nat(4), fails: fc.boolean() }),
      { minLength: 1, maxLength: 15 },
    );
    await fc.assert(
      fc.asyncProperty(visits, async (all) => {
        const doorway = new Doorway();
        let [inside, lonely, ended] = [0, 0, 0];
        const results = await Promise.allSettled(
          all.map(async ({ alone, wait, turns, fails }) => {
            for (let turn = 0; turn < wait; turn++) await othersTurn();
            await doorway[alone ? "alone" : "through"](async () => {
              expect(lonely).toBe(0);
              if (alone) expect(inside).toBe(0);
              if (alone) lonely++;
              else inside++;
              for (let turn = 0; turn < turns; turn++) await othersTurn();
              if (alone) lonely--;
              else inside--;
              ended++;
              if (fails) throw new Error("fails");
            });
          }),
        );
        expect(ended).toBe(all.length);
        expect(results.map(({ status }) => status === "rejected")).toEqual(all.map(({ fails }) => fails));
      }),
      { numRuns: 60 },
    );
  });
});
