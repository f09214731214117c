import fc from "fast-check";
import { describe, expect, it } from "vitest";
import { VisitBatch } from "./batch.ts";

describe("visits in order", () => {
  it("are found by key wherever one believes that it is", () => {
    const place = fc.integer({ min: 0, max: 50 });
    fc.assert(
      fc.property(fc.array(place, { maxLength: 40 }), place, place, place, (all, sought, from, guess) => {
        const batch = new VisitBatch(1);
        for (const [time, key] of all.entries()) batch.add(String(100 + key), time, undefined, Buffer.alloc(0));
        const visits = batch.take();
        const key = String(100 + sought);
        const start = Math.min(from, all.length);
        const wanted = visits.keys.findIndex((own, at) => at >= start && own >= key);
        expect(visits.search(key, start, all.length, start + guess)).toBe(wanted < 0 ? all.length : wanted);
      }),
    );
  });
});
