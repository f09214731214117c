/**
 * The last stage of a job: every file rewritten, or copied where the output is a folder of its own, on as many threads as
 * there are. A file that fails takes back what was written with references to it.
 */
import { dirname } from "node:path";
import { ArchiveError } from "../base/index.ts";
import type { Disk } from "../disk/index.ts";
import type { DedupOptions } from "./dedup.ts";
import { PlanFigures } from "./dedup-report.ts";
import { isUrl } from "./http-source.ts";
import type { Input, SkippedInput } from "./inputs.ts";
import { fileOf, isRewritten, isUnchanged, type JobFile, loadJobFiles } from "./job-files.ts";
import { DRAFT, type JobFolder } from "./job-folder.ts";
import { type Ledger, readLedger } from "./ledger.ts";
import { Column, formatColumn } from "./manifest-line.ts";
import type { RewriteJob, RewriteResult } from "./rewrite-job.ts";
import type { StageThreads } from "./stage-pool.ts";
import { readTextLines } from "./text-lines.ts";

export interface Rewritten {
  /** What became of each file, by its name. */
  readonly results: ReadonlyMap<string, RewriteResult>;
  readonly figures: PlanFigures;
}

/** What a byte of the plan costs to carry out, in bytes of a file that are copied: about 60 microseconds a line. */
const COPY_COST = 100;

/** Two contents with one of these can be made. */
const WEAK_DIGESTS: ReadonlySet<string> = new Set(["md5", "sha1"]);

export class RewriteRun {
  /** Bytes that the rest takes, where there was no space for it. */
  needed: number | undefined;
  private readonly disk: Disk;
  private readonly job: JobFolder;
  private readonly remote: readonly string[];
  private readonly options: DedupOptions;
  private readonly skipped: SkippedInput[];
  private readonly threads: StageThreads;
  private saved = 0;

  constructor(
    disk: Disk,
    job: JobFolder,
    inputs: readonly Input[],
    options: DedupOptions,
    skipped: SkippedInput[],
    threads: StageThreads,
  ) {
    this.disk = disk;
    this.job = job;
    this.remote = inputs.filter(({ path }) => isUrl(path)).map(({ name }) => formatColumn(name));
    this.options = options;
    this.skipped = skipped;
    this.threads = threads;
  }

  private files(): ReadonlyMap<string, JobFile> {
    return loadJobFiles(this.disk, this.job.file("files.jsonl"));
  }

  /** Of the file that a record lies in. */
  private nameOf(name: string): string {
    return fileOf(this.files(), name)?.name ?? name;
  }

  /** Rewrites what is still to be done. Figures are those of the plan. */
  async run(planned: PlanFigures): Promise<Rewritten> {
    const { job } = this;
    const results = new Map<string, RewriteResult>();
    const failed = new Set<string>(this.skipped.map(({ name }) => this.nameOf(formatColumn(name))));
    const stretches = this.stretchesByFile();
    const uncounted = new Set(stretches.keys());
    let figures = planned;
    const count = (name: string) => {
      if (uncounted.delete(name)) figures.addRewritten(this.copies(stretches.get(name)!), this.ledgerOf(name, results));
    };
    let queue = this.rewriteJobs(stretches, failed, results);
    while (queue.length > 0) {
      const before = failed.size;
      // Counted at once: the threads are at work on the next files.
      await this.runRewrites(queue, results, failed, count);
      // What was written before a file failed may refer to it: those are written again without such references.
      queue = failed.size > before ? this.undoReferring(stretches, failed, results) : [];
      if (queue.length === 0) continue;
      figures = PlanFigures.of(job.lines("plan.tsv"));
      for (const name of stretches.keys()) uncounted.add(name);
    }
    for (const name of uncounted) count(name);
    return { results, figures };
  }

  private copies({ start, end }: { start: number; end: number }): Generator<string> {
    return readTextLines(this.disk, this.job.file("copies.tsv"), start, end);
  }

  private ledgerOf(name: string, results: ReadonlyMap<string, RewriteResult>): Ledger | undefined {
    const file = results.has(name) ? this.files().get(name) : undefined;
    return file === undefined ? undefined : readLedger(this.disk, file.ledger);
  }

  private rewriteJobs(
    stretches: ReadonlyMap<string, { start: number; end: number }>,
    failed: ReadonlySet<string>,
    results: Map<string, RewriteResult>,
  ): RewriteJob[] {
    const { disk, job } = this;
    const inPlace = job.state.settings.output === undefined;
    const dryRun = this.options.dryRun === true;
    const jobs: RewriteJob[] = [];
    for (const file of this.files().values()) {
      const stretch = stretches.get(file.name) ?? { start: 0, end: 0 };
      const done = dryRun ? undefined : doneBefore(disk, file);
      if (done !== undefined) results.set(file.name, done);
      else if (failed.has(file.name) && stretch.start === stretch.end && inPlace) continue;
      else if (inPlace && stretch.start === stretch.end && isUnchanged(disk, file)) {
        results.set(file.name, { replaced: 0, claims: 0, left: {}, bytesBefore: file.size, bytesAfter: file.size });
      } else jobs.push(this.rewriteJob(file, stretch, failed));
    }
    // The longest first, so that no thread is left alone with it at the end.
    const cost = ({ file, start, end }: RewriteJob) => this.files().get(file)!.size + COPY_COST * (end - start);
    return jobs.sort((one, other) => cost(other) - cost(one));
  }

