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

/** A count that takes longer is shown as it goes on. */
const PATIENCE_MS = 400;

/** The figures, if they are there in a moment. */
export async function soon(count: Count): Promise<Duplication | undefined> {
  if (!count.isDone) await Promise.race([count.figures, sleep(PATIENCE_MS)]);
  return count.isDone ? await count.figures : undefined;
}

/** How far the count is, again and again, and then what it found. Only the last line of it is seen. */
export async function* counted(
  count: Count,
  captures: number,
  shown: (figures: Duplication) => Markup,
): AsyncGenerator<Markup> {
  while (!count.isDone) {
    const words = `Counting: ${formatNumber(count.done)} of ${formatNumber(captures)} captures`;
    yield html`<p class="counting"><progress max="${captures}" value="${count.done}" aria-label="${words}"></progress> ${words}</p>
`;
    await Promise.race([count.figures, sleep(PATIENCE_MS)]);
  }
  yield shown(await count.figures);
}
