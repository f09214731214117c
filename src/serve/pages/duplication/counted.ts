/**
 * What a collection holds more than once, counted once for each commit. Whoever asks first starts the count; those who
 * ask meanwhile wait for the same one.
 */
import { setTimeout as sleep } from "node:timers/promises";
import type { Duplication } from "../../../archive/index.ts";
import { systemClock } from "../../../base/index.ts";
import { formatNumber, html, type Markup } from "../../../markup/index.ts";
import type { Collection } from "../../collection.ts";

export interface Count {
  readonly commit: string;
  readonly figures: Promise<Duplication>;
  /** Captures that were counted so far; and whether that is all. */
  readonly progress: { captures: number; isDone: boolean };
}

/** What may be seen changes as time passes, where there are rules. */
const RULED_MAX_MS = 60_000;

const counts = new WeakMap<Collection, Count & { readonly startedMs: number }>();

export function countOf(collection: Collection): Count {
  const { commit } = collection;
  const there = counts.get(collection);
  const isOld =
    collection.hasRules && there?.progress.isDone === true && systemClock.now() - there.startedMs > RULED_MAX_MS;
  if (there?.commit === commit && !isOld) return there;
  const progress = { captures: 0, isDone: false };
  const figures = collection.duplication((captures) => {
    progress.captures = captures;
  });
  const count = { commit, figures, progress, startedMs: systemClock.now() };
  counts.set(collection, count);
  figures.then(
    () => {
      progress.isDone = true;
    },
    // Whoever waits for it is told; the next one tries again.
    () => counts.delete(collection),
  );
  return count;
}

/** A count that takes longer is shown as it goes on. */
const PATIENCE_MS = 400;

/** The figures, if they are there in a moment. */
export async function soon(count: Count): Promise<Duplication | undefined> {
  const { progress, figures } = count;
  if (!progress.isDone) await Promise.race([figures, sleep(PATIENCE_MS)]);
  return progress.isDone ? await figures : undefined;
}

/** How far the count is, again and again, and then what it found. Only the last line of it is seen. */
export async function* counted(
  count: Count,
  captures: number,
  shown: (figures: Duplication) => Markup,
): AsyncGenerator<Markup> {
  const { progress, figures } = count;
  while (!progress.isDone) {
    const words = `Counting: ${formatNumber(progress.captures)} of ${formatNumber(captures)} captures`;
    yield html`<p class="counting"><progress max="${captures}" value="${progress.captures}" aria-label="${words}"></progress> ${words}</p>
`;
    await Promise.race([figures, sleep(PATIENCE_MS)]);
  }
  yield shown(await figures);
}
