/** Taking references back, and looking at counters: of a content, and of its replicas. */

import { ArchiveError } from "../../base/index.ts";
import { type ContentKey, formatContentKey } from "../content-key.ts";
import { isStrong } from "../signature.ts";
import type { BlockInfo } from "../volume.ts";
import { type InstanceCore, memberOf, onceSettled } from "./core.ts";
import { type Follower, type Located, locate, locateAll, type Whereabouts } from "./locating.ts";
import { ownReferences } from "./own-references.ts";
import { discount, dropReplica } from "./replicas.ts";

/** A block as its clients see it: with the references that they hold, and not those of replicas. */
export interface ContentInfo extends BlockInfo {
  /** The key that was asked for. */
  readonly key: ContentKey;
  /** The number and the name of the volume that has it. */
  readonly volume: number;
  readonly volumeName: string;
}

/** Absent where there is no such content. */
export async function statContent(core: InstanceCore, key: ContentKey): Promise<ContentInfo | undefined> {
  if (core.replicas === 1) {
    const located = await locate(core, key);
    return located && infoOf(key, located, located.block.references);
  }
  const { primary, replicas, failures } = await locateAll(core, key);
  if (primary !== undefined) {
    const own = await ownReferences(core, primary.member, primary.block);
    if (own > 0) return infoOf(key, primary, own);
    if (failures[0] !== undefined) throw failures[0];
    return undefined;
  }
  if (replicas[0] !== undefined) return infoOf(key, replicas[0], replicas[0].tally!.references);
  if (failures[0] !== undefined) throw failures[0];
  return undefined;
}

function infoOf(key: ContentKey, { member, block }: Located, references: number): ContentInfo {
  return { key, volume: member.number, volumeName: member.name, ...block, references };
}

/**
 * Takes back one reference, and the content with the last one. Gives its header as it is then; absent where there is no
 * such content. Throws HT_PEER_UNAVAILABLE, and nothing is changed, where its volume does not answer, or where a replica
 * of a last reference may be in one that does not.
 */
export async function deleteContent(
  core: InstanceCore,
  key: ContentKey,
  requestId?: string,
): Promise<ContentInfo | undefined> {
  if (core.replicas === 1) return await onceSettled(core, () => deleteSingle(core, key, requestId));
  const id = requestId ?? core.random.uuid();
  return await onceSettled(core, async () => deleteReplicated(core, key, await locateAll(core, key), id));
}

/** Straight to the volume that the key names; further only where it is not there. */
async function deleteSingle(core: InstanceCore, key: ContentKey, requestId: string | undefined) {
  const named = memberOf(core, key.volume);
  const block = named.isThere ? await named.ask((volume) => volume.remove(key, requestId)) : undefined;
  if (block !== undefined) return infoOf(key, { member: named, block }, block.references);
  const located = await locate(core, key);
  if (located === undefined) return undefined;
  const { member } = located;
  const removed = await member.ask((volume) => volume.remove(located.block, requestId));
  return removed && infoOf(key, { member, block: removed }, removed.references);
}

/** Replicas first: a replica without its content would come back to life with the next repair. */
async function deleteReplicated(
  core: InstanceCore,
  key: ContentKey,
  { primary, replicas, failures }: Whereabouts,
  requestId: string,
): Promise<ContentInfo | undefined> {
  const [unreachable] = failures;
  if (primary === undefined) {
    if (unreachable !== undefined) throw unreachable;
    return await deleteWithoutPrimary(core, key, replicas, requestId);
  }
  const own = await ownReferences(core, primary.member, primary.block);
  // Where signatures collide, only all volumes together can tell which reference is the last.
  if (unreachable !== undefined && (own <= 1 || !isStrong(core.signature))) {
    const why = `a reference of ${formatContentKey(key)} cannot be taken back while a replica may be out of reach`;
    throw new ArchiveError("HT_PEER_UNAVAILABLE", `${why}: ${unreachable.message}`, {}, unreachable);
  }
  // A replica of others, whose key nobody was given.
  if (own < 1) return undefined;
  const present = presentKey(primary);
  const isFormer = formatContentKey(present) !== formatContentKey(key);
  // A block that moved may have replicas by the key that it has now, beside those by the key that it had.
  const others = isFormer ? (await locateAll(core, present)).replicas : [];
  for (const replica of replicas) {
    const isLast = own === 1 || (isFormer && replica.tally!.references === 1);
    await takeBack(core, replica, isLast, requestId);
  }
  for (const replica of others) await takeBack(core, replica, own === 1, `${requestId}:p`);
  const { member } = primary;
  const block = await member.ask((volume) => volume.remove(primary.block, requestId));
  if (block !== undefined) return infoOf(key, { member, block }, own - 1);
  // It moved to another volume in between, or somebody else took the last reference back.
  const again = await locateAll(core, key);
  return again.primary === undefined ? undefined : await deleteReplicated(core, key, again, requestId);
}

/** Only replicas are left, until a repair: the highest of their counters is the right one. */
async function deleteWithoutPrimary(
  core: InstanceCore,
  key: ContentKey,
  replicas: readonly Follower[],
  requestId: string,
): Promise<ContentInfo | undefined> {
  const references = Math.max(0, ...replicas.map(({ tally }) => tally!.references));
  for (const replica of replicas) await takeBack(core, replica, references === 1, requestId);
  return replicas[0] && infoOf(key, replicas[0], references - 1);
}

/** Ids are those of the volume and the key, whichever replicas are left when the request is said again. */
function takeBack(core: InstanceCore, replica: Follower, isLast: boolean, requestId: string): Promise<void> {
  return isLast ? dropReplica(core, replica, requestId) : discount(core, replica, requestId);
}

/** The key that leads straight to where a block is. */
function presentKey({ member, block }: Located): ContentKey {
  return { volume: member.number, signature: block.signature, overflow: block.overflow };
}
