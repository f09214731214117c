/** One run of `verify`: reads all files, compares them with their originals, leads revisits home, proves each of ours. */
import { ArchiveError, type DigestAlgorithm, type ErrorCode, type Warning } from "../../base/index.ts";
import type { Disk } from "../../disk/index.ts";
import type { Input, SkippedInput } from "../inputs.ts";
import { LineSorter, type LineSorterOptions } from "../line-sorter.ts";
import { runTask } from "../run.ts";
import { equalFiles } from "../sidecars.ts";
import { runStageJobs } from "../stage-pool.ts";
import { readTextLines } from "../text-lines.ts";
import { Closure, type RebuildPair } from "./closure.ts";
import type { FoundLine, VerifyAgainstJob, VerifyRebuildJob } from "./job.ts";
import { type FilePairs, type NamedInput, pairFiles, type UnreadFile } from "./pairing.ts";
import { type FileStanding, type FoundProblem, isProblem, ProblemList, type VerifyProblem } from "./problems.ts";
import { drawSample } from "./sample.ts";
import { ScratchWriter } from "./scratch.ts";
import type { VerifyOptions, VerifyResult, VerifyStage } from "./verify.ts";

export interface VerifyInputs {
  readonly files: readonly NamedInput[];
  /** May be referred to, and are not compared. */
  readonly more: readonly NamedInput[];
  /** What the files were made from. */
  readonly against: readonly NamedInput[] | undefined;
  /** Those of both sides that cannot be read as archives: they are compared by their bytes. */
  readonly unread: { readonly files: readonly UnreadFile[]; readonly originals: readonly UnreadFile[] };
}

export interface RunSettings extends VerifyOptions {
  readonly threads: number;
  readonly onSkip: (skipped: SkippedInput) => void;
}

interface Stretch {
  readonly start: number;
  readonly end: number;
}

type Counts = Partial<Record<ErrorCode, number>>;

const PROBLEMS_MAX = 100;
/** Several sorts are under way at the same time. */
const SORT_MEMORY = 16 << 20;
const STRETCH_SIZE_MIN = 1 << 16;
const STRETCHES_A_THREAD = 16;
const DIGITS = 16;

export class VerifyRun {
  private readonly disk: Disk;
  private readonly scratch: string;
  private readonly settings: RunSettings;
  /** The files that are read, and where those of the set end. */
  private readonly inputs: readonly Input[];
  private readonly named: VerifyInputs;
  /** Of all files, the originals last. */
  private readonly names: readonly string[];
  private readonly standings = new Map<number, FileStanding>();
  /** Originals that nothing was compared with: what referred to their records may have been whole. */
  private unseen = 0;
  private against:
    | { files: number; equal: number; standing: number; missing: string[]; uncompared: string[] }
    | undefined;
  /** The lines of the reading that are of each file. */
  private stretches: Stretch[] = [];
  private readonly counts = { records: 0, bytes: 0, originals: 0, revisits: 0, written: 0, restorable: 0 };
  private readonly notes: Counts = {};

  constructor(disk: Disk, named: VerifyInputs, scratch: string, settings: RunSettings) {
    this.disk = disk;
    this.scratch = scratch;
    this.settings = settings;
    this.named = named;
    this.inputs = [...named.files, ...named.more].map(({ input }) => input);
    const { unread, against = [] } = named;
    const others = [...against, ...unread.originals, ...unread.files].map(({ input }) => input);
    this.names = [...this.inputs, ...others].map(({ name }) => name);
  }

  async run(): Promise<Omit<VerifyResult, "skipped">> {
    using problems = new ProblemList(this.disk, this.sorting("problems"));
    await this.read([], problems);
    const outputs = await this.compare(problems);
    const pairs = await this.close(outputs, problems);
    await this.prove(pairs, problems);
    const { sample } = this.settings;
    const drawn = sample && (await drawSample(this.disk, pairs, this.inputs, sample));
    return { ...this.finish(problems), sample: drawn };
  }

  private progress(stage: VerifyStage, done: number, total: number): void {
    this.settings.onProgress?.({ stage, done, total });
  }

