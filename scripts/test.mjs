// `npm test`: installs, builds, and runs every check of the project. Arguments go to vitest.
import { spawnSync } from "node:child_process";
import { mkdtempSync, readFileSync, rmSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { installChromium } from "./install-chromium.mjs";
import { BUILD, bin, checkNode, install, root, runRows } from "./prepare.mjs";

checkNode();
install();
const only = process.argv.slice(2);
if (only.length === 0 || only.some((name) => name.includes("browser"))) installChromium();
const types = ["tsconfig.json", "ui/tsconfig.json"].map((project) => [bin("tsc"), "-p", project]);
const lint = [bin("oxlint"), "--type-aware", "--deny-warnings"];
const format = [bin("biome"), "ci", "."];
if (only.length > 0) await runRows(BUILD);
else {
  // The compiler uses one core. Types and lint look at what was built, which bench/ imports by the package's name.
  await runRows(BUILD, [format]);
  await runRows(types, [lint]);
}

const folder = mkdtempSync(join(tmpdir(), "holotype-test-"));
const report = join(folder, "report.json");
const args = ["run", ...only, "--reporter=default", "--reporter=json", `--outputFile.json=${report}`];
const result = spawnSync(process.execPath, [bin("vitest"), ...args], { cwd: root, stdio: "inherit" });
const { numPassedTests, numFailedTests, numPendingTests, testResults } = JSON.parse(readFileSync(report, "utf8"));
rmSync(folder, { recursive: true });
for (const { assertionResults } of testResults) {
  for (const { status, fullName } of assertionResults) if (status === "pending") console.log(`skipped: ${fullName}`);
}
console.log(`${numPassedTests} passed, ${numFailedTests} failed, ${numPendingTests} skipped`);
process.exit(result.status ?? 1);
