/**
 * The program that was built, told one command line after another in one process: starting one for each, and compiling
 * the program in it, takes most of a small command's time. Its modules are made anew for each line, so none finds what
 * one before it has loaded or kept, and a line is at its end when Node would end: when nothing is left to be done.
 * A line that imports what cannot be had anew ends the process, and so does one that was broken off.
 *
 * Arguments: the program, and a mark. Descriptor 3 brings the lines, as JSON; the mark and the exit code stand behind
 * what a line has written to standard output, the mark alone behind what it has written to standard error.
 */
import { readFileSync, readSync, writeSync } from "node:fs";
import { createRequire } from "node:module";
import { dirname, join } from "node:path";
import { Script } from "node:vm";

const REQUESTS = 3;
const [, , main, mark] = process.argv;
const requireOthers = createRequire(main);
const scripts = new Map();
/** These keep what they were told before, and can be had anew: they are the same to `require` and to `import`. */
const RENEWED = ["@bokuweb/zstd-wasm", "hash-wasm"];
/** Done, or refused before it was begun. What was broken off may leave what is only cleared away when its process is gone. */
const GOES_ON = [0, 2, 3, 4, 20];
let isLast = false;

async function importPackage(name) {
  if (RENEWED.includes(name)) return requireOthers(name);
  isLast = true;
  return await import(name);
}

function forgetPackages() {
  for (const path of Object.keys(requireOthers.cache)) {
    if (RENEWED.some((name) => path.includes(`/node_modules/${name}/`))) delete requireOthers.cache[path];
  }
}

function scriptOf(path) {
  let script = scripts.get(path);
  if (script === undefined) {
    const code = readFileSync(path, "utf8")
      .replace(/^#!.*/, "")
      .replaceAll(/\bimport\(/g, "importPackage(");
    const names = "exports, require, module, __filename, __dirname, importPackage";
    script = new Script(`(function (${names}) {${code}\n})`, { filename: path });
    scripts.set(path, script);
  }
  return script;
}

function runProgram() {
  const modules = new Map();
  const load = (path) => {
    const known = modules.get(path);
    if (known !== undefined) return known.exports;
    const module = { exports: {} };
    modules.set(path, module);
    const require = (name) => (name.startsWith(".") ? load(join(dirname(path), name)) : requireOthers(name));
    const run = scriptOf(path).runInThisContext();
    run.call(module.exports, module.exports, require, module, path, dirname(path), importPackage);
    return module.exports;
  };
  load(main);
}

let unread = "";

/** The next line; this waits for it. Absent when there will be none. */
function nextLine() {
  const bytes = Buffer.alloc(1 << 16);
  while (!unread.includes("\n")) {
    const count = readSync(REQUESTS, bytes);
    if (count === 0) return undefined;
    unread += bytes.toString("latin1", 0, count);
  }
  const end = unread.indexOf("\n");
  const line = Buffer.from(unread.slice(0, end), "latin1").toString();
  unread = unread.slice(end + 1);
  return JSON.parse(line);
}

function begin() {
  const line = nextLine();
  if (line === undefined) process.exit();
  process.chdir(line.cwd);
  process.argv = [process.execPath, main, ...line.args];
  process.exitCode = undefined;
  forgetPackages();
  runProgram();
}

process.on("beforeExit", (exit) => {
  if (isLast || !GOES_ON.includes(exit)) return;
  for (const signal of ["SIGINT", "SIGTERM"]) process.removeAllListeners(signal);
  writeSync(2, mark);
  writeSync(1, `${mark}${exit}\n`);
  setImmediate(begin);
});
begin();
