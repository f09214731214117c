/** What a walk yields now and then in the place of an answer, so that others have their turn. */
export const PAUSE = undefined;
/** A pause after so many rows that were looked at. */
export const PAUSE_ROWS = 1000;

/** The result of a walk, in one go. */
export function finish<T>(walk: Generator<typeof PAUSE, T>): T {
  for (;;) {
    const step = walk.next();
    if (step.done === true) return step.value;
  }
}
