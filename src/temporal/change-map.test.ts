import fc from "fast-check";
import { describe, expect, it } from "vitest";
import { type ChangeMap, mayChange, NO_CHANGES, unite, withChange } from "./change-map.ts";

const time = fc.oneof(fc.integer({ min: -50, max: 200 }), fc.integer({ min: -(2 ** 51), max: 2 ** 51 }));

function mapOf(times: readonly number[]): ChangeMap {
  return times.reduce(withChange, NO_CHANGES);
}

describe("a map of changes", () => {
  it("knows of every change, and of none in a part of time without one", () => {
    fc.assert(
      fc.property(fc.array(time, { maxLength: 40 }), time, fc.nat(2000), (times, from, length) => {
        const map = mapOf(times);
        const to = from + length;
        if (times.some((at) => at > from && at <= to)) expect(mayChange(map, from, to)).toBe(true);
        const part = 2 ** map.scale;
        const partOf = (at: number) => Math.floor(at / part);
        const isNear = times.some((at) => partOf(at) >= partOf(from + 1) && partOf(at) <= partOf(to));
        expect(mayChange(map, from, to)).toBe(length > 0 && isNear);
      }),
    );
  });

  it("is the same whichever change came first, and in whichever parts they were united", () => {
    fc.assert(
      fc.property(fc.array(time, { maxLength: 30 }), fc.array(time, { maxLength: 30 }), (some, others) => {
        const all = mapOf([...some, ...others]);
        expect(unite(mapOf(some), mapOf(others))).toEqual(all);
        expect(mapOf([...others, ...some])).toEqual(all);
      }),
    );
  });

  it("tells single moments apart as long as there are few", () => {
    const map = mapOf([10, 12, 41]);
    expect([9, 10, 11, 12, 40, 41].map((at) => mayChange(map, at - 1, at))).toEqual([
      false,
      true,
      false,
      true,
      false,
      true,
    ]);
  });
});
