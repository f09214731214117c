/**
 * What is to be fetched, host by host: from each host one thing at a time, and after each a rest. Hosts take turns. The
 * cost of a step does not depend on how many hosts or things wait.
 */

export interface Turn<T> {
  readonly item: T;
  /** Must be called once, when the host may rest. */
  end(): void;
}

/** So many that were taken stay in their list before it is cut. */
const TAKEN_MAX = 1024;

class Host<T> {
  readonly items: T[] = [];
  /** Items before this one were taken. */
  taken = 0;
  isBusy = false;
  restsUntilMs = 0;

  take(): T {
    const item = this.items[this.taken++]!;
    if (this.taken > TAKEN_MAX && this.taken > this.items.length / 2) {
      this.items.splice(0, this.taken);
      this.taken = 0;
    }
    return item;
  }

  get isEmpty(): boolean {
    return this.taken >= this.items.length;
  }
}

export class HostQueues<T> {
  private readonly delayMs: number;
  private readonly hosts = new Map<string, Host<T>>();
  /** Hosts whose turn has come; then those that rest, in the order in which they will be ready. */
  private readonly ready = new Set<Host<T>>();
  private readonly resting = new Set<Host<T>>();
  private readonly waiting: ((turn: Turn<T> | undefined) => void)[] = [];
  private timer: NodeJS.Timeout | undefined;
  private busyCount = 0;
  /** Items that wait, of all hosts. */
  private itemCount = 0;
  private isClosed = false;

  /** `delayMs` is how long a host rests between two requests. */
  constructor(delayMs: number) {
    this.delayMs = delayMs;
  }

  add(hostname: string, item: T): void {
    let host = this.hosts.get(hostname);
    if (host === undefined) this.hosts.set(hostname, (host = new Host()));
    host.items.push(item);
    this.itemCount++;
    if (!host.isBusy && !this.resting.has(host)) this.ready.add(host);
    this.serve();
  }

  /** The next item whose host is ready; absent when nothing is left and nothing under way can bring more. */
  next(): Promise<Turn<T> | undefined> {
    return new Promise((resolve) => {
      this.waiting.push(resolve);
      this.serve();
    });
  }

  /** Gives out nothing more. */
  close(): void {
    this.isClosed = true;
    clearTimeout(this.timer);
    this.serve();
  }

  private serve(): void {
    while (this.waiting.length > 0) {
      this.wake();
      const [host] = this.isClosed ? [] : this.ready;
      if (host !== undefined) this.waiting.shift()!(this.begin(host));
      else if (this.isClosed || (this.busyCount === 0 && this.itemCount === 0)) this.waiting.shift()!(undefined);
      else return this.arm();
    }
  }

  private begin(host: Host<T>): Turn<T> {
    this.ready.delete(host);
    host.isBusy = true;
    this.busyCount++;
    this.itemCount--;
    return { item: host.take(), end: () => this.rest(host) };
  }

  private rest(host: Host<T>): void {
    host.isBusy = false;
    this.busyCount--;
    host.restsUntilMs = performance.now() + this.delayMs;
    // It rests even if nothing waits: a redirect may bring something.
    if (this.delayMs > 0) this.resting.add(host);
    else if (!host.isEmpty) this.ready.add(host);
    this.serve();
  }

  /** Hosts that have rested long enough are ready, or forgotten where nothing waits for them. */
  private wake(): void {
    const nowMs = performance.now();
    for (const host of this.resting) {
      if (host.restsUntilMs > nowMs) return;
      this.resting.delete(host);
      if (!host.isEmpty) this.ready.add(host);
    }
  }

  private arm(): void {
    const [host] = this.resting;
    if (this.timer !== undefined || host === undefined) return;
    this.timer = setTimeout(
      () => {
        this.timer = undefined;
        this.serve();
      },
      Math.max(1, Math.ceil(host.restsUntilMs - performance.now())),
    );
  }
}