  private path(name: string): string {
    return `${this.scratch}/${name}`;
  }

  /** Each sort has a folder of its own: who makes one clears up around it. */
  private sorting(name: string): LineSorterOptions {
    return { scratchParent: this.path(name), memoryBytes: this.settings.sortMemoryBytes ?? SORT_MEMORY };
  }

  private note(problem: FoundProblem, problems: ProblemList): void {
    const { code } = problem;
    const isNote = !isProblem(code);
    if (isNote) this.notes[code] = (this.notes[code] ?? 0) + 1;
    if (!isNote || this.settings.notes === true) problems.add(problem);
  }

  /** Reads all files, and leaves their lines. Findings are told in the first reading only. */
  private async read(digests: readonly DigestAlgorithm[], problems: ProblemList | undefined): Promise<void> {
    const { disk, inputs, settings } = this;
    using captures = new ScratchWriter(disk, this.path("captures"));
    const stretches: Stretch[] = [];
    let start = 0;
    const summary = await runTask(
      disk,
      inputs,
      { kind: "verify", options: { digests } },
      {
        threads: settings.threads,
        onText: (text) => captures.write(text),
        onWarning: ({ code, message, offset }: Warning) => {
          // Warnings come with the text of their file.
          if (problems !== undefined) this.note({ code, message, file: stretches.length, offset }, problems);
        },
        onSkip: problems === undefined ? () => {} : settings.onSkip,
        onProgress: ({ bytesDone, bytesTotal }) => this.progress("reading", bytesDone, bytesTotal),
        onInputDone: () => {
          stretches.push({ start, end: captures.size });
          start = captures.size;
        },
      },
    );
    this.stretches = stretches;
    this.counts.records = summary.records;
    this.counts.bytes = summary.bytes;
  }

  /** Compares each file with its original. The paths of what that left, by the index of the file. */
  private async compare(problems: ProblemList): Promise<Map<number, string>> {
    const { named, disk } = this;
    const outputs = new Map<number, string>();
    if (named.against === undefined) return outputs;
    const pairs = pairFiles(named.files, named.against);
    this.tellUnpaired(pairs, problems);
    const jobs = this.comparisons(pairs, named.against);
    const missing = pairs.lost.map((original) => named.against![original]!.input.name);
    const against = { files: jobs.length, equal: 0, standing: 0, missing, uncompared: [] as string[] };
    this.compareUnread(against, problems);
    const sizeOf = ({ original }: VerifyAgainstJob) => original.input.size ?? 0;
    const progress = this.jobProgress("comparing", jobs, sizeOf);
    await runStageJobs(disk, jobs, this.settings.threads, {
      onProgress: progress.partly,
      onResult: (job, result) => {
        progress.done(job);
        if (result instanceof ArchiveError) {
          this.unseen++;
          against.uncompared.push(job.original.input.name);
          this.settings.onSkip({ name: job.original.input.name, error: result });
          return;
        }
        outputs.set(job.file.index, job.output);
        this.standings.set(job.file.index, { equal: result.equal });
        if (result.equal) against.equal++;
        against.standing += result.standing;
      },
    });
    this.against = against;
    return outputs;
  }

  /** Files that are no archives, or not any more: what they held is lost if their bytes are. */
  private compareUnread(against: NonNullable<VerifyRun["against"]>, problems: ProblemList): void {
    const { files, unread, against: originals = [] } = this.named;
    const there = new Map([...files, ...unread.files].map(({ relative, input }) => [relative, input.path]));
    const first = this.inputs.length + originals.length;
    for (const [i, { relative, input }] of unread.originals.entries()) {
      const path = there.get(relative);
      const problem = { code: "HT_LOST", file: first + i, offset: 0 } as const;
      if (path === undefined) {
        against.missing.push(input.name);
        problems.add({ ...problem, message: "no file of this name is there" });
        continue;
      }
      against.files++;
      try {
        if (equalFiles(this.disk, path, input.path)) against.equal++;
        else problems.add({ ...problem, message: `${path} has other bytes, and this cannot be read as an archive` });
      } catch (error) {
        if (!(error instanceof ArchiveError)) throw error;
        against.uncompared.push(input.name);
        this.settings.onSkip({ name: input.name, error });
      }
    }
    const wanted = new Set([...originals, ...unread.originals].map(({ relative }) => relative));
    for (const [i, { relative }] of unread.files.entries()) {
      const file = first + unread.originals.length + i;
      const message = "cannot be read as an archive, and no original has this name";
      if (!wanted.has(relative)) problems.add({ code: "HT_ADDED", message, file, offset: 0 });
    }
  }

