/** What the threads of a run say to each other. */
import type { ErrorCode, Place, Warning } from "../base/index.ts";
import type { Part } from "./part.ts";
import type { TaskRequest } from "./task.ts";

/** A worker is started with its task and a counter of the texts that were taken from it. */
export interface WorkerStart {
  readonly request: TaskRequest;
  readonly taken: SharedArrayBuffer;
}

/** To a thread that was started for something else: the same. */
export interface LentStart {
  readonly start: WorkerStart;
}

/** To a worker: do this part. */
export interface PartOrder {
  readonly job: number;
  readonly part: Part;
}

/** From a worker. */
export type WorkerMessage =
  | { readonly kind: "first"; readonly job: number; readonly offset: number | undefined }
  | { readonly kind: "text"; readonly job: number; readonly text: Uint8Array }
  | { readonly kind: "warning"; readonly job: number; readonly warning: Warning }
  | { readonly kind: "progress"; readonly job: number; readonly offset: number; readonly records: number }
  | {
      readonly kind: "done";
      readonly job: number;
      readonly next: number | undefined;
      readonly records: number;
      readonly error?: { readonly code: ErrorCode; readonly message: string; readonly place: Place };
    };

/** A worker may be this many messages ahead; then it waits. */
export const AHEAD_MAX = 64;
