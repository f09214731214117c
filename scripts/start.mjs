// `npm start`: installs, builds, and shows what Holotype can do with the bundled sample crawls.
import { mkdtempSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { build, checkNode, install, root, run } from "./prepare.mjs";

checkNode();
install();
console.error("building …");
build();

function holotype(...args) {
  console.log(`\n$ holotype ${args.join(" ")}`);
  run(process.execPath, [`${root}/dist/cli/main.js`, ...args]);
}

const folder = mkdtempSync(join(tmpdir(), "holotype-start-"));
const deduplicated = join(folder, "deduplicated");
holotype("check", "samples");
holotype("survey", "samples", "--sample", "50%");
holotype("dedup", "samples", "-o", deduplicated);
holotype("verify", deduplicated, "--against", "samples");
holotype("restore", deduplicated, "-o", join(folder, "restored"));
console.log(`\nThe report: ${join(deduplicated, "holotype-job", "report.html")}`);
console.log("Next: node dist/cli/main.js --help");
