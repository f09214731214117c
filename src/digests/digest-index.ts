/**
 * A digest index: immutable runs, and what was learned since the last one. It says who is known to have had which content;
 * it holds no content, so what it answers is a claim until somebody has read the record (`prove`). Reading takes no lock and
 * writes nothing; one process at a time may learn. Obeys docs/format/digest-index.md.
 */
import { ArchiveError, invariant } from "../base/index.ts";
import {
  type Certainty,
  isEmptyDigest,
  type KnownCapture,
  type KnownContents,
  type KnownQuestion,
} from "../dedup/index.ts";
import type { Disk } from "../disk/index.ts";
import { Answers } from "./answers.ts";
import { damagedIndex } from "./byte-fields.ts";
import type { DigestEntry, FoundCapture } from "./entry.ts";
import { EntrySorter } from "./entry-sorter.ts";
import { IndexWriter, readIndexSlot } from "./index-writer.ts";
import { LearnedLog, readLearned } from "./learned-log.ts";
import { LearnedTail } from "./learned-tail.ts";
import { PageCache } from "./page-cache.ts";
import { Run } from "./run.ts";
import { mergedStates, writeMerged } from "./run-merge.ts";
import { answersOf, type IndexSettings } from "./settings.ts";

/** Reads the record that holds the payload of an answer, and says whether it has the digest. */
export interface OriginalProver {
  /** As `KnownContents.prove`, of what is only claimed. */
  prove(entry: DigestEntry): Certainty | undefined | Promise<Certainty | undefined>;
}

export interface LearningOptions {
  /** Of an index that is made by this. */
  readonly settings?: IndexSettings | undefined;
  /** Entries that become a run together. */
  readonly foldAt?: number | undefined;
}

export interface DigestIndexOptions {
  /** The index can learn: it is made where there is none, and locked. */
  readonly learning?: LearningOptions | true | undefined;
  /** Reads originals; see `OriginalFiles`. */
  readonly originals?: OriginalProver | undefined;
}

export interface IndexInfo {
  readonly settings: IndexSettings;
  readonly runs: readonly { readonly name: string; readonly entries: number; readonly sizeBytes: number }[];
  /** Entries that were learned since the last run. */
  readonly learned: number;
  /** Of all runs, and learned. What several of them tell of one content of a URL counts for each. */
  readonly entries: number;
}

const FOLD_AT = 100_000;
/** More runs than this become fewer. */
const RUNS_ENOUGH = 8;
/** Runs may go while a reader opens them; then there is a newer commit. */
const TRIES = 20;

export class DigestIndex implements KnownContents, AsyncDisposable {
  readonly settings: IndexSettings;
  readonly answers: ReadonlySet<KnownQuestion["by"]>;
  private readonly disk: Disk;
  private readonly folder: string;
  private readonly writer: IndexWriter | undefined;
  private readonly log: LearnedLog | undefined;
  private readonly foldAt: number;
  private readonly originals: OriginalProver | undefined;
  private readonly cache = new PageCache();
  private readonly finder = new Answers();
  private runs: readonly Run[];
  /** The last one takes what is learned; one before it is being folded. */
  private tails: readonly LearnedTail[];
  private folding: Promise<void> | undefined;
  private failure: { readonly error: unknown } | undefined;

  private constructor(disk: Disk, folder: string, options: DigestIndexOptions, writer: IndexWriter | undefined) {
    this.disk = disk;
    this.folder = folder;
    this.writer = writer;
    this.originals = options.originals;
    this.foldAt = (typeof options.learning === "object" ? options.learning.foldAt : undefined) ?? FOLD_AT;
    this.log = writer === undefined ? undefined : new LearnedLog(disk, folder);
    // Before the slot: what is folded meanwhile is then in both, and never in neither.
    const learned = [...readLearned(disk, folder)];
    const { settings, runs } = this.openRuns();
    this.settings = settings;
    this.answers = answersOf(settings);
    this.runs = runs;
    const tail = new LearnedTail(settings);
    for (const entry of learned) tail.add(entry);
    this.tails = [tail];
  }

  /** Owns nothing but open files until it is closed; with `learning` also the lock. */
  static open(disk: Disk, folder: string, options: DigestIndexOptions = {}): DigestIndex {
    if (options.learning === undefined) {
      readIndexSlot(disk, folder);
      return new DigestIndex(disk, folder, options, undefined);
    }
    const settings = options.learning === true ? undefined : options.learning.settings;
    const writer = IndexWriter.open(disk, folder, { settings });
    try {
      writer.create();
      return new DigestIndex(disk, folder, options, writer);
    } catch (error) {
      writer[Symbol.dispose]();
      throw error;
    }
  }

  private openRuns(): { settings: IndexSettings; runs: Run[] } {
    for (let round = 1; ; round++) {
      const { settings, runs: numbers } = readIndexSlot(this.disk, this.folder);
      const runs: Run[] = [];
      try {
        for (const number of numbers) runs.push(new Run(this.disk, this.folder, number, this.cache));
        return { settings, runs };
      } catch (error) {
        for (const run of runs) run[Symbol.dispose]();
        const isGone = error instanceof ArchiveError && error.code === "HT_NOT_FOUND";
        if (!isGone) throw error;
        if (round === TRIES) throw damagedIndex(error.place?.file ?? this.folder, "is missing");
      }
    }
  }

