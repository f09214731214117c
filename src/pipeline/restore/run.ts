/**
 * What restoring files and taking a subset of them share: finding the inputs, leading revisits to originals, and doing
 * the files one apart from the other, so that one that cannot be proven does not take the others with it.
 */
import { resolve as absolute, dirname } from "node:path";
import { ArchiveError, type Warning } from "../../base/index.ts";
import { type Access, type Disk, removeLeftovers, scratchFolder } from "../../disk/index.ts";
import { accessOf } from "../input-access.ts";
import { findInputs, type Input, type SkippedInput, STANDARD_INPUT, splitName } from "../inputs.ts";
import type { StageResult } from "../stage-job.ts";
import { runStageJobs } from "../stage-pool.ts";
import type { RestoreJob } from "./job.ts";
import { planRestore, type RestorePlan } from "./plan.ts";
import type { SubsetJob } from "./subset-job.ts";

export interface RestoreRunOptions {
  /** Folder for what is written. */
  readonly output: string;
  /** Further files and folders that may hold originals. */
  readonly originals?: readonly string[] | undefined;
  readonly threads?: number | undefined;
  readonly onProgress?: ((progress: RestoreProgress) => void) | undefined;
  readonly onWarning?: ((warning: Warning) => void) | undefined;
  /** An input that could not be taken. */
  readonly onSkip?: ((skipped: SkippedInput) => void) | undefined;
  /** A file that could not be proven: nothing was given its name. */
  readonly onFail?: ((failed: SkippedInput) => void) | undefined;
}

export interface RestoreProgress {
  readonly stage: "reading" | "restoring";
  readonly done: number;
  readonly total: number;
}

/** What the jobs are made from. */
export interface RestoreGround {
  /** Those that could be read. */
  readonly inputs: readonly Input[];
  readonly plan: RestorePlan;
  /** A folder for this run. */
  readonly scratch: string;
  /** The folder from which names are kept: that which was named, or the one above all that were. */
  readonly root: string;
  readonly output: string;
  /** Those who may read all files that a record may be put together from. */
  readonly access: Access | undefined;
}

export interface RestoreOutcome {
  readonly skipped: readonly SkippedInput[];
  readonly failed: readonly SkippedInput[];
}

const LOCK = ".holotype-restore.lock";

type Job = RestoreJob | SubsetJob;

/** `onResult` gets results in the order of the jobs. */
export async function runRestore<J extends Job>(
  disk: Disk,
  names: readonly string[],
  options: RestoreRunOptions,
  makeJobs: (ground: RestoreGround) => J[],
  onResult: (result: StageResult<J>) => void,
): Promise<RestoreOutcome> {
  const output = options.output.replace(/(?<=.)\/+$/, "");
  const run = new RestoreRun(disk, { ...options, output });
  refuseNesting(names, output);
  const inputs = run.take(names, new Set());
  if (inputs.length === 0) throw new ArchiveError("HT_NOT_FOUND", "no archive file to restore");
  const originals = run.take(options.originals ?? [], new Set(inputs.map((input) => run.keyOf(input))));
  disk.makeFolder(output);
  using _lock = disk.lock(`${output}/${LOCK}`);
  removeLeftovers(disk, output);
  using scratch = scratchFolder(disk, { parent: output });
  const plan = await run.plan([...inputs, ...originals], scratch.path);
  const readable = inputs.filter(({ name }) => !run.unread.has(name));
  const access = accessOf(disk, [...inputs, ...originals]);
  const ground = { inputs: readable, plan, scratch: scratch.path, root: rootOf(disk, names), output, access };
  await run.doJobs(makeJobs(ground), onResult);
  return run;
}

/** What is written must not be taken for what is to be restored, now or when the same command goes on. */
function refuseNesting(names: readonly string[], output: string): void {
  const inside = (one: string, other: string) => `${absolute(one)}/`.startsWith(`${absolute(other)}/`);
  const name = names.find((one) => inside(one, output) || inside(output, one));
  if (name === undefined) return;
  throw new ArchiveError("HT_USAGE", `${output} and ${name} lie one in the other; choose another folder with -o`);
}

