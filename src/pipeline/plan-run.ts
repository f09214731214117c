/**
 * From the manifest of a job to its plan. What must be known of all lines is gathered as they are read; payloads are
 * compared stretch by stretch on as many threads as there are, and it is decided over each stretch while the threads are
 * at work on the next ones. A plan that was made elsewhere takes the place of all that.
 */
import { ArchiveError } from "../base/index.ts";
import { type Disk, DurableOutput } from "../disk/index.ts";
import type { DedupOptions } from "./dedup.ts";
import { PlanFigures } from "./dedup-report.ts";
import type { Input } from "./inputs.ts";
import type { JobFolder } from "./job-folder.ts";
import { readKnown } from "./known-index.ts";
import { LineSorter } from "./line-sorter.ts";
import { BY_PLACE, formatColumn, fromSortable, isCopy, splitLine, toSortableByPlace } from "./manifest-line.ts";
import { mayHaveZstd } from "./part.ts";
import { OVERFULL, type PlannedLine, Planner } from "./plan.ts";
import { takePlan } from "./plan-intake.ts";
import { cutByDigest, type ResolveJob } from "./resolve-job.ts";
import type { StageThreads } from "./stage-pool.ts";
import { sortManifests } from "./stages.ts";

/** A record that a line stands for takes more bytes than this, mostly. */
const RECORD_SIZE_LEAST = 1000;
/** A line of a manifest has more bytes than this. */
const LINE_SIZE_LEAST = 100;

export class PlanRun implements Disposable {
  private readonly disk: Disk;
  private readonly job: JobFolder;
  private readonly inputs: readonly Input[];
  private readonly options: DedupOptions;
  private readonly threads: StageThreads;
  /** Has been shown every line of the manifest. */
  private planner: Planner | undefined;
  private output: PlanOutput | undefined;
  /** How many stretches it has been decided over, from the first on. */
  private planned = 0;

  constructor(disk: Disk, job: JobFolder, inputs: readonly Input[], options: DedupOptions, threads: StageThreads) {
    this.disk = disk;
    this.job = job;
    this.inputs = inputs;
    this.options = options;
    this.threads = threads;
  }

  /** What lines of the manifest are shown to as they are read, in any order. */
  look(): Planner {
    const bytes = this.inputs.reduce((sum, { size = 0 }) => sum + size, 0);
    return this.begin(bytes / RECORD_SIZE_LEAST);
  }

  private begin(lines: number): Planner {
    this.forget();
    const { policy, known } = this.job.state.settings;
    const room = known.length > 0 ? {} : { lines };
    const packed = new Set(
      this.inputs.filter(({ entries }) => entries.length > 0).map(({ name }) => formatColumn(name)),
    );
    this.planner = new Planner(this.disk, policy, { scratchParent: this.job.path, packed, ...room });
    return this.planner;
  }

  /** Some of what was shown takes no part after all, or all is planned. */
  forget(): void {
    this.planner?.[Symbol.dispose]();
    this.planner = undefined;
  }

  private lookedPlanner(): Planner {
    if (this.planner !== undefined) return this.planner;
    const planner = this.begin(this.disk.stat(this.job.file("sorted.tsv"))!.sizeBytes / LINE_SIZE_LEAST);
    for (const line of this.job.lines("sorted.tsv")) planner.look(splitLine(line, "sorted.tsv"), "sorted.tsv");
    return planner;
  }

  private stretches(): { start: number; end: number }[] {
    return cutByDigest(this.disk, this.job.file("sorted.tsv"), this.job.state.stretchSize);
  }

  async compare(): Promise<void> {
    const { disk, job, options } = this;
    if (!job.state.settings.compare) return;
    const manifest = job.file("sorted.tsv");
    const zstd = mayHaveZstd(disk, this.inputs);
    const all = this.stretches();
    const jobs = all
      .map(
        ({ start, end }, i): ResolveJob => ({
          kind: "resolve",
          manifest,
          start,
          end,
          output: job.file(stretchName(i)),
          locator: {},
          zstd,
        }),
      )
      .filter(({ output }) => disk.stat(output) === undefined);
    const total = all.at(-1)?.end ?? 0;
    let done = total - jobs.reduce((sum, { start, end }) => sum + end - start, 0);
    const names = all.map((_, i) => stretchName(i));
    const ordered = new Set<string>();
    await this.threads.run(jobs, {
      onWarning: (warning) => options.onWarning?.(warning),
      onResult: ({ start, end, output }, result) => {
        if (result instanceof ArchiveError) throw result;
        if (result.isOrdered) ordered.add(output);
        done += end - start;
        options.onProgress?.({ stage: "comparing", done, total, saved: 0 });
        // The threads are at work on the rest meanwhile.
        if (job.state.settings.known.length === 0) this.planStretches(names, ordered);
      },
    });
    if (job.state.settings.known.length === 0) this.planStretches(names, ordered);
  }

