import { it } from "vitest";

it("fails though the test itself passes: nobody handles the rejection", async () => {
  void Promise.reject(new Error("nobody handles this"));
  await new Promise((resolve) => setImmediate(resolve));
});
