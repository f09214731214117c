// `npm test`: installs, builds, and runs every check of the project. Arguments go to vitest.
import { spawnSync } from "node:child_process";
import { mkdtempSync, readFileSync, rmSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { bin, build, checkNode, install, root, run } from "./prepare.mjs";

checkNode();
install();
build();
const only = process.argv.slice(2);
if (only.length === 0) {
  run(process.execPath, [bin("tsc"), "-p", "tsconfig.json"]);
  run(process.execPath, [bin("oxlint"), "--type-aware", "--deny-warnings"]);
  run(process.execPath, [bin("biome"), "ci", "."]);
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
