/**
 * A volume after the report on Webstore: a tree of folders with one file for each block, which a person can read. What
 * changes is written to a journal first. Obeys docs/format/tree-volume.md.
 */
import { ArchiveError } from "../../base/index.ts";
import type { Disk } from "../../disk/index.ts";
import { checkAdoption } from "../adoption.ts";
import { openEach, storeEach } from "../bulk.ts";
import type { Codecs } from "../codec.ts";
import { equalContents, verifyStored } from "../content-check.ts";
import { type BlockAddress, formatAddress, formatContentKey, parseAddress, parseContentKey } from "../content-key.ts";
import { LiveFilter } from "../live-filter.ts";
import { othersTurn, promised } from "../promised.ts";
import { ProvenBlocks } from "../proven-blocks.ts";
import { type Asked, asAddition, asRemoval, checkRequestId, checkSameRequest } from "../request-id.ts";
import { isStrong, parseSignature, SIGNATURE_SIZES } from "../signature.ts";
import type { SignatureFilter } from "../signature-filter.ts";
import {
  type AdoptRequest,
  type BlockInfo,
  type BulkRequest,
  type ByteRange,
  type CheckOptions,
  type Finding,
  type LeavingBlock,
  type LocalVolume,
  type OpenBlock,
  REFERENCES_MAX,
  type ReferRequest,
  type StoreReceipt,
  type StoreRequest,
  type VolumeDescription,
  type VolumeState,
} from "../volume.ts";
import { type VolumeSettings, writeVolumeSettings } from "../volume-settings.ts";
import { BlockFiles, type TreeBlock } from "./block-files.ts";
import { formatHeader } from "./block-header.ts";
import { checkTree } from "./check.ts";
import { TreeFolders } from "./folders.ts";
import { FormerKeys } from "./former-keys.ts";
import { IncomingFiles } from "./incoming.ts";
import { infoOf, type JournalEntry, receiptOf } from "./journal-line.ts";
import { inMeasure, type Received, receive } from "./received.ts";
import { TreeChanges, type TreeLimits } from "./tree-changes.ts";
import { type TreeShape, walkTree } from "./walk.ts";

export interface TreeOptions {
  readonly codecs: Codecs;
  readonly limits?: TreeLimits;
  /** The folder cannot be written: changes are refused. */
  readonly isReader?: boolean | undefined;
}

/** What a request adds to a block. */
interface Addition {
  readonly references: number;
  readonly requestId: string | undefined;
  readonly formerKeys: readonly string[];
}

/** A block that a content is equal to; or one that it would be equal to, if its bytes could be read. */
interface Duplicate {
  readonly found?: TreeBlock | undefined;
  readonly rotten?: TreeBlock | undefined;
}

/** Signatures looked up before others get their turn. */
const LOOKUPS_AT_ONCE = 256;

/** Whoever opens it holds the lock of the folder. */
export async function openTree(
  disk: Disk,
  folder: string,
  settings: VolumeSettings,
  options: TreeOptions,
): Promise<TreeVolume> {
  const volume = new TreeVolume(disk, folder, settings, options);
  await (options.isReader === true ? volume.changes.openToRead() : volume.changes.open());
  return volume;
}

export class TreeVolume implements LocalVolume {
  readonly folder: string;
  readonly changes: TreeChanges;
  private readonly disk: Disk;
  private readonly codecs: Codecs;
  private settings: VolumeSettings;
  private readonly incoming: IncomingFiles;
  private readonly files: BlockFiles;
  private readonly former: FormerKeys;
  private readonly liveFilter = new LiveFilter();
  /** By address. */
  private readonly proven = new ProvenBlocks();

  constructor(disk: Disk, folder: string, settings: VolumeSettings, options: TreeOptions) {
    this.disk = disk;
    this.folder = folder;
    this.settings = settings;
    this.codecs = options.codecs;
    this.incoming = new IncomingFiles(disk, folder);
    const { incoming } = this;
    const parts = { disk, folder, depth: settings.treeDepth, folders: new TreeFolders(disk, folder), incoming };
    this.files = new BlockFiles(parts);
    this.former = new FormerKeys(parts);
    const { files, former, shape } = this;
    this.changes = new TreeChanges({ disk, folder, files, former, incoming, shape }, options.limits);
  }

