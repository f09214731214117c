import fc from "fast-check";
import { describe, expect, it } from "vitest";
import { signatureOf } from "../signature.ts";
import { PLACEMENT_NAMES, PLACEMENTS, type PlacedVolume } from "./placement.ts";

const volumesOf = (...weights: readonly number[]): PlacedVolume[] =>
  weights.map((weight, number) => ({ number, name: `volume ${number}`, weight }));

const signatures = Array.from({ length: 6000 }, (_, i) => signatureOf("sha256", Buffer.from(`content ${i}`)));

/** How many contents each volume is the home of. */
function spread(placement: (typeof PLACEMENT_NAMES)[number], volumes: readonly PlacedVolume[]): number[] {
  const counts = volumes.map(() => 0);
  for (const signature of signatures) counts[PLACEMENTS[placement](signature, volumes)[0]!]!++;
  return counts;
}

describe.each(PLACEMENT_NAMES)("the placement %s", (name) => {
  it("gives every volume once, and the same order every time", () => {
    const weights = fc.array(fc.integer({ min: 1, max: 1_000_000 }), { minLength: 1, maxLength: 20 });
    const signature = fc.stringMatching(/^(?:[0-9A-F]{16}|[0-9A-F]{64})$/);
    fc.assert(
      fc.property(weights, signature, (given, of) => {
        const volumes = volumesOf(...given);
        const order = PLACEMENTS[name](of, volumes);
        expect([...order].sort((one, other) => one - other)).toEqual([...volumes.keys()]);
        expect(PLACEMENTS[name](of, volumes)).toEqual(order);
      }),
    );
  });

  it("shares out evenly where all weigh the same", () => {
    for (const count of spread(name, volumesOf(1, 1, 1, 1))) expect(count).toBeGreaterThan(1350);
  });
});

describe("placements", () => {
  it("mod is the signature modulo the number of volumes, and then the next ones", () => {
    expect(PLACEMENTS.mod("00000000000000FF", volumesOf(1, 1, 1, 1))).toEqual([3, 0, 1, 2]);
    expect(PLACEMENTS.mod("ADEE2232AF3A4355", volumesOf(1, 1, 1))).toEqual([1, 2, 0]);
    expect(Number(0xadee2232af3a4355n % 3n)).toBe(1);
  });

  it.each(["weighted", "rendezvous"] as const)("%s gives by weight", (name) => {
    const [light, heavy] = spread(name, volumesOf(1, 3));
    expect(light! / heavy!).toBeGreaterThan(0.28);
    expect(light! / heavy!).toBeLessThan(0.39);
  });

  it("weighted with equal weights is mod", () => {
    const volumes = volumesOf(1, 1, 1);
    for (const signature of signatures.slice(0, 100)) {
      expect(PLACEMENTS.weighted(signature, volumes)).toEqual(PLACEMENTS.mod(signature, volumes));
    }
  });

  it("rendezvous moves only what goes to a volume that is added", () => {
    const [before, after] = [volumesOf(1, 1, 1), volumesOf(1, 1, 1, 1)];
    let moved = 0;
    for (const signature of signatures) {
      const home = PLACEMENTS.rendezvous(signature, before)[0]!;
      const later = PLACEMENTS.rendezvous(signature, after)[0]!;
      if (later !== home) {
        expect(later).toBe(3);
        moved++;
      }
    }
    expect(moved / signatures.length).toBeGreaterThan(0.22);
    expect(moved / signatures.length).toBeLessThan(0.28);
  });
});
