/** Random crawls, deduplicated by random rules: what must hold then, found out by reading what came out. */
import fc from "fast-check";
import { describe, expect, test } from "vitest";
import { captureKey, type Policy } from "../dedup/index.ts";
import { crawl } from "../testing/crawl.ts";
import { dedupTrial } from "../testing/dedup-trial.ts";
import { checkDeduplicated } from "../testing/deduplicated.ts";
import { newSeed } from "../testing/dice.ts";
import { loadFrames } from "../testing/zstd-frame.ts";
import { loadZstd } from "../warc/index.ts";
import { flagValue, type ManifestLine } from "./manifest-line.ts";

await Promise.all([loadFrames(), loadZstd()]);
const SEED = newSeed();

const strict = fc.record(
  {
    minSaving: fc.constantFrom(0, 1, 1000, 1500),
    mime: fc.constant(["text/html"]),
    notMime: fc.constant(["image/*"]),
    sameUrl: fc.boolean(),
    maxAgeDays: fc.integer({ min: 0, max: 4 }),
  },
  { requiredKeys: [] },
);
const policy: fc.Arbitrary<Policy> = fc.oneof(strict, fc.constant({}));

function checkPlan(plan: readonly ManifestLine[]): void {
  const byPlace = new Map(plan.map((line) => [`${line.file} ${line.offset} ${line.id}`, line]));
  const copies = new Map<ManifestLine, number>();
  for (const line of plan) {
    if (line.flags.includes("revisit")) continue;
    const reason = flagValue(line, "kept");
    // Each line has exactly one fate.
    expect([line.copy, reason].filter((fate) => fate !== undefined)).toHaveLength(1);
    if (line.copy === undefined || line.copy === 1) continue;
    const { original } = line;
    const found = byPlace.get(`${original!.file} ${original!.offset} ${original!.id}`)!;
    expect(found.copy).toBe(1);
    expect([found.uri, found.date]).toEqual([original!.uri, original!.date]);
    expect([found.digest, found.extension, found.framing]).toEqual([line.digest, line.extension, line.framing]);
    expect(found.date! <= line.date!).toBe(true);
    expect(captureKey(found.uri!, found.date!)).not.toBe(captureKey(line.uri!, line.date!));
    const copy = (copies.get(found) ?? 1) + 1;
    expect(line.copy).toBe(copy);
    copies.set(found, copy);
  }
}

describe(`any crawl, seed ${SEED}`, () => {
  test("every record is there as itself or as a revisit that leads back to it", { timeout: 60_000 }, async () => {
    let replacedInAll = 0;
    await fc.assert(
      fc.asyncProperty(crawl, policy, fc.constantFrom("sha256", "sha1", "blake3"), async (files, rules, digest) => {
        const trial = await dedupTrial(files, { policy: rules, digest });
        expect(trial.skipped).toEqual([]);
        const { replaced } = checkDeduplicated(files, trial.output);
        expect(replaced).toHaveLength(trial.result.replaced);
        replacedInAll += replaced.length;
        checkPlan(trial.plan);
        const size = (all: readonly { bytes: Buffer }[]) => all.reduce((sum, { bytes }) => sum + bytes.length, 0);
        expect([trial.result.bytesBefore, trial.result.bytesAfter]).toEqual([size(files), size(trial.output)]);
        const left = Object.values(trial.result.left).reduce((sum, count) => sum + count, 0);
        expect(trial.result.duplicates).toBe(trial.result.replaced + left);
      }),
      { seed: SEED, numRuns: 60 },
    );
    expect(replacedInAll).toBeGreaterThan(3);
  });

  test("by default there is one original of a payload and framing, and nobody stays without a reason", async () => {
    await fc.assert(
      fc.asyncProperty(crawl, async (files) => {
        const { plan } = await dedupTrial(files);
        const originals = plan.filter(({ copy }) => copy === 1);
        const key = (line: ManifestLine) =>
          [line.digest, line.extension, line.framing, flagValue(line, "stored-digest")].join(" ");
        expect(new Set(originals.map(key))).toHaveLength(originals.length);
      }),
      { seed: SEED, numRuns: 25 },
    );
  });

  test("once deduplicated, there is nothing left to do", async () => {
    await fc.assert(
      fc.asyncProperty(crawl, async (files) => {
        const first = await dedupTrial(files);
        const second = await dedupTrial(first.output);
        expect(second.result).toMatchObject({ replaced: 0, orphans: first.result.orphans });
        for (const [i, { bytes }] of second.output.entries()) expect(bytes.equals(first.output[i]!.bytes)).toBe(true);
      }),
      { seed: SEED, numRuns: 15 },
    );
  });

  test("without comparing nothing is lost either, where no two payloads have one digest", async () => {
    await fc.assert(
      fc.asyncProperty(crawl, async (files) => {
        const trial = await dedupTrial(files, { compare: false });
        checkDeduplicated(files, trial.output);
      }),
      { seed: SEED, numRuns: 15 },
    );
  });
});
