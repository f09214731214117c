// `npm start`: installs and builds what is missing or old, and runs `holotype up` with the arguments that follow.
import { createRequire } from "node:module";
import { buildIfOld, checkNode, install, root } from "./prepare.mjs";

checkNode();
install();
buildIfOld();
// In this process, so that Ctrl-C and SIGTERM reach it.
process.argv.splice(1, 1, `${root}/dist/bin/holotype.js`, "up");
createRequire(import.meta.url)(`${root}/dist/bin/holotype.js`);
