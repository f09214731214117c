/** The far side of `stage-pool.ts`: a thread that does jobs, one after another, and parts where it is lent for those. */
import { parentPort } from "node:worker_threads";
import { ArchiveError, invariant } from "../base/index.ts";
import { nodeDisk } from "../disk/index.ts";
import { doStageJob } from "./stage-job.ts";
import type { StageMessage, StageOrder } from "./stage-pool.ts";
import type { LentStart, PartOrder } from "./worker-protocol.ts";

invariant(parentPort !== null, "this module runs in a worker thread");
const port = parentPort;
const tell = (message: StageMessage) => port.postMessage(message);

let serving: Promise<(order: PartOrder) => Promise<void>> | undefined;

async function work(order: StageOrder | LentStart | PartOrder): Promise<void> {
  if ("start" in order) {
    serving = import("./part-server.ts").then(({ serveParts }) => serveParts(port, order.start));
  } else if ("part" in order) await (await serving!)(order);
  else await doJob(order);
}

async function doJob({ index, job }: StageOrder): Promise<void> {
  try {
    const result = await doStageJob(nodeDisk, job, {
      onWarning: (warning) => tell({ kind: "warning", index, warning }),
      onProgress: (bytes) => tell({ kind: "progress", index, bytes }),
    });
    tell({ kind: "result", index, result });
  } catch (error) {
    if (!(error instanceof ArchiveError)) throw error;
    const { code, message, place } = error;
    tell({ kind: "error", index, error: { code, message, place } });
  }
}

port.on("message", (order: StageOrder | LentStart | PartOrder) => {
  work(order).catch((error: unknown) => {
    // A bug: let the thread die of it, so that the pool learns of it.
    queueMicrotask(() => {
      throw error;
    });
  });
});
