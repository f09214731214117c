/** `holotype volume serve` as a real process. */
import type { ChildProcessWithoutNullStreams } from "node:child_process";
import { createInterface } from "node:readline";
import { startHolotype } from "../cli/holotype.ts";

export interface ServerProcess {
  readonly url: string;
  readonly process: ChildProcessWithoutNullStreams;
  /** What it has said on standard error so far. */
  log(): string;
  /** Waits until it is gone. */
  readonly ended: Promise<{ readonly exit: number | null; readonly signal: string | null }>;
}

/** Waits until it is ready. */
export async function serveFolder(folder: string, ...args: readonly string[]): Promise<ServerProcess> {
  const child = startHolotype(["volume", "serve", folder, ...args]);
  let log = "";
  child.stderr.on("data", (text: Buffer) => {
    log += text.toString();
  });
  const ended = new Promise<{ exit: number | null; signal: string | null }>((resolve) =>
    child.on("close", (exit, signal) => resolve({ exit, signal })),
  );
  const first = await createInterface({ input: child.stdout })[Symbol.asyncIterator]().next();
  if (first.done === true) throw new Error(`the server did not start: ${log}`);
  return { url: first.value, process: child, ended, log: () => log };
}
