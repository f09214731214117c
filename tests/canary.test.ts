/** Proof that failure is seen: test files that must fail are run by a vitest of their own, and must make it fail. */
import { spawnSync } from "node:child_process";
import { readdirSync } from "node:fs";
import { dirname, join } from "node:path";
import { fileURLToPath } from "node:url";
import { describe, expect, it } from "vitest";

const ROOT = dirname(dirname(fileURLToPath(import.meta.url)));
const NAMES = readdirSync(join(ROOT, "tests", "canary"));

function runVitest(name: string): { status: number | null; output: string } {
  const code = `
    import { startVitest } from "vitest/node";
    const options = { config: false, include: ["tests/canary/${name}"], watch: false, reporters: ["default"] };
    const vitest = await startVitest("test", [], options);
    await vitest.close();`;
  const env = { ...process.env, NO_COLOR: "1", VITEST: undefined };
  const args = ["--input-type=module", "-e", code];
  const { status, stdout, stderr } = spawnSync(process.execPath, args, { cwd: ROOT, env, encoding: "utf8" });
  return { status, output: stdout + stderr };
}

describe("the canary", () => {
  const failing = NAMES.filter((name) => name.endsWith(".fails.ts"));

  it("has something to sing", () => {
    expect(failing.length).toBeGreaterThanOrEqual(3);
  });

  it.each(failing)("%s makes a run fail", (name) => {
    const { status, output } = runVitest(name);
    expect(output).toContain(name);
    expect(status, output).toBe(1);
  });

  it("a sound file lets a run pass, so that it is not the run itself that fails", () => {
    const { status, output } = runVitest("sound.passes.ts");
    expect(output).toContain("1 passed");
    expect(status, output).toBe(0);
  });
});
