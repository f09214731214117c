/**
 * Pieces of work that can be done one apart from the other, on any thread: resolving a stretch of a sorted manifest,
 * rewriting one file. Plain data, so that they can be sent to a worker thread; each leaves a durable file behind.
 */
import type { Warning } from "../base/index.ts";
import type { Disk } from "../disk/index.ts";
import type { ResolveJob, ResolveResult } from "./resolve-job.ts";
import type { RewriteJob, RewriteResult } from "./rewrite-job.ts";

export type StageJob = ResolveJob | RewriteJob;
export type StageResult<J extends StageJob> = J extends ResolveJob ? ResolveResult : RewriteResult;

export interface StageEvents {
  readonly onWarning: (warning: Warning) => void;
  /** Bytes of this job that are done. */
  readonly onProgress: (bytes: number) => void;
}

export async function doStageJob(
  disk: Disk,
  job: StageJob,
  events: StageEvents,
): Promise<ResolveResult | RewriteResult> {
  switch (job.kind) {
    case "resolve":
      return await (await import("./resolve-job.ts")).doResolveJob(disk, job, events);
    case "rewrite":
      return await (await import("./rewrite-job.ts")).doRewriteJob(disk, job, events);
  }
}
