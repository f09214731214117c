/** The long jobs, each loaded when it is called for: who lists a file need not load what rewrites one. */
import type { Disk } from "../disk/index.ts";
import type { CommitOptions, CommitResult } from "./commit.ts";
import type { DedupOptions, DedupResult } from "./dedup.ts";
import type { Input } from "./inputs.ts";
import type { RestoreOptions, RestoreResult } from "./restore/restore.ts";
import type { SubsetOptions, SubsetResult } from "./restore/subset.ts";
import type { SurveyOptions, SurveyReport } from "./survey/survey.ts";
import type { VerifyOptions, VerifyResult } from "./verify/verify.ts";

/** Estimates how much deduplication would save, from a sample. */
export async function surveyInputs(
  disk: Disk,
  inputs: readonly Input[],
  options: SurveyOptions,
): Promise<SurveyReport> {
  return await (await import("./survey/survey.ts")).surveyInputs(disk, inputs, options);
}

/** Replaces duplicate records by revisits. */
export async function dedup(disk: Disk, names: readonly string[], options: DedupOptions): Promise<DedupResult> {
  return await (await import("./dedup.ts")).dedup(disk, names, options);
}

/** Carries a finished job over to a second copy of its inputs. */
export async function commitJob(
  disk: Disk,
  job: string,
  copy: string,
  options: CommitOptions = {},
): Promise<CommitResult> {
  return await (await import("./commit.ts")).commitJob(disk, job, copy, options);
}

/** Proves that every revisit leads to its payload, and that nothing was lost. */
export async function verify(disk: Disk, names: readonly string[], options: VerifyOptions = {}): Promise<VerifyResult> {
  return await (await import("./verify/verify.ts")).verify(disk, names, options);
}

/** Undoes `dedup`. */
export async function restore(disk: Disk, names: readonly string[], options: RestoreOptions): Promise<RestoreResult> {
  return await (await import("./restore/restore.ts")).restore(disk, names, options);
}

/** Writes some of the records as archive files that need no others. */
export async function restoreSubset(
  disk: Disk,
  names: readonly string[],
  options: SubsetOptions,
): Promise<SubsetResult> {
  return await (await import("./restore/subset.ts")).restoreSubset(disk, names, options);
}
