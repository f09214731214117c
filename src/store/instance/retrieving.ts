/** Reading contents: from the volume that the key names, decompressed and verified; else from where it moved, or a replica. */
import { ArchiveError } from "../../base/index.ts";
import { verifyContent } from "../content-check.ts";
import { type BlockAddress, type ContentKey, formatContentKey } from "../content-key.ts";
import { createSigner, isStrong } from "../signature.ts";
import type { BlockInfo, OpenBlock } from "../volume.ts";
import { type InstanceCore, memberOf } from "./core.ts";
import { followTo, isElsewhere, isTrue, movedTo } from "./locating.ts";
import { isUnavailable, type Member } from "./member.ts";
import type { Content } from "./parcel.ts";

export interface RetrievedContent extends BlockInfo {
  /** The key that was asked for. */
  readonly key: ContentKey;
  /**
   * Its bytes: all of them, verified; or piece by piece, each valid until the next one, with HT_CORRUPT at the end where
   * they are not what the key says.
   */
  readonly content: Content;
}

/**
 * Absent where there is no such content. Throws HT_PEER_UNAVAILABLE where the volume that has it does not answer, HT_CORRUPT
 * where its bytes are not what the key says, and HT_CODEC.
 */
export async function retrieveContent(core: InstanceCore, key: ContentKey): Promise<RetrievedContent | undefined> {
  const named = memberOf(core, key.volume);
  if (!named.isThere) return await retrieveElsewhere(core, key);
  if (named.isDown && isElsewhere(core, named)) return await retrievePastNamed(core, named, key);
  let failure: ArchiveError | undefined;
  try {
    const found = await openAt(core, named, key, key);
    if (found !== undefined) return found;
  } catch (error) {
    if (!isElsewhere(core, named) || !isForAReplica(error)) throw error;
    failure = error;
  }
  return await retrieveElsewhere(core, key, failure);
}

/** While a volume is passed over, replicas come first; it is asked where there are none that answer. */
async function retrievePastNamed(core: InstanceCore, named: Member, key: ContentKey) {
  let failure: ArchiveError | undefined;
  try {
    const found = await retrieveElsewhere(core, key, undefined, named);
    if (found !== undefined) return found;
  } catch (error) {
    if (!isForAReplica(error)) throw error;
    failure = error;
  }
  const found = await openAt(core, named, key, key);
  if (found === undefined && failure !== undefined) throw failure;
  return found;
}

/** What another copy may make up for. */
function isForAReplica(error: unknown): error is ArchiveError {
  return isUnavailable(error) || (error instanceof ArchiveError && ["HT_CORRUPT", "HT_IO"].includes(error.code));
}

/**
 * Former keys lead on: in the volume that it moved to, if the connector tells, and else in any. A volume that has just
 * failed, or that is passed over, is not asked as another: `failure` is what it said.
 */
export async function retrieveElsewhere(
  core: InstanceCore,
  key: ContentKey,
  failure?: ArchiveError,
  except?: Member,
): Promise<RetrievedContent | undefined> {
  const named = memberOf(core, key.volume);
  const failures: ArchiveError[] = failure === undefined ? [] : [failure];
  const tryFollow = async (member: Member): Promise<BlockAddress | undefined> => {
    try {
      return await follow(core, named, member, key);
    } catch (error) {
      if (!isForAReplica(error)) throw error;
      failures.push(error);
      return undefined;
    }
  };
  const open = async (member: Member, address: BlockAddress | undefined) => {
    if (address === undefined) return undefined;
    try {
      return await openAt(core, member, address, key);
    } catch (error) {
      if (!isForAReplica(error)) throw error;
      failures.push(error);
      return undefined;
    }
  };
  const asked = new Set<Member | undefined>([except ?? (failure === undefined ? undefined : named)]);
  for (let next = movedTo(core, named); next !== undefined; next = movedTo(core, next)) {
    asked.add(next);
    const found = next.isThere ? await open(next, await tryFollow(next)) : undefined;
    if (found !== undefined) return found;
  }
  const others = core.members.filter((member) => member.isThere && !asked.has(member));
  const addresses = await Promise.all(others.map(tryFollow));
  for (const [i, member] of others.entries()) {
    const found = await open(member, addresses[i]);
    if (found !== undefined) return found;
  }
  if (failures[0] !== undefined && (failure !== undefined || isElsewhere(core, named))) throw failures[0];
  return undefined;
}

/** Equal signatures mean equal contents, most of the time; where they do not, more has to be asked. */
async function follow(core: InstanceCore, named: Member, member: Member, key: ContentKey) {
  if (core.replicas === 1 || isStrong(core.signature)) {
    return await member.ask((volume) => volume.follow(formatContentKey(key)));
  }
  const follower = await followTo(core, member, key);
  return follower !== undefined && (await isTrue(core, named, follower)) ? follower.block : undefined;
}

async function openAt(core: InstanceCore, member: Member, address: BlockAddress, key: ContentKey) {
  const block = await member.ask((volume) => volume.open(address));
  return block && verified(core, key, block);
}

/** Decompresses, and compares signature and size. */
export function verified(core: InstanceCore, key: ContentKey, block: OpenBlock): RetrievedContent {
  const { signature, overflow, size, storedSize, compression, references, data } = block;
  const info = { key, signature, overflow, size, storedSize, compression, references };
  if (!(data instanceof Uint8Array)) return { ...info, content: verifiedPieces(core, key, block, data) };
  const content = core.codecs.decode(compression, data, size);
  checkContent(core, key, size, content);
  return { ...info, content };
}

function checkContent(core: InstanceCore, key: ContentKey, size: number, content: Uint8Array): void {
  try {
    verifyContent(core.codecs, core.signature, { signature: key.signature, size, compression: "none" }, content);
  } catch (error) {
    throw error instanceof ArchiveError && error.code === "HT_SIGNATURE" ? corrupt(key, error.message) : error;
  }
}

async function* verifiedPieces(
  core: InstanceCore,
  key: ContentKey,
  { compression, size }: BlockInfo,
  data: AsyncIterable<Uint8Array>,
): AsyncGenerator<Uint8Array> {
  const signer = createSigner(core.signature);
  let given = 0;
  for await (const piece of core.codecs.decodeAll(compression, data, size)) {
    signer.update(piece);
    given += piece.length;
    yield piece;
  }
  if (given !== size) throw corrupt(key, `the content has ${given} bytes, not ${size}`);
  const signature = signer.finish();
  if (signature !== key.signature) throw corrupt(key, `the content has the signature ${signature}`);
}

function corrupt(key: ContentKey, message: string): ArchiveError {
  return new ArchiveError("HT_CORRUPT", `${formatContentKey(key)}: ${message}`);
}
