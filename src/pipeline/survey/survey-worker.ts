/** The far side of `pool.ts`: a thread that surveys inputs, one after another. */
import { parentPort, workerData } from "node:worker_threads";
import { type ErrorCode, invariant, isDamage, type Place, type Warning } from "../../base/index.ts";
import { nodeDisk } from "../../disk/index.ts";
import type { SurveyCounts } from "./counts.ts";
import { doSurveyJob, type SurveyJob } from "./job.ts";

/** A worker is started with a counter of its messages that were taken. */
export interface SurveyWorkerStart {
  readonly taken: SharedArrayBuffer;
}

/** To a worker. */
export interface SurveyOrder {
  readonly index: number;
  readonly job: SurveyJob;
}

/** From a worker. */
export type SurveyMessage =
  | {
      readonly kind: "lines";
      readonly index: number;
      readonly sketches: readonly string[];
      readonly captures: readonly string[];
      readonly referred: readonly string[];
      readonly offset: number;
      readonly records: number;
    }
  | { readonly kind: "warning"; readonly index: number; readonly warning: Warning }
  | {
      readonly kind: "done";
      readonly index: number;
      readonly counts: SurveyCounts;
      readonly error?: { readonly code: ErrorCode; readonly message: string; readonly place: Place };
    };

/** A worker may be this many messages of lines ahead; then it waits. */
const AHEAD_MAX = 16;
const LINES_MAX = 1024;
const WARNINGS_MAX = 1000;

invariant(parentPort !== null, "this module runs in a worker thread");
const port = parentPort;
const taken = new Int32Array((workerData as SurveyWorkerStart).taken);
let sent = 0;

async function work({ index, job }: SurveyOrder): Promise<void> {
  let sketches: string[] = [];
  let captures: string[] = [];
  let referred: string[] = [];
  let warnings = 0;
  const flush = (offset: number, records: number) => {
    for (let seen = Atomics.load(taken, 0); sent - seen >= AHEAD_MAX; seen = Atomics.load(taken, 0)) {
      Atomics.wait(taken, 0, seen);
    }
    sent++;
    port.postMessage({ kind: "lines", index, sketches, captures, referred, offset, records } satisfies SurveyMessage);
    sketches = [];
    captures = [];
    referred = [];
  };
  const result = await doSurveyJob(nodeDisk, job, {
    onSketch: (line) => void sketches.push(line),
    onCapture: (line) => void captures.push(line),
    onReferred: (name) => void referred.push(name),
    onWarning: (warning) => {
      if (!isDamage(warning) || ++warnings > WARNINGS_MAX) return;
      port.postMessage({ kind: "warning", index, warning } satisfies SurveyMessage);
    },
    onProgress: (offset, records) => {
      if (sketches.length + referred.length > LINES_MAX) flush(offset, records);
    },
  });
  flush(job.input.size ?? 0, result.counts.records);
  const { counts, error } = result;
  const told = error === undefined ? {} : { error: { code: error.code, message: error.message, place: error.place } };
  port.postMessage({ kind: "done", index, counts, ...told } satisfies SurveyMessage);
}

// One input at a time: the next order comes when this one is done.
port.on("message", (order: SurveyOrder) => {
  work(order).catch((error: unknown) => {
    // A bug: let the thread die of it, so that the pool learns of it.
    queueMicrotask(() => {
      throw error;
    });
  });
});
