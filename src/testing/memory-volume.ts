/** A volume as plain as can be: the words of `store/volume.ts` over a map. Other volumes are measured against it. */
import { ArchiveError } from "../base/index.ts";
import type {
  AdoptRequest,
  BlockAddress,
  BlockData,
  BlockInfo,
  ByteRange,
  Codecs,
  LeavingBlock,
  OpenBlock,
  ReferRequest,
  SignatureAlgorithm,
  StoreReceipt,
  StoreRequest,
  Volume,
  VolumeDescription,
  VolumeState,
} from "../store/index.ts";
import {
  checkAdoption,
  checkRequestId,
  equalContents,
  formatAddress,
  gather,
  openEach,
  parseAddress,
  parseSignature,
  REFERENCES_MAX,
  SignatureFilter,
  storeEach,
  verifyContent,
} from "../store/index.ts";

interface MemoryBlock extends BlockInfo {
  references: number;
  data: Uint8Array;
  leaving: boolean;
}

export interface MemoryVolumeOptions {
  readonly signature?: SignatureAlgorithm;
  readonly id?: string;
}

export class MemoryVolume implements Volume {
  state: VolumeState = "writable";
  readonly blocks = new Map<string, MemoryBlock>();
  private readonly codecs: Codecs;
  private readonly signature: SignatureAlgorithm;
  private readonly id: string;
  private readonly answers = new Map<string, { readonly asked: string; readonly answer: StoreReceipt | BlockInfo }>();
  private readonly former = new Map<string, string>();
  private turn: Promise<unknown> = Promise.resolve();

  constructor(codecs: Codecs, options: MemoryVolumeOptions = {}) {
    this.codecs = codecs;
    this.signature = options.signature ?? "sha256";
    this.id = options.id ?? "00000000-0000-4000-8000-000000000000";
  }

  /** One at a time. */
  private inTurn<T>(work: () => T | Promise<T>): Promise<T> {
    const result = this.turn.then(work);
    this.turn = result.catch(() => {});
    return result;
  }

  describe(): Promise<VolumeDescription> {
    const blocks = [...this.blocks.values()];
    const sum = (of: (block: MemoryBlock) => number) => blocks.reduce((total, block) => total + of(block), 0);
    return Promise.resolve({
      id: this.id,
      layout: "memory",
      signature: this.signature,
      state: this.state,
      blocks: blocks.length,
      contentBytes: sum(({ size }) => size),
      storedBytes: sum(({ storedSize }) => storedSize),
      references: sum(({ references }) => references),
    });
  }

  private with(signature: string): MemoryBlock[] {
    return [...this.blocks.values()]
      .filter((block) => block.signature === signature)
      .sort((one, other) => one.overflow - other.overflow);
  }

  private async once<T extends StoreReceipt | BlockInfo>(
    requestId: string | undefined,
    asked: string,
    work: () => T | undefined | Promise<T | undefined>,
  ): Promise<T | undefined> {
    checkRequestId(requestId);
    return this.inTurn(async () => {
      const before = requestId === undefined ? undefined : this.answers.get(requestId);
      if (before !== undefined && before.asked !== asked) throw new ArchiveError("HT_USAGE", "another request's id");
      if (before !== undefined) return before.answer as T;
      const answer = await work();
      if (requestId !== undefined && answer !== undefined) this.answers.set(requestId, { asked, answer });
      return answer;
    });
  }

  private count(block: MemoryBlock, references = 1): StoreReceipt {
    if (block.leaving) throw moving(block);
    if (block.references + references > REFERENCES_MAX) {
      throw new ArchiveError("HT_TOO_LARGE", `${formatAddress(block)} cannot count so many references`);
    }
    block.references += references;
    return { ...infoOf(block), outcome: "duplicate" };
  }

  async refer(request: ReferRequest): Promise<StoreReceipt | undefined> {
    const signature = parseSignature(request.signature, this.signature);
    const compared = request.compared && { ...request.compared, data: await gather(request.compared.data, 1 << 30) };
    return this.once(request.requestId, `add ${signature} ${request.size}`, async () => {
      const found = await this.duplicate(signature, request.size, compared);
      return found && this.count(found);
    });
  }

  private async duplicate(
    signature: string,
    size: number,
    compared: { readonly compression: string; readonly data: BlockData } | undefined,
  ): Promise<MemoryBlock | undefined> {
    for (const block of this.with(signature)) {
      if (block.size !== size) continue;
      if (compared === undefined || (await equalContents(this.codecs, { ...compared, size }, block))) return block;
    }
    return undefined;
  }

  async store(request: StoreRequest): Promise<StoreReceipt> {
    const signature = parseSignature(request.signature, this.signature);
    const data = Buffer.from(await gather(request.data, 1 << 30));
    verifyContent(this.codecs, this.signature, { ...request, signature }, data);
    const receipt = await this.once(request.requestId, `add ${signature} ${request.size}`, async () => {
      const { mode, size, compression } = request;
      const compared = mode === "compare" ? { compression, data } : undefined;
      const found = mode === "force-new" ? undefined : await this.duplicate(signature, size, compared);
      return found === undefined ? this.make({ signature, size, compression, data }, 1) : this.count(found);
    });
    return receipt!;
  }

