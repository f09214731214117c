/** For calls that may have to wait, where this time there is nothing to wait for. */

/** What `work` gives, as a promise; what it throws is a rejection. */
export function promised<T>(work: () => T): Promise<T> {
  return new Promise((resolve) => {
    resolve(work());
  });
}

/** Resolves when others had their turn: between pieces of work that does not wait by itself. */
export function othersTurn(): Promise<void> {
  return new Promise((resolve) => {
    setImmediate(resolve);
  });
}
