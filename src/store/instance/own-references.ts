/**
 * Whose the references of a block are, in an instance with replicas: those of keys that name its volume, and one for
 * each key of another volume that it is a replica for.
 */
import { type ContentKey, formatContentKey, sameAddress } from "../content-key.ts";
import type { BlockInfo } from "../volume.ts";
import type { InstanceCore } from "./core.ts";
import type { Member } from "./member.ts";
import { pickTally, tallyOf } from "./tally.ts";

/** Overflow numbers that a key may have although its volume does not tell, as one that is lost. */
const OVERFLOWS_GUESSED = [0, 1];

export async function ownReferences(core: InstanceCore, member: Member, block: BlockInfo): Promise<number> {
  const [own] = await ownReferencesOfAll(core, member, [block]);
  return own!;
}

/** For blocks of one volume, with few questions for many of them. */
export async function ownReferencesOfAll(
  core: InstanceCore,
  member: Member,
  blocks: readonly BlockInfo[],
): Promise<number[]> {
  const keys = await possibleKeys(core, member, blocks);
  const tallies = keys.map((ofBlock) => ofBlock.map((key) => ({ key, tally: tallyOf(core, key) })));
  const signatures = tallies.flat().map(({ tally }) => tally.signature);
  const found = signatures.length === 0 ? [] : await member.ask((volume) => volume.find(signatures));
  let asked = 0;
  const starts = tallies.map((ofBlock) => {
    asked += ofBlock.length;
    return asked - ofBlock.length;
  });
  return await Promise.all(
    blocks.map(async (block, i) => {
      const replicas = await Promise.all(
        tallies[i]!.map(async ({ key, tally }, j) => {
          if ((await pickTally(core, member, tally, found[starts[i]! + j]!)) === undefined) return false;
          const address = await member.ask((volume) => volume.follow(formatContentKey(key)));
          return address !== undefined && sameAddress(address, block);
        }),
      );
      return block.references - replicas.filter((isReplica) => isReplica).length;
    }),
  );
}

/** For each block, the keys of other volumes that it may be a replica for. */
async function possibleKeys(core: InstanceCore, except: Member, blocks: readonly BlockInfo[]): Promise<ContentKey[][]> {
  const signatures = blocks.map(({ signature }) => signature);
  const others = core.members.filter((member) => member !== except);
  const found = await Promise.all(
    others.map(async (member) => {
      if (!member.isThere) return undefined;
      return await member.ask((volume) => volume.find(signatures)).catch(() => undefined);
    }),
  );
  return signatures.map((signature, i) =>
    others.flatMap(({ number }, j) => {
      const overflows = (found[j]?.[i] ?? []).map(({ overflow }) => overflow);
      return [...new Set([...OVERFLOWS_GUESSED, ...overflows])].map((overflow) => ({
        volume: number,
        signature,
        overflow,
      }));
    }),
  );
}
