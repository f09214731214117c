/**
 * A volume of WARC segments: contents are appended as records, references and deletes as small records about them, many
 * at a time for one sync. The index can be made again from the segments. Obeys docs/format/pack-volume.md.
 *
 * What is decided about a signature is decided without waiting, between looking at the state and appending the record;
 * that is all the exclusion there is, and blocks do not get in each other's way. Where bytes have to be compared first,
 * the state is looked at again afterwards.
 */
import { hash } from "node:crypto";
import { ArchiveError, type Clock, type Random, systemClock, systemRandom, type Warning } from "../../base/index.ts";
import { type Disk, scratchFolder } from "../../disk/index.ts";
import { checkAdoption } from "../adoption.ts";
import { openEach, storeEach } from "../bulk.ts";
import type { Codecs } from "../codec.ts";
import { verifyContentStream, verifyHeld } from "../content-check.ts";
import type { BlockAddress } from "../content-key.ts";
import { LiveFilter } from "../live-filter.ts";
import { type Asked, asAddition, asRemoval, checkRequestId, checkSameRequest } from "../request-id.ts";
import { isStrong, parseSignature } from "../signature.ts";
import type { SignatureFilter } from "../signature-filter.ts";
import {
  type AdoptRequest,
  type BlockData,
  type BlockInfo,
  type BulkRequest,
  type ByteRange,
  type CheckOptions,
  type Finding,
  type LeavingBlock,
  type LocalVolume,
  type OpenBlock,
  type ReferRequest,
  type StoreReceipt,
  type StoreRequest,
  type VolumeDescription,
  type VolumeState,
} from "../volume.ts";
import { type VolumeSettings, writeVolumeSettings } from "../volume-settings.ts";
import { BlockJudge, type Judged, placeOf, type Verdict } from "./block-judge.ts";
import { checkPack } from "./check.ts";
import { type CompactOptions, type CompactResult, compactPack } from "./compact.ts";
import { type HeldData, type Spool, withHeldData } from "./held-data.ts";
import { LARGE_HEAD_SIZE, type LargeBlock } from "./large-block.ts";
import { copyIndex, indexFolder, LmdbIndex, OlderIndex, removeIndex } from "./lmdb-index.ts";
import { PackCore } from "./pack-core.ts";
import type { Answer, BlockEntry, PackIndex } from "./pack-index.ts";
import { formatHead, type PackRecord } from "./pack-record.ts";
import { answerOf } from "./pack-state.ts";
import { rebuildPack } from "./rebuild.ts";
import { blockRecord, changeRecord, countedRecord, type Deposit, healedRecord, moving } from "./record-making.ts";
import { listSegments } from "./segment.ts";

export interface PackOptions {
  readonly codecs: Codecs;
  readonly clock?: Clock | undefined;
  readonly random?: Random | undefined;
  /** A segment is sealed when it is this large; default 1 GiB. */
  readonly segmentSizeMax?: number | undefined;
  /** Default: LMDB in the folder. */
  readonly openIndex?: (() => PackIndex) | undefined;
  readonly onWarning?: ((warning: Warning) => void) | undefined;
  /** Nothing is written to the folder, and changes are refused. */
  readonly isReader?: boolean | undefined;
}

export const SEGMENT_SIZE_DEFAULT = 1 << 30;

/** Opens the volume; where its index is missing, or of an older kind, that is made first. */
export async function openPack(
  disk: Disk,
  folder: string,
  settings: VolumeSettings,
  options: PackOptions,
): Promise<PackVolume> {
  const isLost = options.openIndex === undefined && disk.stat(indexFolder(folder)) === undefined;
  if (isLost && listSegments(disk, folder).length > 0) await rebuildPack(disk, folder, settings, options);
  try {
    return await PackVolume.open(disk, folder, settings, options);
  } catch (error) {
    if (!(error instanceof OlderIndex)) throw error;
  }
  await rebuildPack(disk, folder, settings, options);
  return PackVolume.open(disk, folder, settings, options);
}

/**
 * Opens a volume whose folder cannot be written, to read it. Its index is copied to the system's place for temporary files
 * and catches up there; where there is none that fits, it is made there.
 */
export async function openPackToRead(
  disk: Disk,
  folder: string,
  settings: VolumeSettings,
  options: PackOptions,
): Promise<PackVolume> {
  const scratch = scratchFolder(disk);
  const open = () => {
    const openIndex = options.openIndex ?? (() => LmdbIndex.open(disk, scratch.path));
    return PackVolume.open(disk, folder, settings, { ...options, openIndex, isReader: true });
  };
  try {
    copyIndex(disk, indexFolder(folder), scratch.path);
    const volume = await open().catch((error: unknown) => {
      if (!(error instanceof OlderIndex)) throw error;
      removeIndex(disk, scratch.path);
      return open();
    });
    const close = volume[Symbol.asyncDispose].bind(volume);
    volume[Symbol.asyncDispose] = () => close().finally(() => scratch.remove());
    return volume;
  } catch (error) {
    scratch.remove();
    throw error;
  }
}

