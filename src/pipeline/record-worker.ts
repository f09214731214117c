/** A thread that does parts. */
import { parentPort, workerData } from "node:worker_threads";
import { invariant } from "../base/index.ts";
import { serveParts } from "./part-server.ts";
import type { PartOrder, WorkerStart } from "./worker-protocol.ts";

invariant(parentPort !== null, "this module runs in a worker thread");
const serve = serveParts(parentPort, workerData as WorkerStart);

parentPort.on("message", (order: PartOrder) => {
  serve(order).catch((error: unknown) => {
    // A bug: let the thread die of it, so that the pool learns of it.
    queueMicrotask(() => {
      throw error;
    });
  });
});
