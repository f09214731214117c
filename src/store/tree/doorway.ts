/** Many go through at once; now and then somebody wants to be alone, and waits until all who are inside have left. */
export class Doorway {
  private inside = 0;
  private closed: Promise<void> | undefined;
  private onEmpty: (() => void) | undefined;

  async through<T>(work: () => Promise<T>): Promise<T> {
    while (this.closed !== undefined) await this.closed;
    this.inside++;
    try {
      return await work();
    } finally {
      this.inside--;
      if (this.inside === 0) this.onEmpty?.();
    }
  }

  /** Whoever comes while `work` runs, or waits to run, waits until it has ended. */
  async alone<T>(work: () => Promise<T>): Promise<T> {
    while (this.closed !== undefined) await this.closed;
    let open = () => {};
    this.closed = new Promise((resolve) => {
      open = resolve;
    });
    try {
      if (this.inside > 0) {
        await new Promise<void>((resolve) => {
          this.onEmpty = resolve;
        });
      }
      return await work();
    } finally {
      this.onEmpty = undefined;
      this.closed = undefined;
      open();
    }
  }
}
