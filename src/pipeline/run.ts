/**
 * Runs a task over many inputs and hands out its text in the order of the inputs, whatever the number of threads. One
 * thread works in place; more are worker threads, and this one only gathers. Memory is bounded: a worker that is ahead
 * of the others waits.
 */
import { ArchiveError, type Warning } from "../base/index.ts";
import type { Disk } from "../disk/index.ts";
import type { Input, SkippedInput } from "./inputs.ts";
import { type Part, runPart, splitInput, wholePart } from "./part.ts";
import type { StageThreads } from "./stage-pool.ts";
import { createTask, type RecordTask, type TaskRequest } from "./task.ts";
import { WorkerPool } from "./worker-pool.ts";

export interface RunOptions {
  readonly threads: number;
  /** Threads that are there already, of which the run may take as many; else it starts its own. */
  readonly pool?: StageThreads | undefined;
  readonly onText: (text: string | Uint8Array) => void;
  readonly onWarning?: (warning: Warning) => void;
  readonly onSkip?: (skipped: SkippedInput) => void;
  readonly onProgress?: (progress: RunProgress) => void;
  /** All text of this input has been handed out; of so many records. */
  readonly onInputDone?: (input: Input, records: number) => void;
}

export interface RunProgress {
  readonly file: string;
  readonly bytesDone: number;
  readonly bytesTotal: number;
  readonly records: number;
}

export interface RunSummary {
  readonly files: number;
  readonly records: number;
  readonly bytes: number;
  readonly skipped: number;
}

export async function runTask(
  disk: Disk,
  inputs: readonly Input[],
  request: TaskRequest,
  options: RunOptions,
): Promise<RunSummary> {
  const gatherer = new Gatherer(inputs, options);
  if (options.threads > 1) {
    const parts = inputs.flatMap((input) => splitOrWhole(disk, input));
    const threads = Math.min(options.threads, parts.length);
    await using pool = new WorkerPool(options.pool?.lend(threads) ?? threads, request);
    await pool.run(parts, gatherer);
  } else {
    const task = await createTask(request);
    for (const input of inputs) {
      // A turn of the event loop, in which a signal can be heard.
      await new Promise((resolve) => setImmediate(resolve));
      await gatherer.runHere(wholePart(input), disk, task);
    }
  }
  return gatherer.summary();
}

/** An input that cannot even be opened is one part, which then says why. */
function splitOrWhole(disk: Disk, input: Input): Part[] {
  try {
    return splitInput(disk, input);
  } catch (error) {
    if (!(error instanceof ArchiveError)) throw error;
    return [wholePart(input)];
  }
}

/** Takes the results of parts in order, and keeps the counts. */
export class Gatherer {
  readonly options: RunOptions;
  private readonly bytesTotal: number;
  private bytesDone = 0;
  private records = 0;
  /** Of the input at hand. */
  private inputRecords = 0;
  private skipped = 0;
  private readonly files: number;

  constructor(inputs: readonly Input[], options: RunOptions) {
    this.options = options;
    this.files = inputs.length;
    this.bytesTotal = inputs.reduce((sum, input) => sum + (input.size ?? 0), 0);
  }

  /** Runs a part on this thread. */
  async runHere(part: Part, disk: Disk, task: RecordTask): Promise<void> {
    const { onText, onWarning = () => {} } = this.options;
    // What fails in the hands of who takes it is no fault of the input that is being read.
    let failure: { readonly error: unknown } | undefined;
    const guard = (action: () => void) => {
      try {
        action();
      } catch (error) {
        failure ??= { error };
        throw error;
      }
    };
    const result = await runPart(disk, part, task, {
      onFirst: () => {},
      onText: (text) => guard(() => onText(text)),
      onWarning: (warning) => guard(() => onWarning(warning)),
      onProgress: (offset, records) => guard(() => this.tell(part, offset, records)),
    });
    if (failure !== undefined) throw failure.error;
    this.finish(part, result.records, result.error);
  }

  tell(part: Part, offset: number, records: number): void {
    this.options.onProgress?.({
      file: part.input.name,
      bytesDone: this.bytesDone + Math.max(0, offset - part.start),
      bytesTotal: this.bytesTotal,
      records: this.records + records,
    });
  }

  finish(part: Part, records: number, error: ArchiveError | undefined): void {
    this.records += records;
    this.inputRecords += records;
    this.bytesDone += Math.min(part.end, part.input.size ?? 0) - part.start;
    if (error !== undefined) {
      this.skipped++;
      this.options.onSkip?.({ name: part.input.name, error });
    }
    if (part.end !== Number.POSITIVE_INFINITY) return;
    this.options.onInputDone?.(part.input, this.inputRecords);
    this.inputRecords = 0;
  }

  summary(): RunSummary {
    return { files: this.files, records: this.records, bytes: this.bytesTotal, skipped: this.skipped };
  }
}
