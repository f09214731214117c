/**
 * Moving all blocks of a volume to another while both are in use. Each block moves in three steps, and all of them can be
 * repeated: it leaves (nobody counts at it any more), it is adopted with its counter and the keys that led to it, and it is
 * gone from where it was. Killed at any instant, the same migration goes on where it stopped.
 *
 * What is moved must take no new contents meanwhile: else a key could be given to a second content after its block left.
 */
import { ArchiveError } from "../../base/index.ts";
import { equalContents } from "../content-check.ts";
import { type BlockAddress, type ContentKey, formatAddress, formatContentKey } from "../content-key.ts";
import { isStrong, signatureOf } from "../signature.ts";
import type { BlockInfo, LeavingBlock, Volume, VolumeState } from "../volume.ts";
import { type InstanceCore, memberOf, orderFor } from "./core.ts";
import { inParallel, type WorkOptions } from "./in-parallel.ts";
import { type Follower, findBlock, followTo, type Located } from "./locating.ts";
import { isUnavailable, type Member } from "./member.ts";
import { addReplica, dropReplica, dropTally, setTally, supplyBlock } from "./replicas.ts";
import { findTally, isTally, keyOfTally } from "./tally.ts";

export interface MigrateOptions extends WorkOptions {
  readonly onProgress?: ((progress: MigrateProgress) => void) | undefined;
  /** A block that could not be moved, because it is damaged. It stays where it is. */
  readonly onFailure?: ((address: BlockAddress, error: ArchiveError) => void) | undefined;
}

export interface MigrateProgress {
  readonly blocks: number;
  /** Compressed. */
  readonly bytes: number;
  /** Blocks that there were when it began. */
  readonly blocksTotal: number;
}

export interface MigrateResult {
  readonly blocks: number;
  readonly bytes: number;
  readonly failed: number;
  /** False where it was stopped before the end. */
  readonly isDone: boolean;
}

const MOVES_MAX = 8;

export async function migrateVolume(
  core: InstanceCore,
  from: number,
  to: number,
  options: MigrateOptions = {},
): Promise<MigrateResult> {
  const [source, target] = [memberOf(core, from), memberOf(core, to)];
  if (source === target) throw new ArchiveError("HT_USAGE", `volume ${source.name} cannot move to itself`);
  if (target.spec.state !== "writable") {
    throw new ArchiveError("HT_READ_ONLY", `volume ${target.name} takes no contents: it is not writable`);
  }
  const { blocks } = await ensureReadOnly(source);
  await target.describe();
  return await new Migration(core, source, target, blocks, options).run();
}

/** Volumes of a kind that cannot be set must be so already. */
async function ensureReadOnly(source: Member) {
  const described = await source.ask(async (volume) => {
    if (isSettable(volume)) await volume.setState("read-only");
    return await volume.describe();
  });
  if (described.state === "read-only") return described;
  throw new ArchiveError("HT_USAGE", `volume ${source.name} takes new contents, so it cannot move`);
}

type SettableVolume = Volume & { setState(state: VolumeState): void | Promise<void> };

function isSettable(volume: Volume): volume is SettableVolume {
  return "setState" in volume;
}

class Migration {
  private readonly core: InstanceCore;
  private readonly source: Member;
  private readonly target: Member;
  private readonly blocksTotal: number;
  private readonly options: MigrateOptions;
  private readonly failed = new Set<string>();
  private blocks = 0;
  private bytes = 0;

  constructor(core: InstanceCore, source: Member, target: Member, blocksTotal: number, options: MigrateOptions) {
    this.core = core;
    this.source = source;
    this.target = target;
    this.blocksTotal = blocksTotal;
    this.options = options;
  }

  /** Replicas first: what they are replicas of is elsewhere, so they need not move, but be made anew and dropped. */
  async run(): Promise<MigrateResult> {
    await this.pass(isTally, (tally) => this.relocateReplica(tally));
    await this.pass(
      () => true,
      (block) => this.moveNow(block),
    );
    const { blocks, bytes } = this;
    const isStopped = this.options.signal?.aborted === true;
    return { blocks, bytes, failed: this.failed.size, isDone: !isStopped && this.failed.size === 0 };
  }

  /** Goes through the volume until nothing is left: a listing may miss what changes meanwhile. */
  private async pass(isWanted: (block: BlockInfo) => boolean, work: (block: BlockInfo) => Promise<boolean>) {
    for (let moved = -1; moved !== this.blocks && this.options.signal?.aborted !== true; ) {
      moved = this.blocks;
      await inParallel(this.remaining(isWanted), MOVES_MAX, (block) => this.move(block, work), this.options);
    }
  }

  private async *remaining(isWanted: (block: BlockInfo) => boolean): AsyncGenerator<BlockInfo> {
    for await (const block of this.source.askAll((volume) => volume.list())) {
      if (isWanted(block) && !this.failed.has(formatAddress(block))) yield block;
    }
  }

  private async move(block: BlockInfo, work: (block: BlockInfo) => Promise<boolean>): Promise<void> {
    try {
      if (!(await work(block))) return;
    } catch (error) {
      if (!(error instanceof ArchiveError) || !isDamage(error)) throw error;
      this.failed.add(formatAddress(block));
      this.options.onFailure?.(block, error);
      return;
    }
    this.blocks++;
    this.bytes += block.storedSize;
    const { blocks, bytes, blocksTotal } = this;
    this.options.onProgress?.({ blocks, bytes, blocksTotal });
  }

