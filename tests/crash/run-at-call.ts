/** The program as a real process that kills itself at a chosen call on the disk, or counts these calls. */
import { spawnSync } from "node:child_process";
import { readFileSync } from "node:fs";
import { join } from "node:path";
import { fileURLToPath, pathToFileURL } from "node:url";
import { MAIN } from "../cli/holotype.ts";

const PRELOAD = pathToFileURL(fileURLToPath(new URL("kill-at-call.mjs", import.meta.url))).href;

/** Runs a command to its end, or up to this call; then `signal` is there. */
export function runAtCall(args: readonly string[], killAt?: number, env: Readonly<Record<string, string>> = {}) {
  const kill = killAt === undefined ? {} : { HOLOTYPE_KILL_AT: String(killAt) };
  const { status, signal, stderr } = spawnSync(process.execPath, ["--import", PRELOAD, MAIN, ...args], {
    env: { ...process.env, ...kill, ...env },
  });
  return { exit: status, signal, err: stderr.toString() };
}

/** Runs a command to its end, which must be a good one, and counts its calls. `folder` is for a file of its own. */
export function countCalls(args: readonly string[], folder: string): number {
  const path = join(folder, "calls");
  const { exit, err } = runAtCall(args, undefined, { HOLOTYPE_CALL_COUNT: path });
  if (exit !== 0) throw new Error(`${args.join(" ")} ended with ${exit}: ${err}`);
  return Number(readFileSync(path, "utf8"));
}

/** So many calls, spread over all of them. */
export function spreadCalls(calls: number, count: number): number[] {
  return Array.from({ length: count }, (_, i) => 1 + Math.floor(((i + 0.5) * calls) / count));
}
