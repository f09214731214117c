/** Many operations under way at once, with their answers in order: how volumes of this machine do bulk work. */
import type { BlockAddress } from "./content-key.ts";
import type { OpenBlock, StoreAnswer, StoreRequest, Volume } from "./volume.ts";

/** Requests under way at once, in number and in bytes held. */
const STORES_MAX = 256;
const HELD_BYTES_MAX = 32 << 20;

/**
 * Starts each store as its request comes, and answers in order, each as soon as it is known: who waits for an answer
 * before giving the next request gets it. A request whose data comes in pieces is waited for before the next one is
 * taken, for its pieces may be valid no longer then.
 */
export async function* storeEach(
  volume: Pick<Volume, "store">,
  requests: AsyncIterable<StoreRequest> | Iterable<StoreRequest>,
): AsyncGenerator<StoreAnswer> {
  const run = new StoreEach(volume);
  // It never rejects, and nobody waits for requests that may never come.
  void run.read(requests);
  try {
    yield* run.answers();
  } finally {
    run.stop();
  }
  if (run.failure !== undefined) throw run.failure;
}

class StoreEach {
  /** What the requests themselves threw. */
  failure: Error | undefined;
  private readonly volume: Pick<Volume, "store">;
  private readonly underWay: { readonly answer: Promise<StoreAnswer>; readonly size: number }[] = [];
  private held = 0;
  private isOver = false;
  /** Wakes whoever waits for a change of the above. */
  private wake: () => void = () => {};

  constructor(volume: Pick<Volume, "store">) {
    this.volume = volume;
  }

  private change(): Promise<void> {
    const before = this.wake;
    return new Promise((resolve) => {
      this.wake = () => {
        before();
        resolve();
      };
    });
  }

  private tell(): void {
    const { wake } = this;
    this.wake = () => {};
    wake();
  }

  stop(): void {
    this.isOver = true;
    this.tell();
  }

  async read(requests: AsyncIterable<StoreRequest> | Iterable<StoreRequest>): Promise<void> {
    try {
      for await (const request of requests) {
        if (this.isOver) return;
        const size = request.data instanceof Uint8Array ? request.data.length : 0;
        const answer = this.volume.store(request).then(
          (receipt): StoreAnswer => ({ receipt }),
          (error: unknown): StoreAnswer => ({ error: asError(error) }),
        );
        this.underWay.push({ answer, size });
        this.held += size;
        this.tell();
        if (!(request.data instanceof Uint8Array)) await answer;
        while (!this.isOver && (this.underWay.length >= STORES_MAX || this.held > HELD_BYTES_MAX)) await this.change();
      }
    } catch (error) {
      this.failure = asError(error);
    } finally {
      this.stop();
    }
  }

  async *answers(): AsyncGenerator<StoreAnswer> {
    for (;;) {
      const first = this.underWay[0];
      if (first === undefined) {
        if (this.isOver) return;
        await this.change();
        continue;
      }
      const answer = await first.answer;
      this.underWay.shift();
      this.held -= first.size;
      this.tell();
      yield answer;
    }
  }
}

function asError(error: unknown): Error {
  return error instanceof Error ? error : new Error(String(error));
}

export async function* openEach(
  volume: Pick<Volume, "open">,
  addresses: AsyncIterable<BlockAddress> | Iterable<BlockAddress>,
): AsyncGenerator<OpenBlock | undefined> {
  for await (const address of addresses) yield await volume.open(address);
}
