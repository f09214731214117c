/** Standard input, output and error, read and written at once and in full, whatever they are connected to. */
import { readSync, writeSync } from "node:fs";
import { systemCode, toDiskError } from "./system-call.ts";

/** Nobody reads our output any more (`| head`). Not a failure: the command line ends quietly. */
export class ClosedPipe extends Error {
  override readonly name = "ClosedPipe";
}

const PAUSE_MS_MAX = 32;

const sleeper = new Int32Array(new SharedArrayBuffer(4));

/** Repeats `call` while the stream is one that would block, as pipes and terminals that others set so. */
function whenReady<T>(name: string, call: () => T): T {
  for (let pauseMs = 1; ; pauseMs = Math.min(pauseMs * 2, PAUSE_MS_MAX)) {
    try {
      return call();
    } catch (cause) {
      const code = systemCode(cause);
      if (code === "EPIPE") throw new ClosedPipe(`${name} is closed`, { cause });
      if (code !== "EAGAIN" && code !== "EINTR") throw toDiskError(cause, { file: name });
      if (code === "EAGAIN") Atomics.wait(sleeper, 0, 0, pauseMs);
    }
  }
}

/** Waits for bytes and puts as many as there are into `into`; 0 at the end. */
export function readStandardInput(into: Uint8Array): number {
  return whenReady("standard input", () => {
    try {
      return readSync(0, into, 0, into.length, null);
    } catch (cause) {
      // How Windows tells the end of a pipe.
      if (systemCode(cause) === "EOF") return 0;
      throw cause;
    }
  });
}

function writeAll(descriptor: number, name: string, data: Uint8Array | string): void {
  const bytes = typeof data === "string" ? Buffer.from(data) : data;
  let count = 0;
  while (count < bytes.length) {
    count += whenReady(name, () => writeSync(descriptor, bytes, count, bytes.length - count));
  }
}

/** Throws `ClosedPipe` where nobody reads any more. */
export function writeStandardOutput(data: Uint8Array | string): void {
  writeAll(1, "standard output", data);
}

/** Talk: where nobody listens any more it is lost, and the work goes on. */
export function writeStandardError(data: Uint8Array | string): void {
  try {
    writeAll(2, "standard error", data);
  } catch (error) {
    if (!(error instanceof ClosedPipe)) throw error;
  }
}
