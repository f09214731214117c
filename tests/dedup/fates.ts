/** What became of records, in few words: for the tests of deduplication over files made by hand. */

import type { DedupOptions } from "../../src/pipeline/index.ts";
import { type CaptureText, captureBytes, noise, packRecords } from "../../src/testing/capture-text.ts";
import { type ArchiveFile, type DedupTrial, dedupTrial } from "../../src/testing/dedup-trial.ts";
import { checkDeduplicated } from "../../src/testing/deduplicated.ts";

export const PAYLOAD = noise("payload", 3000);
export const OTHER = noise("other", 3000);

export function at(day: number, second = 0): string {
  const two = (value: number) => String(value).padStart(2, "0");
  return `2020-01-${two(day)}T00:00:${two(second)}Z`;
}

/** A capture of `http://a.example/NAME` on a day, with the one payload unless told otherwise. */
export function capture(name: string, day: number, more: Partial<CaptureText> = {}): Buffer {
  return captureBytes({ uri: `http://a.example/${name}`, date: at(day), payload: PAYLOAD, ...more });
}

export function gzipFile(name: string, ...records: readonly Buffer[]): ArchiveFile {
  return { name, bytes: packRecords(records) };
}

export interface Fates extends DedupTrial {
  /** What was replaced, and by a revisit of what: name and day of both. */
  readonly fates: Readonly<Record<string, string>>;
  /** Why the others stayed, by name and day. */
  readonly kept: Readonly<Record<string, string>>;
}

function shorten(uri: string | undefined, date: string | undefined): string {
  return `${uri?.replace("http://a.example/", "")} ${Number(date?.slice(8, 10))}`;
}

/** Deduplicates, checks all that must always hold, and tells what was done. */
export async function deduplicate(
  files: readonly ArchiveFile[],
  options: Partial<DedupOptions> = {},
  known: readonly ArchiveFile[] = [],
): Promise<Fates> {
  const trial = await dedupTrial(files, options);
  const { replaced } = checkDeduplicated(files, trial.output, { known });
  const fates = replaced.map(({ uri, date, refersTo }) => [shorten(uri, date), shorten(refersTo?.uri, refersTo?.date)]);
  const kept = trial.plan.flatMap(({ uri, date, flags }) =>
    flags.filter((flag) => flag.startsWith("kept:")).map((flag) => [shorten(uri, date), flag.slice("kept:".length)]),
  );
  return { ...trial, fates: Object.fromEntries(fates), kept: Object.fromEntries(kept) };
}
