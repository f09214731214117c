/**
 * A pack volume that is open: its state, the segment that is written, and the index that follows. What was opened stays
 * so until a write fails; then all of it is thrown away and opened again from what is durable.
 */
import { ArchiveError, type Clock, invariant, type Warning } from "../../base/index.ts";
import type { Disk } from "../../disk/index.ts";
import { ProvenBlocks } from "../proven-blocks.ts";
import type { BlockData, ByteRange } from "../volume.ts";
import type { VolumeSettings } from "../volume-settings.ts";
import type { BlockEntry, PackIndex } from "./pack-index.ts";
import { formatHead, type PackRecord } from "./pack-record.ts";
import { PackState } from "./pack-state.ts";
import { listSegments, type ScanDamage, scanSegment, segmentFolder, segmentPath } from "./segment.ts";
import { SegmentFiles } from "./segment-files.ts";
import { type AppendedRecord, SegmentWriter } from "./segment-writer.ts";

export interface PackCoreOptions {
  readonly disk: Disk;
  readonly folder: string;
  readonly settings: VolumeSettings;
  readonly clock: Clock;
  readonly segmentSizeMax: number;
  readonly openIndex: () => PackIndex;
  /** A segment that could not be synced: only what lies before is to be believed. */
  readonly doubtful?: { readonly segment: number; readonly end: number } | undefined;
  readonly onWarning?: ((warning: Warning) => void) | undefined;
  /** The folder cannot be written: only the index is, which lies elsewhere. */
  readonly isReader?: boolean | undefined;
}

/** The index is brought up to date after so many milliseconds, and waited for beyond so many changes. */
const NOTHING = new Uint8Array(0);
const COMMIT_DELAY_MS = 500;
const UNCOMMITTED_MAX = 20_000;

export class PackCore {
  readonly state: PackState;
  readonly files: SegmentFiles;
  readonly folder: string;
  /** By place: what was read or written since this was opened. */
  readonly proven = new ProvenBlocks();
  private readonly options: PackCoreOptions;
  private readonly index: PackIndex;
  private current: SegmentWriter | undefined;
  /** Set while nothing may be appended. */
  private turning: Promise<void> | undefined;
  private committing: Promise<void> | undefined;
  /** Ends the delay of a commit. */
  private hurry: () => void = () => {};
  private failure: Error | undefined;

  static async open(options: PackCoreOptions): Promise<PackCore> {
    const { disk, folder } = options;
    if (options.isReader !== true) disk.makeFolder(segmentFolder(folder));
    const index = options.openIndex();
    try {
      return await PackCore.over(index, options);
    } catch (error) {
      await index.close();
      throw error;
    }
  }

  /** Over an index that is open, and stays so where this fails. */
  private static async over(index: PackIndex, options: PackCoreOptions): Promise<PackCore> {
    const core = new PackCore(options, index);
    try {
      await core.start();
      return core;
    } catch (error) {
      await core.abandon();
      throw error;
    }
  }

  /**
   * The same volume, opened from what is durable, after a write failed. Where that fails too, this one can still be read:
   * what was not durable is not.
   */
  async reopened(): Promise<PackCore> {
    const { segment, durableEnd } = this.writer;
    await this.abandon();
    return PackCore.over(this.index, { ...this.options, doubtful: { segment, end: durableEnd } });
  }

  /** Closes all but the index. */
  private async abandon(): Promise<void> {
    await this.committing?.catch(() => {});
    await this.current?.close();
    this.files[Symbol.dispose]();
  }

  private constructor(options: PackCoreOptions, index: PackIndex) {
    this.options = options;
    this.folder = options.folder;
    this.index = index;
    this.state = new PackState(index);
    this.files = new SegmentFiles(options.disk, options.folder);
  }

  /** Throws HT_READ_ONLY where nothing can be written. */
  get writer(): SegmentWriter {
    const { folder } = this;
    if (this.isReader) throw new ArchiveError("HT_READ_ONLY", `${folder}: cannot be written`, { file: folder });
    invariant(this.current !== undefined, "a volume that is not open yet");
    return this.current;
  }

  private get isReader(): boolean {
    return this.options.isReader === true;
  }

  private async start(): Promise<void> {
    const segment = await this.catchUp();
    if (!this.isReader) {
      this.current = new SegmentWriter(this.options.disk, this.folder, segment);
      if (this.writer.size === 0) await this.begin();
    }
    if (this.state.uncommitted > 0) await this.commit();
  }

  private async begin(): Promise<void> {
    await this.writer.begin(this.options.settings.id, this.options.clock.now());
    this.state.extend({ segment: this.writer.segment, end: this.writer.size });
  }

