/** The figures of the paper, from its own counts: Table 1 (May) and Figure 3 (March). */
import { describe, expect, test } from "vitest";
import { type HeaderCounts, HeaderTally, headerFigures, type Ratio } from "./header-tally.ts";
import { DuplicateTally, newOnes, type TalliedCapture } from "./tally.ts";

const percent = (ratio: Ratio | undefined) =>
  ratio === undefined ? undefined : ((100 * ratio.part) / ratio.whole).toFixed(2);

interface PaperCounts {
  readonly correctly: number;
  readonly falsely: number;
  readonly nonCorrect: number;
  readonly nonFalsely: number;
  readonly missingChanged?: number;
  readonly missingUnchanged?: number;
  readonly missing?: number;
}

function tallyOf(paper: PaperCounts): HeaderCounts {
  const tally = new HeaderTally(["datestamp"]);
  const shared = { host: undefined, scheme: "datestamp" } as const;
  tally.add({ ...shared, prediction: "change", changed: true, times: paper.correctly });
  tally.add({ ...shared, prediction: "change", changed: false, times: paper.falsely });
  tally.add({ ...shared, prediction: "non-change", changed: false, times: paper.nonCorrect });
  tally.add({ ...shared, prediction: "non-change", changed: true, times: paper.nonFalsely });
  tally.add({ ...shared, prediction: "missing", changed: true, times: paper.missingChanged ?? 0 });
  tally.add({ ...shared, prediction: "missing", changed: false, times: paper.missingUnchanged ?? 0 });
  tally.add({ ...shared, prediction: "missing", changed: undefined, times: paper.missing ?? 0 });
  return tally.total.get("datestamp")!;
}

describe("Table 1", () => {
  const counts = tallyOf({
    correctly: 24_081,
    falsely: 139_213,
    nonCorrect: 4_095_377,
    nonFalsely: 1247,
    missing: 170_777,
  });
  // Those analysed are 64 % of all.
  const figures = headerFigures(counts, 2_492_266);

  test("shares", () => {
    expect(figures.analysed).toBe(4_430_695);
    const { silentChanged: _, silentUnchanged: __, unreadable: ___, ...shown } = counts;
    const shares = Object.values(shown).map((part) => percent({ part, whole: figures.analysed }));
    expect(shares).toEqual(["0.54", "3.14", "92.43", "0.03", "3.85"]);
  });

  test("reliability 95.08 %, with new documents 99.95 %, usefulness 96.71 %", () => {
    expect(percent(figures.reliability)).toBe("95.08");
    expect(percent(figures.reliabilityWithNew)).toBe("99.95");
    expect(percent(figures.usefulness)).toBe("96.71");
  });

  test("no strict figures, for nobody knows which of those without a date had changed", () => {
    expect(figures.strictReliability).toBeUndefined();
    expect(figures.strictUsefulness).toBeUndefined();
  });
});

describe("Figure 3", () => {
  const counts = tallyOf({
    correctly: 36_058,
    falsely: 203_906,
    nonCorrect: 3_783_013,
    nonFalsely: 3281,
    missingChanged: 817,
    missingUnchanged: 161_378,
  });

  test("headers", () => {
    const figures = headerFigures(counts, 0);
    expect(figures.analysed).toBe(4_188_453);
    expect(counts.missing).toBe(162_195);
    expect(percent(figures.usefulness)).toBe("94.89");
    expect(percent(figures.reliability)).toBe("91.66");
    expect(figures.strictUsefulness).toEqual({ part: 3_783_013, whole: 4_148_297 });
    expect(percent(figures.strictUsefulness)).toBe("91.19");
    expect(figures.strictReliability).toEqual({ part: 36_875, whole: 40_156 });
    expect(percent(figures.strictReliability)).toBe("91.83");
  });

  test("duplicates: 4,307,654, where the paper's counters came to six more", () => {
    const tally = new DuplicateTally();
    const add = (hit: TalliedCapture["hit"], times: number, bytes: number) =>
      tally.add({ host: "is", mime: "image/png", bytes, hit, times });
    add("exact", 4_148_296, 120_000);
    add("exact", 1, 520_523_548_534 - 4_148_296 * 120_000 - 159_357 * 100);
    add("equivalent", 159_357, 100);
    add(undefined, 2_793_585, 150_000);
    add(undefined, 1, 941_110_791_887 - 520_523_548_534 - 2_793_585 * 150_000);
    expect(tally.total).toMatchObject({
      handled: 7_101_240,
      duplicates: 4_307_654,
      exact: 4_148_297,
      equivalent: 159_357,
      bytes: 941_110_791_887,
      duplicateBytes: 520_523_548_534,
    });
    expect(newOnes(tally.total)).toBe(2_793_586);
    expect(tally.byHost.get("is")).toEqual(tally.total);
  });
});

test("hosts are bounded: what comes after 10,000 of them is counted together", () => {
  const tally = new HeaderTally(["etag"]);
  for (let i = 0; i < 20_000; i++) {
    tally.add({ host: `h${i}`, scheme: "etag", prediction: "missing", changed: false });
  }
  expect(tally.byHost.size).toBeLessThanOrEqual(10_001);
  expect(tally.byHost.get("other")!.get("etag")!.missing).toBe(10_000);
  expect(tally.total.get("etag")!.missing).toBe(20_000);
});
