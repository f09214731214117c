/**
 * Storing a content in an instance: look for it in the volumes that may have it, its home first; count a reference where
 * it is, and send it to its home where it is not. The content is sent at most once, and not at all for most duplicates.
 */
import { ArchiveError } from "../../base/index.ts";
import type { ContentKey } from "../content-key.ts";
import type { BlockInfo, CountRequest, StoreMode, StoreReceipt, StoreRequest } from "../volume.ts";
import { type InstanceCore, isMoving, memberOf, onceSettled, orderFor } from "./core.ts";
import { isUnavailable, type Member } from "./member.ts";
import { type Content, Parcel, type ParcelOptions } from "./parcel.ts";
import { replicate } from "./replicas.ts";

export interface StoreOptions extends ParcelOptions {
  /** Default `regular`. */
  readonly mode?: StoreMode | undefined;
  /** The number of the volume to store in. Others are not asked then. */
  readonly volume?: number | undefined;
  /** Names the request: said again, it counts once. */
  readonly requestId?: string | undefined;
}

export interface StoreResult {
  readonly key: ContentKey;
  readonly outcome: StoreReceipt["outcome"];
  readonly size: number;
  readonly storedSize: number;
  readonly compression: string;
  readonly references: number;
  /** Volumes that have it now. Fewer than the instance asks for where volumes did not answer; `repair` makes up for it. */
  readonly copies: number;
}

/** How requests get to a volume: one by one, or gathered. */
export interface Lanes {
  find(member: Member, signature: string): Promise<readonly BlockInfo[]>;
  store(member: Member, request: StoreRequest): Promise<StoreReceipt>;
  refer(member: Member, request: CountRequest): Promise<StoreReceipt | undefined>;
}

export const DIRECT: Lanes = {
  find: (member, signature) => member.find(signature),
  store: (member, request) => member.ask((volume) => volume.store(request)),
  refer: (member, request) => member.ask((volume) => volume.refer(request)),
};

export interface Placed {
  readonly member: Member;
  readonly receipt: StoreReceipt;
}

export async function storeContent(
  core: InstanceCore,
  lanes: Lanes,
  content: Content,
  options: StoreOptions = {},
): Promise<StoreResult> {
  const parcel = await Parcel.sign(core.codecs, core.signature, content, options);
  const { member, receipt } = await new Errand(core, lanes, parcel, options).run();
  const { signature, overflow, outcome, size, storedSize, compression, references } = receipt;
  const key = { volume: member.number, signature, overflow };
  const placed = { member, receipt };
  const copies = core.replicas === 1 ? 1 : 1 + (await replicate(core, key, parcel, placed, options.requestId));
  return { key, outcome, size, storedSize, compression, references, copies };
}

/** The errors after which another volume can do what this one did not. */
function isForTheNext(error: unknown): error is ArchiveError {
  if (!(error instanceof ArchiveError)) return false;
  return isUnavailable(error) || ["HT_READ_ONLY", "HT_NO_SPACE", "HT_IO"].includes(error.code);
}

class Errand {
  private readonly core: InstanceCore;
  private readonly lanes: Lanes;
  private readonly parcel: Parcel;
  private readonly mode: StoreMode;
  private readonly options: StoreOptions;

  constructor(core: InstanceCore, lanes: Lanes, parcel: Parcel, options: StoreOptions) {
    this.core = core;
    this.lanes = lanes;
    this.parcel = parcel;
    this.mode = options.mode ?? "regular";
    this.options = options;
  }

  async run(): Promise<Placed> {
    const { core, parcel, options } = this;
    if (options.volume !== undefined) return await this.storeNamed(memberOf(core, options.volume));
    const order = orderFor(core, parcel.signature);
    if (this.mode === "force-new") return await this.storeInOrder(order);
    const candidates = this.candidates(order[0]);
    const found = this.mode === "compare" ? await this.compare(candidates, order[0]) : await this.refer(candidates);
    return found ?? (await this.storeInOrder(order));
  }

  /** The volumes that may have the content, its home first. */
  private candidates(home: Member | undefined): Member[] {
    const { members } = this.core;
    const { signature } = this.parcel;
    const may = members.filter((member) => member.isThere && !member.isDown && member.known.mayHave(signature));
    if (may.length > 1 && home !== undefined && may.includes(home)) {
      return [home, ...may.filter((member) => member !== home)];
    }
    return may;
  }

