import { defineConfig } from "vitest/config";
import { BaseSequencer, type TestSpecification } from "vitest/node";

/**
 * Test files of these rooms share processes: nothing that one of them loads or sets changes what another finds. The
 * others have a process each, since what they test may have to be loaded first (zstd, BLAKE3), and a test that came
 * before must not have done it, or since they measure memory or replace modules.
 */
const TOGETHER = ["src/{dedup,store,temporal,url,volumed}/**/*.test.ts", "tests/cli/**/*.test.ts"];

/** Files with processes of their own first, and the short ones last, so that all workers end at about the same time. */
class ShortestLast extends BaseSequencer {
  override async sort(files: TestSpecification[]): Promise<TestSpecification[]> {
    const rank = ({ project, moduleId }: TestSpecification) =>
      project.config.isolate ? 0 : moduleId.includes("/tests/cli/") ? 1 : 2;
    return (await super.sort(files)).toSorted((one, other) => rank(one) - rank(other));
  }
}

export default defineConfig({
  test: {
    exclude: ["tests/lint-canary/**", "tests/canary/**", "node_modules/**", "dist/**"],
    setupFiles: ["tests/equal-bytes.ts"],
    pool: "forks",
    // Left to itself it spares one core, which is half of them on a small machine.
    maxWorkers: "100%",
    testTimeout: 60_000,
    hookTimeout: 60_000,
    sequence: { sequencer: ShortestLast },
    projects: [
      {
        extends: true,
        test: { name: "apart", include: ["src/**/*.test.ts", "tests/**/*.test.ts"], exclude: TOGETHER },
      },
      { extends: true, test: { name: "together", include: TOGETHER, isolate: false } },
    ],
  },
});
