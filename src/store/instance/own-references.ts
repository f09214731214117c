/**
 * Whose the references of a block are, in an instance with replicas: those of keys that name its volume, and one for
 * each key of another volume that it is a replica for.
 */

import { ArchiveError } from "../../base/index.ts";
import { type ContentKey, formatContentKey, sameAddress } from "../content-key.ts";
import { isStrong } from "../signature.ts";
import type { BlockInfo } from "../volume.ts";
import { type InstanceCore } from "./core.ts";
import type { Member } from "./member.ts";
import { pickTally, tallyOf } from "./tally.ts";

/** A key of another volume that a block may be a replica for. */
interface Guess {
  readonly block: BlockInfo;
  readonly key: ContentKey;
}

/**
 * How many overflow numbers are guessed of a volume that does not tell, as one that is lost. They are given from 0 on, so
 * as long as the guesses are right, as many again are made. Where signatures collide, there may be gaps.
 */
function guessCount(core: InstanceCore): number {
  return isStrong(core.signature) ? 2 : 16;
}

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
  const replicas = new Map<BlockInfo, number>();
  const asked = new Set<string>();
  let guesses = await firstGuesses(core, member, blocks);
  while (guesses.length > 0) {
    for (const { key } of guesses) asked.add(formatContentKey(key));
    const right = await confirm(core, member, guesses);
    for (const { block, isReplica } of right) if (isReplica) replicas.set(block, (replicas.get(block) ?? 0) + 1);
    guesses = right.flatMap(({ block, key }) =>
      Array.from({ length: guessCount(core) }, (_, i) => ({ block, key: { ...key, overflow: key.overflow + 1 + i } })),
    );
    const next = new Map(guesses.map((guess) => [`${formatContentKey(guess.key)} ${guess.block.overflow}`, guess]));
    guesses = [...next.values()].filter(({ key }) => !asked.has(formatContentKey(key)));
  }
  return blocks.map((block) => block.references - (replicas.get(block) ?? 0));
}

/** The lowest numbers, and those that blocks with this signature have in the other volumes. */
async function firstGuesses(core: InstanceCore, except: Member, blocks: readonly BlockInfo[]): Promise<Guess[]> {
  const signatures = blocks.map(({ signature }) => signature);
  if (signatures.length === 0) return [];
  const others = core.members.filter((member) => member !== except);
  const found = await Promise.all(
    others.map(async (member) => {
      if (!member.isThere) return undefined;
      return await member.ask((volume) => volume.find(signatures)).catch(unlessOurBug);
    }),
  );
  return blocks.flatMap((block, i) =>
    others.flatMap(({ number }, j) => {
      const overflows = new Set([...Array.from({ length: guessCount(core) }).keys(), ...overflowsOf(found[j]?.[i])]);
      return [...overflows].map((overflow) => ({
        block,
        key: { volume: number, signature: block.signature, overflow },
      }));
    }),
  );
}

/** What a volume cannot tell is guessed. */
function unlessOurBug(error: unknown): undefined {
  if (!(error instanceof ArchiveError)) throw error;
}

function overflowsOf(blocks: readonly BlockInfo[] = []): number[] {
  return blocks.map(({ overflow }) => overflow);
}

/** Those of the keys that have a tally here; and whether it is for this block, or another with its signature. */
async function confirm(core: InstanceCore, member: Member, guesses: readonly Guess[]) {
  const tallies = guesses.map(({ key }) => tallyOf(core, key));
  const found = await member.ask((volume) => volume.find(tallies.map(({ signature }) => signature)));
  const confirmed = await Promise.all(
    guesses.map(async ({ block, key }, i) => {
      if ((await pickTally(core, member, tallies[i]!, found[i]!)) === undefined) return [];
      const address = await member.ask((volume) => volume.follow(formatContentKey(key)));
      return [{ block, key, isReplica: address !== undefined && sameAddress(address, block) }];
    }),
  );
  return confirmed.flat();
}
