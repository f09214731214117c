/** Promises that take a wrong turn: past the `catch` that was meant for them, or into a place that cannot wait. */

interface Store {
  has(key: string): Promise<boolean>;
  put(key: string, bytes: Uint8Array): Promise<void>;
  size(key: string): Promise<number>;
  readonly count: number;
}

/** The rejection leaves the function before the `catch` can see it. */
export async function hasSafely(store: Store, key: string): Promise<boolean> {
  try {
    return store.has(key); // mistake 8: typescript/return-await
  } catch {
    return false;
  }
}

/** A promise is always true: every content counts as known, and none is stored. */
export async function putOnce(store: Store, key: string, bytes: Uint8Array): Promise<void> {
  if (store.has(key)) return; // mistake 9: typescript/no-misused-promises
  await store.put(key, bytes);
}

/** `forEach` waits for nobody. */
export function putAll(store: Store, contents: ReadonlyMap<string, Uint8Array>): void {
  contents.forEach(async (bytes, key) => { // mistake 10: typescript/no-misused-promises
    await store.put(key, bytes);
  });
}

/** Spreading a promise gives nothing. */
export function describe(details: Promise<{ readonly size: number }>): object {
  return { kind: "blob", ...details }; // mistake 11: typescript/no-misused-spread
}

/** A filter cannot wait for an answer, and takes the promise of one for a yes. */
export function dropEmpty(store: Store, keys: readonly string[]): string[] {
  return keys.filter(async (key) => (await store.size(key)) > 0); // mistake 12: typescript/no-misused-promises
}

/** Success is looked at, failure is not. */
export function putAndCount(store: Store, key: string, onDone: () => void): void {
  store.put(key, new Uint8Array(0)).then(onDone); // mistake 13: typescript/no-floating-promises
}

/** Whoever wrote this thought that something was waited for. */
export async function countLater(store: Store): Promise<number> {
  return await store.count; // mistake 14: typescript/await-thenable
}

/** A text has no trace and no code to branch on. */
export function refuse(key: string): never {
  throw `no content ${key}`; // mistake 15: typescript/only-throw-error
}

/** The same, later. */
export function refuseLater(key: string): Promise<never> {
  return Promise.reject(`no content ${key}`); // mistake 16: typescript/prefer-promise-reject-errors
}

/** What an async executor throws is lost, and the promise is never settled. */
export function sizeOf(store: Store, key: string): Promise<number> {
  return new Promise(async (resolve) => { // mistake 17: eslint/no-async-promise-executor
    resolve(await store.size(key));
  });
}

/** A list of promises that nobody waits for. */
export function warm(store: Store, keys: readonly string[]): void {
  keys.map((key) => store.has(key)); // mistake 18: typescript/no-floating-promises
}
