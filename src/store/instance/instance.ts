/**
 * An instance: the volumes that together are one store. Contents go in and come out by their content keys; which volume
 * they are in is looked after here, at the client, and no volume knows of the others.
 */
import { setTimeout as sleep } from "node:timers/promises";
import { ArchiveError, type Clock, type Random, systemClock, systemRandom } from "../../base/index.ts";
import type { Codecs } from "../codec.ts";
import type { ContentKey } from "../content-key.ts";
import type { SignatureAlgorithm } from "../signature.ts";
import type { Volume, VolumeDescription, VolumeState } from "../volume.ts";
import { type RetrieveAnswer, retrieveContents } from "./bulk-retrieving.ts";
import { type ItemAnswer, type StoreItem, storeContents } from "./bulk-storing.ts";
import type { InstanceCore } from "./core.ts";
import { type ContentInfo, deleteContent, statContent } from "./deleting.ts";
import { type ListOptions, listContents } from "./listing.ts";
import { type InstanceWarning, isUnavailable, Member, type MemberSpec } from "./member.ts";
import { type MigrateOptions, type MigrateResult, migrateVolume } from "./migrate.ts";
import type { Content } from "./parcel.ts";
import { PLACEMENTS, type Placement } from "./placement.ts";
import { type RepairOptions, type RepairResult, repairInstance } from "./repair.ts";
import { type RetrievedContent, retrieveContent } from "./retrieving.ts";
import { DIRECT, type StoreOptions, type StoreResult, storeContent } from "./storing.ts";

export interface InstanceOptions {
  readonly codecs: Codecs;
  /** Default `mod`. */
  readonly placement?: Placement | undefined;
  /** Volumes that did not answer, and the like. */
  readonly onWarning?: ((warning: InstanceWarning) => void) | undefined;
  readonly clock?: Clock | undefined;
  readonly random?: Random | undefined;
  /** How time passes while a block is on its way from one volume to another. */
  readonly pause?: ((ms: number) => Promise<void>) | undefined;
}

export interface InstanceShape {
  readonly signature: SignatureAlgorithm;
  readonly replicas: number;
  readonly members: readonly MemberSpec[];
}

/** A volume of an instance, and what it says of itself; or why it says nothing. */
export interface VolumeReport {
  readonly number: number;
  readonly name: string;
  /** As the instance treats it; the volume's own state may forbid more. */
  readonly state: VolumeState;
  readonly weight: number;
  readonly movedTo: string | undefined;
  readonly description: VolumeDescription | undefined;
  readonly error: ArchiveError | undefined;
}

export class Instance implements AsyncDisposable {
  readonly signature: SignatureAlgorithm;
  readonly replicas: number;
  private readonly core: InstanceCore;

  /** Volumes are opened when they are needed. They are closed with the instance. */
  constructor(shape: InstanceShape, options: InstanceOptions) {
    const { signature, replicas } = shape;
    const { codecs, clock = systemClock, random = systemRandom, onWarning = () => {} } = options;
    const isAlone = shape.members.length === 1;
    const surroundings = { signature, clock, isAlone, onWarning, onOpen: refuseTwins() };
    const members = shape.members.map((spec, number) => new Member(number, spec, surroundings));
    const writable = members.filter(({ isThere, spec }) => isThere && spec.state === "writable");
    const { placement = PLACEMENTS.mod, pause = sleep } = options;
    this.signature = signature;
    this.replicas = replicas;
    this.core = { members, writable, signature, replicas, placement, codecs, random, pause };
  }

  /** An instance of volumes that are open already. They are closed with it. */
  static async of(
    volumes: readonly Volume[],
    options: InstanceOptions & { readonly replicas?: number },
  ): Promise<Instance> {
    const { replicas = 1 } = options;
    if (volumes.length === 0 || replicas > volumes.length) {
      throw new ArchiveError("HT_USAGE", `${replicas} replicas on ${volumes.length} volumes`);
    }
    const members = volumes.map((volume, i): MemberSpec => {
      const name = `volume-${i}`;
      return { name, state: "writable", weight: 1, open: () => Promise.resolve(volume) };
    });
    const { signature } = await volumes[0]!.describe();
    return new Instance({ signature, replicas, members }, options);
  }

  /**
   * Stores a content, or counts a reference where the mode finds it. Throws HT_CODEC, HT_READ_ONLY where no volume takes it,
   * HT_PEER_UNAVAILABLE where none answers, HT_NOT_FOUND for a volume that is not there.
   */
  store(content: Content, options?: StoreOptions): Promise<StoreResult> {
    return storeContent(this.core, DIRECT, content, options);
  }

