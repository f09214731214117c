/** One run over a job: does the stages whose results are not there yet, one after the other. */
import { dirname } from "node:path";
import { ArchiveError, type DigestAlgorithm } from "../base/index.ts";
import { createDurably, type Disk, removeLeftovers } from "../disk/index.ts";
import { encodeText } from "../warc/index.ts";
import type { DedupOptions, DedupResult, DedupStage } from "./dedup.ts";
import { PlanFigures, reportJob } from "./dedup-report.ts";
import type { Input, SkippedInput } from "./inputs.ts";
import { fileOf, isRewritten, type JobFile, loadJobFiles } from "./job-files.ts";
import type { JobFolder } from "./job-folder.ts";
import { LineSorter } from "./line-sorter.ts";
import { GroupParts, partName, readFindings, type ToldSkip, toldOf } from "./manifest-groups.ts";
import { BY_DIGEST, formatColumn, fromSortable, isRevisit, splitLine, toSortable } from "./manifest-line.ts";
import { PlanRun } from "./plan-run.ts";
import { RewriteRun, type Rewritten } from "./rewrite-run.ts";
import { runTask } from "./run.ts";
import { StageThreads } from "./stage-pool.ts";
import { wholeLines } from "./text-lines.ts";
import { usefulThreads } from "./thread-count.ts";

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
  private readonly pool: StageThreads;
  private readonly planning: PlanRun;
  private readonly rewriting: RewriteRun;
  private damage = 0;

  constructor(disk: Disk, job: JobFolder, inputs: readonly Input[], options: DedupOptions, skipped: SkippedInput[]) {
    this.disk = disk;
    this.job = job;
    this.inputs = inputs;
    this.options = options;
    this.skipped = skipped;
    this.threads = options.threads ?? usefulThreads(inputs);
    this.pool = new StageThreads(disk, this.threads);
    this.planning = new PlanRun(disk, job, inputs, options, this.pool);
    this.rewriting = new RewriteRun(disk, job, inputs, options, skipped, this.pool);
  }

  async run(): Promise<DedupResult> {
    const { job } = this;
    // Also behind a run that finished: what it removed may be there again after a power cut.
    if (this.options.dryRun !== true) this.removeUnfinished();
    if (job.has("report.json")) return this.finished();
    this.sayWhere();
    await using _pool = this.pool;
    using _planning = this.planning;
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
    if (job.has("plan.tsv")) this.takeFindings();
    else if (this.options.plan !== undefined) this.pool.prepare(this.inputs.length);
    else {
      await this.makeManifest();
      await this.planning.compare();
    }
    const figures = this.planning.plan() ?? PlanFigures.of(job.lines("plan.tsv"));
    return this.report(await this.rewriting.run(figures));
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
    // Earlier versions did not count all of these.
    const uncounted = { claims: 0, fixed: [], copied: [], absent: [], sidecars: { names: [], copied: false } };
    return { ...uncounted, ...result, resumed: true, skipped: this.skipped };
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

  /** The manifest, sorted. Lines are sorted as they come, while the threads read on. */
  private async makeManifest(): Promise<void> {
    const { disk, job } = this;
    if (job.has("sorted.tsv")) {
      this.takeFindings();
      return;
    }
    using sorter = new LineSorter(disk, { scratchParent: job.path });
    const planner = this.planning.look();
    const take = (line: string, place: string) => {
      const columns = splitLine(line, place);
      planner.look(columns, place);
      sorter.add(toSortable(line, columns, BY_DIGEST));
    };
    const groups = this.groups().map((group, i) => ({ group, part: partName(i) }));
    for (const { part } of groups) if (job.has(part)) for (const line of job.lines(part)) take(line, part);
    await this.readGroups(
      groups.filter(({ part }) => !job.has(part)),
      (text) => {
        for (const line of wholeLines(text)) take(line, "manifest");
      },
    );
    const left = this.takeFindings();
    if (left.size > 0) this.planning.forget();
    const keep = keptLine(left);
    job.makeText("sorted.tsv", () => sorter.sorted((sortable) => keep(fromSortable(sortable, BY_DIGEST))));
  }

  private async readGroups(
    groups: readonly { readonly group: readonly Input[]; readonly part: string }[],
    onText: (text: string | Uint8Array) => void,
  ): Promise<void> {
    const { disk, job, pool, threads } = this;
    const inputs = groups.flatMap(({ group }) => group);
    if (inputs.length === 0) return;
    using parts = new GroupParts(disk, job, groups);
    const digest = job.state.settings.digest as DigestAlgorithm;
    await runTask(
      disk,
      inputs,
      { kind: "manifest", options: { digest, revisits: true } },
      {
        threads,
        pool,
        onText: (text) => {
          parts.write(text);
          onText(text);
        },
        onSkip: (skipped) => parts.skip(skipped),
        onWarning: (warning) => {
          parts.warn(warning);
          this.options.onWarning?.(warning);
        },
        onProgress: ({ bytesDone, bytesTotal }) => this.progress("reading", bytesDone, bytesTotal),
        onInputDone: () => parts.done(),
      },
    );
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

  /** Which inputs are in an output folder as they were, and which are not there. */
  private whereabouts(
    { fixedFiles }: PlanFigures,
    results: Rewritten["results"],
  ): Pick<DedupResult, "copied" | "absent" | "sidecars"> {
    const sidecars = { names: [], copied: false };
    if (this.job.state.settings.output === undefined) return { copied: [], absent: [], sidecars };
    const files = this.files();
    const unread = new Set(this.skipped.map(({ name }) => fileOf(files, formatColumn(name))?.name));
    const packed = new Set(
      this.inputs.filter(({ entries }) => entries.length > 0).map(({ path }) => formatColumn(path)),
    );
    const isCopied = (name: string) => unread.has(name) || packed.has(name) || fixedFiles.has(name);
    const there = [...files.values()].filter(({ name }) => results.has(name));
    const missing = [...files.values()].filter(({ name }) => !results.has(name)).map(({ path }) => path);
    const elsewhere = [...this.inputs, ...this.skipped]
      .map(({ name }) => name)
      .filter((name) => fileOf(files, formatColumn(name)) === undefined);
    const copied = there.filter(({ name }) => isCopied(name)).map(({ path }) => path);
    return { copied, absent: [...new Set([...missing, ...elsewhere])], sidecars };
  }

  private report({ results, figures }: Rewritten): DedupResult {
    const { disk, job, options } = this;
    this.progress("reporting", 0, 1);
    const dryRun = options.dryRun === true;
    const { json, html, counts } = reportJob(disk, job, figures, [...this.files().values()], results, options);
    const result = {
      ...counts,
      damage: this.damage,
      ...this.whereabouts(figures, results),
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

/** Leaves the records of these files out. What their revisits refer to has to stay. Lines are bytes as Latin-1. */
function keptLine(left: ReadonlySet<string>): (line: string) => string | undefined {
  if (left.size === 0) return (line) => line;
  const names = new Set([...left].map((name) => encodeText(formatColumn(name))));
  return (line) => (names.has(line.slice(0, line.indexOf("\t"))) && !isRevisit(line) ? undefined : line);
}
