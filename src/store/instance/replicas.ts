/**
 * Replicas: the same content in further volumes. The volume that a key names has the exact counter; replicas follow it.
 * They may be behind or ahead after an outage, until `repair` sets them right, and a content is never given up for that.
 *
 * A replica is made in two steps, first the content and then its tally, and taken away in the opposite order: wherever
 * there is a tally, there is the reference that it stands for. Who is stopped in between leaves a reference too many, and
 * never one too few.
 */

import { ArchiveError } from "../../base/index.ts";
import { type ContentKey, formatContentKey } from "../content-key.ts";
import { isStrong } from "../signature.ts";
import type { BlockInfo, StoreReceipt, Volume } from "../volume.ts";
import { type InstanceCore, onceSettled, orderFor } from "./core.ts";
import type { Follower } from "./locating.ts";
import type { Member } from "./member.ts";
import type { Parcel } from "./parcel.ts";
import { findTally, tallyOf } from "./tally.ts";

/** What a volume must be given to adopt a content. */
export type Supply = () => Promise<
  Pick<Parameters<Volume["adopt"]>[0], "size" | "storedSize" | "compression" | "data">
>;

/** Counts a reference in the replicas of a content, and makes those that are missing. Gives how many there are. */
export async function replicate(
  core: InstanceCore,
  key: ContentKey,
  parcel: Parcel,
  placed: { readonly member: Member; readonly receipt: StoreReceipt },
  requestId: string | undefined,
): Promise<number> {
  const { member: named, receipt } = placed;
  // What was taken for a duplicate by its size may have other bytes: then the replica is that of the block.
  const isParcel = receipt.outcome === "new" || isStrong(core.signature);
  const supply = () => (isParcel ? supplyParcel(parcel, named, receipt) : supplyBlock(named, receipt));
  const wanted = core.replicas - 1;
  let made = 0;
  for (const member of orderFor(core, key.signature)) {
    if (made === wanted) break;
    if (member === named) continue;
    try {
      await addReplica(core, member, key, supply, requestId);
      made++;
    } catch (error) {
      if (!(error instanceof ArchiveError)) throw error;
      member.warn(error.code, `no replica of ${formatContentKey(key)} in volume ${member.name}: ${error.message}`);
    }
  }
  return made;
}

/** A content that is not held is read back from where it was just stored: there its compressed size is known. */
async function supplyParcel(parcel: Parcel, member: Member, receipt: StoreReceipt): ReturnType<Supply> {
  if (!(parcel.content instanceof Uint8Array)) return await supplyBlock(member, receipt);
  const { compression, data } = await parcel.compressed();
  return { size: parcel.size, storedSize: (data as Uint8Array).length, compression, data };
}

export async function supplyBlock(member: Member, block: BlockInfo): ReturnType<Supply> {
  const opened = await member.ask((volume) => volume.open(block));
  if (opened !== undefined) return opened;
  throw new ArchiveError("HT_NOT_FOUND", `${formatContentKey({ volume: member.number, ...block })} is gone`);
}

/** Counts one reference of the key in a volume, and puts the content there with the first one. */
export async function addReplica(
  core: InstanceCore,
  member: Member,
  key: ContentKey,
  supply: Supply,
  requestId: string = core.random.uuid(),
): Promise<void> {
  const ids = { tally: `${requestId}:t${member.number}`, content: `${requestId}:c${member.number}` };
  const { data, ...tally } = { ...tallyOf(core, key), requestId: ids.tally };
  const compared = isStrong(core.signature) ? undefined : { compression: tally.compression, data };
  const counted = await onceSettled(core, () => member.ask((volume) => volume.refer({ ...tally, compared })));
  if (counted !== undefined) return;
  const placed = await putContent(core, member, key, supply, ids.content);
  const { outcome } = await onceSettled(core, () => member.ask((volume) => volume.store({ ...tally, data })));
  // Another client did the same at the same time: one reference to the content is enough.
  if (outcome === "duplicate") await removeOnce(core, member, placed, `${requestId}:u${member.number}`);
}

/** The content of a replica, with its one reference. */
export async function putContent(
  core: InstanceCore,
  member: Member,
  key: ContentKey,
  supply: Supply,
  requestId: string,
): Promise<BlockInfo> {
  const { signature } = key;
  const formerKeys = [formatContentKey(key)];
  const placed = await onceSettled(core, async () => {
    const { size, storedSize, compression, data } = await supply();
    const block = { signature, overflow: 0, size, storedSize, compression, references: 1, data };
    return await member.ask((volume) => volume.adopt({ ...block, formerKeys, requestId }));
  });
  member.known.add(signature);
  return placed;
}

/** Takes back one reference in a replica. The last one stays: while the content has references, its replica is needed. */
export async function discount(core: InstanceCore, replica: Follower, requestId: string): Promise<void> {
  const { member, tally } = replica;
  if (tally !== undefined && tally.references > 1) {
    await removeOnce(core, member, tally, `${requestId}:t${member.number}`);
  }
}

/** Takes a replica away, whatever its counter. Where two do so at once, one of them takes the content's reference. */
export async function dropReplica(core: InstanceCore, replica: Follower, requestId: string): Promise<void> {
  const { member, block, tally } = replica;
  if (tally === undefined || !(await dropTally(core, member, tally, requestId))) return;
  await removeOnce(core, member, block, `${requestId}:c${member.number}`);
}

/** False where somebody else took the last of it. */
export async function dropTally(core: InstanceCore, member: Member, tally: BlockInfo, requestId: string) {
  for (let i = 0; ; i++) {
    const left = await removeOnce(core, member, tally, `${requestId}:t${member.number}:${i}`);
    if (left === undefined || left.references === 0) return left !== undefined;
  }
}

function removeOnce(core: InstanceCore, member: Member, block: BlockInfo, requestId: string | undefined) {
  return onceSettled(core, () => member.ask((volume) => volume.remove(block, requestId)));
}

/** So many references are counted one by one; more come at once, which a read-only volume does not allow. */
const COUNTED_SINGLY_MAX = 1000;

/** Sets the counter of a replica. False where it was right by then. */
export async function setTally(
  core: InstanceCore,
  member: Member,
  key: ContentKey,
  references: number,
): Promise<boolean> {
  const tally = await findTally(core, member, key);
  if (tally === undefined || tally.references === references) return false;
  const missing = references - tally.references;
  for (let i = 0; i < -missing; i++) await removeOnce(core, member, tally, undefined);
  const { data, ...request } = tallyOf(core, key);
  if (missing > COUNTED_SINGLY_MAX) {
    const formerKeys = [formatContentKey({ volume: member.number, ...tally })];
    const adoption = { ...tally, data, references: missing, formerKeys, requestId: core.random.uuid() };
    await member.ask((volume) => volume.adopt(adoption));
    return true;
  }
  const compared = isStrong(core.signature) ? undefined : { compression: request.compression, data };
  for (let i = 0; i < missing; i++) await member.ask((volume) => volume.refer({ ...request, compared }));
  return true;
}
