/** Makes the report of the DeDuplicator without a crawl: from logs and archive files, against what is known. */
import type { ArchiveError } from "../../base/index.ts";
import { Deduplicator, type DeduplicatorSettings, type NewCapture } from "../../dedup/index.ts";
import type { Disk } from "../../disk/index.ts";
import { type DigestReport, shapeReport } from "./shape.ts";
import { openSources, type SourceEvents } from "./sources.ts";

export interface ReportOptions extends Partial<SourceEvents> {
  /** How the index is called. */
  readonly against: string;
  /** Now and then: the file at hand, and how many captures were read. */
  readonly onProgress?: ((name: string, captures: number) => void) | undefined;
}

/** Captures that are asked for together. */
const BATCH_SIZE = 512;

/** HT_NOT_FOUND where not one of the files is there. */
export async function reportOn(
  disk: Disk,
  names: readonly string[],
  settings: DeduplicatorSettings,
  options: ReportOptions,
): Promise<DigestReport> {
  const deduplicator = new Deduplicator(settings);
  const counts = { files: 0, captures: 0, skipped: 0, brokenLines: 0 };
  let absent: ArchiveError | undefined;
  const events: SourceEvents = {
    onSkip: (skipped) => {
      counts.skipped++;
      if (skipped.error.code === "HT_NOT_FOUND") absent ??= skipped.error;
      options.onSkip?.(skipped);
    },
    onWarning: (warning) => options.onWarning?.(warning),
    onBrokenLine: (name, line) => {
      counts.brokenLines++;
      options.onBrokenLine?.(name, line);
    },
  };
  const decide = async (name: string, batch: readonly NewCapture[]) => {
    counts.captures += batch.length;
    await deduplicator.decide(batch);
    options.onProgress?.(name, counts.captures);
  };
  const sources = await openSources(disk, names, events);
  if (sources.length === 0 && absent !== undefined) throw absent;
  for (const source of sources) {
    counts.files++;
    let batch: NewCapture[] = [];
    for (const capture of source.captures()) {
      if (batch.push(capture) < BATCH_SIZE) continue;
      await decide(source.name, batch);
      batch = [];
    }
    await decide(source.name, batch);
  }
  return shapeReport(deduplicator, reportSettings(settings, options.against), counts);
}

export function reportSettings(
  settings: Omit<DeduplicatorSettings, "index">,
  against: string,
): DigestReport["settings"] {
  const {
    matching = "url",
    tryEquivalent = false,
    mimeFilter,
    dateReference = "stored",
    mirrors = "counted",
  } = settings;
  const patterns = [mimeFilter?.expression, ...(mimeFilter?.patterns ?? [])].filter((each) => each !== undefined);
  return {
    against,
    matching,
    equivalent: tryEquivalent,
    mimeFilter: mimeFilter === undefined ? null : `${mimeFilter.mode} ${patterns.join(", ")}`,
    dateReference,
    mirrors,
  };
}
