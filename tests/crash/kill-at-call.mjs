// Loaded into the program before it starts: counts the calls that change the disk, and kills the process at one of them,
// before it happens. Without HOLOTYPE_KILL_AT it writes their number to the file that HOLOTYPE_CALL_COUNT names.
import fs from "node:fs";
import { syncBuiltinESMExports } from "node:module";
import { isMainThread } from "node:worker_threads";

const CALLS = [
  "openSync",
  "writeSync",
  "fsyncSync",
  "fdatasyncSync",
  "renameSync",
  "linkSync",
  "unlinkSync",
  "rmdirSync",
  "mkdirSync",
  "ftruncateSync",
  "fchmodSync",
];
const { HOLOTYPE_KILL_AT: killAt, HOLOTYPE_CALL_COUNT: countPath } = process.env;
const { writeFileSync } = fs;
let count = 0;
if (isMainThread) {
  for (const name of CALLS) {
    const call = fs[name];
    fs[name] = (...args) => {
      if (++count === Number(killAt)) process.kill(process.pid, "SIGKILL");
      return call(...args);
    };
  }
  syncBuiltinESMExports();
  if (countPath !== undefined) process.on("exit", () => writeFileSync(countPath, String(count)));
}
