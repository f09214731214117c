/** The bytes of a content on their way in: small ones are held, large ones go to a file as they come. */
import type { Random } from "../../base/index.ts";
import type { Disk } from "../../disk/index.ts";
import type { BlockData } from "../volume.ts";
import { LargeBlock } from "./large-block.ts";
import { SMALL_SIZE_MAX } from "./segment-files.ts";

/** Where large ones go. */
export interface Spool {
  readonly disk: Disk;
  readonly folder: string;
  readonly random: Random;
}

export type HeldData = Uint8Array | LargeBlock;

/** Holds the data for the time of `use`. */
export async function withHeldData<T>(
  { disk, folder, random }: Spool,
  data: BlockData,
  use: (held: HeldData) => Promise<T>,
): Promise<T> {
  if (data instanceof Uint8Array && data.length <= SMALL_SIZE_MAX) return use(data);
  const { small, all } = data instanceof Uint8Array ? { small: undefined, all: once(data) } : await take(data);
  if (small !== undefined) return use(small);
  using large = await LargeBlock.receive(disk, folder, random, all);
  return await use(large);
}

async function* once(data: Uint8Array): AsyncGenerator<Uint8Array> {
  yield await Promise.resolve(data);
}

/** All of it where it is small; else a stream of what was taken already and what is still to come. */
async function take(
  data: AsyncIterable<Uint8Array>,
): Promise<{ small: Uint8Array | undefined; all: AsyncIterable<Uint8Array> }> {
  const pieces: Uint8Array[] = [];
  let size = 0;
  const iterator = data[Symbol.asyncIterator]();
  while (size <= SMALL_SIZE_MAX) {
    const { done, value } = await iterator.next();
    if (done === true) return { small: Buffer.concat(pieces), all: once(new Uint8Array(0)) };
    pieces.push(Buffer.from(value));
    size += value.length;
  }
  async function* all(): AsyncGenerator<Uint8Array> {
    yield* pieces;
    for (let next = await iterator.next(); next.done !== true; next = await iterator.next()) yield next.value;
  }
  return { small: undefined, all: all() };
}
