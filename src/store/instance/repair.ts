/**
 * Repair: brings every content to the number of volumes that the instance asks for, after a volume was lost, or was away
 * while contents were stored. It walks all volumes twice: their contents, to see to their replicas; and their tallies, to
 * see to contents that are missing. It can be stopped and begun again at any time, while the instance is in use.
 *
 * Nothing is taken away but what is there in the right number elsewhere; where counters differ, the one of the volume that
 * the key names is right.
 */

import { ArchiveError } from "../../base/index.ts";
import { type ContentKey, formatContentKey } from "../content-key.ts";
import { isStrong } from "../signature.ts";
import type { BlockInfo } from "../volume.ts";
import { type InstanceCore, orderFor } from "./core.ts";
import { batchesOf, inParallel, type WorkOptions } from "./in-parallel.ts";
import { type Follower, type Located, locateAll, movedTo } from "./locating.ts";
import { isUnavailable, type Member } from "./member.ts";
import { ownReferencesOfAll } from "./own-references.ts";
import { addReplica, dropReplica, dropTally, putContent, setTally, supplyBlock } from "./replicas.ts";
import { findTally, isTally, keyOfTally, pickTally, tallyOf } from "./tally.ts";

export interface RepairOptions extends WorkOptions {
  readonly onProgress?: ((progress: RepairProgress) => void) | undefined;
  /** A content that could not be seen to. The others are. */
  readonly onFailure?: ((key: ContentKey, error: ArchiveError) => void) | undefined;
}

export interface RepairProgress {
  /** Blocks looked at, and blocks that there were when it began. */
  readonly blocks: number;
  readonly blocksTotal: number;
}

export interface RepairResult {
  /** Contents looked at. */
  readonly contents: number;
  readonly replicasMade: number;
  readonly replicasDropped: number;
  readonly contentsRestored: number;
  readonly countersSet: number;
  readonly failed: number;
  /** The names of volumes that did not answer. */
  readonly unreachable: readonly string[];
  /** False where it was stopped before the end. */
  readonly isDone: boolean;
}

const BATCH_MAX = 64;
const AT_ONCE_MAX = 8;

export async function repairInstance(core: InstanceCore, options: RepairOptions = {}): Promise<RepairResult> {
  const reachable: Member[] = [];
  const unreachable: string[] = [];
  let blocksTotal = 0;
  for (const member of core.members) {
    if (!member.isThere) continue;
    try {
      blocksTotal += (await member.describe()).blocks;
      reachable.push(member);
    } catch (error) {
      if (!isUnavailable(error)) throw error;
      unreachable.push(member.name);
    }
  }
  const repair = new Repair(core, reachable, blocksTotal, options);
  await repair.run();
  const isDone = options.signal?.aborted !== true;
  return { ...repair.counts, unreachable, isDone };
}

interface Holder {
  readonly member: Member;
  readonly tally: BlockInfo;
}

class Repair {
  readonly counts = {
    contents: 0,
    replicasMade: 0,
    replicasDropped: 0,
    contentsRestored: 0,
    countersSet: 0,
    failed: 0,
  };
  private readonly core: InstanceCore;
  private readonly reachable: readonly Member[];
  private readonly blocksTotal: number;
  private readonly options: RepairOptions;
  private blocks = 0;

  constructor(core: InstanceCore, reachable: readonly Member[], blocksTotal: number, options: RepairOptions) {
    this.core = core;
    this.reachable = reachable;
    this.blocksTotal = blocksTotal;
    this.options = options;
  }

  async run(): Promise<void> {
    for (const member of this.reachable) {
      const batches = batchesOf(this.blocksOf(member), BATCH_MAX);
      await inParallel(batches, 1, (blocks) => this.seeToContents(member, blocks), this.options);
    }
    for (const member of this.reachable) {
      const tallies = batchesOf(this.talliesOf(member), 1);
      await inParallel(tallies, AT_ONCE_MAX, ([tally]) => this.seeToTally(member, tally!), this.options);
    }
  }

  private async *blocksOf(member: Member): AsyncGenerator<BlockInfo> {
    for await (const block of member.askAll((volume) => volume.list())) if (!isTally(block)) yield block;
  }