  /** Many contents, answered in their order; faster than one by one. */
  storeAll(items: AsyncIterable<StoreItem> | Iterable<StoreItem>): AsyncIterable<ItemAnswer> {
    return storeContents(this.core, items);
  }

  /** Absent where there is no such content. */
  retrieve(key: ContentKey): Promise<RetrievedContent | undefined> {
    return retrieveContent(this.core, key);
  }

  /** Many contents in the order of their keys; faster than one by one. */
  retrieveAll(keys: AsyncIterable<ContentKey> | Iterable<ContentKey>): AsyncIterable<RetrieveAnswer> {
    return retrieveContents(this.core, keys);
  }

  /** Absent where there is no such content. */
  stat(key: ContentKey): Promise<ContentInfo | undefined> {
    return statContent(this.core, key);
  }

  /** Takes back one reference. Gives the header as it is then; absent where there is no such content. */
  delete(key: ContentKey, options: { readonly requestId?: string } = {}): Promise<ContentInfo | undefined> {
    return deleteContent(this.core, key, options.requestId);
  }

  list(options: ListOptions = {}): AsyncIterable<ContentInfo> {
    return listContents(this.core, options);
  }

  /** One that does not answer within two seconds is told as one that does not. */
  async volumes(): Promise<VolumeReport[]> {
    return await Promise.all(this.core.members.map((member) => this.report(member)));
  }

  private async report(member: Member): Promise<VolumeReport> {
    const { number, name, weight, isThere, spec } = member;
    const movedTo = spec.movedTo === undefined ? undefined : this.core.members[spec.movedTo]!.name;
    const known = { number, name, state: spec.state, weight, movedTo };
    if (!isThere) return { ...known, description: undefined, error: undefined };
    try {
      const description = await within(REPORT_MS, member.describe(), member.name);
      const state = description.state === "read-only" ? description.state : spec.state;
      return { ...known, state, description, error: undefined };
    } catch (error) {
      if (!isUnavailable(error)) throw error;
      return { ...known, description: undefined, error };
    }
  }

  /** The number of a volume, by its number or name as text. Throws HT_NOT_FOUND. */
  numberOf(volume: string): number {
    const { members } = this.core;
    const member = /^[0-9]{1,4}$/.test(volume) ? members[Number(volume)] : members.find(({ name }) => name === volume);
    if (member !== undefined) return member.number;
    const names = members.map(({ name }) => name).join(", ");
    throw new ArchiveError("HT_NOT_FOUND", `there is no volume ${volume}; the instance has ${names}`);
  }

  /** Moves all blocks of one volume to another, while both are in use. Begun again, it goes on where it stopped. */
  migrate(from: number, to: number, options?: MigrateOptions): Promise<MigrateResult> {
    return migrateVolume(this.core, from, to, options);
  }

  /** Brings all contents to the number of replicas that the instance asks for. */
  repair(options?: RepairOptions): Promise<RepairResult> {
    return repairInstance(this.core, options);
  }

  /** Asks the volumes for their filters now, so that the next stores ask only those that may have a content. */
  async refreshFilters(): Promise<void> {
    const there = this.core.members.filter(({ isThere }) => isThere);
    await Promise.all(there.map(({ known }) => known.refresh()));
  }

  async [Symbol.asyncDispose](): Promise<void> {
    await Promise.all(this.core.members.map((member) => member.close()));
  }
}

/** Monitoring asks often, and is not to hang where a server does. */
const REPORT_MS = 2000;

async function within<T>(ms: number, answer: Promise<T>, name: string): Promise<T> {
  let timer: NodeJS.Timeout | undefined;
  const late = new Promise<never>((_, reject) => {
    const error = new ArchiveError("HT_PEER_UNAVAILABLE", `volume ${name}: no answer within ${ms / 1000} s`);
    timer = setTimeout(() => reject(error), ms);
  });
  try {
    return await Promise.race([answer, late]);
  } finally {
    clearTimeout(timer);
    answer.catch(() => {});
  }
}

/** One volume in two lines would count every reference twice, and be its own replica. */
function refuseTwins(): (id: string, name: string) => void {
  const names = new Map<string, string>();
  return (id, name) => {
    const other = names.get(id) ?? name;
    if (other !== name) throw new ArchiveError("HT_USAGE", `volumes ${other} and ${name} are one and the same`);
    names.set(id, name);
  };
}
