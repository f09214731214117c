/** Many operations under way at once, with their answers in order: how volumes of this machine do bulk work. */
import type { BlockAddress } from "./content-key.ts";
import type { OpenBlock, StoreAnswer, StoreRequest, Volume } from "./volume.ts";

/** Requests under way at once, in number and in bytes held. */
const STORES_MAX = 256;
const HELD_BYTES_MAX = 32 << 20;

/**
 * Starts each store as its request comes, and answers in order. A request whose data comes in pieces is waited for before
 * the next one is taken: its pieces may be valid no longer.
 */
export async function* storeEach(
  volume: Pick<Volume, "store">,
  requests: AsyncIterable<StoreRequest> | Iterable<StoreRequest>,
): AsyncGenerator<StoreAnswer> {
  const underWay: { readonly answer: Promise<StoreAnswer>; readonly size: number }[] = [];
  let held = 0;
  for await (const request of requests) {
    const size = request.data instanceof Uint8Array ? request.data.length : 0;
    const answer = volume.store(request).then(
      (receipt): StoreAnswer => ({ receipt }),
      (error: unknown): StoreAnswer => ({ error: error instanceof Error ? error : new Error(String(error)) }),
    );
    underWay.push({ answer, size });
    held += size;
    if (!(request.data instanceof Uint8Array)) await answer;
    while (underWay.length >= STORES_MAX || held > HELD_BYTES_MAX) {
      const first = underWay.shift()!;
      held -= first.size;
      yield await first.answer;
    }
  }
  for (const { answer } of underWay) yield await answer;
}

export async function* openEach(
  volume: Pick<Volume, "open">,
  addresses: AsyncIterable<BlockAddress> | Iterable<BlockAddress>,
): AsyncGenerator<OpenBlock | undefined> {
  for await (const address of addresses) yield await volume.open(address);
}
