/** The far side of `worker-pool.ts`: does parts, one after another, in whatever thread. */
import type { MessagePort } from "node:worker_threads";
import { nodeDisk } from "../disk/index.ts";
import { runPart } from "./part.ts";
import { createTask } from "./task.ts";
import { AHEAD_MAX, type PartOrder, type WorkerMessage, type WorkerStart } from "./worker-protocol.ts";

/** The next order may come when this one is done. */
export function serveParts(port: MessagePort, start: WorkerStart): (order: PartOrder) => Promise<void> {
  const taken = new Int32Array(start.taken);
  const task = createTask(start.request);
  const encoder = new TextEncoder();
  let sent = 0;

  /** Sends what takes memory, and waits where too much of it has not been taken yet. */
  const send = (message: WorkerMessage, transfer: ArrayBuffer[] = []): void => {
    for (let seen = Atomics.load(taken, 0); sent - seen >= AHEAD_MAX; seen = Atomics.load(taken, 0)) {
      Atomics.wait(taken, 0, seen);
    }
    sent++;
    port.postMessage(message, transfer);
  };

  return async ({ job, part }) => {
    const result = await runPart(nodeDisk, part, await task, {
      onFirst: (offset) => port.postMessage({ kind: "first", job, offset } satisfies WorkerMessage),
      onText: (text) => {
        const bytes = encoder.encode(text);
        send({ kind: "text", job, text: bytes }, [bytes.buffer as ArrayBuffer]);
      },
      onWarning: (warning) => send({ kind: "warning", job, warning }),
      onProgress: (offset, records) =>
        port.postMessage({ kind: "progress", job, offset, records } satisfies WorkerMessage),
    });
    const { error, ...rest } = result;
    const told = error === undefined ? {} : { error: { code: error.code, message: error.message, place: error.place } };
    port.postMessage({ kind: "done", job, ...rest, ...told } satisfies WorkerMessage);
  };
}