  private async *talliesOf(member: Member): AsyncGenerator<BlockInfo> {
    for await (const block of member.askAll((volume) => volume.list())) if (isTally(block)) yield block;
  }

  private progress(count: number): void {
    this.blocks += count;
    this.options.onProgress?.({ blocks: this.blocks, blocksTotal: this.blocksTotal });
  }

  /** Errors of one content are told; it may be all right next time, and the others should not wait for it. */
  private async attempt(key: ContentKey, work: () => Promise<void>): Promise<void> {
    try {
      await work();
    } catch (error) {
      if (!(error instanceof ArchiveError)) throw error;
      this.counts.failed++;
      this.options.onFailure?.(key, error);
    }
  }

  private async seeToContents(member: Member, blocks: readonly BlockInfo[]): Promise<void> {
    this.progress(blocks.length);
    if (this.core.replicas === 1) return;
    const own = await ownReferencesOfAll(this.core, member, blocks);
    const contents = blocks.flatMap((block, i) => (own[i]! > 0 ? [{ block, own: own[i]! }] : []));
    const keys = contents.map(({ block }) => keyAt(member, block));
    const holders = await this.holdersOf(member, keys);
    const things = contents.map((content, i) => ({ ...content, key: keys[i]!, holders: holders[i]! }));
    await inParallel(
      batchesOf(things, 1),
      AT_ONCE_MAX,
      ([thing]) =>
        this.attempt(thing!.key, () =>
          this.seeToReplicas(thing!.key, { member, ...thing! }, thing!.own, thing!.holders),
        ),
      this.options,
    );
  }

  /** For each key, the other volumes that have its tally. */
  private async holdersOf(except: Member, keys: readonly ContentKey[]): Promise<Holder[][]> {
    const tallies = keys.map((key) => tallyOf(this.core, key));
    const signatures = tallies.map(({ signature }) => signature);
    const holders = keys.map((): Holder[] => []);
    if (keys.length === 0) return holders;
    for (const member of this.reachable) {
      if (member === except) continue;
      const found = await member.ask((volume) => volume.find(signatures));
      for (const [i, blocks] of found.entries()) {
        const tally = await pickTally(this.core, member, tallies[i]!, blocks);
        if (tally !== undefined) holders[i]!.push({ member, tally });
      }
    }
    return holders;
  }

  private async seeToReplicas(
    key: ContentKey,
    primary: Located,
    own: number,
    holders: readonly Holder[],
  ): Promise<void> {
    this.counts.contents++;
    const { core } = this;
    const order = orderFor(core, key.signature).filter((member) => this.reachable.includes(member));
    const rank = ({ member }: Holder) => (order.includes(member) ? order.indexOf(member) : order.length);
    const sorted = holders.toSorted((one, other) => rank(one) - rank(other));
    for (const { member, tally } of sorted.slice(0, core.replicas - 1)) {
      await this.completeReplica(key, primary, member);
      if (tally.references !== own) await this.setCounter(member, key, own);
    }
    for (const { member } of sorted.slice(core.replicas - 1)) await this.dropAt(member, key);
    let missing = core.replicas - 1 - holders.length;
    for (const member of order) {
      if (missing <= 0) break;
      if (member === primary.member || holders.some((holder) => holder.member === member)) continue;
      await this.makeReplica(member, key, primary, own);
      missing--;
    }
    if (missing > 0) throw new ArchiveError("HT_READ_ONLY", `${formatContentKey(key)}: too few volumes take replicas`);
  }

  /** A tally whose content is not there: somebody was stopped between the two. */
  private async completeReplica(key: ContentKey, source: Located, member: Member): Promise<void> {
    const address = await member.ask((volume) => volume.follow(formatContentKey(key)));
    if (address !== undefined) return;
    const supply = () => supplyBlock(source.member, source.block);
    await putContent(this.core, member, key, supply, this.core.random.uuid());
    this.counts.replicasMade++;
  }

  private async makeReplica(member: Member, key: ContentKey, source: Located, references: number): Promise<void> {
    await addReplica(this.core, member, key, () => supplyBlock(source.member, source.block));
    this.counts.replicasMade++;
    if (references > 1) await setTally(this.core, member, key, references);
  }

