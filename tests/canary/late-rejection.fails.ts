import { expect, it } from "vitest";

it("fails: the promise is rejected later", async () => {
  await expect(Promise.reject(new Error("as it must"))).resolves.toBe(0);
});
