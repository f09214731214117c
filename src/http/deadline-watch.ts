/** Looks from time to time whose deadline has passed. One timer serves all exchanges, and keeps no program alive. */

export interface Timed {
  /** On the clock of `performance.now()`. */
  readonly deadlineMs: number;
  /** The deadline has passed. */
  expire(): void;
}

const TICK_MS = 25;
/** Longer ones are taken for none by Node. */
const TIMER_MAX_MS = 2 ** 31 - 1;

export class DeadlineWatch {
  private readonly watched = new Set<Timed>();
  private timer: NodeJS.Timeout | undefined;

  add(timed: Timed): void {
    this.watched.add(timed);
    this.timer ??= setInterval(this.look, TICK_MS).unref();
  }

  delete(timed: Timed): void {
    this.watched.delete(timed);
  }

  private readonly look = (): void => {
    const nowMs = performance.now();
    for (const timed of this.watched) if (nowMs >= timed.deadlineMs) timed.expire();
    if (this.watched.size > 0) return;
    clearInterval(this.timer);
    this.timer = undefined;
  };
}

/** The value of a promise, or `late` where that takes too long. The promise goes on alone then. */
export function within<T, L>(promise: Promise<T>, timeoutMs: number, late: L): Promise<T | L> {
  return new Promise((resolve, reject) => {
    const timer = setTimeout(() => resolve(late), Math.min(timeoutMs, TIMER_MAX_MS));
    promise.then(resolve, reject).finally(() => clearTimeout(timer));
  });
}