  private tellUnpaired({ lost, added }: FilePairs, problems: ProblemList): void {
    this.unseen += lost.length;
    for (const original of lost) {
      const file = this.inputs.length + original;
      problems.add({ code: "HT_LOST", message: "no file of this name is there", file, offset: 0 });
    }
    for (const file of added) {
      problems.add({ code: "HT_ADDED", message: "no original has this name", file, offset: 0 });
    }
  }

  private comparisons({ originalOf }: FilePairs, originals: readonly NamedInput[]): VerifyAgainstJob[] {
    return [...originalOf]
      .sort(([one], [other]) => one - other)
      .map(([file, original]) => ({
        kind: "verify-against",
        file: { input: this.inputs[file]!, index: file },
        original: { input: originals[original]!.input, index: this.inputs.length + original },
        captures: this.path("captures"),
        ...this.stretches[file]!,
        output: this.path(`compared-${file}`),
      }));
  }

  /** Progress of jobs that are done at the same time. */
  private jobProgress<J>(stage: VerifyStage, jobs: readonly J[], sizeOf: (job: J) => number) {
    const total = jobs.reduce((sum, job) => sum + sizeOf(job), 0);
    const partly = new Map<J, number>();
    let finished = 0;
    const show = () => {
      let sum = finished;
      for (const bytes of partly.values()) sum += bytes;
      this.progress(stage, sum, total);
    };
    return {
      partly: (job: J, bytes: number) => {
        partly.set(job, bytes);
        show();
      },
      done: (job: J) => {
        partly.delete(job);
        finished += sizeOf(job);
        show();
      },
    };
  }

  /** Leads every revisit to its original; those of ours that have one are left as sorted pairs. */
  private async close(outputs: ReadonlyMap<number, string>, problems: ProblemList): Promise<string> {
    for (let digests: readonly DigestAlgorithm[] = []; ; ) {
      using closure = new Closure(this.disk, this.names, this.sorting("closure"));
      this.fillClosure(closure, outputs, digests.length === 0 ? problems : undefined);
      using pairs = new LineSorter(this.disk, this.sorting("sorted"));
      {
        using findings = new ScratchWriter(this.disk, this.path("findings"));
        closure.judge({
          onFinding: ({ file, offset }, code, message, isFresh) => {
            const fresh = isFresh || this.unseen > 0;
            findings.write(
              `${JSON.stringify({ problem: { code, message, file, offset, fresh } } satisfies FoundLine)}\n`,
            );
          },
          onPair: (pair) => pairs.add(sortablePair(pair)),
        });
      }
      const missing = [...closure.missing].filter((algorithm) => !digests.includes(algorithm));
      if (missing.length === 0) {
        this.takeFound(this.path("findings"), problems);
        return this.writePairs(pairs);
      }
      digests = [...digests, ...missing];
      await this.read(digests, undefined);
    }
  }

  private fillClosure(closure: Closure, outputs: ReadonlyMap<number, string>, problems: ProblemList | undefined): void {
    this.progress("sorting", 0, 1);
    closure.fill(() => this.captures());
    Object.assign(this.counts, closure.counts);
    for (const [file, output] of outputs) this.takeCompared(file, output, closure, problems);
  }

  private *captures(): Generator<[file: number, line: string]> {
    for (const [file, { start, end }] of this.stretches.entries()) {
      if (start === end) continue;
      for (const line of readTextLines(this.disk, this.path("captures"), start, end)) yield [file, line];
    }
  }

