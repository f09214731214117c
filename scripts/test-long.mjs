// `npm run test:long`: the properties with seeds by chance, and many more cases of what an archive answers. Takes about an
// hour of both cores. Arguments go to vitest; HOLOTYPE_LONG_RUNS and HOLOTYPE_SEED say how many cases, and which.
import { spawnSync } from "node:child_process";
import { BUILD, bin, checkNode, install, root, runRows } from "./prepare.mjs";

checkNode();
install();
await runRows(BUILD);
const only = process.argv.slice(2);
const { HOLOTYPE_LONG_RUNS: runs = "2000" } = process.env;
const files = only.length > 0 ? only : ["property", "model", "tests/crash", "tests/long", "tests/interop/nothing-lost"];
const env = { ...process.env, HOLOTYPE_LONG_RUNS: runs };
const result = spawnSync(process.execPath, [bin("vitest"), "run", ...files, "--testTimeout=7200000"], {
  cwd: root,
  stdio: "inherit",
  env,
});
if (result.status !== 0) {
  console.error("To run a failure again, take the seed and the file that it printed:");
  console.error(`  HOLOTYPE_SEED=SEED HOLOTYPE_LONG_RUNS=${runs} npm run test:long -- FILE`);
}
process.exit(result.status ?? 1);