  private async setCounter(member: Member, key: ContentKey, references: number): Promise<void> {
    if (await setTally(this.core, member, key, references)) this.counts.countersSet++;
  }

  private async dropAt(member: Member, key: ContentKey): Promise<void> {
    const { replicas } = await locateAll(this.core, key);
    const replica = replicas.find((follower) => follower.member === member);
    const tally = replica?.tally ?? (await findTally(this.core, member, key));
    if (replica !== undefined) await dropReplica(this.core, replica, this.core.random.uuid());
    else if (tally !== undefined) await dropTally(this.core, member, tally, this.core.random.uuid());
    this.counts.replicasDropped++;
  }

  private async seeToTally(member: Member, tally: BlockInfo): Promise<void> {
    this.progress(1);
    const opened = await member.ask((volume) => volume.open(tally));
    const key = opened && (await keyOfTally(opened));
    if (key === undefined || this.core.members[key.volume] === undefined) return;
    await this.attempt(key, () => this.seeToPrimary(member, tally, key));
  }

  /** What to do for a key, as seen from a volume with its tally. */
  private async seeToPrimary(member: Member, tally: BlockInfo, key: ContentKey): Promise<void> {
    const { core } = this;
    const { primary, replicas, failures } = await locateAll(core, key);
    if (primary !== undefined) {
      if (core.replicas === 1) await this.dropAt(member, key);
      else if (primary.member !== member) await this.completeReplica(key, primary, member);
      return;
    }
    const [first] = replicas;
    if (first === undefined) {
      // Neither the content nor a replica of it is anywhere: what is left of a delete that was cut off.
      if (failures.length > 0) throw failures[0]!;
      await dropTally(core, member, tally, core.random.uuid());
      this.counts.replicasDropped++;
      return;
    }
    // One of the volumes sees to it, not each of them.
    if (first.member !== member) return;
    const named = core.members[key.volume]!;
    const isNamedAway = named.isThere && !this.reachable.includes(named);
    if (isNamedAway) await this.replaceLost(key, replicas);
    else if (failures.length > 0) throw failures[0]!;
    else await this.restore(key, named, replicas);
  }

  /** The volume that the key names does not answer: as many others as it takes hold a replica each. */
  private async replaceLost(key: ContentKey, replicas: readonly Follower[]): Promise<void> {
    const [source] = replicas;
    let missing = this.core.replicas - replicas.length;
    for (const member of orderFor(this.core, key.signature)) {
      if (missing <= 0) break;
      if (!this.reachable.includes(member) || replicas.some((replica) => replica.member === member)) continue;
      await this.makeReplica(member, key, source!, source!.tally!.references);
      missing--;
    }
  }

  /** The volume that the key names has lost the content, or is not there any more: it gets it back, or another does. */
  private async restore(key: ContentKey, named: Member, replicas: readonly Follower[]): Promise<void> {
    const { core } = this;
    if (named.isThere && !isStrong(core.signature)) {
      // It would give the keys of what it lost to other contents: signatures like these may be theirs too.
      const why = `volume ${named.name} has lost what it had; replace it by one with another number`;
      throw new ArchiveError("HT_USAGE", `${formatContentKey(key)}: ${why}`);
    }
    const isHolder = (member: Member) => replicas.some((replica) => replica.member === member);
    const moved = movedTo(core, named);
    const candidates = [named, ...(moved === undefined ? [] : [moved]), ...orderFor(core, key.signature)];
    const target = candidates.find((member) => core.writable.includes(member) && !isHolder(member));
    // Only replicas are left, each in its volume: they serve as they are.
    if (target === undefined) return;
    const [source] = replicas;
    const references = Math.max(...replicas.map(({ tally }) => tally!.references));
    const { size, storedSize, compression, data } = await supplyBlock(source!.member, source!.block);
    const block = { signature: key.signature, overflow: key.overflow, size, storedSize, compression, references, data };
    const request = { ...block, formerKeys: [formatContentKey(key)], requestId: core.random.uuid() };
    await target.ask((volume) => volume.adopt(request));
    target.known.add(key.signature);
    this.counts.contentsRestored++;
  }
}

function keyAt(member: Member, { signature, overflow }: BlockInfo): ContentKey {
  return { volume: member.number, signature, overflow };
}
