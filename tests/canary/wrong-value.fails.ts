import { expect, it } from "vitest";

it("fails: the value is wrong", () => {
  expect(1 + 1).toBe(3);
});