  private get shape(): TreeShape {
    return { depth: this.settings.treeDepth, signatureSize: SIGNATURE_SIZES[this.settings.signature] };
  }

  private get reception() {
    return { incoming: this.incoming, codecs: this.codecs, algorithm: this.settings.signature };
  }

  describe(): Promise<VolumeDescription> {
    const { id, layout, signature, state } = this.settings;
    return Promise.resolve({ id, layout, signature, state, ...this.changes.totals });
  }

  setState(state: VolumeState): void {
    const settings = { ...this.settings, state };
    writeVolumeSettings(this.disk, this.folder, settings);
    this.settings = settings;
  }

  private signatureOf(text: string): string {
    return parseSignature(text, this.settings.signature);
  }

  /** Whether there can be such a block: an address becomes a path. */
  private mayHave({ signature }: BlockAddress): boolean {
    return signature.length === 2 * this.shape.signatureSize && /^[0-9A-F]*$/.test(signature);
  }

  async refer(request: ReferRequest): Promise<StoreReceipt | undefined> {
    const signature = this.signatureOf(request.signature);
    const { size, requestId, compared } = request;
    checkRequestId(requestId);
    const told = this.told(requestId, asAddition(signature, size));
    if (told !== undefined) return receiptOf(told);
    if (compared === undefined) return this.referTo(signature, size, requestId, undefined);
    this.codecs.get(compared.compression);
    // Without a block of that size there is nothing to compare, and the bytes need not come.
    if (!Array.from(this.files.candidates(signature)).some((block) => block.size === size)) return undefined;
    using content = await receive(this.reception, { size, compression: compared.compression }, compared.data);
    return await this.referTo(signature, size, requestId, content);
  }

  private referTo(
    signature: string,
    size: number,
    requestId: string | undefined,
    compared: Received | undefined,
  ): Promise<StoreReceipt | undefined> {
    return this.changes.exclusive(signature, async () => {
      const told = this.told(requestId, asAddition(signature, size));
      if (told !== undefined) return receiptOf(told);
      const { found } = await this.duplicate(signature, size, compared);
      return found && this.count(found, { references: 1, requestId, formerKeys: [] });
    });
  }

  async store(request: StoreRequest): Promise<StoreReceipt> {
    const signature = this.signatureOf(request.signature);
    const { size, compression, mode, requestId } = request;
    checkRequestId(requestId);
    const told = this.told(requestId, asAddition(signature, size));
    if (told !== undefined) return receiptOf(told);
    this.codecs.get(compression);
    using content = await receive(this.reception, { signature, size, compression }, request.data);
    return await this.changes.exclusive(signature, async () => {
      const toldSince = this.told(requestId, asAddition(signature, size));
      if (toldSince !== undefined) return receiptOf(toldSince);
      const compared = mode === "compare" ? content : undefined;
      const duplicate = mode === "force-new" ? {} : await this.duplicate(signature, size, compared);
      return this.add(signature, content, duplicate, { references: 1, requestId, formerKeys: [] });
    });
  }

  /** What a request of this id did before. Throws HT_USAGE where that was another request. */
  private told(requestId: string | undefined, asked: Asked): JournalEntry | undefined {
    const entry = this.changes.recall(requestId);
    if (entry === undefined) return undefined;
    const deed = entry.deed === "remove" ? "removed" : entry.formerKeys.length > 0 ? "adopted" : "added";
    checkSameRequest(requestId!, { ...entry, deed }, asked);
    return entry;
  }

  /** The first sound block of that signature and size, and of those bytes where they are given. */
  private async duplicate(signature: string, size: number, compared: Received | undefined): Promise<Duplicate> {
    let rotten: TreeBlock | undefined;
    for (const block of this.files.candidates(signature)) {
      if (block.size !== size) continue;
      if (!(await this.isSound(block))) rotten ??= block;
      else if (compared === undefined || (await this.isEqual(block, compared))) return { found: block };
    }
    return { rotten };
  }

  /** Reads a block, unless this was done before: false where it cannot be read, or is not what its signature says. */
  private async isSound(block: TreeBlock): Promise<boolean> {
    const name = formatAddress(block);
    if (this.proven.has(name)) return true;
    try {
      const { data } = this.files.open(block)!;
      await verifyStored(this.codecs, this.settings.signature, block, inMeasure(data, block.size));
    } catch (error) {
      if (!(error instanceof ArchiveError)) throw error;
      return false;
    }
    this.proven.add(name);
    return true;
  }

