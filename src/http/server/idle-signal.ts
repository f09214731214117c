/** Waits until nothing is under way any more: how a server drains. */

export class IdleSignal {
  private readonly isIdle: () => boolean;
  private onIdle: (() => void) | undefined;

  constructor(isIdle: () => boolean) {
    this.isIdle = isIdle;
  }

  /** To be called whenever something ends. */
  tell(): void {
    if (this.onIdle !== undefined && this.isIdle()) this.onIdle();
  }

  /** Resolves when nothing is under way, or the time is over. */
  async wait(timeoutMs: number): Promise<void> {
    if (this.isIdle()) return;
    await new Promise<void>((resolve) => {
      const timer = setTimeout(resolve, timeoutMs);
      this.onIdle = () => {
        clearTimeout(timer);
        resolve();
      };
    });
    this.onIdle = undefined;
  }
}