  /** Reads what the index does not know yet; the number of the segment to go on with. */
  private async catchUp(): Promise<number> {
    const { disk, folder, doubtful } = this.options;
    const segments = listSegments(disk, folder);
    // Names that were found may be lost again, and the index is about to rely on them.
    if (!this.isReader) disk.syncFolder(segmentFolder(folder));
    if (doubtful !== undefined) this.cut(doubtful.segment, doubtful.end);
    const afresh = this.state.segments.size === 0;
    const active = afresh ? undefined : this.lastLog(segments);
    this.state.beginReplay();
    for (const segment of segments) {
      await this.readSegment(segment, afresh ? "anything" : segment === active ? "active" : "sealed");
    }
    this.state.endReplay();
    const present = new Set(segments);
    for (const segment of this.state.segments.keys()) {
      if (!present.has(segment)) this.state.dropSegment(segment);
    }
    // A file that once refused to be synced is not written to again. Without an index nobody knows where one was torn.
    const isUsable = active !== undefined && active !== doubtful?.segment && !this.isCut(active);
    return isUsable ? active : (segments.at(-1) ?? 0) + 1;
  }

  /** Whether a segment ends before what the index knows of it. What is appended there would never be read again. */
  private isCut(segment: number): boolean {
    const path = segmentPath(this.folder, segment);
    return this.options.disk.stat(path)!.sizeBytes < (this.state.segments.get(segment)?.end ?? 0);
  }

  private cut(segment: number, end: number): void {
    using file = this.options.disk.open(segmentPath(this.folder, segment), "update");
    if (file.size() > end) file.truncate(end);
    file.sync();
  }

  /** The last segment that records are appended to; one with a large block was whole when it got its name. */
  private lastLog(segments: readonly number[]): number | undefined {
    return segments.findLast((segment) => {
      using file = this.options.disk.open(segmentPath(this.folder, segment), "read");
      const start = Buffer.alloc(64);
      return !start.toString("latin1", 0, file.read(start, 0)).includes("WARC-Type: resource");
    });
  }

  /**
   * Takes in what the index does not know of a segment. The one that was written may end in what was never acknowledged:
   * from the first record that is not whole on it is cut off. So is the end of an older one, if nothing whole comes after,
   * unless the index was lost: then only a segment without any whole record is emptied. All else is damage, which is told
   * and passed over.
   */
  private async readSegment(segment: number, kind: "active" | "sealed" | "anything"): Promise<void> {
    const path = segmentPath(this.folder, segment);
    let end = this.state.segments.get(segment)?.end ?? 0;
    const damage: ScanDamage[] = [];
    {
      using file = this.options.disk.open(path, this.isReader ? "read" : "update");
      const size = file.size();
      if (size < end) {
        const message = `${path}: cut off, ${size} bytes of ${end}`;
        this.options.onWarning?.({ code: "HT_CORRUPT", message, file: path, offset: size });
      }
      if (size <= end) return;
      // What is read may not be durable yet, and the index is about to rely on it.
      if (!this.isReader) file.sync();
      for (const scanned of scanSegment(file, end, true)) {
        if ("damageAt" in scanned) {
          damage.push(scanned);
          if (kind === "active") break;
          continue;
        }
        end = scanned.end;
        const place = { segment, offset: scanned.offset, headSize: scanned.headSize, end };
        if (scanned.record === undefined) this.state.extend(place);
        else this.state.apply(scanned.record, place);
        if (this.state.uncommitted > UNCOMMITTED_MAX) await this.state.commit(this.state.prepareCommit());
      }
    }
    const [first] = damage;
    if (first === undefined) return;
    const isTorn = kind === "active" || (first.damageAt >= end && (kind === "sealed" || end === 0));
    if (isTorn) return this.isReader ? undefined : this.cut(segment, end);
    for (const { damageAt: offset, message } of damage) {
      this.options.onWarning?.({ code: "HT_CORRUPT", message: `${path}: ${message}`, file: path, offset });
    }
    this.state.extend({ segment, end: this.options.disk.stat(path)!.sizeBytes });
  }

  get failed(): boolean {
    return this.failure !== undefined;
  }

  /** Absent where it is ready; else what to wait for before asking again. */
  get busy(): Promise<void> | undefined {
    if (this.turning !== undefined) return this.turning;
    return this.state.uncommitted > UNCOMMITTED_MAX ? this.commit() : undefined;
  }

  /** Something could not be made durable: nothing more is written before all is opened anew. */
  fail(cause: unknown): void {
    this.failure ??= cause instanceof Error ? cause : new Error("a write failed", { cause });
    // A commit that is put off has nothing to wait for any more.
    this.hurry();
  }