export class PackVolume implements LocalVolume {
  readonly folder: string;
  private readonly disk: Disk;
  private settings: VolumeSettings;
  private readonly options: PackOptions;
  private readonly spool: Spool;
  private readonly clock: Clock;
  private core: PackCore;
  private reopening: Promise<void> | undefined;
  private readonly liveFilter = new LiveFilter();
  private readonly judge: BlockJudge;

  static async open(disk: Disk, folder: string, settings: VolumeSettings, options: PackOptions): Promise<PackVolume> {
    return new PackVolume(disk, folder, settings, options, await openCore(disk, folder, settings, options));
  }

  private constructor(disk: Disk, folder: string, settings: VolumeSettings, options: PackOptions, core: PackCore) {
    this.disk = disk;
    this.folder = folder;
    this.settings = settings;
    this.options = options;
    this.spool = { disk, folder, random: options.random ?? systemRandom };
    this.clock = options.clock ?? systemClock;
    this.core = core;
    this.judge = new BlockJudge(options.codecs, settings.signature);
  }

  /** The core, where it can be used at once; else what to wait for. */
  private ready(): PackCore | Promise<void> {
    if (this.core.failed) return (this.reopening ??= this.reopen());
    return this.core.busy ?? this.core;
  }

  /** After a write failed: what is durable is read again. Until that succeeds, changes are refused, and reads go on. */
  private async reopen(): Promise<void> {
    try {
      this.core = await this.core.reopened();
    } finally {
      this.reopening = undefined;
    }
  }

  /** For who only reads: the core as it is, where it cannot be opened again. */
  private async readable(): Promise<PackCore> {
    try {
      return await this.act((core) => core);
    } catch (error) {
      if (!(error instanceof ArchiveError)) throw error;
      return this.core;
    }
  }

  /** Does `work` as soon as records can be appended, and without anything in between. */
  private async act<T>(work: (core: PackCore) => T | Promise<T>): Promise<T> {
    for (;;) {
      const ready = this.ready();
      if (ready instanceof PackCore) return work(ready);
      await ready;
    }
  }

  describe(): Promise<VolumeDescription> {
    const { id, layout, signature, state } = this.settings;
    return Promise.resolve({ id, layout, signature, state, ...this.core.state.summary });
  }

  setState(state: VolumeState): void {
    this.settings = { ...this.settings, state };
    writeVolumeSettings(this.disk, this.folder, this.settings);
  }

  async refer(request: ReferRequest): Promise<StoreReceipt | undefined> {
    const signature = parseSignature(request.signature, this.settings.signature);
    const { size, compared } = request;
    checkRequestId(request.requestId);
    const deposit: Deposit = {
      signature,
      size,
      compression: compared?.compression ?? "none",
      references: 1,
      formerKeys: [],
      duplicate: compared === undefined ? "size" : "bytes",
      requestId: request.requestId,
    };
    if (compared === undefined) return this.place(deposit, undefined);
    return withHeldData(this.spool, compared.data, (data) => this.place(deposit, undefined, data));
  }

  async store(request: StoreRequest): Promise<StoreReceipt> {
    const { mode, size, compression, data } = request;
    checkRequestId(request.requestId);
    const signature = parseSignature(request.signature, this.settings.signature);
    const deposit: Deposit = {
      signature,
      size,
      compression,
      references: 1,
      formerKeys: [],
      duplicate: mode === "compare" ? "bytes" : mode === "force-new" ? "never" : "size",
      requestId: request.requestId,
    };
    return this.deposit(deposit, data);
  }

  storeAll(requests: AsyncIterable<BulkRequest> | Iterable<BulkRequest>) {
    return storeEach(this, requests);
  }

  async adopt(request: AdoptRequest): Promise<StoreReceipt> {
    const { size, compression, references, data, formerKeys } = request;
    checkAdoption(request);
    const signature = parseSignature(request.signature, this.settings.signature);
    if (this.settings.state === "read-only") throw readOnly(this.folder);
    const { requestId } = request;
    checkRequestId(requestId);
    return this.deposit({ signature, size, compression, references, formerKeys, requestId, duplicate: "bytes" }, data);
  }

  /** Verifies the content and places it. */
  private async deposit(deposit: Deposit, data: BlockData): Promise<StoreReceipt> {
    const { codecs } = this.options;
    codecs.get(deposit.compression);
    return withHeldData(this.spool, data, async (held) => {
      if (held instanceof Uint8Array) {
        const verified = verifyHeld(codecs, this.settings.signature, deposit, held);
        if (verified !== undefined) await verified;
        const made = await this.place(deposit, (core, record) => this.appendBlock(core, record, held), held);
        return made!;
      }
      await verifyContentStream(codecs, this.settings.signature, deposit, held.data() as AsyncIterable<Uint8Array>);
      const made = await this.place(deposit, (core, record) => this.finishLarge(core, record, held), held);
      return made!;
    });
  }

