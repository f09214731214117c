/** Lets collections follow the commits of their writers while they are served. */
import { setTimeout as sleep } from "node:timers/promises";
import { ArchiveError } from "../base/index.ts";
import type { Collection } from "./collection.ts";

const PAUSE_MS = 400;

/**
 * Looks for new commits until `signal` says that it is over; what was committed is seen within a second. Where an archive
 * cannot be opened, its last state goes on being served, and `onFailure` is told once for each reason.
 */
export async function followCommits(
  collections: readonly Collection[],
  signal: AbortSignal,
  onFailure: (collection: string, error: ArchiveError) => void,
): Promise<void> {
  await Promise.all(collections.map((collection) => follow(collection, signal, onFailure)));
}

async function follow(
  collection: Collection,
  signal: AbortSignal,
  onFailure: (collection: string, error: ArchiveError) => void,
): Promise<void> {
  let told: string | undefined;
  while (!signal.aborted) {
    try {
      await sleep(PAUSE_MS, undefined, { signal, ref: false });
    } catch {
      return;
    }
    try {
      await collection.refresh();
      told = undefined;
    } catch (error) {
      if (!(error instanceof ArchiveError)) throw error;
      if (error.message !== told) onFailure(collection.name, error);
      told = error.message;
    }
  }
}
