/** Something that is waited for and happens, again and again. Waiting begins after looking, so nothing is missed. */
export class Signal {
  private waiting: (() => void)[] = [];

  /** Resolves the next time that it happens. */
  wait(): Promise<void> {
    return new Promise((resolve) => this.waiting.push(resolve));
  }

  fire(): void {
    const { waiting } = this;
    if (waiting.length === 0) return;
    this.waiting = [];
    for (const resolve of waiting) resolve();
  }
}