function rootOf(disk: Disk, names: readonly string[]): string {
  const folders = names.map((name) =>
    absolute(disk.stat(name)?.kind === "folder" ? name : dirname(splitName(disk, name)[0])),
  );
  let root = folders[0]!;
  while (!folders.every((folder) => `${folder}/`.startsWith(root === "/" ? "/" : `${root}/`))) root = dirname(root);
  return root;
}

class RestoreRun implements RestoreOutcome {
  readonly skipped: SkippedInput[] = [];
  readonly failed: SkippedInput[] = [];
  /** What could not be read to its end: which revisits are in it is not known. */
  readonly unread = new Set<string>();
  private readonly disk: Disk;
  private readonly options: RestoreRunOptions;

  constructor(disk: Disk, options: RestoreRunOptions) {
    this.disk = disk;
    this.options = options;
  }

  private readonly skip = (skipped: SkippedInput): void => {
    this.skipped.push(skipped);
    this.options.onSkip?.(skipped);
  };

  /** The inputs that the names stand for, each once, without those that are known already. */
  take(names: readonly string[], known: Set<string>): Input[] {
    return findInputs(this.disk, names, this.skip).filter((input) => {
      if (input.path === STANDARD_INPUT) throw new ArchiveError("HT_USAGE", "standard input cannot be restored");
      const key = this.keyOf(input);
      if (known.has(key)) return false;
      known.add(key);
      return true;
    });
  }

  keyOf({ path, entries }: Input): string {
    return [this.disk.stat(path)?.identity ?? path, ...entries].join("!");
  }

  async plan(inputs: readonly Input[], scratch: string): Promise<RestorePlan> {
    const { options } = this;
    return await planRestore(this.disk, inputs, {
      threads: options.threads ?? 1,
      scratch,
      onWarning: options.onWarning,
      onProgress: ({ bytesDone, bytesTotal }) => this.progress("reading", bytesDone, bytesTotal),
      onSkip: (skipped) => {
        this.skip(skipped);
        // What is no archive holds no revisits.
        if (skipped.error.code !== "HT_FORMAT_UNKNOWN") this.unread.add(skipped.name);
      },
    });
  }

  private progress(stage: RestoreProgress["stage"], done: number, total: number): void {
    this.options.onProgress?.({ stage, done, total });
  }

  async doJobs<J extends Job>(jobs: readonly J[], onResult: (result: StageResult<J>) => void): Promise<void> {
    const { disk, options } = this;
    for (const folder of new Set(jobs.map((job) => dirname(job.output)))) {
      // The output folder itself was cleared before the scratch folder was made in it.
      if (folder !== options.output && disk.stat(folder) !== undefined) removeLeftovers(disk, folder);
    }
    const total = jobs.reduce((sum, { size }) => sum + size, 0);
    const partly = new Map<J, number>();
    let finished = 0;
    const show = () => {
      let done = finished;
      for (const bytes of partly.values()) done += bytes;
      this.progress("restoring", done, total);
    };
    await runStageJobs(disk, jobs, options.threads ?? 1, {
      onWarning: (warning) => options.onWarning?.(warning),
      onProgress: (job, bytes) => {
        partly.set(job, bytes);
        show();
      },
      onResult: (job, result) => {
        partly.delete(job);
        finished += job.size;
        if (result instanceof ArchiveError) this.fail(job, result);
        else onResult(result);
        show();
      },
    });
  }

  private fail({ name }: Job, error: ArchiveError): void {
    if (error.code === "HT_NO_SPACE") {
      const message = `${error.message}. What is finished stays; run the same command again to go on`;
      throw new ArchiveError("HT_NO_SPACE", message, error.place);
    }
    const failed = { name, error };
    this.failed.push(failed);
    this.options.onFail?.(failed);
  }
}
