/** The far side of `worker-pool.ts`: a thread that does parts, one after another. */
import { parentPort, workerData } from "node:worker_threads";
import { invariant } from "../base/index.ts";
import { nodeDisk } from "../disk/index.ts";
import { runPart } from "./part.ts";
import { createTask } from "./task.ts";
import { AHEAD_MAX, type PartOrder, type WorkerMessage, type WorkerStart } from "./worker-protocol.ts";

invariant(parentPort !== null, "this module runs in a worker thread");
const port = parentPort;
const { request, taken: takenBuffer } = workerData as WorkerStart;
const taken = new Int32Array(takenBuffer);
const task = createTask(request);
const encoder = new TextEncoder();
let sent = 0;

/** Sends what takes memory, and waits where too much of it has not been taken yet. */
function send(message: WorkerMessage, transfer: ArrayBuffer[] = []): void {
  for (let seen = Atomics.load(taken, 0); sent - seen >= AHEAD_MAX; seen = Atomics.load(taken, 0)) {
    Atomics.wait(taken, 0, seen);
  }
  sent++;
  port.postMessage(message, transfer);
}

async function work({ job, part }: PartOrder): Promise<void> {
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
}

// One part at a time: the next order comes when this one is done.
port.on("message", (order: PartOrder) => {
  work(order).catch((error: unknown) => {
    // A bug: let the thread die of it, so that the pool learns of it.
    queueMicrotask(() => {
      throw error;
    });
  });
});