  /** The first one is asked to count at once; of the others, only whether they have it, for one reference is enough. */
  private async refer([first, ...others]: readonly Member[]): Promise<Placed | undefined> {
    if (first === undefined) return undefined;
    const finds = others.map((member) => this.find(member));
    // Where the first one has it, nobody waits for the others any more.
    for (const find of finds) find.catch(() => {});
    const found = await this.count(first);
    if (found !== undefined) return found;
    for (const [i, member] of others.entries()) {
      const counted = (await finds[i]!) ? await this.count(member) : undefined;
      if (counted !== undefined) return counted;
    }
    return undefined;
  }

  /** A home that nobody competes with compares when it stores. Else the bytes go where a block of this size is. */
  private async compare(candidates: readonly Member[], home: Member | undefined): Promise<Placed | undefined> {
    if (candidates.length === 0 || (candidates.length === 1 && candidates[0] === home)) return undefined;
    const found = await Promise.all(candidates.map((member) => this.find(member)));
    const having = candidates.filter((_, i) => found[i]!);
    if (having.length === 1 && having[0] === home) return undefined;
    for (const member of having) {
      const counted = await this.count(member);
      if (counted !== undefined) return counted;
    }
    return undefined;
  }

  /** Whether the volume has a block with this signature and size. One that fails is passed over. */
  private async find(member: Member): Promise<boolean> {
    const { signature, size } = this.parcel;
    try {
      return (await this.lanes.find(member, signature)).some((block) => block.size === size);
    } catch (error) {
      return passOver(member, error) ?? false;
    }
  }

  /** Counts a reference, where the volume has the content. One that fails is passed over. */
  private async count(member: Member): Promise<Placed | undefined> {
    const { signature, size } = this.parcel;
    const { requestId } = this.options;
    try {
      const receipt = await (this.mode === "compare"
        ? this.referComparing(member)
        : this.lanes.refer(member, { signature, size, requestId }));
      return receipt && { member, receipt };
    } catch (error) {
      return passOver(member, error);
    }
  }

  private async referComparing(member: Member): Promise<StoreReceipt | undefined> {
    const { signature, size } = this.parcel;
    const { requestId } = this.options;
    const compared = await this.parcel.compressed();
    return await member.ask((volume) => volume.refer({ signature, size, requestId, compared }));
  }

  /** The client wants it there and nowhere else. */
  private async storeNamed(member: Member): Promise<Placed> {
    if (member.spec.state === "writable") return await this.storeIn(member);
    const { signature, size } = this.parcel;
    const { requestId } = this.options;
    const receipt =
      this.mode === "force-new"
        ? undefined
        : await (this.mode === "compare"
            ? this.referComparing(member)
            : this.lanes.refer(member, { signature, size, requestId }));
    if (receipt === undefined) throw new ArchiveError("HT_READ_ONLY", `volume ${member.name} takes no new contents`);
    return { member, receipt };
  }

  /** In the first that takes it. */
  private async storeInOrder(order: readonly Member[]): Promise<Placed> {
    for (const [i, member] of order.entries()) {
      try {
        return await this.storeIn(member);
      } catch (error) {
        if (i === order.length - 1 || !isForTheNext(error)) throw error;
        if (!isUnavailable(error)) member.warn(error.code, `volume ${member.name} did not take it: ${error.message}`);
      }
    }
    throw new ArchiveError("HT_READ_ONLY", "no volume of the instance takes new contents");
  }

  private async storeIn(member: Member): Promise<Placed> {
    const { signature, size } = this.parcel;
    const { mode } = this;
    const { requestId } = this.options;
    const receipt = await onceSettled(this.core, async () =>
      this.lanes.store(member, { signature, size, mode, requestId, ...(await this.parcel.compressed()) }),
    );
    member.known.add(signature);
    return { member, receipt };
  }
}

/** A block that is moving may be found where it goes to, or is stored anew; other errors are told. */
function passOver(member: Member, error: unknown): undefined {
  if (!(error instanceof ArchiveError)) throw error;
  if (isMoving(error) || isUnavailable(error)) return undefined;
  if (error.code === "HT_USAGE" || error.code === "HT_CODEC") throw error;
  member.warn(error.code, `volume ${member.name} could not be asked: ${error.message}`);
  return undefined;
}
