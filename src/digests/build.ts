/** Builds a digest index from sources, or adds to one: the DigestIndexer. The index is as it was until all is durable. */
import { ArchiveError } from "../base/index.ts";
import type { Disk } from "../disk/index.ts";
import { mergeLikeRuns } from "./digest-index.ts";
import { EntrySorter } from "./entry-sorter.ts";
import { IndexWriter, type WriterOptions } from "./index-writer.ts";
import type { CaptureSource } from "./input-source.ts";
import { Intake, type IntakeOptions, type SkipReason } from "./intake.ts";
import { PageCache } from "./page-cache.ts";
import { Run } from "./run.ts";

export interface BuildOptions extends IntakeOptions, WriterOptions {
  /** Bytes that wait in memory to be sorted. */
  readonly memoryBytes?: number | undefined;
  /** A source that cannot be read; the others are. Without it the first one ends the work. */
  readonly onSkip?: ((skipped: { readonly name: string; readonly error: ArchiveError }) => void) | undefined;
}

export interface BuildResult {
  /** Lines or records that were looked at. */
  readonly read: number;
  /** Captures that were taken; those of one content of a URL are one entry. */
  readonly captures: number;
  /** Entries of the run that was made. */
  readonly entries: number;
  readonly sizeBytes: number;
  readonly skipped: Readonly<Record<SkipReason, number>>;
  /** Runs that the index has now. */
  readonly runs: number;
}

export async function buildIndex(
  disk: Disk,
  folder: string,
  sources: Iterable<CaptureSource>,
  options: BuildOptions = {},
): Promise<BuildResult> {
  using writer = IndexWriter.open(disk, folder, options);
  const { settings } = writer;
  using sorter = new EntrySorter(disk, { folder, memoryBytes: options.memoryBytes });
  const intake = new Intake(sorter, settings, options);
  let sourcesRead = 0;
  for (const source of sources) if (await readSource(source, intake, options)) sourcesRead++;
  const look = () => {
    if (options.signal?.aborted === true) throw interrupted();
  };
  // An index that is there is not changed by nothing. A new one may be empty, if something was read.
  const isNothing = sorter.count === 0 && (writer.runs.length > 0 || sourcesRead === 0);
  const { entries, sizeBytes } = isNothing
    ? { entries: 0, sizeBytes: 0 }
    : await writer.addRunLater((path) => sorter.writeRunLater(path, settings, look));
  mergeAfter(disk, writer);
  const { read, taken: captures, skipped } = intake;
  return { read, captures, entries, sizeBytes, skipped, runs: writer.runs.length };
}

function interrupted(): ArchiveError {
  return new ArchiveError("HT_INTERRUPTED", "interrupted: the index is as it was before");
}

/** False where the source cannot be read, which `onSkip` is told. */
async function readSource(source: CaptureSource, intake: Intake, { onSkip }: BuildOptions): Promise<boolean> {
  try {
    await source.readInto(intake);
    return true;
  } catch (error) {
    const isOurs = error instanceof ArchiveError && error.code !== "HT_INTERRUPTED" && error.code !== "HT_NO_SPACE";
    if (!isOurs || onSkip === undefined) throw error;
    onSkip({ name: source.name, error });
    return false;
  }
}

function mergeAfter(disk: Disk, writer: IndexWriter): void {
  const cache = new PageCache();
  const runs = writer.runs.map((number) => new Run(disk, writer.folder, number, cache));
  const merged = mergeLikeRuns(disk, writer, runs, cache);
  for (const run of merged ?? runs) run[Symbol.dispose]();
}