  /** Appends a record and takes it into the state. Only when `busy` was absent in this turn. */
  append(record: PackRecord, data: Uint8Array, blockDigest?: string): AppendedRecord {
    const { settings, clock, segmentSizeMax } = this.options;
    const head = formatHead(record, {
      volumeId: settings.id,
      nowMs: clock.now(),
      ...(blockDigest === undefined ? {} : { blockDigest }),
    });
    const appended = this.writer.append(head, data);
    this.state.apply(record, appended);
    this.commitSoon();
    if (this.writer.size >= segmentSizeMax) void this.turn();
    return appended;
  }

  /** Appends a record that changes nothing now, and must be there when the segments are read again. */
  repeat(record: PackRecord): AppendedRecord {
    const { settings, clock } = this.options;
    const appended = this.writer.append(formatHead(record, { volumeId: settings.id, nowMs: clock.now() }), NOTHING);
    this.state.extend(appended);
    return appended;
  }

  /** Resolves when the record is durable; when it is not, nothing after it is either. */
  async durable(appended: { readonly durable: Promise<unknown> }): Promise<void> {
    try {
      await appended.durable;
    } catch (error) {
      this.fail(error);
      throw error;
    }
  }

  /** Resolves when all that was appended so far is durable. */
  settle(): Promise<void> {
    return this.durable({ durable: this.writer.settle() });
  }

  /** The stored bytes, which may have to become durable first: what is not yet is not in the file either. */
  read(entry: BlockEntry, range?: ByteRange): BlockData | Promise<BlockData> {
    const end = entry.offset + entry.headSize + entry.storedSize;
    if (this.isReader || this.writer.isDurable(entry.segment, end)) return this.files.read(entry, range);
    if (this.failure !== undefined) throw this.failure;
    return this.settle().then(() => this.files.read(entry, range));
  }

  /** Seals the segment and begins the next. */
  turn(): Promise<void> {
    this.turning ??= this.turnOver().then(
      () => {
        this.turning = undefined;
      },
      (error: unknown) => {
        this.fail(error);
        this.turning = undefined;
      },
    );
    return this.turning;
  }

  private async turnOver(): Promise<void> {
    await this.writer.settle();
    await this.writer.close();
    this.current = new SegmentWriter(this.options.disk, this.folder, this.nextSegment());
    await this.begin();
  }

  nextSegment(): number {
    return Math.max(this.state.highestSegment, this.writer.segment) + 1;
  }

  /** Every block that the index knows, in order, from a signature on. */
  *entries(from = ""): Generator<{ readonly signature: string; readonly entry: BlockEntry }> {
    let next = from;
    for (let page = this.index.page(next); page.length > 0; page = this.index.page(next)) {
      for (const { signature, entries } of page) for (const entry of entries) yield { signature, entry };
      // The shortest text behind the last signature.
      next = `${page.at(-1)!.signature}00`;
    }
  }

  /** Every signature, in no order; some may come twice. */
  *signatures(): Generator<string> {
    yield* this.state.recentSignatures();
    let next = "";
    for (let page = this.index.signatures(next); page.length > 0; page = this.index.signatures(next)) {
      yield* page;
      next = `${page.at(-1)!}00`;
    }
  }

  /** The index learns of what happened before long. */
  commitSoon(): void {
    if (this.committing !== undefined) return;
    void this.commit(COMMIT_DELAY_MS).catch(() => {
      // It was noted as the failure, which every later call meets.
    });
  }

  /** Brings the index up to date with all that happened before the call. */
  commit(delayMs = 0): Promise<void> {
    if (this.committing !== undefined) {
      if (delayMs === 0) this.hurry();
      return this.committing.then(() => (delayMs === 0 && this.state.uncommitted > 0 ? this.commit() : undefined));
    }
    const work = this.commitNow(delayMs).finally(() => {
      this.committing = undefined;
      if (this.failure === undefined && this.state.uncommitted > 0) this.commitSoon();
    });
    this.committing = work;
    return work;
  }

  /** Every commit of the index is a sync that those of the segment have to wait for, so it is put off a little. */
  private delay(ms: number): Promise<void> {
    return new Promise((resolve) => {
      const timer = setTimeout(resolve, ms);
      this.hurry = () => {
        clearTimeout(timer);
        resolve();
      };
    });
  }

  private async commitNow(delayMs: number): Promise<void> {
    try {
      if (delayMs > 0) await this.delay(delayMs);
      while (this.turning !== undefined) await this.turning;
      if (this.failure !== undefined) throw this.failure;
      const changes = this.state.prepareCommit();
      await this.current?.settle();
      await this.state.commit(changes);
    } catch (error) {
      this.fail(error);
      throw error;
    }
  }

  /** Everything durable goes into the index; then all is closed. */
  async close(): Promise<void> {
    try {
      if (this.failure === undefined) await this.commit();
    } catch (error) {
      if (!(error instanceof ArchiveError)) throw error;
    } finally {
      await this.abandon();
      await this.index.close();
    }
  }
}
