/** Runs a program and tells what it cost: processor time of all its threads, time on the clock, and memory. */
import { spawn } from "node:child_process";
import { readFileSync } from "node:fs";

export interface Cost {
  readonly cpuSeconds: number;
  readonly wallSeconds: number;
  /** Highest resident size seen; absent where the system does not tell. */
  readonly residentMb: number | undefined;
}

/** The system keeps the high-water mark, so few looks are enough; 50 a second took a tenth of one core here. */
const POLL_MS = 250;

/** `times` of a shell tells the processor time of its children, to the hundredth of a second, on every system. */
export async function measure(command: string, args: readonly string[]): Promise<Cost> {
  const start = performance.now();
  const shell = spawn("sh", ["-c", '"$@" > /dev/null || exit $?; times', "sh", command, ...args], {
    stdio: ["ignore", "pipe", "inherit"],
  });
  let output = "";
  let resident: number | undefined;
  shell.stdout.on("data", (chunk: Buffer) => {
    output += chunk.toString();
  });
  const timer = setInterval(() => {
    resident = Math.max(resident ?? 0, residentOf(shell.pid!) ?? 0) || undefined;
  }, POLL_MS);
  const code = await new Promise<number | null>((resolve, reject) => {
    shell.on("error", reject);
    shell.on("close", resolve);
  });
  clearInterval(timer);
  const wallSeconds = (performance.now() - start) / 1000;
  if (code !== 0) throw new Error(`${command} ${args.slice(0, 3).join(" ")} … ended with ${code}`);
  return { cpuSeconds: parseTimes(output), wallSeconds, residentMb: resident };
}

/** The second line is that of the children: `0m5.40s 0m0.20s`. */
function parseTimes(text: string): number {
  const line = text.trim().split("\n").at(-1) ?? "";
  const parts = [...line.matchAll(/(\d+)m([\d.]+)s/g)];
  if (parts.length !== 2) throw new Error(`the shell's times cannot be read: ${text}`);
  return parts.reduce((sum, [, minutes, seconds]) => sum + Number(minutes) * 60 + Number(seconds), 0);
}

/** The high-water mark of the shell's child, as Linux keeps it. */
function residentOf(shellPid: number): number | undefined {
  try {
    const child = readFileSync(`/proc/${shellPid}/task/${shellPid}/children`, "utf8").trim().split(" ")[0];
    const status = readFileSync(`/proc/${child}/status`, "utf8");
    const kilobytes = /^VmHWM:\s+(\d+) kB/m.exec(status)?.[1];
    return kilobytes === undefined ? undefined : Number(kilobytes) / 1000;
  } catch {
    return undefined;
  }
}

export interface Contender {
  readonly name: string;
  readonly command: string;
  readonly args: readonly string[];
  /** How often it runs; default as often as all. */
  readonly rounds?: number;
  /** Done before each run, and not measured. */
  readonly before?: () => void;
}

/** Runs all contenders in turn, round after round, and keeps the best of each: noise hits all of them alike. */
export async function interleave(contenders: readonly Contender[], rounds: number): Promise<Map<string, Cost>> {
  const best = new Map<string, Cost>();
  for (let round = 0; round < rounds; round++) {
    for (const { name, command, args, before: prepare, rounds: own = rounds } of contenders) {
      if (round >= own) continue;
      prepare?.();
      const cost = await measure(command, args);
      const before = best.get(name);
      const least = (key: "cpuSeconds" | "wallSeconds") =>
        Math.min(cost[key], before?.[key] ?? Number.POSITIVE_INFINITY);
      const resident = Math.max(cost.residentMb ?? 0, before?.residentMb ?? 0) || undefined;
      best.set(name, { cpuSeconds: least("cpuSeconds"), wallSeconds: least("wallSeconds"), residentMb: resident });
      const { cpuSeconds, wallSeconds } = cost;
      console.error(`  round ${round + 1}, ${name}: ${cpuSeconds.toFixed(2)} s cpu, ${wallSeconds.toFixed(2)} s`);
    }
  }
  return best;
}
