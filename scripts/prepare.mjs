// What `npm start`, `npm test` and `npm run bench` need on a fresh clone: the packages, and a build that is up to date.
import { spawn, spawnSync } from "node:child_process";
import { existsSync, readdirSync, statSync } from "node:fs";
import { dirname, join } from "node:path";
import { fileURLToPath } from "node:url";

export const root = dirname(dirname(fileURLToPath(import.meta.url)));

/** Runs a program of the project and ends this one if it fails. */
export function run(command, args, options = {}) {
  const result = spawnSync(command, args, { cwd: root, stdio: "inherit", ...options });
  if (result.error) throw result.error;
  if (result.status !== 0) process.exit(result.status ?? 1);
  return result;
}

/** Runs a program to its end; what it prints comes in one piece. Gives whether it went well. */
function runQuietly(args) {
  return new Promise((resolve, reject) => {
    const child = spawn(process.execPath, args, { cwd: root, stdio: ["ignore", "pipe", "pipe"] });
    const printed = [];
    for (const stream of [child.stdout, child.stderr]) stream.on("data", (bytes) => printed.push(bytes));
    child.on("error", reject);
    child.on("close", (status) => {
      process.stdout.write(Buffer.concat(printed));
      resolve(status === 0);
    });
  });
}

/** Runs rows of Node programs beside each other, and ends this one if any of them fails. A row ends with its first failure. */
export async function runRows(...rows) {
  const outcomes = rows.map(async (row) => {
    for (const args of row) if (!(await runQuietly(args))) return false;
    return true;
  });
  if ((await Promise.all(outcomes)).includes(false)) process.exit(1);
}

export function bin(name) {
  return join(root, "node_modules", ".bin", name);
}

export function checkNode() {
  const [major, minor] = process.versions.node.split(".").map(Number);
  if (major > 20 || (major === 20 && minor >= 19)) return;
  console.error(`Holotype needs Node 20.19 or newer; this is ${process.version}`);
  process.exit(1);
}

/** Installs the packages where they are missing or older than the lock file. */
export function install() {
  const marker = join(root, "node_modules", ".package-lock.json");
  const lock = join(root, "package-lock.json");
  if (existsSync(marker) && statSync(marker).mtimeMs >= statSync(lock).mtimeMs) return;
  console.error("installing packages …");
  // `ci` never changes the lock file, which names the packages of every platform.
  run("npm", ["ci", "--no-audit", "--no-fund", "--loglevel=error"], { stdio: ["ignore", "ignore", "inherit"] });
}

/** What a build runs, one after the other. */
export const BUILD = [[bin("tsc"), "-p", "tsconfig.build.json"], [join(root, "scripts", "bundle.mjs")]];

export function build() {
  for (const args of BUILD) run(process.execPath, args);
}

const BUILT = join(root, "dist", "bin", "holotype.js");
const MADE_OF = ["src", "ui", "scripts", "tsconfig.json", "tsconfig.build.json", "package-lock.json"];

/** The latest change below a path. A folder changes when something in it comes or goes. */
function changedMs(path) {
  const stat = statSync(path);
  if (!stat.isDirectory()) return stat.mtimeMs;
  return Math.max(stat.mtimeMs, ...readdirSync(path).map((name) => changedMs(join(path, name))));
}

/** Builds where the sources are newer than the last build. */
export function buildIfOld() {
  const builtMs = existsSync(BUILT) ? statSync(BUILT).mtimeMs : 0;
  if (Math.max(...MADE_OF.map((name) => changedMs(join(root, name)))) < builtMs) return;
  console.error("building …");
  build();
}
