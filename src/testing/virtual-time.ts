/** Time that passes only when nothing else is left to do, so that hours of waiting take none. */
export class VirtualTime {
  nowMs = 0;
  private readonly sleepers: { readonly atMs: number; readonly wake: () => void }[] = [];

  readonly now = (): number => this.nowMs;

  readonly sleep = (ms: number): Promise<void> =>
    new Promise((wake) => {
      this.sleepers.push({ atMs: this.nowMs + ms, wake });
      this.sleepers.sort((one, other) => one.atMs - other.atMs);
    });

  /** Lets time pass until the work is done. */
  async run<T>(work: Promise<T>): Promise<T> {
    let isDone = false;
    const done = work.finally(() => {
      isDone = true;
    });
    done.catch(() => {});
    for (;;) {
      // All that can go on without time goes on first.
      await new Promise((resolve) => setImmediate(resolve));
      if (isDone) return await done;
      const next = this.sleepers.shift();
      if (next === undefined) throw new Error("everybody waits, and nobody for the time to pass");
      this.nowMs = Math.max(this.nowMs, next.atMs);
      next.wake();
    }
  }
}
