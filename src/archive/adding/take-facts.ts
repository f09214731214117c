/** Reading many files at once, and taking in what they hold in their order. */
import { ArchiveError } from "../../base/index.ts";
import { type Input, type RunProgress, runTask, type SeenPayloads, type SkippedInput } from "../../pipeline/index.ts";
import type { ArchiveCore } from "../core/archive-core.ts";
import { FactsFeed, type FactsSink } from "./facts-feed.ts";

/** Of everything that reads many files. */
export interface TakeOptions {
  readonly threads?: number | undefined;
  /** Aborted, it takes nothing more; what was taken stays. */
  readonly signal?: AbortSignal | undefined;
  readonly onSkip?: ((skipped: SkippedInput) => void) | undefined;
  readonly onProgress?: ((progress: RunProgress) => void) | undefined;
}

/**
 * Reads inputs on as many threads as there are, and hands on what they hold. How many inputs were skipped. Captures whose
 * payloads are among those that were seen come with what a revisit needs.
 */
export async function takeFacts(
  core: ArchiveCore,
  inputs: readonly Input[],
  options: TakeOptions,
  sink: FactsSink,
  seen?: SeenPayloads,
): Promise<number> {
  const { signal, onProgress, threads = 1 } = options;
  let skipped = 0;
  /** What goes wrong here is no fault of the input that is being read. */
  let failure: { readonly error: unknown } | undefined;
  const guard = (action: () => void) => {
    if (failure !== undefined) throw failure.error;
    try {
      if (signal?.aborted === true) throw new ArchiveError("HT_INTERRUPTED", "interrupted");
      core.commits.guard(action);
    } catch (error) {
      failure = { error };
      throw error;
    }
  };
  const feed = new FactsFeed(inputs, {
    ...sink,
    take: (facts) => {
      sink.take(facts);
      core.commits.whereDue();
    },
  });
  try {
    await runTask(
      core.disk,
      inputs,
      { kind: "facts", options: { seen: seen?.memory } },
      {
        threads,
        onText: (text) => guard(() => feed.text(text)),
        onInputDone: (input) => guard(() => feed.done(input)),
        onWarning: core.onWarning,
        onSkip: (skip) => {
          if (failure !== undefined) throw failure.error;
          skipped++;
          options.onSkip?.(skip);
        },
        ...(onProgress === undefined ? {} : { onProgress }),
      },
    );
  } catch (error) {
    if (error instanceof ArchiveError && error.code === "HT_INTERRUPTED") core.commits.commit();
    throw error;
  }
  return skipped;
}
