/**
 * From the sorted manifest of a job to its plan: payloads are compared stretch by stretch on as many threads as there are,
 * then it is decided over every line. A plan that was made elsewhere takes the place of both.
 */
import { ArchiveError } from "../base/index.ts";
import type { Disk } from "../disk/index.ts";
import type { DedupOptions } from "./dedup.ts";
import { PlanFigures } from "./dedup-report.ts";
import type { Input } from "./inputs.ts";
import type { JobFolder } from "./job-folder.ts";
import { readKnown } from "./known-index.ts";
import { LineSorter } from "./line-sorter.ts";
import { BY_PLACE, formatManifestLine, fromSortable, isCopy, toSortableByPlace } from "./manifest-line.ts";
import { type PlannedLine, Planner } from "./plan.ts";
import { takePlan } from "./plan-intake.ts";
import { cutByDigest, type ResolveJob } from "./resolve-job.ts";
import { runStageJobs } from "./stage-pool.ts";
import { sortManifests } from "./stages.ts";

/** A line of a manifest has more bytes than this. */
const LINE_SIZE_LEAST = 100;

export class PlanRun {
  private readonly disk: Disk;
  private readonly job: JobFolder;
  private readonly inputs: readonly Input[];
  private readonly options: DedupOptions;
  private readonly threads: number;
  private planner: Planner | undefined;
  /** The parts of the manifest that the planner has looked at, from the first on. */
  private lookedAt = 0;

  constructor(disk: Disk, job: JobFolder, inputs: readonly Input[], options: DedupOptions, threads: number) {
    this.disk = disk;
    this.job = job;
    this.inputs = inputs;
    this.options = options;
    this.threads = threads;
  }

  private stretches(): { start: number; end: number }[] {
    return cutByDigest(this.disk, this.job.file("sorted.tsv"), this.job.state.stretchSize);
  }

  async compare(): Promise<void> {
    const { disk, job, options } = this;
    if (!job.state.settings.compare) return;
    const manifest = job.file("sorted.tsv");
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
        }),
      )
      .filter(({ output }) => disk.stat(output) === undefined);
    const total = all.at(-1)?.end ?? 0;
    let done = total - jobs.reduce((sum, { start, end }) => sum + end - start, 0);
    const names = all.map((_, i) => stretchName(i));
    await runStageJobs(disk, jobs, this.threads, {
      onWarning: (warning) => options.onWarning?.(warning),
      onResult: ({ start, end }, result) => {
        if (result instanceof ArchiveError) throw result;
        done += end - start;
        options.onProgress?.({ stage: "comparing", done, total, saved: 0 });
        // The threads are at work on the rest meanwhile.
        this.look(names, total);
      },
    });
  }

  /** Shows the planner the parts that are there. */
  private look(names: readonly string[], manifestSize: number): Planner {
    const { disk, job } = this;
    const { policy, known } = job.state.settings;
    const lines = known.length > 0 ? {} : { lines: manifestSize / LINE_SIZE_LEAST };
    this.planner ??= new Planner(disk, policy, { scratchParent: job.path, ...lines });
    for (; this.lookedAt < names.length; this.lookedAt++) {
      const name = names[this.lookedAt]!;
      if (!job.has(name)) break;
      for (const line of job.lines(name)) this.planner.look(line, name);
    }
    return this.planner;
  }

  /** Figures where a plan was made, and not by an earlier run. */
  plan(): PlanFigures | undefined {
    const { disk, job } = this;
    const options = { scratchParent: job.path };
    if (job.has("plan.tsv")) {
      const copies = { name: "plan.tsv", lines: this.copies() };
      job.makeLines("copies.tsv", () => sortManifests(disk, [copies], BY_PLACE, options));
      return undefined;
    }
    const figures = new PlanFigures();
    using copies = new LineSorter(disk, options);
    job.makeLines("plan.tsv", () => this.planLines(figures, copies));
    job.makeLines("copies.tsv", () => inPlaceOrder(copies));
    return figures;
  }

  private *planLines(figures: PlanFigures, copies: LineSorter): Generator<string> {
    const { plan } = this.options;
    for (const { line, text } of plan === undefined ? this.planned() : this.taken(plan)) {
      figures.add(line);
      if ((line.copy ?? 0) > 1) copies.add(toSortableByPlace(text, line));
      yield text;
    }
  }

  private *taken(path: string): Generator<Pick<PlannedLine, "line" | "text">> {
    const look = this.options.prove !== false;
    for (const line of takePlan(this.disk, path, this.inputs, look)) yield { line, text: formatManifestLine(line) };
  }

  private *planned(): Generator<PlannedLine> {
    const { disk, job } = this;
    const { compare, known, digest } = job.state.settings;
    const stretches = this.stretches();
    const names = compare ? stretches.map((_, i) => stretchName(i)) : ["sorted.tsv"];
    using planner = this.look(names, stretches.at(-1)?.end ?? 0);
    for (const path of known) planner.addIndex(path, readKnown(disk, path), digest);
    if (planner.passedOver > 0) {
      const message = `passed over ${planner.passedOver} known captures that lie in the files of the job themselves`;
      this.options.onTell?.(message);
    }
    yield* planner.planned(allLines(job, names));
  }

  private *copies(): Generator<string> {
    for (const line of this.job.lines("plan.tsv")) if (isCopy(line)) yield line;
  }
}

function* allLines(job: JobFolder, names: readonly string[]): Generator<string> {
  for (const name of names) yield* job.lines(name);
}

function* inPlaceOrder(copies: LineSorter): Generator<string> {
  for (const sortable of copies.sortedLines()) yield fromSortable(sortable, BY_PLACE);
}

function stretchName(i: number): string {
  return `resolved/${String(i + 1).padStart(6, "0")}.tsv`;
}
