/** One run over a job: does the stages whose results are not there yet, one after the other. */
import { availableParallelism } from "node:os";
import { dirname } from "node:path";
import { ArchiveError, type DigestAlgorithm } from "../base/index.ts";
import { createDurably, type Disk, removeLeftovers } from "../disk/index.ts";
import type { DedupOptions, DedupResult, DedupStage } from "./dedup.ts";
import { PlanFigures, reportJob } from "./dedup-report.ts";
import type { Input, SkippedInput } from "./inputs.ts";
import { isRewritten, type JobFile, loadJobFiles } from "./job-files.ts";
import type { JobFolder } from "./job-folder.ts";
import { GroupParts, partName, readFindings, type ToldSkip, toldOf } from "./manifest-groups.ts";
import { BY_DIGEST, isRevisit } from "./manifest-line.ts";
import { loadSight } from "./plan-intake.ts";
import { PlanRun } from "./plan-run.ts";
import type { RewriteResult } from "./rewrite-job.ts";
import { RewriteRun } from "./rewrite-run.ts";
import { runTask } from "./run.ts";
import { sortManifests } from "./stages.ts";

/** Inputs are read in groups of about this size; a run that was stopped begins its last group again. */
const GROUP_SIZE = 64 << 20;
const INTERMEDIATE = ["manifest", "sorted.tsv", "resolved", "plan.tsv", "copies.tsv"] as const;

export class DedupRun {
  private readonly disk: Disk;
  private readonly job: JobFolder;
  private readonly inputs: readonly Input[];
  private readonly options: DedupOptions;
  private readonly skipped: SkippedInput[];
  private readonly threads: number;
  private readonly planning: PlanRun;
  private readonly rewriting: RewriteRun;
  private damage = 0;

  constructor(disk: Disk, job: JobFolder, inputs: readonly Input[], options: DedupOptions, skipped: SkippedInput[]) {
    this.disk = disk;
    this.job = job;
    this.inputs = inputs;
    this.options = options;
    this.skipped = skipped;
    this.threads = options.threads ?? availableParallelism();
    this.planning = new PlanRun(disk, job, inputs, options, this.threads);
    this.rewriting = new RewriteRun(disk, job, options, skipped, this.threads);
  }

  async run(): Promise<DedupResult> {
    const { job } = this;
    if (job.has("report.json")) return this.finished();
    this.sayWhere();
    try {
      return await this.goOn();
    } catch (error) {
      if (!(error instanceof ArchiveError) || error.code !== "HT_NO_SPACE") throw error;
      const needed = `up to ${this.rewriting.needed ?? this.estimateNeeded()} bytes are needed for the rest`;
      const message = `${error.message}; ${needed}. What is finished stays; run the same command again to go on`;
      throw new ArchiveError("HT_NO_SPACE", message, error.place, error);
    }
  }

  private async goOn(): Promise<DedupResult> {
    const { job } = this;
    if (this.options.dryRun !== true) this.removeUnfinished();
    if (job.has("plan.tsv")) this.takeFindings();
    else if (this.options.plan !== undefined) await loadSight();
    else {
      await this.makeManifest();
      this.sort();
      await this.planning.compare();
    }
    const figures = this.planning.plan();
    const results = await this.rewriting.run();
    return this.report(results, figures ?? PlanFigures.of(job.lines("plan.tsv")));
  }

  /** What runs that were killed left beside the outputs: on a full disk it would be in the way. */
  private removeUnfinished(): void {
    const folders = new Set([...this.files().values()].map(({ output }) => dirname(output)));
    for (const folder of folders) if (this.disk.stat(folder) !== undefined) removeLeftovers(this.disk, folder);
  }

  /** Before anything is rewritten: the outputs (in place, one at a time for each thread), and the lists of records. */
  private estimateNeeded(): number {
    const sizes = [...this.files().values()].map(({ size }) => size);
    const sum = (values: readonly number[]) => values.reduce((total, value) => total + value, 0);
    const total = sum(sizes);
    const atOnce = sizes.sort((a, b) => b - a).slice(0, this.threads);
    return (this.job.state.settings.output === undefined ? sum(atOnce) : total) + Math.ceil(total / 10);
  }

  private tell(message: string): void {
    this.options.onTell?.(message);
  }

  private progress(stage: DedupStage, done: number, total: number): void {
    this.options.onProgress?.({ stage, done, total, saved: 0 });
  }

  /** What an earlier run left, in words. */
  private sayWhere(): void {
    const { job } = this;
    if (!job.resumed) return;
    const stage = job.has("copies.tsv")
      ? "rewriting"
      : job.has("plan.tsv")
        ? "planning"
        : job.has("sorted.tsv")
          ? "comparing"
          : "reading";
    this.tell(`going on with the job in ${job.path}: ${stage}`);
  }