  private async isEqual(block: TreeBlock, content: Received): Promise<boolean> {
    const { data } = this.files.open(block)!;
    return equalContents(this.codecs, { ...block, data: inMeasure(data, block.size) }, content.compressed);
  }

  /** Counts at a duplicate, or makes a block. A duplicate that is rotten gets the bytes that came. */
  private async add(
    signature: string,
    content: Received,
    { found, rotten }: Duplicate,
    addition: Addition,
  ): Promise<StoreReceipt> {
    if (found !== undefined) return this.count(found, addition);
    // Where signatures collide, the block may have been another content.
    if (rotten === undefined || !isStrong(this.settings.signature)) return this.make(signature, content, addition);
    return this.count(await this.heal(rotten, content), addition);
  }

  private async heal(rotten: TreeBlock, content: Received): Promise<TreeBlock> {
    if (this.settings.state === "read-only") throw this.readOnly();
    if (rotten.leaving) throw moving(rotten);
    const { storedSize, compression } = content;
    const block = { ...rotten, storedSize, compression };
    using file = content.file(formatHeader({ ...block, state: "held" }));
    await file.syncLater();
    await this.changes.heal(block, rotten, () => this.files.place(block, file));
    this.proven.add(formatAddress(block));
    return block;
  }

  private async count(block: TreeBlock, { references, requestId, formerKeys }: Addition): Promise<StoreReceipt> {
    if (block.leaving) throw moving(block);
    const counted = { ...block, references: block.references + references };
    if (counted.references > REFERENCES_MAX) {
      throw new ArchiveError("HT_TOO_LARGE", `${formatAddress(block)} cannot count so many references`);
    }
    const entry = entryOf("duplicate", counted, block.references, requestId, formerKeys);
    await this.changes.perform(entry, () => {
      this.changes.update(counted);
      this.former.change(block, formerKeys, false);
    });
    return receiptOf(entry);
  }

  private async make(
    signature: string,
    content: Received,
    { references, requestId, formerKeys }: Addition,
  ): Promise<StoreReceipt> {
    if (this.settings.state === "read-only") throw this.readOnly();
    const { size, storedSize, compression } = content;
    const overflow = this.files.freeNumber(signature);
    const block = { signature, overflow, size, storedSize, compression, references };
    this.files.prepare(block);
    using file = content.file(formatHeader({ ...block, state: "held" }));
    await file.syncLater();
    const entry = entryOf("new", block, 0, requestId, formerKeys);
    await this.changes.perform(entry, () => {
      this.files.place(block, file);
      this.former.change(block, formerKeys, false);
    });
    this.liveFilter.add(signature);
    this.proven.add(formatAddress(block));
    return receiptOf(entry);
  }

  private readOnly(): ArchiveError {
    return new ArchiveError("HT_READ_ONLY", `${this.folder}: the volume is read-only`, { file: this.folder });
  }

  storeAll(requests: AsyncIterable<BulkRequest> | Iterable<BulkRequest>) {
    return storeEach(this, requests);
  }

  async find(signatures: readonly string[]): Promise<readonly (readonly BlockInfo[])[]> {
    const parsed = signatures.map((signature) => this.signatureOf(signature));
    const found: BlockInfo[][] = [];
    for (const signature of parsed) {
      found.push(Array.from(this.files.with(signature), infoOf));
      if (found.length % LOOKUPS_AT_ONCE === 0) await othersTurn();
    }
    return found;
  }

  open(address: BlockAddress, range?: ByteRange): Promise<OpenBlock | undefined> {
    return promised(() => {
      const found = this.mayHave(address) ? this.files.open(address, range) : undefined;
      return found && { ...infoOf(found.block), data: found.data };
    });
  }

  openAll(addresses: AsyncIterable<BlockAddress> | Iterable<BlockAddress>) {
    return openEach(this, addresses);
  }

  async remove(address: BlockAddress, requestId?: string): Promise<BlockInfo | undefined> {
    checkRequestId(requestId);
    if (!this.mayHave(address)) return undefined;
    return this.changes.exclusive(address.signature, async () => {
      const told = this.told(requestId, asRemoval(address));
      if (told !== undefined) return infoOf(told);
      const block = this.files.get(address);
      if (block === undefined) return undefined;
      if (block.leaving) throw moving(block);
      const removed = { ...block, references: block.references - 1 };
      await this.lessen("remove", removed, block.references, requestId);
      return infoOf(removed);
    });
  }

