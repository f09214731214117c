/**
 * Moving all blocks of a volume to another while both are in use. Each block moves in three steps, and all of them can be
 * repeated: it leaves (nobody counts at it any more), it is adopted with its counter and the keys that led to it, and it is
 * gone from where it was. Killed at any instant, the same migration goes on where it stopped.
 *
 * What is moved must take no new contents meanwhile: else a key could be given to a second content after its block left.
 */
import { ArchiveError } from "../../base/index.ts";
import { type BlockAddress, formatAddress, formatContentKey, parseContentKey } from "../content-key.ts";
import type { BlockInfo, LeavingBlock, Volume, VolumeState } from "../volume.ts";
import { type InstanceCore, memberOf } from "./core.ts";
import { inParallel, type WorkOptions } from "./in-parallel.ts";
import { findBlock } from "./locating.ts";
import { isUnavailable, type Member } from "./member.ts";
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

  /** Contents before tallies: these tell which of the references of a content are those of replicas. */
  async run(): Promise<MigrateResult> {
    await this.pass((block) => !isTally(block));
    await this.pass(isTally);
    const { blocks, bytes } = this;
    const isStopped = this.options.signal?.aborted === true;
    return { blocks, bytes, failed: this.failed.size, isDone: !isStopped && this.failed.size === 0 };
  }

  /** Goes through the volume until nothing is left: a listing may miss what changes meanwhile. */
  private async pass(isWanted: (block: BlockInfo) => boolean): Promise<void> {
    for (let moved = -1; moved !== this.blocks && this.options.signal?.aborted !== true; ) {
      moved = this.blocks;
      await inParallel(this.remaining(isWanted), MOVES_MAX, (block) => this.move(block), this.options);
    }
  }

  private async *remaining(isWanted: (block: BlockInfo) => boolean): AsyncGenerator<BlockInfo> {
    for await (const block of this.source.askAll((volume) => volume.list())) {
      if (isWanted(block) && !this.failed.has(formatAddress(block))) yield block;
    }
  }

  private async move(block: BlockInfo): Promise<void> {
    try {
      if (!(await this.moveNow(block))) return;
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
    const key = formatContentKey({ ...address, volume: source.number });
    const block = await source.ask((volume) => volume.leave(address));
    if (block === undefined) return false;
    const references = block.references - (await this.countSurplus(block));
    if (references > 0 && !(await this.isAdopted(key))) await this.adopt(block, key, references);
    await source.ask((volume) => volume.left(address));
    target.known.add(block.signature);
    return true;
  }

  /** Whether the target has it already: then this is the rest of a move that was cut off. */
  private async isAdopted(key: string): Promise<boolean> {
    return (await this.target.ask((volume) => volume.follow(key))) !== undefined;
  }

  /** The same move has the same request id, so that two migrations at once count it once. */
  private async adopt(block: LeavingBlock, key: string, references: number): Promise<void> {
    const { core, source, target } = this;
    const formerKeys = [key, ...block.formerKeys];
    const request = { ...block, references, formerKeys };
    const requestId = `migrate:${source.id}:${formatAddress(block)}`;
    await target.ask((volume) => volume.adopt({ ...request, requestId }));
    // A volume that remembers an earlier move of a block that went back and comes again has done nothing.
    if (await this.isAdopted(key)) return;
    const again = await source.ask((volume) => volume.leave(block));
    if (again === undefined) return;
    await target.ask((volume) => volume.adopt({ ...request, data: again.data, requestId: core.random.uuid() }));
  }

  /**
   * The references that end here. What is a replica of a block in the target, or of one that the target has a replica of
   * too, is not needed there twice. Where the target has lost the block, the replica takes its place with its counter.
   */
  private async countSurplus(block: LeavingBlock): Promise<number> {
    const { core, source, target } = this;
    if (isTally(block)) {
      const key = await keyOfTally(block);
      const isSurplus = key !== undefined && (key.volume === target.number || (await findTally(core, target, key)));
      return isSurplus ? block.references : 0;
    }
    let surplus = 0;
    for (const former of block.formerKeys) {
      const key = parseContentKey(former);
      const tally = await findTally(core, source, key);
      if (tally === undefined) continue;
      if (key.volume !== target.number) surplus += (await findTally(core, target, key)) === undefined ? 0 : 1;
      else surplus += (await findBlock(target, key)) === undefined ? 1 - tally.references : 1;
    }
    return surplus;
  }
}

/** Damage of one block, which others need not wait for. */
function isDamage(error: ArchiveError): boolean {
  return !isUnavailable(error) && ["HT_SIGNATURE", "HT_CORRUPT", "HT_CODEC"].includes(error.code);
}
