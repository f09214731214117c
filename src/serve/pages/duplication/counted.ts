/**
 * What a collection holds more than once, counted once for each commit. Whoever asks first starts the count; those who
 * ask meanwhile wait for the same one.
 */
import type { Duplication } from "../../../archive/index.ts";
import { systemClock } from "../../../base/index.ts";
import type { Collection } from "../../collection.ts";

export interface Count {
  readonly commit: string;
  readonly figures: Promise<Duplication>;
  /** Captures that were counted so far; and whether that is all. */
  done: number;
  isDone: boolean;
}

/** What may be seen changes as time passes, where there are rules. */
const RULED_MAX_MS = 60_000;

const counts = new WeakMap<Collection, Count & { readonly startedMs: number }>();

export function countOf(collection: Collection): Count {
  const { commit } = collection;
  const there = counts.get(collection);
  const isOld = collection.hasRules && there?.isDone === true && systemClock.now() - there.startedMs > RULED_MAX_MS;
  if (there?.commit === commit && !isOld) return there;
  const figures = collection.duplication((captures) => {
    count.done = captures;
  });
  const count = { commit, figures, done: 0, isDone: false, startedMs: systemClock.now() };
  counts.set(collection, count);
  figures.then(
    () => {
      count.isDone = true;
    },
    // Whoever waits for it is told; the next one tries again.
    () => counts.delete(collection),
  );
  return count;
}
