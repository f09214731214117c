import { defineConfig } from "vitest/config";

export default defineConfig({
  test: {
    include: ["src/**/*.test.ts", "tests/**/*.test.ts"],
    exclude: ["tests/lint-canary/**", "tests/canary/**", "node_modules/**", "dist/**"],
    setupFiles: ["tests/equal-bytes.ts"],
    pool: "forks",
    // Left to itself it spares one core, which is half of them on a small machine.
    maxWorkers: "100%",
    testTimeout: 60_000,
    hookTimeout: 60_000,
  },
});
