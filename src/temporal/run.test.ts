import { expect, it } from "vitest";
import { changeVisits } from "./run.ts";

it("takes in more visits of one key than a call can have arguments", () => {
  const digest = "d";
  const visits = Array.from({ length: 200_000 }, (_, time) => ({ time, digest, value: Buffer.alloc(0) }));
  const [first, ...others] = changeVisits([], visits, [], undefined);
  expect(others).toEqual([]);
  expect(first?.visits).toHaveLength(visits.length);
});
