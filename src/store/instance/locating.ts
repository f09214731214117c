/**
 * Where the block of a content key is: in the volume that the key names, or, after a migration, in the one that adopted it;
 * and in which volumes its replicas are.
 */
import type { ArchiveError } from "../../base/index.ts";
import { type ContentKey, formatContentKey } from "../content-key.ts";
import type { BlockInfo } from "../volume.ts";
import { type InstanceCore, memberOf } from "./core.ts";
import { isUnavailable, type Member } from "./member.ts";
import { findTally } from "./tally.ts";

export interface Located {
  readonly member: Member;
  readonly block: BlockInfo;
}

/** A volume that a key leads to as a former key. With a tally it is a replica; without, the block itself that moved. */
export interface Follower extends Located {
  readonly tally: BlockInfo | undefined;
}

export interface Whereabouts {
  readonly primary: Located | undefined;
  readonly replicas: readonly Follower[];
  /** What the volumes said that did not answer, and may have it. */
  readonly failures: readonly ArchiveError[];
}

/** Where the block is that the key leads to. Absent where it is nowhere. Throws HT_PEER_UNAVAILABLE where that cannot be told. */
export async function locate(core: InstanceCore, key: ContentKey): Promise<Located | undefined> {
  const named = memberOf(core, key.volume);
  const block = named.isThere ? await findBlock(named, key) : undefined;
  if (block !== undefined) return { member: named, block };
  const { primary, failures } = await locateElsewhere(core, key);
  if (primary === undefined && failures[0] !== undefined && isElsewhere(core, named)) throw failures[0];
  return primary;
}

/** The block and all its replicas; volumes that do not answer are told in the result. */
export async function locateAll(core: InstanceCore, key: ContentKey): Promise<Whereabouts> {
  const named = memberOf(core, key.volume);
  if (!named.isThere) return await locateElsewhere(core, key);
  let block: BlockInfo | undefined;
  let failure: ArchiveError | undefined;
  try {
    block = await findBlock(named, key);
  } catch (error) {
    if (!isUnavailable(error)) throw error;
    failure = error;
  }
  const elsewhere = await locateElsewhere(core, key, failure === undefined && block === undefined ? undefined : named);
  const primary = block === undefined ? elsewhere.primary : { member: named, block };
  return {
    ...elsewhere,
    primary,
    failures: failure === undefined ? elsewhere.failures : [failure, ...elsewhere.failures],
  };
}

/** Whether blocks of this volume may well be in others, so that one which does not answer makes a difference. */
export function isElsewhere(core: InstanceCore, named: Member): boolean {
  return core.replicas > 1 || named.spec.movedTo !== undefined;
}

/** The block of a key in the volume that it names. */
export async function findBlock(named: Member, key: ContentKey): Promise<BlockInfo | undefined> {
  return (await named.find(key.signature)).find(({ overflow }) => overflow === key.overflow);
}

/** Asks where it most likely went first, if the connector says so, and then all others at once. */
async function locateElsewhere(core: InstanceCore, key: ContentKey, except?: Member): Promise<Whereabouts> {
  const failures: ArchiveError[] = [];
  const ask = async (member: Member): Promise<Follower | undefined> => {
    try {
      return await followTo(core, member, key);
    } catch (error) {
      if (!isUnavailable(error)) throw error;
      failures.push(error);
      return undefined;
    }
  };
  const named = core.members[key.volume]!;
  const asked = new Set<Member | undefined>([except]);
  const found: Follower[] = [];
  for (let next = movedTo(core, named); next !== undefined; next = movedTo(core, next)) {
    asked.add(next);
    const follower = next.isThere ? await ask(next) : undefined;
    if (follower !== undefined) found.push(follower);
    if (follower?.tally === undefined && core.replicas === 1 && found.length > 0) break;
  }
  if (core.replicas > 1 || found.length === 0) {
    const others = core.members.filter((member) => member.isThere && !asked.has(member));
    found.push(...(await Promise.all(others.map(ask))).filter((follower) => follower !== undefined));
  }
  const replicas = found.filter(({ tally }) => tally !== undefined);
  for (const follower of found) {
    if (follower.tally === undefined && (await isTrue(core, named, follower))) {
      return { primary: follower, replicas, failures };
    }
  }
  return { primary: undefined, replicas, failures };
}

/**
 * Whether a follower is what its key leads to. A replica that was dropped leaves the key behind where its volume has the
 * content for itself too. So in an instance with replicas a key leads to the replicas that have its tally, and to another
 * volume's own block only if the volume that it names is gone, or has moved. A migration makes a volume read-only, and the
 * connector may not tell of it yet: then the volume is asked.
 */
export async function isTrue(core: InstanceCore, named: Member, { member, tally }: Follower): Promise<boolean> {
  if (core.replicas === 1 || tally !== undefined || member === named) return true;
  if (named.spec.movedTo !== undefined || !named.isThere) return true;
  try {
    return (await named.describe()).state === "read-only";
  } catch (error) {
    if (!isUnavailable(error)) throw error;
    return false;
  }
}

export function movedTo(core: InstanceCore, member: Member): Member | undefined {
  return member.spec.movedTo === undefined ? undefined : core.members[member.spec.movedTo];
}

/** The block in this volume that the key leads to as a former key. */
export async function followTo(core: InstanceCore, member: Member, key: ContentKey): Promise<Follower | undefined> {
  const address = await member.ask((volume) => volume.follow(formatContentKey(key)));
  if (address === undefined) return undefined;
  const [blocks, tally] = await Promise.all([member.find(address.signature), findTally(core, member, key)]);
  const block = blocks.find(({ overflow }) => overflow === address.overflow);
  return block && { member, block, tally };
}