  private rewriteJob(
    file: JobFile,
    { start, end }: { start: number; end: number },
    failed: ReadonlySet<string>,
  ): RewriteJob {
    const { plan, output, known, originals, policy } = this.job.state.settings;
    const { minSaving = 1 } = policy;
    const prove = this.options.prove !== false;
    const isOutside = plan !== undefined || known.length > 0;
    return {
      kind: "rewrite",
      file: file.name,
      files: this.job.file("files.jsonl"),
      copies: this.job.file("copies.tsv"),
      start,
      end,
      minSaving: minSaving === "none" ? Number.NEGATIVE_INFINITY : Math.max(1, minSaving),
      dryRun: this.options.dryRun === true,
      missing: [...failed],
      prove,
      compare: prove && !this.isCompared(),
      remote: this.remote,
      originals: isOutside ? { folders: originals ?? [] } : {},
      believe: output !== undefined || this.options.dryRun === true,
    };
  }

  /** Whether every copy was compared with its original in this run, or has its strong digest. */
  private isCompared(): boolean {
    const { plan, output, compare, digest } = this.job.state.settings;
    if (this.job.resumed || plan !== undefined) return false;
    return compare || output !== undefined || !WEAK_DIGESTS.has(digest);
  }

  private async runRewrites(
    jobs: readonly RewriteJob[],
    results: Map<string, RewriteResult>,
    failed: Set<string>,
    onDone: (name: string) => void,
  ): Promise<void> {
    const { disk } = this;
    const files = this.files();
    const sizeOf = (job: RewriteJob) => files.get(job.file)!.size;
    const total = jobs.reduce((sum, job) => sum + sizeOf(job), 0);
    const partly = new Map<string, number>();
    let finished = 0;
    const show = () =>
      this.options.onProgress?.({
        stage: "rewriting",
        done: finished + sum(partly.values()),
        total,
        saved: this.saved,
      });
    for (const job of jobs) if (!job.dryRun) disk.makeFolder(dirname(files.get(job.file)!.output));
    await this.threads.run(jobs, {
      onProgress: (job, bytes) => {
        partly.set(job.file, bytes);
        show();
      },
      onResult: (job, result) => {
        partly.delete(job.file);
        finished += sizeOf(job);
        if (result instanceof ArchiveError) this.fail(job, result, failed, total - finished + sizeOf(job));
        else {
          results.set(job.file, result);
          this.saved += result.bytesBefore - result.bytesAfter;
          onDone(job.file);
        }
        show();
      },
    });
  }

  private fail(job: RewriteJob, error: ArchiveError, failed: Set<string>, needed: number): void {
    if (error.code === "HT_NO_SPACE") {
      this.needed = needed;
      throw error;
    }
    const file = this.files().get(job.file)!;
    if (!job.dryRun) this.disk.remove(file.ledger + DRAFT);
    // Of a run that was stopped before the file got its name, or of this one.
    if (!job.dryRun && !isRewritten(this.disk, file)) this.disk.remove(file.ledger);
    failed.add(job.file);
    const skipped = { name: job.file, error };
    if (this.skipped.some(({ name }) => name === job.file)) return;
    this.skipped.push(skipped);
    this.options.onSkip?.(skipped);
  }

  /** Outputs that refer to records of files that failed, taken back; as jobs to be done again. */
  private undoReferring(
    stretches: ReadonlyMap<string, { start: number; end: number }>,
    failed: ReadonlySet<string>,
    results: Map<string, RewriteResult>,
  ): RewriteJob[] {
    const { disk, job } = this;
    if (job.state.settings.output === undefined) return [];
    const jobs: RewriteJob[] = [];
    for (const file of this.files().values()) {
      const stretch = stretches.get(file.name);
      if (stretch === undefined || failed.has(file.name) || !results.has(file.name)) continue;
      if (!this.refersTo(stretch, failed)) continue;
      disk.remove(file.output);
      // An output without its ledger would stand in its own way.
      disk.syncFolder(dirname(file.output));
      disk.remove(file.ledger);
      results.delete(file.name);
      jobs.push(this.rewriteJob(file, stretch, failed));
    }
    return jobs;
  }

  private refersTo(stretch: { start: number; end: number }, failed: ReadonlySet<string>): boolean {
    for (const line of this.copies(stretch)) {
      const original = line.split("\t", Column.originalFile + 1)[Column.originalFile];
      if (original !== undefined && failed.has(this.nameOf(original))) return true;
    }
    return false;
  }

  /** Which bytes of the sorted copies are whose. */
  private stretchesByFile(): Map<string, { start: number; end: number }> {
    const stretches = new Map<string, { start: number; end: number }>();
    let position = 0;
    for (const line of this.job.lines("copies.tsv")) {
      const file = line.slice(0, line.indexOf("\t"));
      const size = Buffer.byteLength(line) + 1;
      const there = stretches.get(file);
      if (there === undefined) stretches.set(file, { start: position, end: position + size });
      else there.end = position + size;
      position += size;
    }
    return stretches;
  }
}

function sum(values: Iterable<number>): number {
  let total = 0;
  for (const value of values) total += value;
  return total;
}

/** What an earlier run made of the file, as its ledger tells; absent where it is still to be done. */
function doneBefore(disk: Disk, file: JobFile): RewriteResult | undefined {
  const ledger = readLedger(disk, file.ledger);
  if (ledger === undefined) return undefined;
  const { output } = ledger.head;
  if (disk.stat(file.output)?.sizeBytes !== output.size) return undefined;
  if (file.output === file.path && isUnchanged(disk, file)) return undefined;
  let replaced = 0;
  for (const _ of ledger.entries) replaced++;
  const left: Record<string, number> = {};
  for (const { reason } of ledger.left) left[reason] = (left[reason] ?? 0) + 1;
  return { replaced, claims: ledger.claims(), left, bytesBefore: file.size, bytesAfter: output.size };
}
