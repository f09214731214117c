/** One listener for each signal, however many exchanges it may abort: Node warns of more than ten. */
export class AbortListeners {
  private readonly bySignal = new WeakMap<AbortSignal, Set<() => void>>();

  /** Does nothing where there is no signal. */
  add(signal: AbortSignal | undefined, abort: () => void): void {
    if (signal === undefined) return;
    let all = this.bySignal.get(signal);
    if (all === undefined) {
      const own = new Set<() => void>();
      all = own;
      this.bySignal.set(signal, own);
      signal.addEventListener("abort", () => {
        for (const listener of own) listener();
      });
    }
    all.add(abort);
  }

  delete(signal: AbortSignal | undefined, abort: () => void): void {
    if (signal !== undefined) this.bySignal.get(signal)?.delete(abort);
  }
}
