import { defineConfig } from "vitest/config";
import { BaseSequencer, type TestSpecification } from "vitest/node";

/**
 * Many test files have a process each, since what they test may have to be loaded first (zstd, BLAKE3), and a test that
 * came before must not have done it, or since they measure memory or replace modules. Files of these groups share
 * processes, each group its own: nothing that one of them loads or sets changes what another of its group finds.
 */
const COMMANDS = ["tests/cli/**/*.test.ts"];
const ROOMS = ["src/{dedup,markup,store,temporal,url,volumed}/**/*.test.ts"];
/** All but those that load something of the kind, which `tests/nothing-loaded.ts` tells, read much, or set what is global. */
const PLAIN = [
  "src/archive/*/!(adopt|archive.model|segment-turn).test.ts",
  "src/rows/*.test.ts",
  "src/base/!(digest).test.ts",
  "src/disk/!(durable-output|lock|node-disk|standard-streams).test.ts",
  "src/pipeline/!(dedup.property|half-manifest|inputs|orphans|record-facts|resolve.property|rewrite|stages.property).test.ts",
  "src/pipeline/report/*.test.ts",
  "src/pipeline/restore/!(member-recipe|restore|restore.*|subset).test.ts",
  "src/pipeline/survey/!(input|survey).test.ts",
  "src/pipeline/verify/!(verify|verify.*).test.ts",
  "src/warc/!(content-coding|inflater-accelerator|payload|reader|reader.*|record-scan|writer|zstd-blocks).test.ts",
];

/** In the order in which they are run: the short ones last, so that all workers end at about the same time. */
const PROJECTS = [
  { name: "apart", include: ["src/**/*.test.ts", "tests/**/*.test.ts"], exclude: [...COMMANDS, ...ROOMS, ...PLAIN] },
  { name: "plain", include: PLAIN, isolate: false, setupFiles: ["tests/nothing-loaded.ts"] },
  { name: "commands", include: COMMANDS, isolate: false },
  { name: "rooms", include: ROOMS, isolate: false },
];

class ByProject extends BaseSequencer {
  override async sort(files: TestSpecification[]): Promise<TestSpecification[]> {
    const rank = ({ project }: TestSpecification) => PROJECTS.findIndex(({ name }) => name === project.name);
    return (await super.sort(files)).toSorted((one, other) => rank(one) - rank(other));
  }
}

export default defineConfig({
  resolve: { alias: { "fast-check": new URL("tests/seeded-fast-check.mjs", import.meta.url).pathname } },
  test: {
    exclude: ["tests/lint-canary/**", "tests/canary/**", "node_modules/**", "dist/**"],
    setupFiles: ["tests/equal-bytes.ts"],
    pool: "forks",
    // Left to itself it spares one core, which is half of them on a small machine.
    maxWorkers: "100%",
    testTimeout: 60_000,
    hookTimeout: 60_000,
    sequence: { sequencer: ByProject },
    projects: PROJECTS.map((test) => ({ extends: true, test })),
  },
});
