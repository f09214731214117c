/** Reading many contents, in the order of their keys; each volume is asked for its share in one go. */
import { ArchiveError } from "../../base/index.ts";
import type { ContentKey } from "../content-key.ts";
import type { OpenBlock } from "../volume.ts";
import { type InstanceCore, memberOf } from "./core.ts";
import { batchesOf } from "./in-parallel.ts";
import { isElsewhere } from "./locating.ts";
import type { Member } from "./member.ts";
import { type RetrievedContent, retrieveContent, retrieveElsewhere, verified } from "./retrieving.ts";

/** What became of one key among many. Without `retrieved` and `error` there is no such content. */
export interface RetrieveAnswer {
  readonly key: ContentKey;
  /** Valid until the next one is asked for. */
  readonly retrieved?: RetrievedContent;
  readonly error?: ArchiveError;
}

const BATCH_MAX = 512;

export async function* retrieveContents(
  core: InstanceCore,
  keys: AsyncIterable<ContentKey> | Iterable<ContentKey>,
): AsyncGenerator<RetrieveAnswer> {
  for await (const batch of batchesOf(keys, BATCH_MAX)) yield* retrieveBatch(core, batch);
}

async function* retrieveBatch(core: InstanceCore, keys: readonly ContentKey[]): AsyncGenerator<RetrieveAnswer> {
  const shares = new Map<number, Share>();
  for (const { volume } of keys) {
    const member = core.members[volume];
    if (member === undefined || !member.isThere || shares.has(volume)) continue;
    const own = keys.filter((key) => key.volume === volume);
    shares.set(volume, new Share(member, own, member.isDown && isElsewhere(core, member)));
  }
  try {
    for (const key of keys) yield await answerFor(core, key, shares.get(key.volume));
  } finally {
    for (const share of shares.values()) await share.end();
  }
}

async function answerFor(core: InstanceCore, key: ContentKey, share: Share | undefined): Promise<RetrieveAnswer> {
  try {
    const block = await share?.next();
    if (block === "failed") return answer(key, await retrieveContent(core, key));
    if (block !== undefined) return answer(key, verified(core, key, block));
    memberOf(core, key.volume);
    return answer(key, await retrieveElsewhere(core, key));
  } catch (error) {
    if (!(error instanceof ArchiveError)) throw error;
    // A replica may be better.
    if (error.code === "HT_CORRUPT" && core.replicas > 1) return await retryAlone(core, key);
    return { key, error };
  }
}

async function retryAlone(core: InstanceCore, key: ContentKey): Promise<RetrieveAnswer> {
  try {
    return answer(key, await retrieveContent(core, key));
  } catch (error) {
    if (!(error instanceof ArchiveError)) throw error;
    return { key, error };
  }
}

function answer(key: ContentKey, retrieved: RetrievedContent | undefined): RetrieveAnswer {
  return retrieved === undefined ? { key } : { key, retrieved };
}

/** The blocks of one volume, in the order in which they are wanted. */
class Share {
  private readonly blocks: AsyncIterator<OpenBlock | undefined>;
  private hasFailed: boolean;

  /** Of a volume that is passed over nothing is asked here. */
  constructor(member: Member, keys: readonly ContentKey[], isPassedOver: boolean) {
    this.blocks = member.askAll((volume) => volume.openAll(keys))[Symbol.asyncIterator]();
    this.hasFailed = isPassedOver;
  }

  /** `failed` for all that come after the volume stopped answering: they have to be asked for one by one. */
  async next(): Promise<OpenBlock | undefined | "failed"> {
    if (this.hasFailed) return "failed";
    try {
      const { done, value } = await this.blocks.next();
      return done === true ? "failed" : value;
    } catch (error) {
      if (!(error instanceof ArchiveError)) throw error;
      this.hasFailed = true;
      return "failed";
    }
  }

  async end(): Promise<void> {
    await this.blocks.return?.();
  }
}
