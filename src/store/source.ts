/** What a bulk call is given: something to go through, at once or as it comes. */
export type Source<T> = AsyncIterable<T> | Iterable<T>;

export function iterate<T>(source: Source<T>): AsyncIterator<T> | Iterator<T> {
  return Symbol.asyncIterator in source ? source[Symbol.asyncIterator]() : source[Symbol.iterator]();
}

/** Tells a source that no more will be asked of it. It may be in the middle of something, so nobody waits for it. */
export function leaveOff(iterator: AsyncIterator<unknown> | Iterator<unknown>): void {
  Promise.resolve(iterator.return?.()).catch(() => {});
}