  /**
   * Finds a duplicate and counts, or makes a block with `make`; absent where there is neither. A block is a duplicate only
   * if its bytes are sound. One that is not gets the bytes that came, where those are surely the same.
   */
  private async place(
    deposit: Deposit,
    make: ((core: PackCore, record: PackRecord) => Promise<void>) | undefined,
    held?: HeldData,
  ): Promise<StoreReceipt | undefined> {
    const judged = new Map<string, Verdict>();
    for (;;) {
      const outcome = await this.act((core) => this.placeNow(core, deposit, make, held, judged));
      if (outcome === undefined || "references" in outcome) return outcome;
      judged.set(outcome.place, outcome.verdict);
    }
  }

  /** The receipt; or what was learnt of a block, for another try: anything may have happened meanwhile. */
  private placeNow(
    core: PackCore,
    deposit: Deposit,
    make: ((core: PackCore, record: PackRecord) => Promise<void>) | undefined,
    held: HeldData | undefined,
    judged: ReadonlyMap<string, Verdict>,
  ): undefined | Promise<StoreReceipt | Judged | undefined> {
    const { signature, size, formerKeys } = deposit;
    const told = this.told(core, deposit.requestId, asAddition(signature, size, formerKeys));
    if (told !== undefined) return told.then(receiptOf);
    const blocks = core.state.blocks(signature);
    let rotten: BlockEntry | undefined;
    for (const entry of blocks) {
      if (deposit.duplicate === "never" || entry.size !== size) continue;
      const place = placeOf(entry);
      const verdict = judged.get(place) ?? this.judge.judge(core, entry, deposit, held);
      if (verdict instanceof Promise) return verdict.then((told) => ({ place, verdict: told }));
      if (verdict === "same") return this.append(core, countedRecord(core.state, this.settings, deposit, entry));
      if (verdict === "rotten") rotten ??= entry;
    }
    if (make === undefined) return undefined;
    if (this.settings.state === "read-only") throw readOnly(this.folder);
    // Where signatures collide, the block may have been another content.
    if (rotten !== undefined && isStrong(this.settings.signature)) {
      const { overflow } = rotten;
      const record = healedRecord(core.state, this.settings, deposit, rotten, storedSizeOf(held!));
      const made = make(core, record);
      const place = placeOf(core.state.block({ signature, overflow })!);
      return made.then(() => ({ place, verdict: "same" }));
    }
    this.liveFilter.add(signature);
    const record = blockRecord(core.state, this.settings, deposit, blocks, storedSizeOf(held!));
    return make(core, record).then(() => receiptOf(answerOf(record)));
  }

  private async append(core: PackCore, record: PackRecord): Promise<StoreReceipt> {
    await core.durable(core.append(record, NOTHING));
    return receiptOf(answerOf(record));
  }

  /** What was answered to this request before, once it is durable. Throws HT_USAGE where that was another request. */
  private told(core: PackCore, requestId: string | undefined, asked: Asked): Promise<Answer> | undefined {
    const answer = requestId === undefined ? undefined : core.state.answer(requestId);
    if (answer === undefined) return undefined;
    const deed = answer.outcome === "removed" ? "removed" : answer.isAdopted ? "adopted" : "added";
    checkSameRequest(requestId!, { ...answer, deed }, asked);
    return core.settle().then(() => answer);
  }

  private async appendBlock(core: PackCore, record: PackRecord, data: Uint8Array): Promise<void> {
    // A sha256 of bytes as they are is their digest already.
    const isDigest = record.compression === "none" && record.algorithm === "sha256";
    const digest = isDigest ? record.signature.toLowerCase() : hash("sha256", data, "hex");
    const appended = core.append(record, data, digest);
    core.proven.add(placeOf(appended));
    await core.durable(appended);
  }

  private finishLarge(core: PackCore, record: PackRecord, large: LargeBlock): Promise<void> {
    const head = formatHead(record, {
      volumeId: this.settings.id,
      nowMs: this.clock.now(),
      blockDigest: large.digest,
      headSize: LARGE_HEAD_SIZE,
    });
    try {
      const place = large.finish(head, core.nextSegment());
      core.state.apply(record, place);
      core.proven.add(placeOf(place));
    } catch (error) {
      // It may have its name already.
      core.fail(error);
      throw error;
    }
    core.commitSoon();
    return Promise.resolve();
  }

