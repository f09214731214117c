/** How long work is stopped from the keyboard. */
import { say } from "./talk.ts";

/**
 * Ctrl-C, for work that ends by itself at the next good moment. The second one ends the process at once; what is durable
 * by then stays whole.
 */
export class Interruption implements Disposable {
  private readonly controller = new AbortController();
  private readonly stop: () => void;

  constructor(message: string) {
    this.stop = () => {
      if (this.controller.signal.aborted) process.exit(130);
      this.controller.abort();
      say(message);
    };
    process.on("SIGINT", this.stop);
  }

  get signal(): AbortSignal {
    return this.controller.signal;
  }

  get isStopped(): boolean {
    return this.signal.aborted;
  }

  [Symbol.dispose](): void {
    process.off("SIGINT", this.stop);
  }
}
