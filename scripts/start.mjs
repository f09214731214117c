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
  run(process.execPath, [`${root}/dist/bin/holotype.js`, ...args]);
}

const folder = mkdtempSync(join(tmpdir(), "holotype-start-"));
const archive = ["--archive", join(folder, "archive")];
holotype("check", "samples");
holotype("add", "samples", ...archive);
holotype("history", "http://cabinet.example/", ...archive);
holotype("at", "http://cabinet.example/press/orchard-beetle.png", "2020", ...archive);
holotype("slice", "2014", "--prefix", "http://cabinet.example/collection/", ...archive);
holotype("stats", "--by", "crawl", ...archive);
console.log("\nThe same files, deduplicated as they are, and brought back:");
const deduplicated = join(folder, "deduplicated");
holotype("survey", "samples", "--sample", "50%");
holotype("dedup", "samples", "-o", deduplicated);
holotype("verify", deduplicated, "--against", "samples");
holotype("restore", deduplicated, "-o", join(folder, "restored"));
console.log(`\nThe archive: ${archive[1]}`);
console.log(`The report: ${join(deduplicated, "holotype-job", "report.html")}`);
console.log("Next: node dist/bin/holotype.js --help");
