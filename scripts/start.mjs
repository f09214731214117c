// `npm start`: installs, builds, and shows what Holotype can do with the bundled sample crawls.
import { build, checkNode, install, root, run } from "./prepare.mjs";

checkNode();
install();
console.error("building …");
build();

function holotype(...args) {
  console.log(`\n$ holotype ${args.join(" ")}`);
  run(process.execPath, [`${root}/dist/cli/main.js`, ...args]);
}

holotype("ls", "samples");
holotype("check", "samples");
console.log("\nNext: node dist/cli/main.js --help");
