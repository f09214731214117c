/**
 * Does jobs on worker threads, or on this one where one thread is asked for, and hands out their results in the order of
 * the jobs. A job that fails with an `ArchiveError` does not stop the others: its error is its result.
 */
import { Worker } from "node:worker_threads";
import { ArchiveError, type ErrorCode, type Place, type Warning } from "../base/index.ts";
import type { Disk } from "../disk/index.ts";
import { doStageJob, type StageJob, type StageResult } from "./stage-job.ts";
import { THREAD_LIMITS } from "./thread-memory.ts";

export interface StagePoolEvents<J extends StageJob> {
  /** In the order of the jobs. */
  onResult(job: J, result: StageResult<J> | ArchiveError): void;
  onWarning?(warning: Warning): void;
  /** Bytes of a job that are done so far. */
  onProgress?(job: J, bytes: number): void;
}

/** To a worker. */
export interface StageOrder {
  readonly index: number;
  readonly job: StageJob;
}

/** From a worker. */
export type StageMessage =
  | { readonly kind: "warning"; readonly index: number; readonly warning: Warning }
  | { readonly kind: "progress"; readonly index: number; readonly bytes: number }
  | { readonly kind: "result"; readonly index: number; readonly result: unknown }
  | {
      readonly kind: "error";
      readonly index: number;
      readonly error: { readonly code: ErrorCode; readonly message: string; readonly place: Place };
    };

/** Jobs that nothing else is to be done with the threads for. */
export async function runStageJobs<J extends StageJob>(
  disk: Disk,
  jobs: readonly J[],
  threads: number,
  events: StagePoolEvents<J>,
): Promise<void> {
  await using pool = new StageThreads(disk, threads);
  await pool.run(jobs, events);
}

/** Threads that are started with the first jobs, and stay for the next: what they run is compiled by then. */
export class StageThreads implements AsyncDisposable {
  private readonly disk: Disk;
  private readonly count: number;
  private readonly threads: Worker[] = [];
  private current: StageRun<StageJob> | undefined;
  /** What a thread died of that had nothing to do. */
  private died: Error | undefined;

  constructor(disk: Disk, count: number) {
    this.disk = disk;
    this.count = count;
  }

  /** Starts the threads for so many jobs that are to come: by then they have loaded what they run. */
  prepare(jobs: number): void {
    if (this.count === 1) return;
    while (this.threads.length < Math.min(this.count, jobs)) this.threads.push(this.start());
  }

  /** Some threads for something else, as long as no jobs are done; absent where there is one thread, which is this one. */
  lend(most: number): readonly Worker[] | undefined {
    if (this.count === 1) return undefined;
    this.prepare(most);
    return this.threads.slice(0, most);
  }

  async run<J extends StageJob>(jobs: readonly J[], events: StagePoolEvents<J>): Promise<void> {
    if (this.count === 1) await runHere(this.disk, jobs, events);
    else if (jobs.length > 0) {
      this.prepare(jobs.length);
      if (this.died !== undefined) throw this.died;
      const run = new StageRun(jobs, events);
      this.current = run as unknown as StageRun<StageJob>;
      await run.finish(this.threads);
      this.current = undefined;
    }
  }

  private start(): Worker {
    const thread = new Worker(new URL("./stage-worker.js", import.meta.url), { resourceLimits: THREAD_LIMITS });
    thread.on("message", (message: StageMessage) => this.current?.receive(thread, message));
    thread.on("error", (error) => this.lose(error as Error));
    thread.on("exit", (code) => this.lose(new Error(`a worker thread ended with ${code} before its work`)));
    return thread;
  }

  private lose(error: Error): void {
    this.died ??= error;
    this.current?.fail(error);
  }

  async [Symbol.asyncDispose](): Promise<void> {
    this.current = undefined;
    await Promise.all(this.threads.map((thread) => thread.terminate()));
  }
}

async function runHere<J extends StageJob>(disk: Disk, jobs: readonly J[], events: StagePoolEvents<J>): Promise<void> {
  for (const job of jobs) {
    // A turn of the event loop, in which a signal can be heard.
    await new Promise((resolve) => setImmediate(resolve));
    try {
      const result = await doStageJob(disk, job, {
        onWarning: (warning) => events.onWarning?.(warning),
        onProgress: (bytes) => events.onProgress?.(job, bytes),
      });
      events.onResult(job, result as StageResult<J>);
    } catch (error) {
      if (!(error instanceof ArchiveError)) throw error;
      events.onResult(job, error);
    }
  }
}

/** Some jobs on their way through the threads. */
class StageRun<J extends StageJob> {
  private readonly jobs: readonly J[];
  private readonly events: StagePoolEvents<J>;
  private readonly results = new Map<number, StageResult<J> | ArchiveError>();
  private next = 0;
  private head = 0;
  private settle: { resolve: () => void; reject: (error: unknown) => void } | undefined;

  constructor(jobs: readonly J[], events: StagePoolEvents<J>) {
    this.jobs = jobs;
    this.events = events;
  }

  async finish(threads: readonly Worker[]): Promise<void> {
    await new Promise<void>((resolve, reject) => {
      this.settle = { resolve, reject };
      for (const thread of threads) this.giveOut(thread);
    });
  }

  fail(error: unknown): void {
    this.settle!.reject(error);
  }

  private giveOut(thread: Worker): void {
    const job = this.jobs[this.next];
    if (job !== undefined) thread.postMessage({ index: this.next++, job } satisfies StageOrder);
  }

  receive(thread: Worker, message: StageMessage): void {
    try {
      this.take(thread, message);
    } catch (error) {
      this.fail(error);
    }
  }

  private take(thread: Worker, message: StageMessage): void {
    const { index } = message;
    switch (message.kind) {
      case "warning":
        this.events.onWarning?.(message.warning);
        return;
      case "progress":
        this.events.onProgress?.(this.jobs[index]!, message.bytes);
        return;
      case "result":
        this.results.set(index, message.result as StageResult<J>);
        break;
      case "error": {
        const { code, message: text, place } = message.error;
        this.results.set(index, new ArchiveError(code, text, place));
        break;
      }
    }
    this.giveOut(thread);
    for (let result = this.results.get(this.head); result !== undefined; result = this.results.get(this.head)) {
      this.results.delete(this.head);
      this.events.onResult(this.jobs[this.head++]!, result);
    }
    if (this.head === this.jobs.length) this.settle!.resolve();
  }
}
