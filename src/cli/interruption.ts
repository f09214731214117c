/** How long-running work is interrupted: Ctrl-C or SIGTERM. */
import { say } from "./talk.ts";

const SIGNALS = ["SIGINT", "SIGTERM"] as const;

/** For work that may end at any moment, since what is finished stays: calls `last` and ends the process with 130. */
export function endOnInterruption(last: () => void): Disposable {
  const stop = () => {
    last();
    process.exit(130);
  };
  for (const signal of SIGNALS) process.once(signal, stop);
  return {
    [Symbol.dispose]: () => {
      for (const signal of SIGNALS) process.off(signal, stop);
    },
  };
}

/**
 * Ctrl-C and SIGTERM, for work that ends by itself at the next good moment. The second one ends the process at once; what
 * is durable by then stays whole.
 */
export class Interruption implements Disposable {
  private readonly controller = new AbortController();
  private readonly stop: () => void;

  constructor(message: string) {
    this.stop = () => {
      if (this.controller.signal.aborted) process.exit(130);
      this.controller.abort();
      // Who asks for JSON reads lines of it, and has the exit code.
      if (!process.argv.includes("--json")) say(message);
    };
    for (const signal of SIGNALS) process.on(signal, this.stop);
  }

  get signal(): AbortSignal {
    return this.controller.signal;
  }

  get isStopped(): boolean {
    return this.signal.aborted;
  }

  [Symbol.dispose](): void {
    for (const signal of SIGNALS) process.off(signal, this.stop);
  }
}

/** For servers: resolves with the first signal. A second one ends the process at once. */
export function stopSignal(): Promise<void> {
  return new Promise((resolve) => {
    for (const signal of SIGNALS) process.once(signal, () => resolve());
  });
}
