/**
 * Replicas: the same content in further volumes. The volume that a key names has the exact counter; replicas follow it.
 * They may be behind or ahead after an outage, until `repair` sets them right, and a content is never given up for that.
 *
 * A replica is made in two steps, first its tally and then the content, and taken away in the opposite order. Who made the
 * tally puts the content there, so that many clients at once put it there once.
 */
import { ArchiveError } from "../../base/index.ts";
import { type ContentKey, formatContentKey } from "../content-key.ts";
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
  const supply = () => supplyParcel(parcel, placed.member, placed.receipt);
  const wanted = core.replicas - 1;
  let made = 0;
  for (const member of orderFor(core, key.signature)) {
    if (made === wanted) break;
    if (member === placed.member) continue;
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
  const tally = { ...tallyOf(core, key), requestId: `${requestId}:t${member.number}` };
  const { outcome } = await onceSettled(core, () => member.ask((volume) => volume.store(tally)));
  if (outcome === "duplicate") return;
  await putContent(core, member, key, supply, `${requestId}:c${member.number}`);
}

/** The content of a replica, with its one reference. */
export async function putContent(
  core: InstanceCore,
  member: Member,
  key: ContentKey,
  supply: Supply,
  requestId: string,
): Promise<void> {
  const { signature } = key;
  const formerKeys = [formatContentKey(key)];
  await onceSettled(core, async () => {
    const { size, storedSize, compression, data } = await supply();
    const block = { signature, overflow: 0, size, storedSize, compression, references: 1, data };
    return await member.ask((volume) => volume.adopt({ ...block, formerKeys, requestId }));
  });
  member.known.add(signature);
}

/** Takes back one reference in a replica; with the last one, the replica. */
export async function discount(core: InstanceCore, replica: Follower, requestId?: string): Promise<void> {
  const { member, block, tally } = replica;
  if (tally === undefined) return;
  if (tally.references <= 1) await removeOnce(core, member, block, requestId && `${requestId}:c${member.number}`);
  await removeOnce(core, member, tally, requestId && `${requestId}:t${member.number}`);
}

/** Takes a replica away, whatever its counter. */
export async function dropReplica(core: InstanceCore, replica: Follower, requestId?: string): Promise<void> {
  const { member, block, tally } = replica;
  await removeOnce(core, member, block, requestId && `${requestId}:c${member.number}`);
  if (tally !== undefined) await dropTally(core, member, tally, requestId);
}

export async function dropTally(core: InstanceCore, member: Member, tally: BlockInfo, requestId?: string) {
  for (let i = 0; i < tally.references; i++) {
    const id = requestId && `${requestId}:t${member.number}:${i}`;
    if ((await removeOnce(core, member, tally, id)) === undefined) return;
  }
}

function removeOnce(core: InstanceCore, member: Member, block: BlockInfo, requestId: string | undefined) {
  return onceSettled(core, () => member.ask((volume) => volume.remove(block, requestId)));
}

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
  if (missing > 0) {
    const { data } = tallyOf(core, key);
    const formerKeys = [formatContentKey({ volume: member.number, ...tally })];
    const request = { ...tally, data, references: missing, formerKeys, requestId: core.random.uuid() };
    await member.ask((volume) => volume.adopt(request));
  }
  return true;
}
