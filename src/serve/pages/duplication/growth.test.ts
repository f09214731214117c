/** Steps of growth: few enough to be drawn, without gaps, and they add up. */
import { describe, expect, it } from "vitest";
import { growthOf } from "./growth.ts";

function months(...list: readonly (readonly [year: number, month: number])[]) {
  return list.map(([year, month]) => ({ month: 12 * year + month - 1, bytesSeen: 10, bytesKept: 4 }));
}

describe("growth", () => {
  it("is by month where that is little, with the months between", () => {
    expect(growthOf(months([2014, 11], [2015, 1]))).toEqual([
      { name: "2014-11", bytesSeen: 10, bytesKept: 4 },
      { name: "2014-12", bytesSeen: 10, bytesKept: 4 },
      { name: "2015-01", bytesSeen: 20, bytesKept: 8 },
    ]);
  });

  it("is by year, or by several, where there are more", () => {
    const years = growthOf(months([1996, 5], [1999, 12], [2014, 1]));
    expect(years.map(({ name }) => name)).toEqual(Array.from({ length: 19 }, (_, i) => `${1996 + i}`));
    expect(years.at(-1)).toMatchObject({ bytesSeen: 30, bytesKept: 12 });
    const many = growthOf(months([1990, 1], [2190, 1]));
    expect(many.length).toBeLessThanOrEqual(60);
    expect(many[0]!.name).toBe("1988\u20131991");
    expect(many.at(-1)!.bytesSeen).toBe(20);
  });

  it("is nothing where nothing has a date", () => {
    expect(growthOf([])).toEqual([]);
  });
});