  /** Writes down a smaller counter; with 0 the block goes. */
  private lessen(
    deed: "remove" | "left",
    block: TreeBlock,
    before: number,
    requestId: string | undefined,
  ): Promise<void> {
    return this.changes.perform(entryOf(deed, block, before, requestId), () => {
      if (block.references > 0) return this.changes.update(block);
      this.proven.forget(formatAddress(block));
      this.files.drop(block);
      this.former.change(block, [], true);
    });
  }

  async *list(after?: BlockAddress): AsyncGenerator<BlockInfo> {
    let count = 0;
    for (const { address } of walkTree(this.disk, this.files.path, this.shape, after)) {
      if (++count % LOOKUPS_AT_ONCE === 0) await othersTurn();
      const block = address && this.files.get(address);
      if (block !== undefined) yield infoOf(block);
    }
  }

  filter(): Promise<SignatureFilter> {
    return this.liveFilter.get(this.changes.totals.blocks, () => this.signatures());
  }

  private *signatures(): Generator<string> {
    for (const { address } of walkTree(this.disk, this.files.path, this.shape)) {
      if (address?.overflow === 0) yield address.signature;
    }
  }

  async leave(address: BlockAddress): Promise<LeavingBlock | undefined> {
    if (!this.mayHave(address)) return undefined;
    return this.changes.exclusive(address.signature, async () => {
      const found = this.files.open(address);
      if (found === undefined) return undefined;
      const { block, data } = found;
      if (!block.leaving) {
        const leaving = { ...block, leaving: true };
        await this.changes.perform(entryOf("leave", block, block.references, undefined), () =>
          this.changes.update(leaving),
        );
      }
      return { ...infoOf(block), data, formerKeys: this.former.leadingTo(block) };
    });
  }

  async adopt(request: AdoptRequest): Promise<StoreReceipt> {
    checkAdoption(request);
    const signature = this.signatureOf(request.signature);
    const { size, compression, references, requestId } = request;
    checkRequestId(requestId);
    this.codecs.get(compression);
    const formerKeys = request.formerKeys.map((key) => formatContentKey(parseContentKey(key)));
    using content = await receive(this.reception, { signature, size, compression }, request.data);
    return await this.changes.exclusive(signature, async () => {
      const told = this.told(requestId, asAddition(signature, size, formerKeys));
      if (told !== undefined) return receiptOf(told);
      if (this.settings.state === "read-only") throw this.readOnly();
      const duplicate = await this.duplicate(signature, size, content);
      return this.add(signature, content, duplicate, { references, requestId, formerKeys });
    });
  }

  async left(address: BlockAddress): Promise<void> {
    if (!this.mayHave(address)) return;
    await this.changes.exclusive(address.signature, async () => {
      const block = this.files.get(address);
      if (block?.leaving === true) await this.lessen("left", { ...block, references: 0 }, block.references, undefined);
    });
  }

  follow(formerKey: string): Promise<BlockAddress | undefined> {
    return promised(() => {
      const former = parseAddress(formerKey.slice(formerKey.indexOf("-") + 1));
      if (former === undefined || !this.mayHave(former)) return undefined;
      const { signature } = former;
      const overflow = this.former.of(signature).get(formerKey.toUpperCase());
      return overflow === undefined ? undefined : { signature, overflow };
    });
  }

  check(options: CheckOptions = {}): AsyncIterable<Finding> {
    const { disk, folder, files, former, incoming, shape, changes, codecs, settings } = this;
    const tree = { disk, folder, files, former, incoming, shape, changes, codecs, algorithm: settings.signature };
    return checkTree(tree, options);
  }

  [Symbol.asyncDispose](): Promise<void> {
    return this.changes.close();
  }
}

function entryOf(
  deed: JournalEntry["deed"],
  block: BlockInfo,
  before: number,
  requestId: string | undefined,
  formerKeys: readonly string[] = [],
): JournalEntry {
  return { ...infoOf(block), deed, before, requestId, formerKeys };
}

function moving(block: BlockAddress): ArchiveError {
  return new ArchiveError("HT_MOVING", `${formatAddress(block)} is on its way to another volume`);
}