  private make(
    block: { signature: string; size: number; compression: string; data: Uint8Array },
    references: number,
  ): StoreReceipt {
    if (this.state === "read-only") throw new ArchiveError("HT_READ_ONLY", "the volume is read-only");
    const taken = new Set(this.with(block.signature).map(({ overflow }) => overflow));
    let overflow = 0;
    while (taken.has(overflow)) overflow++;
    const made = { ...block, overflow, storedSize: block.data.length, references, leaving: false };
    this.blocks.set(formatAddress(made), made);
    return { ...infoOf(made), outcome: "new" };
  }

  storeAll(requests: AsyncIterable<StoreRequest> | Iterable<StoreRequest>) {
    return storeEach(this, requests);
  }

  find(signatures: readonly string[]): Promise<readonly (readonly BlockInfo[])[]> {
    return this.inTurn(() =>
      signatures.map((signature) => this.with(parseSignature(signature, this.signature)).map(infoOf)),
    );
  }

  open(address: BlockAddress, range?: ByteRange): Promise<OpenBlock | undefined> {
    return this.inTurn(() => {
      const block = this.blocks.get(formatAddress(address));
      if (block === undefined) return undefined;
      if (range !== undefined && range.start > block.storedSize) throw new ArchiveError("HT_USAGE", "behind the end");
      return { ...infoOf(block), data: range === undefined ? block.data : block.data.subarray(range.start, range.end) };
    });
  }

  openAll(addresses: AsyncIterable<BlockAddress> | Iterable<BlockAddress>) {
    return openEach(this, addresses);
  }

  remove(address: BlockAddress, requestId?: string): Promise<BlockInfo | undefined> {
    return this.once(requestId, `remove ${formatAddress(address)}`, () => {
      const block = this.blocks.get(formatAddress(address));
      if (block === undefined) return undefined;
      if (block.leaving) throw moving(block);
      block.references--;
      if (block.references === 0) this.drop(address);
      return infoOf(block);
    });
  }

  private drop(address: BlockAddress): void {
    const name = formatAddress(address);
    this.blocks.delete(name);
    for (const [key, target] of this.former) if (target === name) this.former.delete(key);
  }

  async *list(after?: BlockAddress): AsyncGenerator<BlockInfo> {
    const order = (one: BlockAddress, other: BlockAddress) =>
      one.signature === other.signature ? one.overflow - other.overflow : one.signature < other.signature ? -1 : 1;
    for (const block of await this.inTurn(() => [...this.blocks.values()].sort(order))) {
      if (after === undefined || order(block, after) > 0) yield infoOf(block);
    }
  }

  filter(): Promise<SignatureFilter> {
    const filter = SignatureFilter.for(this.blocks.size);
    for (const { signature } of this.blocks.values()) filter.add(signature);
    return Promise.resolve(filter);
  }

  leave(address: BlockAddress): Promise<LeavingBlock | undefined> {
    return this.inTurn(() => {
      const name = formatAddress(address);
      const block = this.blocks.get(name);
      if (block === undefined) return undefined;
      block.leaving = true;
      const formerKeys = [...this.former].flatMap(([key, target]) => (target === name ? [key] : []));
      return { ...infoOf(block), data: block.data, formerKeys };
    });
  }

  async adopt(request: AdoptRequest): Promise<StoreReceipt> {
    checkAdoption(request);
    const signature = parseSignature(request.signature, this.signature);
    const data = Buffer.from(await gather(request.data, 1 << 30));
    verifyContent(this.codecs, this.signature, { ...request, signature }, data);
    const asked = `${request.formerKeys.length > 0 ? "adopt" : "add"} ${signature} ${request.size}`;
    const receipt = await this.once(request.requestId, asked, async () => {
      if (this.state === "read-only") throw new ArchiveError("HT_READ_ONLY", "the volume is read-only");
      const { size, compression, references } = request;
      const found = await this.duplicate(signature, size, { compression, data });
      const made =
        found === undefined
          ? this.make({ signature, size, compression, data }, references)
          : this.count(found, references);
      for (const key of request.formerKeys) this.former.set(key, formatAddress(made));
      return made;
    });
    return receipt!;
  }

  left(address: BlockAddress): Promise<void> {
    return this.inTurn(() => {
      if (this.blocks.get(formatAddress(address))?.leaving === true) this.drop(address);
    });
  }

  follow(formerKey: string): Promise<BlockAddress | undefined> {
    const name = this.former.get(formerKey);
    return Promise.resolve(name === undefined ? undefined : parseAddress(name));
  }

  async [Symbol.asyncDispose](): Promise<void> {}
}

function infoOf({ signature, overflow, size, storedSize, compression, references }: BlockInfo): BlockInfo {
  return { signature, overflow, size, storedSize, compression, references };
}

function moving(block: BlockAddress): ArchiveError {
  return new ArchiveError("HT_MOVING", `${formatAddress(block)} is on its way to another volume`);
}
