/** All contents of an instance, volume by volume. */
import type { BlockAddress, ContentKey } from "../content-key.ts";
import type { BlockInfo } from "../volume.ts";
import type { InstanceCore } from "./core.ts";
import type { ContentInfo } from "./deleting.ts";
import { batchesOf } from "./in-parallel.ts";
import { isUnavailable, type Member } from "./member.ts";
import { ownReferencesOfAll } from "./own-references.ts";
import { isTally } from "./tally.ts";

export interface ListOptions {
  /** Only those of one volume. */
  readonly volume?: number | undefined;
  /** Only those behind this one, in the order of volumes, signatures and overflow numbers. */
  readonly after?: ContentKey | undefined;
}

/** Where replicas have to be told from contents, so many are asked about at once. */
const BATCH_MAX = 64;

/** Replicas are not listed. Volumes that do not answer are passed over. */
export async function* listContents(core: InstanceCore, options: ListOptions): AsyncGenerator<ContentInfo> {
  const { volume, after } = options;
  for (const member of core.members) {
    if (!member.isThere || (volume !== undefined && member.number !== volume)) continue;
    if (after !== undefined && member.number < after.volume) continue;
    const start = after?.volume === member.number ? after : undefined;
    for await (const blocks of batchesOf(listBlocks(member, start), core.replicas === 1 ? 1 : BATCH_MAX)) {
      yield* contentsOf(core, member, blocks);
    }
  }
}

async function* listBlocks(member: Member, after: BlockAddress | undefined): AsyncGenerator<BlockInfo> {
  try {
    yield* member.askAll((volume) => volume.list(after));
  } catch (error) {
    if (!isUnavailable(error)) throw error;
  }
}

async function* contentsOf(core: InstanceCore, member: Member, all: readonly BlockInfo[]): AsyncGenerator<ContentInfo> {
  const blocks = all.filter((block) => !isTally(block));
  const own = core.replicas === 1 ? undefined : await ownReferencesOfAll(core, member, blocks);
  for (const [i, block] of blocks.entries()) {
    const { signature, overflow } = block;
    const key = { volume: member.number, signature, overflow };
    const references = own?.[i] ?? block.references;
    if (references > 0) yield { ...block, key, volume: member.number, volumeName: member.name, references };
  }
}
