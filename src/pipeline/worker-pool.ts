/**
 * Worker threads that do the parts of a run. Parts are given out in order and their results gathered in order. A part
 * that began by searching counts only if it began where the part before it ended; else it is done again from there.
 *
 * Invariants: `head` is the part whose text is being handed out; texts of later parts wait in their slots; a worker has
 * at most `AHEAD_MAX` of them waiting, so memory is bounded, and the head's worker never waits for another.
 */
import { Worker } from "node:worker_threads";
import { ArchiveError, invariant } from "../base/index.ts";
import type { Part } from "./part.ts";
import type { Gatherer } from "./run.ts";
import type { TaskRequest } from "./task.ts";
import { THREAD_LIMITS } from "./thread-memory.ts";
import type { LentStart, PartOrder, WorkerMessage, WorkerStart } from "./worker-protocol.ts";

interface Slot {
  part: Part;
  worker: PoolWorker | undefined;
  /** Messages that wait until the part is at the head. */
  waiting: WorkerMessage[];
  /** Whether the part's text counts; undecided until it is at the head and has told its first record. */
  verdict: "undecided" | "taken" | "refused";
  again: boolean;
}

interface PoolWorker {
  readonly thread: Worker;
  readonly taken: Int32Array;
  /** Gives the thread back, or ends it. */
  readonly leave: () => unknown;
}

export class WorkerPool implements AsyncDisposable {
  private readonly request: TaskRequest;
  private readonly workers: PoolWorker[];
  private spare: PoolWorker | undefined;
  private slots: Slot[] = [];
  private nextPart = 0;
  private head = 0;
  /** Where the head must begin: behind the last record of the part before; absent at the start of a file. */
  private expected: number | undefined;
  private gatherer: Gatherer | undefined;
  private settle: { resolve: () => void; reject: (error: unknown) => void } | undefined;

  /** On threads of its own, of which it is told how many; or on some of `stage-pool.ts` that have nothing else to do. */
  constructor(threads: number | readonly Worker[], request: TaskRequest) {
    this.request = request;
    this.workers =
      typeof threads === "number"
        ? Array.from({ length: threads }, () => this.startWorker())
        : threads.map((thread) => this.borrowWorker(thread));
  }

  private startWorker(): PoolWorker {
    const workerData: WorkerStart = { request: this.request, taken: new SharedArrayBuffer(4) };
    const thread = new Worker(new URL("./record-worker.js", import.meta.url), {
      workerData,
      resourceLimits: THREAD_LIMITS,
    });
    return this.take(thread, workerData, () => thread.terminate());
  }

  private borrowWorker(thread: Worker): PoolWorker {
    const start: WorkerStart = { request: this.request, taken: new SharedArrayBuffer(4) };
    thread.postMessage({ start } satisfies LentStart);
    return this.take(thread, start, () => thread.off("message", this.onMessage).off("error", this.onError));
  }

  private take(thread: Worker, { taken }: WorkerStart, leave: () => unknown): PoolWorker {
    thread.on("message", this.onMessage).on("error", this.onError);
    return { thread, taken: new Int32Array(taken), leave };
  }

  private readonly onMessage = (message: WorkerMessage) => this.guard(() => this.receive(message));
  private readonly onError = (error: unknown) => this.settle?.reject(error);

  async run(parts: readonly Part[], gatherer: Gatherer): Promise<void> {
    this.gatherer = gatherer;
    this.slots = parts.map((part) => ({ part, worker: undefined, waiting: [], verdict: "undecided", again: false }));
    if (parts.length === 0) return;
    await new Promise<void>((resolve, reject) => {
      this.settle = { resolve, reject };
      for (const worker of this.workers) this.guard(() => this.giveOut(worker));
    });
  }

  private guard(action: () => void): void {
    try {
      action();
    } catch (error) {
      this.settle!.reject(error);
    }
  }

  private giveOut(worker: PoolWorker): void {
    const slot = this.slots[this.nextPart];
    if (slot === undefined) return;
    this.order(worker, this.nextPart++, slot);
  }

  private order(worker: PoolWorker, job: number, slot: Slot): void {
    slot.worker = worker;
    worker.thread.postMessage({ job, part: slot.part } satisfies PartOrder);
  }

  private receive(message: WorkerMessage): void {
    const slot = this.slots[message.job]!;
    if (message.kind === "progress" && message.job !== this.head) return;
    slot.waiting.push(message);
    if (message.kind === "done" && slot.worker !== this.spare) this.giveOut(slot.worker!);
    this.drainHead();
  }

  private drainHead(): void {
    for (let slot = this.slots[this.head]; slot !== undefined; slot = this.slots[this.head]) {
      if (slot.again) {
        // All others may be waiting for this very part, so it gets a thread of its own.
        this.spare ??= this.startWorker();
        slot.again = false;
        this.order(this.spare, this.head, slot);
        return;
      }
      const messages = slot.waiting;
      slot.waiting = [];
      for (const message of messages) this.handle(slot, message);
      const last = messages.at(-1);
      if (last?.kind !== "done") return;
      if (slot.again) continue;
      this.head++;
    }
    this.settle!.resolve();
  }

  private handle(slot: Slot, message: WorkerMessage): void {
    const gatherer = this.gatherer!;
    switch (message.kind) {
      case "first":
        slot.verdict = this.judge(slot, message.offset);
        break;
      case "text":
        this.release(slot);
        if (slot.verdict === "taken") gatherer.options.onText(message.text);
        break;
      case "warning":
        this.release(slot);
        if (slot.verdict !== "refused") gatherer.options.onWarning?.(message.warning);
        break;
      case "progress":
        gatherer.tell(slot.part, message.offset, message.records);
        break;
      case "done":
        this.finish(slot, message);
        break;
    }
  }

  private release(slot: Slot): void {
    Atomics.add(slot.worker!.taken, 0, 1);
    Atomics.notify(slot.worker!.taken, 0);
  }

  private judge(slot: Slot, first: number | undefined): Slot["verdict"] {
    if (!slot.part.search) return "taken";
    invariant(this.expected !== undefined, "a searching part follows another");
    return first === this.expected ? "taken" : "refused";
  }

  private finish(slot: Slot, message: WorkerMessage & { kind: "done" }): void {
    const gatherer = this.gatherer!;
    const { part } = slot;
    if (slot.verdict === "refused") {
      // The part before reached behind this one's end, or this one began with something that is no record.
      if (this.expected! < part.end) {
        slot.part = { ...part, start: this.expected!, search: false };
        slot.verdict = "undecided";
        slot.again = true;
        return;
      }
      gatherer.finish(part, 0, undefined);
      return;
    }
    this.expected = message.next ?? Number.POSITIVE_INFINITY;
    const { error } = message;
    gatherer.finish(part, message.records, error && new ArchiveError(error.code, error.message, error.place));
  }

  async [Symbol.asyncDispose](): Promise<void> {
    const all = this.spare === undefined ? this.workers : [...this.workers, this.spare];
    await Promise.all(all.map(({ leave }) => leave()));
  }
}
