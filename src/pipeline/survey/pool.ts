/**
 * Surveys inputs one after another on this thread, or side by side on worker threads, a file each. What is found may come
 * in any order, because it is sorted afterwards; only warnings and ends are told in the order of the inputs.
 */
import { Worker } from "node:worker_threads";
import { ArchiveError, isDamage, type Warning } from "../../base/index.ts";
import type { Disk } from "../../disk/index.ts";
import type { Input } from "../inputs.ts";
import type { RunProgress } from "../run.ts";
import { THREAD_LIMITS } from "../thread-memory.ts";
import type { SurveyCounts } from "./counts.ts";
import { doSurveyJob, type SurveyJob, type SurveyJobResult } from "./job.ts";
import type { SurveyMessage, SurveyOrder, SurveyWorkerStart } from "./survey-worker.ts";

export interface SurveyPoolEvents {
  onSketch(line: string): void;
  onCapture(line: string): void;
  onReferred(name: string): void;
  /** Damage. */
  onWarning(warning: Warning): void;
  onProgress(progress: RunProgress): void;
  onDone(input: Input, result: SurveyJobResult): void;
}

/** Warnings of one input that are held until it is its turn; more are as bad as these. */
const WARNINGS_MAX = 1000;

export async function runSurveyJobs(
  disk: Disk,
  jobs: readonly SurveyJob[],
  threads: number,
  events: SurveyPoolEvents,
): Promise<void> {
  const progress = new Progress(jobs, (told) => events.onProgress(told));
  if (threads > 1 && jobs.length > 1) {
    await using pool = new SurveyPool(Math.min(threads, jobs.length), jobs, progress, events);
    await pool.run();
    return;
  }
  for (const [index, job] of jobs.entries()) {
    const result = await doSurveyJob(disk, job, {
      onSketch: (line) => events.onSketch(line),
      onCapture: (line) => events.onCapture(line),
      onReferred: (name) => events.onReferred(name),
      onWarning: (warning) => {
        if (isDamage(warning)) events.onWarning(warning);
      },
      onProgress: (offset, records) => progress.tell(index, offset, records),
    });
    progress.tell(index, job.input.size ?? 0, result.counts.records);
    events.onDone(job.input, result);
  }
}

/** Adds up what is done of all inputs. */
class Progress {
  private readonly jobs: readonly SurveyJob[];
  private readonly update: (progress: RunProgress) => void;
  private readonly bytesTotal: number;
  private readonly done = new Map<number, { offset: number; records: number }>();
  private bytesDone = 0;
  private records = 0;

  constructor(jobs: readonly SurveyJob[], update: (progress: RunProgress) => void) {
    this.jobs = jobs;
    this.update = update;
    this.bytesTotal = jobs.reduce((sum, { input }) => sum + (input.size ?? 0), 0);
  }

  tell(index: number, offset: number, records: number): void {
    const before = this.done.get(index) ?? { offset: 0, records: 0 };
    this.bytesDone += offset - before.offset;
    this.records += records - before.records;
    this.done.set(index, { offset, records });
    const { bytesDone, bytesTotal } = this;
    this.update({ file: this.jobs[index]!.input.name, bytesDone, bytesTotal, records: this.records });
  }
}

/** What waits until all inputs before it are done. */
interface Turn {
  readonly warnings: Warning[];
  result?: SurveyJobResult;
}

class SurveyPool implements AsyncDisposable {
  private readonly jobs: readonly SurveyJob[];
  private readonly progress: Progress;
  private readonly events: SurveyPoolEvents;
  private readonly threads: Worker[];
  private readonly turns: Turn[];
  private next = 0;
  private head = 0;
  private settle: { resolve: () => void; reject: (error: unknown) => void } | undefined;

  constructor(count: number, jobs: readonly SurveyJob[], progress: Progress, events: SurveyPoolEvents) {
    this.jobs = jobs;
    this.progress = progress;
    this.events = events;
    this.turns = jobs.map(() => ({ warnings: [] }));
    this.threads = Array.from({ length: count }, () => {
      const taken = new SharedArrayBuffer(4);
      const workerData: SurveyWorkerStart = { taken };
      const thread = new Worker(new URL("./survey-worker.js", import.meta.url), {
        workerData,
        resourceLimits: THREAD_LIMITS,
      });
      const counter = new Int32Array(taken);
      thread.on("message", (message: SurveyMessage) => this.guard(() => this.receive(thread, counter, message)));
      thread.on("error", (error) => this.settle?.reject(error));
      return thread;
    });
  }

  async run(): Promise<void> {
    await new Promise<void>((resolve, reject) => {
      this.settle = { resolve, reject };
      for (const thread of this.threads) this.giveOut(thread);
    });
  }

  private guard(action: () => void): void {
    try {
      action();
    } catch (error) {
      this.settle!.reject(error);
    }
  }

  private giveOut(thread: Worker): void {
    const job = this.jobs[this.next];
    if (job !== undefined) thread.postMessage({ index: this.next++, job } satisfies SurveyOrder);
  }

  private receive(thread: Worker, taken: Int32Array, message: SurveyMessage): void {
    const { index } = message;
    const turn = this.turns[index]!;
    switch (message.kind) {
      case "lines":
        Atomics.add(taken, 0, 1);
        Atomics.notify(taken, 0);
        for (const line of message.sketches) this.events.onSketch(line);
        for (const line of message.captures) this.events.onCapture(line);
        for (const name of message.referred) this.events.onReferred(name);
        this.progress.tell(index, message.offset, message.records);
        return;
      case "warning":
        if (turn.warnings.length < WARNINGS_MAX) turn.warnings.push(message.warning);
        return;
      case "done":
        this.finish(index, message.counts, message.error);
        this.giveOut(thread);
    }
  }

  private finish(index: number, counts: SurveyCounts, error: (SurveyMessage & { kind: "done" })["error"]): void {
    this.turns[index]!.result = { counts, error: error && new ArchiveError(error.code, error.message, error.place) };
    this.progress.tell(index, this.jobs[index]!.input.size ?? 0, counts.records);
    for (let turn = this.turns[this.head]; turn?.result !== undefined; turn = this.turns[this.head]) {
      for (const warning of turn.warnings.splice(0)) this.events.onWarning(warning);
      this.events.onDone(this.jobs[this.head++]!.input, turn.result);
    }
    if (this.head === this.jobs.length) this.settle!.resolve();
  }

  async [Symbol.asyncDispose](): Promise<void> {
    await Promise.all(this.threads.map((thread) => thread.terminate()));
  }
}