  /** What a comparison left: problems, places that are not as in the original, records that are no more as they were. */
  private takeCompared(file: number, path: string, closure: Closure, problems: ProblemList | undefined): void {
    for (const line of readTextLines(this.disk, path)) {
      const { problem, touched, gone } = JSON.parse(line) as FoundLine;
      if (gone !== undefined) closure.addGone(gone);
      if (problems === undefined) continue;
      if (problem !== undefined) this.note(problem, problems);
      if (touched !== undefined) problems.touch(file, touched[0], touched[1]);
    }
  }

  private takeFound(path: string, problems: ProblemList): void {
    for (const line of readTextLines(this.disk, path)) {
      const { problem } = JSON.parse(line) as FoundLine;
      if (problem !== undefined) this.note(problem, problems);
    }
  }

  private writePairs(pairs: LineSorter): string {
    const path = this.path("pairs");
    using output = new ScratchWriter(this.disk, path);
    for (const chunk of pairs.sorted()) output.write(chunk);
    return path;
  }

  /** Puts the record together again whose place each revisit of ours took. */
  private async prove(pairs: string, problems: ProblemList): Promise<void> {
    const inputs = this.path("inputs");
    {
      using list = new ScratchWriter(this.disk, inputs);
      for (const input of this.inputs) list.write(`${JSON.stringify(input)}\n`);
    }
    const jobs = this.cut(pairs).map(
      ({ start, end }, i): VerifyRebuildJob => ({
        kind: "verify-rebuild",
        inputs,
        pairs,
        start,
        end,
        output: this.path(`proven-${i}`),
      }),
    );
    const progress = this.jobProgress("proving", jobs, ({ start, end }) => end - start);
    await runStageJobs(this.disk, jobs, this.settings.threads, {
      onProgress: progress.partly,
      onResult: (job, result) => {
        if (result instanceof ArchiveError) throw result;
        progress.done(job);
        this.counts.restorable += result.proven;
        this.takeFound(job.output, problems);
      },
    });
  }

  /** Cuts a file of lines into stretches of whole lines. */
  private cut(path: string): Stretch[] {
    const size = this.disk.stat(path)?.sizeBytes ?? 0;
    const step = Math.max(STRETCH_SIZE_MIN, Math.ceil(size / (STRETCHES_A_THREAD * this.settings.threads)));
    const stretches: Stretch[] = [];
    using file = this.disk.open(path, "read");
    const buffer = Buffer.alloc(STRETCH_SIZE_MIN);
    for (let start = 0; start < size; ) {
      let end = Math.min(size, start + step);
      while (end < size) {
        const newline = buffer.subarray(0, file.read(buffer, end - 1)).indexOf(10);
        end += newline < 0 ? buffer.length : newline;
        if (newline >= 0) break;
      }
      end = Math.min(end, size);
      stretches.push({ start, end });
      start = end;
    }
    return stretches;
  }

  private finish(problems: ProblemList): Omit<VerifyResult, "skipped" | "sample"> {
    const { problemsMax = PROBLEMS_MAX, onProblem } = this.settings;
    const found: Counts = {};
    const listed: VerifyProblem[] = [];
    let [count, before] = [0, 0];
    for (const problem of problems.sorted(this.names, this.standings)) {
      onProblem?.(problem);
      if (!isProblem(problem.code)) continue;
      count++;
      if (problem.before) before++;
      found[problem.code] = (found[problem.code] ?? 0) + 1;
      if (listed.length < problemsMax) listed.push(problem);
    }
    const { against, notes } = this;
    return {
      holds: count === before,
      files: this.inputs.length,
      ...this.counts,
      against,
      problemCounts: found,
      before,
      noteCounts: notes,
      problems: listed,
    };
  }
}

/** A pair as a line that sorts by the place of its original. */
function sortablePair(pair: RebuildPair): string {
  const { file, offset, inner = 0 } = pair.original;
  const key = [file, offset, inner].map((part) => String(part).padStart(DIGITS, "0")).join("\t");
  return `${key}\t${JSON.stringify(pair)}`;
}
