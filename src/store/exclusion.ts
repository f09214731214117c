/** One at a time where the name is the same, and all at once where it is not. Nobody waits for a lock on everything. */
export class Exclusion {
  /** The last one of each name that somebody works under. */
  private readonly last = new Map<string, Promise<unknown>>();

  /** Runs `work` when all that was asked for earlier under this name has ended, however it ended. */
  run<T>(name: string, work: () => Promise<T>): Promise<T> {
    const before = this.last.get(name);
    const result = before === undefined ? work() : before.then(work, work);
    const ended: Promise<void> = result.then(
      () => this.end(name, ended),
      () => this.end(name, ended),
    );
    this.last.set(name, ended);
    return result;
  }

  private end(name: string, ended: Promise<unknown>): void {
    if (this.last.get(name) === ended) this.last.delete(name);
  }
}