  private get holdings() {
    return { settings: this.settings, runs: this.runs, tails: this.tails };
  }

  /** All answers are there at once. */
  find(questions: readonly KnownQuestion[]): (FoundCapture | undefined)[] {
    return questions.map((question) => toFound(this.finder.answer(question, this.holdings)));
  }

  /** All contents that this URL is known to have had, the newest state first, whatever the index can be asked by. */
  statesOf(uri: string): FoundCapture[] {
    return this.finder.statesOf(uri, this.holdings).map((entry) => toFound(entry)!);
  }

  prove(known: KnownCapture): Certainty | undefined | Promise<Certainty | undefined> {
    return known.certainty === "claimed" && this.originals !== undefined
      ? this.originals.prove(known)
      : known.certainty;
  }

  /**
   * Takes entries in: they are found at once, and the promise resolves when they are durable. One that has no room in a page
   * is not found again after a fold. An empty payload is never an original, and is not taken. Whoever learns has made the
   * records durable before.
   */
  async learn(...entries: readonly DigestEntry[]): Promise<void> {
    invariant(this.log !== undefined, "this index was not opened to learn");
    if (this.failure !== undefined) throw this.failure.error;
    const taken = entries.filter((entry) => entry.payloadSize !== 0 && !entry.digests.some(isEmptyDigest));
    if (taken.length === 0) return;
    const tail = this.tails.at(-1)!;
    for (const entry of taken) tail.add(entry);
    const durable = this.log.append(taken);
    if (tail.size >= this.foldAt && this.folding === undefined) {
      this.folding = this.fold().finally(() => {
        this.folding = undefined;
      });
      // Whoever learns next, or closes, is told.
      this.folding.catch((error: unknown) => {
        this.failure ??= { error };
      });
    }
    await durable;
  }

  /** Makes a run of what was learned. */
  private async fold(): Promise<void> {
    const [tail] = this.tails as [LearnedTail];
    if (tail.size === 0) return;
    this.tails = [tail, new LearnedTail(this.settings)];
    const removeLogs = await this.log!.rotate();
    const writer = this.writer!;
    using sorter = new EntrySorter(this.disk, { folder: this.folder });
    for (const entry of tail.entries()) sorter.add(entry);
    writer.addRun((path) => sorter.writeRun(path, this.settings));
    this.runs = [...this.runs, new Run(this.disk, this.folder, writer.runs.at(-1)!, this.cache)];
    this.tails = this.tails.slice(1);
    removeLogs();
    this.mergeRuns();
  }

  private mergeRuns(): void {
    const merged = mergeLikeRuns(this.disk, this.writer!, this.runs, this.cache);
    if (merged !== undefined) this.runs = merged;
  }

  /** Every URL with its states, the newest first; what was learned since the last run comes at the end, unmerged. */
  *entries(): Generator<DigestEntry> {
    for (const states of mergedStates(this.runs)) yield* states;
    for (const tail of this.tails) yield* tail.entries();
  }

  info(): IndexInfo {
    const runs = this.runs.map(({ name, entryCount: entries, sizeBytes }) => ({ name, entries, sizeBytes }));
    const learned = this.tails.reduce((sum, { size }) => sum + size, 0);
    const entries = runs.reduce((sum, run) => sum + run.entries, learned);
    return { settings: this.settings, runs, learned, entries };
  }

  /** With all that was learned in a run. Files are closed and the lock is free also where that fails. */
  async close(): Promise<void> {
    try {
      await this.folding;
      if (this.failure !== undefined) throw this.failure.error;
      if (this.log !== undefined) await this.fold();
    } finally {
      await this.log?.close();
      for (const run of this.runs) run[Symbol.dispose]();
      this.writer?.[Symbol.dispose]();
    }
  }

  [Symbol.asyncDispose](): Promise<void> {
    return this.close();
  }
}

/**
 * Makes one run of those that are of like size, where there are many; gives those that are open then. Absent where nothing
 * was to be done.
 */
export function mergeLikeRuns(
  disk: Disk,
  writer: IndexWriter,
  runs: readonly Run[],
  cache: PageCache,
): readonly Run[] | undefined {
  if (runs.length <= RUNS_ENOUGH) return undefined;
  let first = runs.length - 1;
  for (let i = first - 1, sum = runs.at(-1)!.sizeBytes; i >= 0; i--) {
    if (runs[i]!.sizeBytes <= 2 * sum) first = i;
    sum += runs[i]!.sizeBytes;
  }
  const [kept, those] = [runs.slice(0, first), runs.slice(first)];
  if (those.length < 2) return undefined;
  const { folder, settings } = writer;
  const numbers = those.map(({ number }) => number);
  writer.addRun((path) => writeMerged(disk, path, those, { folder, settings }), numbers);
  for (const run of those) run[Symbol.dispose]();
  return [...kept, new Run(disk, folder, writer.runs.at(-1)!, cache)];
}

function toFound(entry: DigestEntry | undefined): FoundCapture | undefined {
  // Most are as they were read from a run.
  if (entry === undefined || isFound(entry)) return entry;
  return { ...entry, certainty: "claimed" };
}

function isFound(entry: DigestEntry): entry is FoundCapture {
  return "certainty" in entry;
}
