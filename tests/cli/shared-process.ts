/** A process of the program that is told many command lines, and keeps nothing from one for the next. */
import { fileURLToPath } from "node:url";
import { MessageChannel, type MessagePort, receiveMessageOnPort, Worker } from "node:worker_threads";

export interface BytesOutcome {
  readonly exit: number | null;
  readonly out: Buffer;
  readonly err: Buffer;
}

interface Line {
  readonly args: readonly string[];
  readonly cwd: string;
}

const beside = (name: string) => fileURLToPath(new URL(name, import.meta.url));

export class SharedProcess {
  private readonly done = new Int32Array(new SharedArrayBuffer(4));
  private readonly port: MessagePort;

  constructor(main: string) {
    const { port1, port2 } = new MessageChannel();
    this.port = port1;
    const workerData = { port: port2, done: this.done, program: beside("shared-process.mjs"), main };
    // It ends with this process, and the shared process when nobody can tell it anything any more.
    new Worker(beside("shared-process-thread.mjs"), { workerData, transferList: [port2] }).unref();
    port1.unref();
  }

  /** Waits for the end of the line, as `spawnSync` does. */
  tell(line: Line): BytesOutcome {
    Atomics.store(this.done, 0, 0);
    this.port.postMessage(line);
    Atomics.wait(this.done, 0, 0);
    const { exit, out, err } = receiveMessageOnPort(this.port)!.message as Record<keyof BytesOutcome, never>;
    return { exit, out: Buffer.from(out), err: Buffer.from(err) };
  }
}

/** Test files that share a process share this too, though each loads this module for itself. */
const PLACE = Symbol.for("holotype: the shared process");
const place = globalThis as { [PLACE]?: SharedProcess };

export function tellShared(main: string, line: Line): BytesOutcome {
  place[PLACE] ??= new SharedProcess(main);
  return place[PLACE].tell(line);
}
