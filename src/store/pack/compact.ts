/**
 * Gives back the space of blocks that are gone. What is still needed of a segment is appended anew, like anything else
 * that is written; when that is durable and the index knows it, the segment goes. Killed at any moment, it leaves at
 * most records that are there twice, of which the later counts.
 */
import { hash } from "node:crypto";
import type { Disk, DiskFile } from "../../disk/index.ts";
import type { VolumeSettings } from "../volume-settings.ts";
import type { PackCore } from "./pack-core.ts";
import type { PackRecord } from "./pack-record.ts";
import { changeRecord } from "./record-making.ts";
import { type ScannedRecord, scanSegment, segmentFolder, segmentPath } from "./segment.ts";
import { SMALL_SIZE_MAX } from "./segment-files.ts";

export interface CompactOptions {
  /** Segments of which at least this share is dead are taken; default a quarter. */
  readonly deadShare?: number | undefined;
  readonly onProgress?: ((done: number, total: number) => void) | undefined;
}

export interface CompactResult {
  readonly segments: number;
  readonly blocksMoved: number;
  readonly bytesBefore: number;
  readonly bytesAfter: number;
  /** Segments that were left alone because they are damaged. */
  readonly damaged: readonly string[];
}

type Act = <T>(work: (core: PackCore) => T | Promise<T>) => Promise<T>;

const DEAD_SHARE = 0.25;
/** Moves after which their durability is waited for. */
const BATCH = 256;

export async function compactPack(
  disk: Disk,
  settings: VolumeSettings,
  act: Act,
  options: CompactOptions,
): Promise<CompactResult> {
  return new Compaction(disk, settings, act, options).run();
}

class Compaction {
  private readonly disk: Disk;
  private readonly settings: VolumeSettings;
  private readonly act: Act;
  private readonly options: CompactOptions;
  private moved = 0;
  private readonly damaged: string[] = [];

  constructor(disk: Disk, settings: VolumeSettings, act: Act, options: CompactOptions) {
    this.disk = disk;
    this.settings = settings;
    this.act = act;
    this.options = options;
  }

  async run(): Promise<CompactResult> {
    const bytesBefore = await this.act(usedBytes);
    await this.act((core) => (this.isWorthwhile(core, core.writer.segment) ? core.turn() : undefined));
    const segments = await this.act((core) =>
      [...core.state.segments.keys()]
        .filter((segment) => segment !== core.writer.segment && this.isWorthwhile(core, segment))
        .sort((one, other) => one - other),
    );
    let done = 0;
    for (const [i, segment] of segments.entries()) {
      if (await this.compact(segment)) done++;
      this.options.onProgress?.(i + 1, segments.length);
    }
    const bytesAfter = await this.act(usedBytes);
    return { segments: done, blocksMoved: this.moved, bytesBefore, bytesAfter, damaged: this.damaged };
  }

  private isWorthwhile(core: PackCore, segment: number): boolean {
    const { end, live } = core.state.segments.get(segment) ?? { end: 0, live: 0 };
    return end > 0 && (end - live) / end >= (this.options.deadShare ?? DEAD_SHARE);
  }

  /** Whether the segment is gone. */
  private async compact(segment: number): Promise<boolean> {
    const path = await this.act((core) => segmentPath(core.folder, segment));
    using file = this.disk.open(path, "read");
    if (!this.isSound(file)) return false;
    const isOldest = await this.act((core) => isFirst(core.state.segments.keys(), segment));
    let last: Promise<void> | undefined;
    let count = 0;
    for (const scanned of scanSegment(file, 0, false)) {
      const durable = await this.act((core) => {
        const appended = "damageAt" in scanned ? undefined : this.carry(core, segment, scanned, isOldest);
        return appended === undefined ? undefined : { durable: core.durable(appended) };
      });
      // A promise inside an object, so that it is not waited for yet.
      if (durable !== undefined) last = durable.durable;
      if (++count % BATCH === 0) await last;
    }
    await last;
    return await this.drop(file, segment);
  }

  private isSound(file: DiskFile): boolean {
    for (const scanned of scanSegment(file, 0, true)) {
      if (!("damageAt" in scanned)) continue;
      this.damaged.push(file.path);
      return false;
    }
    return true;
  }

  /** Appends what has to be kept of a record; absent where nothing has. */
  private carry(core: PackCore, segment: number, { record, offset }: ScannedRecord, isOldest: boolean) {
    if (record === undefined) return undefined;
    const entry = core.state.block(record);
    if (entry === undefined) {
      // Without it a block in an older segment would come back when the index is made anew.
      const isNeeded = record.references === 0 && !isOldest;
      return isNeeded ? core.repeat({ ...record, requestId: undefined }) : undefined;
    }
    const change = record.change === "block" ? "block" : "count";
    const isItsBlock = entry.segment === segment && entry.offset === offset;
    const isItsCounter = entry.counterSegment === segment && entry.segment !== segment;
    if (change === "block" ? !isItsBlock || entry.storedSize > SMALL_SIZE_MAX : !isItsCounter) return undefined;
    const { formerKeys } = entry;
    const counted = changeRecord(core.state, this.settings, record.signature, entry, { change: "count", formerKeys });
    const kept: PackRecord = { ...counted, change };
    if (change === "count") return core.append(kept, new Uint8Array(0));
    this.moved++;
    const data = core.files.read(entry) as Uint8Array;
    return core.append(kept, data, hash("sha256", data, "hex"));
  }

  /**
   * When nothing leads to the segment any more, and the index knows that, first the file goes, then its entry. That
   * nothing does is looked up record by record: a sum that is wrong must not cost a content.
   */
  private drop(file: DiskFile, segment: number): Promise<boolean> {
    return this.act(async (core) => {
      await core.commit();
      for (const scanned of scanSegment(file, 0, false)) {
        if ("damageAt" in scanned) return false;
        if (scanned.record !== undefined && core.state.block(scanned.record)?.segment === segment) return false;
      }
      core.files.forget(segment);
      this.disk.remove(file.path);
      this.disk.syncFolder(segmentFolder(core.folder));
      core.state.dropSegment(segment);
      core.commitSoon();
      return true;
    });
  }
}

function isFirst(segments: Iterable<number>, segment: number): boolean {
  for (const other of segments) if (other < segment) return false;
  return true;
}

function usedBytes(core: PackCore): number {
  let bytes = 0;
  for (const { end } of core.state.segments.values()) bytes += end;
  return bytes;
}
