/** A thread that compares texts, so that nobody else waits for it. */
import { parentPort } from "node:worker_threads";
import { invariant } from "../../../base/index.ts";
import { type DiffTask, diffLines } from "./diff-lines.ts";

invariant(parentPort !== null, "this module runs in a worker thread");
const port = parentPort;
port.on("message", ({ number, task }: { readonly number: number; readonly task: DiffTask }) => {
  port.postMessage({ number, diff: diffLines(task) });
});