  async find(signatures: readonly string[]): Promise<readonly (readonly BlockInfo[])[]> {
    const { state } = await this.readable();
    return signatures.map((text) => {
      const signature = parseSignature(text, this.settings.signature);
      return state.blocks(signature).map((entry) => infoOf(signature, entry));
    });
  }

  async open(address: BlockAddress, range?: ByteRange): Promise<OpenBlock | undefined> {
    const { core } = this;
    const entry = core.state.block(address);
    if (entry === undefined) return undefined;
    const { signature, overflow } = address;
    return { ...infoOf(signature, { ...entry, overflow }), data: await core.read(entry, range) };
  }

  openAll(addresses: AsyncIterable<BlockAddress> | Iterable<BlockAddress>) {
    return openEach(this, addresses);
  }

  async remove(address: BlockAddress, requestId?: string): Promise<BlockInfo | undefined> {
    checkRequestId(requestId);
    return this.act(async (core) => {
      const told = this.told(core, requestId, asRemoval(address));
      if (told !== undefined) return withoutOutcome(await told);
      const entry = core.state.block(address);
      if (entry === undefined) return undefined;
      if (entry.leaving) throw moving(address);
      const change = { change: "delete", references: entry.references - 1, requestId } as const;
      return withoutOutcome(
        await this.append(core, changeRecord(core.state, this.settings, address.signature, entry, change)),
      );
    });
  }

  leave(address: BlockAddress): Promise<LeavingBlock | undefined> {
    return this.act(async (core) => {
      const entry = core.state.block(address);
      if (entry === undefined) return undefined;
      if (entry.leaving) await core.settle();
      else {
        await this.append(
          core,
          changeRecord(core.state, this.settings, address.signature, entry, { change: "leave", leaving: true }),
        );
      }
      const block = await this.open(address);
      return block === undefined ? undefined : { ...block, formerKeys: entry.formerKeys };
    });
  }

  left(address: BlockAddress): Promise<void> {
    return this.act(async (core) => {
      const entry = core.state.block(address);
      // Said again, it waits for the first one.
      if (entry?.leaving !== true) return core.settle();
      await this.append(
        core,
        changeRecord(core.state, this.settings, address.signature, entry, { change: "left", references: 0 }),
      );
    });
  }

  follow(formerKey: string): Promise<BlockAddress | undefined> {
    return Promise.resolve(this.core.state.former(formerKey));
  }

  async *list(after?: BlockAddress): AsyncGenerator<BlockInfo> {
    const core = await this.readable();
    // Where the index cannot be written, what it does not know yet is not listed.
    await core.commit().catch(unlessOurBug);
    for (const { signature, entry } of core.entries(after?.signature)) {
      if (after?.signature === signature && entry.overflow <= after.overflow) continue;
      yield infoOf(signature, entry);
    }
  }

  filter(): Promise<SignatureFilter> {
    return this.liveFilter.get(this.core.state.summary.blocks, () => this.core.signatures());
  }

  async *check(options: CheckOptions = {}): AsyncGenerator<Finding> {
    await this.core.commit();
    yield* checkPack(this.disk, this.core, this.settings, this.options.codecs, options);
  }

  /** Gives back the space of what was deleted, while the volume is in use. */
  async compact(options: CompactOptions = {}): Promise<CompactResult> {
    return compactPack(this.disk, this.settings, (work) => this.act(work), options);
  }

  async [Symbol.asyncDispose](): Promise<void> {
    await this.core.close();
  }
}

const NOTHING = new Uint8Array(0);

function openCore(disk: Disk, folder: string, settings: VolumeSettings, options: PackOptions): Promise<PackCore> {
  return PackCore.open({
    disk,
    folder,
    settings,
    clock: options.clock ?? systemClock,
    segmentSizeMax: options.segmentSizeMax ?? SEGMENT_SIZE_DEFAULT,
    openIndex: options.openIndex ?? (() => LmdbIndex.open(disk, indexFolder(folder))),
    onWarning: options.onWarning,
    isReader: options.isReader === true,
  });
}

function infoOf(signature: string, entry: Omit<BlockInfo, "signature">): BlockInfo {
  const { overflow, size, storedSize, compression, references } = entry;
  return { signature, overflow, size, storedSize, compression, references };
}

function receiptOf({ isAdopted: _, ...receipt }: Answer): StoreReceipt {
  return receipt as StoreReceipt;
}

function withoutOutcome({ signature, ...entry }: Answer | StoreReceipt): BlockInfo {
  return infoOf(signature, entry);
}

function storedSizeOf(held: HeldData): number {
  return held instanceof Uint8Array ? held.length : held.storedSize;
}

function unlessOurBug(error: unknown): void {
  if (!(error instanceof ArchiveError)) throw error;
}

function readOnly(folder: string): ArchiveError {
  return new ArchiveError("HT_READ_ONLY", `${folder}: the volume is read-only`, { file: folder });
}
