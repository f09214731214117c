/** Long work over many things: some of them under way at once, each finished once it was begun. */

export interface WorkOptions {
  /** Aborted, it takes nothing new and ends when what is under way is done. */
  readonly signal?: AbortSignal | undefined;
}

/** Rejects with the first error, when what was under way is done. */
export async function inParallel<T>(
  things: AsyncIterable<T>,
  countMax: number,
  work: (thing: T) => Promise<void>,
  { signal }: WorkOptions = {},
): Promise<void> {
  const underWay = new Set<Promise<void>>();
  const failures: unknown[] = [];
  try {
    for await (const thing of things) {
      if (signal?.aborted === true || failures.length > 0) break;
      const done: Promise<void> = work(thing)
        .catch((error: unknown) => void failures.push(error))
        .finally(() => underWay.delete(done));
      underWay.add(done);
      if (underWay.size >= countMax) await Promise.race(underWay);
    }
  } finally {
    await Promise.all(underWay);
  }
  if (failures.length > 0) throw failures[0];
}

/** The same things, so many at a time. */
export async function* batchesOf<T>(things: AsyncIterable<T> | Iterable<T>, countMax: number): AsyncGenerator<T[]> {
  let batch: T[] = [];
  for await (const thing of things) {
    batch.push(thing);
    if (batch.length < countMax) continue;
    yield batch;
    batch = [];
  }
  if (batch.length > 0) yield batch;
}
