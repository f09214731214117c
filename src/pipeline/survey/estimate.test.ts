import { describe, expect, it } from "vitest";
import { createDice } from "../../testing/dice.ts";
import { complement, FigureSums, scaleEstimate } from "./estimate.ts";
import { PayloadSampler } from "./sampler.ts";

interface Cluster {
  readonly suggested: number;
  readonly found: number;
}

/** Sums over the clusters that a sample takes. Dice stand for the sampler, which is as fair and takes its time. */
function sample(clusters: readonly Cluster[], rate: number, seed: number): FigureSums {
  const dice = createDice(seed);
  const sums = new FigureSums();
  for (const { suggested, found } of clusters) {
    if (dice.below(1_000_000) < rate * 1_000_000) sums.addRead(suggested, found);
    else sums.addUnread(suggested);
  }
  return sums;
}

function truth(clusters: readonly Cluster[]): number {
  return clusters.reduce((sum, { found }) => sum + found, 0);
}

/** Many seeds: the mean of the totals, its standard error, and how often the truth lay in the interval. */
function trial(clusters: readonly Cluster[], rate: number, seeds: number) {
  const all = Array.from({ length: seeds }, (_, seed) => sample(clusters, rate, seed));
  const totals = all.map((sums) => sums.total(rate));
  const mean = totals.reduce((sum, total) => sum + total, 0) / seeds;
  const variance = totals.reduce((sum, total) => sum + (total - mean) ** 2, 0) / (seeds - 1);
  const goal = truth(clusters);
  const covering = all.filter((sums) => {
    const { low, high } = sums.estimate(rate);
    return low <= goal && goal <= high;
  });
  return {
    mean,
    deviation: Math.sqrt(variance),
    error: Math.sqrt(variance / seeds),
    coverage: covering.length / seeds,
  };
}

/** Most contents are there once, many a few times, a few very often; of some that look alike not all are. */
function population(count: number, wrongShare: number): Cluster[] {
  const dice = createDice(7);
  return Array.from({ length: count }, (_, i) => {
    const suggested = i % 500 === 0 ? 300 : dice.below(10) < 6 ? 0 : 1 + dice.below(6);
    const isWrong = dice.below(1000) < wrongShare * 1000;
    return { suggested, found: isWrong ? dice.below(suggested + 1) : suggested };
  });
}

describe("the estimated total", () => {
  it("is suggestion and error as they were summed up by hand", () => {
    const sums = new FigureSums();
    sums.addUnread(10);
    sums.addRead(4, 4);
    sums.addRead(6, 4);
    // 20 are suggested in all; of 10 that were checked 2 are wrong, which stand for 4 at a rate of one half.
    expect(sums.total(0.5)).toBe(16);
    // (1 − ½) / ½² · 2² = 8; the rule of three gives 10 · 3 / (10² / (4² + 6²)) = 15.6, but no more than all.
    expect(sums.halfWidth(0.5)).toBe(10);
    // 8 were found, and the 10 of the cluster that was not read may be all right.
    expect(sums.estimate(0.5)).toEqual({ value: 16, low: 8, high: 18 });
  });

  it("is exact where everything is read", () => {
    const clusters = population(2000, 0.3);
    const goal = truth(clusters);
    expect(sample(clusters, 1, 5).estimate(1)).toEqual({ value: goal, low: goal, high: goal });
  });

  it("is nothing in nothing", () => {
    expect(new FigureSums().estimate(0.1)).toEqual({ value: 0, low: 0, high: 0 });
  });

  it.each([0.02, 0.1, 0.5])("is right on average at a rate of %f", (rate) => {
    const clusters = population(3000, 0.1);
    const { mean, error } = trial(clusters, rate, 400);
    expect(Math.abs(mean - truth(clusters))).toBeLessThan(3 * error);
  });

  it("is right on average without any suggestion too, but far less often near the truth", () => {
    const clusters = population(3000, 0.1);
    const plain = clusters.map(({ found }) => ({ suggested: 0, found }));
    const { mean, error, deviation } = trial(plain, 0.1, 400);
    expect(Math.abs(mean - truth(clusters))).toBeLessThan(3 * error);
    expect(deviation).toBeGreaterThan(2 * trial(clusters, 0.1, 400).deviation);
  });

  it("would be wrong if one copy of a content could be in the sample without the other", () => {
    // The plain sample of records, which finds a pair in one of a hundred cases, and thinks it is one in ten.
    const sampler = new PayloadSampler(0.1, 1);
    const isTaken = (name: string) => sampler.takes(sampler.clusterOf(Buffer.from(name)));
    const pairs = Array.from({ length: 5000 }, (_, i) => isTaken(`first ${i}`) && isTaken(`second ${i}`));
    expect(pairs.filter(Boolean).length / 0.1).toBeLessThan(0.2 * pairs.length);
  });
});

describe("the interval", () => {
  it.each([
    ["many errors", 0.3, 0.1],
    ["some errors", 0.05, 0.1],
    ["few errors", 0.005, 0.1],
    ["few errors in a small sample", 0.005, 0.01],
    ["no errors", 0, 0.1],
  ])("holds the truth as often as it says, with %s", (_, wrongShare, rate) => {
    const { coverage } = trial(population(4000, wrongShare), rate, 200);
    expect(coverage).toBeGreaterThanOrEqual(0.88);
  });

  it("is no wider than needed", () => {
    const clusters = population(4000, 0.3);
    const { deviation } = trial(clusters, 0.1, 200);
    const halves = Array.from({ length: 50 }, (_, seed) => sample(clusters, 0.1, seed).halfWidth(0.1));
    expect(halves.reduce((sum, half) => sum + half, 0) / 50).toBeLessThan(3 * 1.96 * deviation);
  });

  it("is not empty only because nothing wrong was seen", () => {
    const { value, low, high } = sample(population(4000, 0), 0.1, 1).estimate(0.1);
    expect(low).toBeLessThan(value);
    expect(high).toBe(value);
  });
});

it("scales, and leaves the rest", () => {
  const estimate = { value: 20, low: 10, high: 40 };
  expect(scaleEstimate(estimate, 0.01)).toEqual({ value: 0.2, low: 0.1, high: 0.4 });
  expect(complement(100, estimate)).toEqual({ value: 80, low: 60, high: 90 });
});
