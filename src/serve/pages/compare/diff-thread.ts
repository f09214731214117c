/** Compares texts in one thread of the process, one after the other. */
import { Worker } from "node:worker_threads";
import { ArchiveError } from "../../../base/index.ts";
import { type DiffTask, diffLines, type TextDiff } from "./diff-lines.ts";

/** More wait in vain. */
const WAITING_MAX = 32;
/** A comparison bounds its own time; a thread that says nothing for so long is ended. */
const SILENCE_MAX_MS = 15_000;
/** What one comparison may take, in MB. */
const HEAP_MAX_MB = 512;

interface Waiting {
  readonly task: DiffTask;
  readonly resolve: (diff: TextDiff) => void;
  readonly reject: (error: unknown) => void;
}

class DiffThread {
  private worker: Worker | undefined;
  private readonly waiting = new Map<number, Waiting>();
  private count = 0;
  private timer: NodeJS.Timeout | undefined;
  /** There is no file to start: this runs from its source. */
  private isMissing = false;

  /** HT_BUSY where too many wait, HT_TOO_LARGE where it takes more memory than it may. */
  run(task: DiffTask): Promise<TextDiff> {
    if (this.waiting.size >= WAITING_MAX)
      throw new ArchiveError("HT_BUSY", "other comparisons are under way; try again soon");
    if (this.isMissing) return Promise.resolve(diffLines(task));
    return new Promise((resolve, reject) => {
      const number = this.count++;
      this.waiting.set(number, { task, resolve, reject });
      this.started().postMessage({ number, task });
      this.watch();
    });
  }

  private started(): Worker {
    if (this.worker !== undefined) return this.worker;
    const worker = new Worker(new URL("./diff-worker.js", import.meta.url), {
      resourceLimits: { maxOldGenerationSizeMb: HEAP_MAX_MB },
    });
    worker.on("message", ({ number, diff }: { readonly number: number; readonly diff: TextDiff }) => {
      this.waiting.get(number)?.resolve(diff);
      this.waiting.delete(number);
      this.watch();
    });
    worker.on("error", (error) => this.fail(error));
    worker.unref();
    this.worker = worker;
    return worker;
  }

  private watch(): void {
    clearTimeout(this.timer);
    this.timer = undefined;
    if (this.waiting.size > 0)
      this.timer = setTimeout(() => this.fail(new Error("a comparison did not end")), SILENCE_MAX_MS).unref();
  }

  private fail(error: Error): void {
    clearTimeout(this.timer);
    void this.worker?.terminate();
    this.worker = undefined;
    const all = [...this.waiting.values()];
    this.waiting.clear();
    this.isMissing = /Cannot find module/.test(error.message);
    for (const { task, resolve, reject } of all) {
      if (this.isMissing) resolve(diffLines(task));
      else reject(new ArchiveError("HT_TOO_LARGE", "these texts are too large to be compared here", {}, error));
    }
  }
}

const thread = new DiffThread();

export function compareTexts(task: DiffTask): Promise<TextDiff> {
  return thread.run(task);
}