  private finished(): DedupResult {
    const { job } = this;
    this.tell(`the job in ${job.path} is finished; nothing is left to do`);
    const [line] = job.lines("result.json");
    const { skipped, ...result } = JSON.parse(line!) as Omit<DedupResult, "skipped" | "resumed"> & {
      skipped: readonly ToldSkip[];
    };
    for (const told of skipped) this.skip(told);
    if (job.state.settings.output !== undefined) this.lookForOutputs();
    if (this.options.keep !== true && INTERMEDIATE.some((name) => job.has(name))) job.clear(INTERMEDIATE);
    return { ...result, resumed: true, skipped: this.skipped };
  }

  /** A job is finished, but its outputs may have gone since. */
  private lookForOutputs(): void {
    for (const file of this.files().values()) {
      if (isRewritten(this.disk, file)) continue;
      const message = `${file.output}: not there as the job left it; to make it again choose another folder with -o`;
      this.skip({ name: file.name, code: "HT_NOT_FOUND", message });
    }
  }

  /** The inputs in groups, the same in every run. */
  private groups(): Input[][] {
    const sizes = new Map([...this.files().values()].map((file) => [file.path, file.size]));
    const groups: Input[][] = [];
    let size = GROUP_SIZE;
    for (const input of this.inputs) {
      if (size >= GROUP_SIZE) {
        groups.push([]);
        size = 0;
      }
      groups.at(-1)!.push(input);
      size += input.entries.length === 0 ? (sizes.get(input.path) ?? 0) : (input.size ?? 0);
    }
    return groups;
  }

  private files(): ReadonlyMap<string, JobFile> {
    return loadJobFiles(this.disk, this.job.file("files.jsonl"));
  }

  private async makeManifest(): Promise<void> {
    const { disk, job, threads } = this;
    if (job.has("sorted.tsv")) return;
    const groups = this.groups();
    const left = groups.map((group, i) => ({ group, part: partName(i) })).filter(({ part }) => !job.has(part));
    const inputs = left.flatMap(({ group }) => group);
    if (inputs.length === 0) return;
    const parts = new GroupParts(disk, job, left);
    try {
      const digest = job.state.settings.digest as DigestAlgorithm;
      await runTask(
        disk,
        inputs,
        { kind: "manifest", options: { digest, revisits: true } },
        {
          threads,
          onText: (text) => parts.write(text),
          onSkip: (skipped) => parts.skip(skipped),
          onWarning: (warning) => {
            parts.warn(warning);
            this.options.onWarning?.(warning);
          },
          onProgress: ({ bytesDone, bytesTotal }) => this.progress("reading", bytesDone, bytesTotal),
          onInputDone: () => parts.done(),
        },
      );
    } finally {
      parts[Symbol.dispose]();
    }
  }

  /**
   * What this run and earlier ones found when they read the files. Of those that could not be read to their end no record
   * takes part.
   */
  private takeFindings(): Set<string> {
    const names = new Set<string>();
    for (const [i] of this.groups().entries()) {
      const { skipped, damage } = readFindings(this.job, i);
      this.damage += damage;
      for (const told of skipped) {
        names.add(told.name);
        this.skip(told);
      }
    }
    return names;
  }

  /** Tells once that an input was left out. */
  private skip({ name, code, message }: ToldSkip): void {
    if (this.skipped.some((other) => other.name === name)) return;
    const skipped = { name, error: new ArchiveError(code, message, { file: name }) };
    this.skipped.push(skipped);
    this.options.onSkip?.(skipped);
  }

  private sort(): void {
    const { job } = this;
    const left = this.takeFindings();
    const manifest = { name: "manifest", lines: this.manifestLines(left) };
    job.makeLines("sorted.tsv", () => sortManifests(this.disk, [manifest], BY_DIGEST, { scratchParent: job.path }));
  }

  private *manifestLines(left: ReadonlySet<string>): Generator<string> {
    for (const [i] of this.groups().entries()) {
      for (const line of this.job.lines(partName(i))) {
        // What the revisits of a file that is left out refer to has to stay all the same.
        if (left.size === 0 || !left.has(line.slice(0, line.indexOf("\t"))) || isRevisit(line)) yield line;
      }
    }
  }

  private report(results: ReadonlyMap<string, RewriteResult>, figures: PlanFigures): DedupResult {
    const { disk, job, options } = this;
    this.progress("reporting", 0, 1);
    const dryRun = options.dryRun === true;
    const { json, html, counts } = reportJob(disk, job, figures, [...this.files().values()], results, options);
    const result = {
      ...counts,
      damage: this.damage,
      job: job.path,
      report: dryRun ? undefined : { json: job.file("report.json"), html: job.file("report.html") },
    };
    if (!dryRun) {
      const write = (name: string, text: string) =>
        createDurably(disk, job.file(name), (output) => output.write(Buffer.from(text)), { replace: true });
      write("report.html", html);
      write("result.json", `${JSON.stringify({ ...result, skipped: this.skipped.map(toldOf) })}\n`);
      write("report.json", json);
      if (options.keep !== true) job.clear(INTERMEDIATE);
    }
    return { ...result, resumed: job.resumed, skipped: this.skipped };
  }
}
