// `npm run bench -- NAME [--json] [--quick]`: installs, builds, and runs a benchmark.
import { spawnSync } from "node:child_process";
import { bin, build, checkNode, install, root, run } from "./prepare.mjs";

checkNode();
install();
build();
run(process.execPath, [bin("tsc"), "-p", "bench/tsconfig.json"]);
const result = spawnSync(process.execPath, [`${root}/build/bench/main.js`, ...process.argv.slice(2)], {
  stdio: "inherit",
});
process.exit(result.status ?? 1);
