/**
 * Pieces of work that can be done one apart from the other, on any thread: resolving a stretch of a sorted manifest,
 * rewriting one file. Plain data, so that they can be sent to a worker thread; each leaves a durable file behind.
 */
import type { Warning } from "../base/index.ts";
import type { Disk } from "../disk/index.ts";
import type { ResolveJob, ResolveResult } from "./resolve-job.ts";
import type { RestoredFile, RestoreJob } from "./restore/job.ts";
import type { SubsetFile, SubsetJob } from "./restore/subset-job.ts";
import type { RewriteJob, RewriteResult } from "./rewrite-job.ts";
import type { VerifyAgainstJob, VerifyAgainstResult, VerifyRebuildJob, VerifyRebuildResult } from "./verify/job.ts";

/** What each kind of job leads to. */
interface StageResults {
  readonly resolve: ResolveResult;
  readonly rewrite: RewriteResult;
  readonly restore: RestoredFile;
  readonly subset: SubsetFile;
  readonly "verify-against": VerifyAgainstResult;
  readonly "verify-rebuild": VerifyRebuildResult;
}

export type StageJob = ResolveJob | RewriteJob | RestoreJob | SubsetJob | VerifyAgainstJob | VerifyRebuildJob;
export type StageResult<J extends StageJob> = StageResults[J["kind"]];

export interface StageEvents {
  readonly onWarning: (warning: Warning) => void;
  /** Bytes of this job that are done. */
  readonly onProgress: (bytes: number) => void;
}

export async function doStageJob(disk: Disk, job: StageJob, events: StageEvents): Promise<StageResult<StageJob>> {
  switch (job.kind) {
    case "resolve":
      return await (await import("./resolve-job.ts")).doResolveJob(disk, job, events);
    case "rewrite":
      return await (await import("./rewrite-job.ts")).doRewriteJob(disk, job, events);
    case "verify-against":
      return await (await import("./verify/job.ts")).doVerifyAgainstJob(disk, job, events);
    case "verify-rebuild":
      return await (await import("./verify/job.ts")).doVerifyRebuildJob(disk, job, events);
    case "restore":
      return await (await import("./restore/job.ts")).doRestoreJob(disk, job, events);
    case "subset":
      return await (await import("./restore/subset-job.ts")).doSubsetJob(disk, job, events);
  }
}