  /** Decides over the stretches that are there, and of which all before are. */
  private planStretches(names: readonly string[], ordered: ReadonlySet<string>): void {
    const { job } = this;
    const planner = this.lookedPlanner();
    this.output ??= new PlanOutput(this.disk, job);
    for (let name = names[this.planned]; name !== undefined && job.has(name); name = names[++this.planned]) {
      const isOrdered = ordered.has(job.file(name));
      for (const planned of planner.plannedStretch(job.lines(name), isOrdered)) this.output.add(planned);
    }
  }

  /** Figures where a plan was made, and not by an earlier run. */
  plan(): PlanFigures | undefined {
    const { disk, job } = this;
    if (job.has("plan.tsv")) {
      const copies = { name: "plan.tsv", lines: this.copies() };
      job.makeLines("copies.tsv", () => sortManifests(disk, [copies], BY_PLACE, { scratchParent: job.path }));
      return undefined;
    }
    this.output ??= new PlanOutput(disk, job);
    for (const planned of this.rest()) this.output.add(planned);
    if (this.planner?.isOverfull === true) this.options.onTell?.(OVERFULL);
    this.forget();
    return this.output.finish();
  }

  /** What has not been planned yet. */
  private rest(): Iterable<Pick<PlannedLine, "line" | "text">> {
    const { plan } = this.options;
    const { compare, known } = this.job.state.settings;
    if (plan !== undefined) return takePlan(this.disk, plan, this.inputs);
    if (known.length > 0) return this.plannedWithKnown();
    return compare ? [] : this.lookedPlanner().plannedStretch(this.job.lines("sorted.tsv"), true);
  }

  private *plannedWithKnown(): Generator<PlannedLine> {
    const { disk, job } = this;
    const { compare, known, digest } = job.state.settings;
    const names = compare ? this.stretches().map((_, i) => stretchName(i)) : ["sorted.tsv"];
    const planner = this.begin(Number.POSITIVE_INFINITY);
    for (const name of names) for (const line of job.lines(name)) planner.add(line, name);
    for (const path of known) planner.addIndex(path, readKnown(disk, path), digest);
    if (planner.passedOver > 0) {
      const message = `passed over ${planner.passedOver} known captures that lie in the files of the job themselves`;
      this.options.onTell?.(message);
    }
    yield* planner.planned();
  }

  private *copies(): Generator<string> {
    for (const line of this.job.lines("plan.tsv")) if (isCopy(line)) yield line;
  }

  [Symbol.dispose](): void {
    this.forget();
    this.output?.[Symbol.dispose]();
  }
}

const WRITE_SIZE = 1 << 16;

/** A plan in the making: its file, its copies in the order of their places, and its figures. */
class PlanOutput implements Disposable {
  private readonly job: JobFolder;
  private readonly file: DurableOutput;
  private readonly copies: LineSorter;
  private readonly figures = new PlanFigures();
  private text = "";

  constructor(disk: Disk, job: JobFolder) {
    this.job = job;
    this.file = DurableOutput.begin(disk, job.file("plan.tsv"), { replace: true });
    this.copies = new LineSorter(disk, { scratchParent: job.path });
  }

  add({ line, text }: Pick<PlannedLine, "line" | "text">): void {
    this.figures.add(line);
    if ((line.copy ?? 0) > 1) this.copies.add(toSortableByPlace(text, line));
    this.text += `${text}\n`;
    if (this.text.length > WRITE_SIZE) this.flush();
  }

  private flush(): void {
    this.file.write(Buffer.from(this.text));
    this.text = "";
  }

  /** Both files are there then. */
  finish(): PlanFigures {
    this.flush();
    this.file.commit();
    this.job.makeText("copies.tsv", () => this.copies.sorted((sortable) => fromSortable(sortable, BY_PLACE)));
    this[Symbol.dispose]();
    return this.figures;
  }

  [Symbol.dispose](): void {
    this.file.abort();
    this.copies[Symbol.dispose]();
  }
}

function stretchName(i: number): string {
  return `resolved/${String(i + 1).padStart(6, "0")}.tsv`;
}
