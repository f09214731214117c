/**
 * Tallies: how a replica keeps count. A replica of the content with key K is two blocks in another volume: the content
 * itself, which K leads to as a former key and which has one reference for K; and the tally of K, a small block whose
 * bytes name K and whose counter is that of K. So a content that a volume has for itself and the same content as a
 * replica share one block, and still neither counter is lost in the other.
 */
import { gather, TALLY_CODEC } from "../codec.ts";
import { type ContentKey, formatContentKey, parseContentKey } from "../content-key.ts";
import { isStrong, signatureOf } from "../signature.ts";
import type { BlockInfo, OpenBlock, StoreRequest } from "../volume.ts";
import { type InstanceCore } from "./core.ts";
import type { Member } from "./member.ts";

const HEADING = "holotype-tally ";
const TALLY_SIZE_MAX = 512;

/** The tally of a key, as a request to store it. */
export function tallyOf(core: InstanceCore, key: ContentKey): StoreRequest & { readonly data: Buffer } {
  const data = Buffer.from(`${HEADING}${formatContentKey(key)}\n`);
  return {
    signature: signatureOf(core.signature, data),
    size: data.length,
    mode: isStrong(core.signature) ? "regular" : "compare",
    compression: TALLY_CODEC,
    data,
  };
}

export function isTally(block: BlockInfo): boolean {
  return block.compression === TALLY_CODEC;
}

/** The key that a tally counts for; absent where its bytes are not those of one. */
export async function keyOfTally(block: OpenBlock): Promise<ContentKey | undefined> {
  if (block.size > TALLY_SIZE_MAX) return undefined;
  const text = Buffer.from(await gather(block.data, TALLY_SIZE_MAX)).toString("latin1");
  if (!text.startsWith(HEADING) || !text.endsWith("\n")) return undefined;
  try {
    return parseContentKey(text.slice(HEADING.length, -1));
  } catch {
    return undefined;
  }
}

/** The tally of a key in a volume; absent where there is none. */
export async function findTally(core: InstanceCore, member: Member, key: ContentKey): Promise<BlockInfo | undefined> {
  const tally = tallyOf(core, key);
  return await pickTally(core, member, tally, await member.find(tally.signature));
}

/** The same among the blocks with its signature. Where signatures are weak, the bytes decide. */
export async function pickTally(
  core: InstanceCore,
  member: Member,
  tally: { readonly size: number; readonly data: Buffer },
  blocks: readonly BlockInfo[],
): Promise<BlockInfo | undefined> {
  for (const block of blocks) {
    if (!isTally(block) || block.size !== tally.size) continue;
    if (isStrong(core.signature)) return block;
    const opened = await member.ask((volume) => volume.open(block));
    if (opened !== undefined && tally.data.equals(await gather(opened.data, TALLY_SIZE_MAX))) return block;
  }
  return undefined;
}
