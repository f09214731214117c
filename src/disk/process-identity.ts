/**
 * Which process this is, told apart from every other that had its number before or has it elsewhere, and whether
 * another still runs. Where the system has no `/proc`, the number alone must do, and a recycled one counts as running.
 */
import { readFileSync, readlinkSync } from "node:fs";
import { hostname } from "node:os";
import { getegid, geteuid, kill, pid } from "node:process";
import { systemCode } from "./system-call.ts";

export interface ProcessIdentity {
  readonly pid: number;
  /** In clock ticks since boot; empty where it cannot be learnt. */
  readonly started: string;
  /** Changes with every boot; empty where the system has none. */
  readonly boot: string;
  readonly host: string;
  /** Numbers of processes mean something only inside one namespace (a container has its own). */
  readonly namespace: string;
}

function unlessRefused(read: () => string): string | undefined {
  try {
    return read();
  } catch {
    return undefined;
  }
}

/** Field 3 (state) and 22 (start) of `/proc/PID/stat`; field 2, the command, may itself have blanks and parentheses. */
function readProcStat(of: number): { state: string; started: string } | undefined {
  const text = unlessRefused(() => readFileSync(`/proc/${of}/stat`, "latin1"));
  const fields = text?.slice(text.lastIndexOf(")") + 2).split(" ");
  return fields === undefined ? undefined : { state: fields[0] ?? "", started: fields[19] ?? "" };
}

let own: ProcessIdentity | undefined;

export function ownProcess(): ProcessIdentity {
  own ??= {
    pid,
    started: readProcStat(pid)?.started ?? "",
    boot: unlessRefused(() => readFileSync("/proc/sys/kernel/random/boot_id", "latin1").trim()) ?? "",
    host: hostname(),
    namespace: unlessRefused(() => readlinkSync("/proc/self/ns/pid")) ?? "",
  };
  return own;
}

/** The user and the group that this process acts as; absent where the system has none. */
export function actsAs(): { readonly user: number | undefined; readonly group: number | undefined } {
  return { user: geteuid?.(), group: getegid?.() };
}

/** Whether a process of this number runs here; one that is dead and only waits to be reaped does not. */
export function isRunning(of: number): boolean {
  try {
    kill(of, 0);
  } catch (cause) {
    if (systemCode(cause) === "ESRCH") return false;
  }
  const state = readProcStat(of)?.state;
  return state !== "Z" && state !== "X";
}

/** `unknown` where it cannot be told from here: on another host, or in another container of this one. */
export function stateOf(process: ProcessIdentity, here = ownProcess()): "running" | "dead" | "unknown" {
  if (process.host !== here.host) return "unknown";
  if (process.boot !== here.boot) return "dead";
  if (process.namespace !== here.namespace) return "unknown";
  if (!isRunning(process.pid)) return "dead";
  const started = readProcStat(process.pid)?.started;
  return started === undefined || started === process.started ? "running" : "dead";
}