  /** False where it is gone already. */
  private async moveNow(address: BlockInfo): Promise<boolean> {
    const { source, target } = this;
    const key = { ...address, volume: source.number };
    const block = await source.ask((volume) => volume.leave(address));
    if (block === undefined) return false;
    const tally = await findTally(this.core, target, key);
    // Which block is the replica is asked before the key leads to what is adopted: that may be another with the same bytes.
    const replica = tally === undefined ? undefined : await this.findReplica(key);
    await this.adopt(block, key);
    // Only now: until then the replica may be the one sound copy.
    if (tally !== undefined) await this.giveWay(key, block, tally, replica);
    await source.ask((volume) => volume.left(address));
    target.known.add(block.signature);
    return true;
  }

  /**
   * The block in the target that is the replica of the key. Absent where another there has the same bytes: a move that was
   * cut off may have led the key to that one, and a reference too many is better than one too few.
   */
  private async findReplica(key: ContentKey): Promise<Follower | undefined> {
    const replica = await followTo(this.core, this.target, key);
    if (replica === undefined) return undefined;
    for (const other of await this.target.find(key.signature)) {
      if (other.overflow !== replica.block.overflow && (await this.areTwins(replica.block, other))) return undefined;
    }
    return replica;
  }

  private async areTwins(one: BlockInfo, other: BlockInfo): Promise<boolean> {
    const { core, target } = this;
    if (one.size !== other.size) return false;
    if (isStrong(core.signature)) return true;
    const [left, right] = await Promise.all([one, other].map((block) => target.ask((volume) => volume.open(block))));
    return left === undefined || right === undefined || (await equalContents(core.codecs, left, right));
  }

  /** A replica in the target of what has moved there now goes to another volume, if there is one. */
  private async giveWay(
    key: ContentKey,
    block: LeavingBlock,
    tally: BlockInfo,
    replica: Follower | undefined,
  ): Promise<void> {
    const { core, source, target } = this;
    await this.replicateElsewhere(key, { member: source, block }, tally.references);
    if (replica === undefined) await dropTally(core, target, tally, core.random.uuid());
    else await dropReplica(core, replica, core.random.uuid());
  }

  /** False where it is no replica, but something that looks like the tally of one. */
  private async relocateReplica(tally: BlockInfo): Promise<boolean> {
    const { core, source, target } = this;
    const opened = await source.ask((volume) => volume.open(tally));
    const key = opened && (await keyOfTally(opened));
    if (key === undefined) return false;
    const replica = await followTo(core, source, key);
    if (replica === undefined) {
      await dropTally(core, source, tally, core.random.uuid());
      return true;
    }
    if (key.volume === target.number && (await findBlock(target, key)) === undefined) {
      const why = `volume ${target.name} has lost ${formatContentKey(key)}; repair the instance first`;
      throw new ArchiveError("HT_USAGE", why);
    }
    await this.replicateElsewhere(key, replica, tally.references);
    await dropReplica(core, replica, core.random.uuid());
    return true;
  }

  /** In the target if it can be, else in the next volume; where there is none, there is one replica less. */
  private async replicateElsewhere(key: ContentKey, from: Located, references: number): Promise<void> {
    const { core, source, target } = this;
    const others = orderFor(core, key.signature).filter((member) => member !== source && member !== target);
    const isMoving = key.volume === source.number;
    for (const member of isMoving ? others : [target, ...others]) {
      if (member.number === key.volume || (await findTally(core, member, key)) !== undefined) continue;
      await addReplica(core, member, key, () => supplyBlock(from.member, from.block));
      await setTally(core, member, key, references);
      return;
    }
  }

  /**
   * The same move has the same request id, and counts once: repeated after a crash, and in two migrations at once. A block
   * that went back and comes again has other former keys.
   */
  private async adopt(block: LeavingBlock, key: ContentKey): Promise<void> {
    const { core, source, target } = this;
    const name = formatContentKey(key);
    const former = signatureOf("sha256", Buffer.from(block.formerKeys.join(" "))).slice(0, 6);
    const requestId = `migrate:${source.id}:${formatAddress(block)}:${former}`;
    const formerKeys = [name, ...(await this.keysToTake(block))];
    await target.ask((volume) => volume.adopt({ ...block, formerKeys, requestId }));
    // A volume that remembers a move like this one from before has done nothing.
    if ((await target.ask((volume) => volume.follow(name))) !== undefined) return;
    const again = await source.ask((volume) => volume.leave(block));
    if (again === undefined) return;
    await target.ask((volume) => volume.adopt({ ...again, formerKeys, requestId: core.random.uuid() }));
  }

  /** Former keys that lead somewhere in the target already are not led elsewhere. */
  private async keysToTake({ formerKeys }: LeavingBlock): Promise<string[]> {
    const led = await Promise.all(formerKeys.map((key) => this.target.ask((volume) => volume.follow(key))));
    return formerKeys.filter((_, i) => led[i] === undefined);
  }
}

/** Damage of one block, which others need not wait for. */
function isDamage(error: ArchiveError): boolean {
  return !isUnavailable(error) && ["HT_SIGNATURE", "HT_CORRUPT", "HT_CODEC"].includes(error.code);
}
