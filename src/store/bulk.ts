/** Many operations under way at once, with their answers in order: how volumes of this machine do bulk work. */
import { ArchiveError } from "../base/index.ts";
import { type BlockAddress, formatAddress } from "./content-key.ts";
import { answersInOrder } from "./in-order.ts";
import type { Source } from "./source.ts";
import type { BulkRequest, OpenBlock, StoreAnswer, StoreReceipt, Volume } from "./volume.ts";

const LIMITS = {
  countMax: 256,
  bytesMax: 32 << 20,
  /** The pieces of a content may be valid no longer when the next request is taken. */
  sizeOf: (request: BulkRequest) =>
    request.data === undefined ? 0 : request.data instanceof Uint8Array ? request.data.length : undefined,
} as const;

/** Starts each as its request comes, and answers in order, each as soon as it is known. */
export function storeEach(
  volume: Pick<Volume, "store" | "refer">,
  requests: Source<BulkRequest>,
): AsyncGenerator<StoreAnswer> {
  return answersInOrder(requests, (request) => storeOne(volume, request), LIMITS);
}

async function storeOne(volume: Pick<Volume, "store" | "refer">, request: BulkRequest): Promise<StoreAnswer> {
  try {
    return { receipt: await carryOut(volume, request) };
  } catch (error) {
    return { error: error instanceof Error ? error : new Error(String(error)) };
  }
}

/** Stores what has data, and counts a reference to what has none: HT_NOT_FOUND where there is nothing to refer to. */
export async function carryOut(volume: Pick<Volume, "store" | "refer">, request: BulkRequest): Promise<StoreReceipt> {
  if (request.data !== undefined) return await volume.store(request);
  const receipt = await volume.refer(request);
  if (receipt !== undefined) return receipt;
  throw notHere({ signature: request.signature, overflow: 0 });
}

export function notHere(address: BlockAddress): ArchiveError {
  return new ArchiveError("HT_NOT_FOUND", `no block ${formatAddress(address)} here`);
}

export async function* openEach(
  volume: Pick<Volume, "open">,
  addresses: Source<BlockAddress>,
): AsyncGenerator<OpenBlock | undefined> {
  for await (const address of addresses) yield await volume.open(address);
}
