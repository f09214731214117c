/** How many threads a run gets that was not told. */
import { availableParallelism } from "node:os";

/** To start a thread, and to compile in it what this one has compiled, takes about as long as to read so many bytes. */
const THREAD_BYTES = 16 << 20;

/** One a core, but none that would cost more than it does. Where a size is not known, there may be much to read. */
export function usefulThreads(inputs: readonly { readonly size?: number | undefined }[]): number {
  const bytes = inputs.reduce((sum, { size = Number.POSITIVE_INFINITY }) => sum + size, 0);
  return Math.max(1, Math.min(availableParallelism(), Math.floor(bytes / THREAD_BYTES)));
}
