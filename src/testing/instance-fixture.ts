/** An instance of volumes in memory, whose calls are counted and that can be out of reach; and contents for it. */
import { Readable } from "node:stream";
import {
  Codecs,
  type ContentKey,
  gather,
  Instance,
  type InstanceWarning,
  type MemberSpec,
  type SignatureAlgorithm,
  type StoreReceipt,
  signatureModulo,
  signatureOf,
  type Volume,
  type VolumeState,
} from "../store/index.ts";
import { createDice } from "./dice.ts";
import { MemoryVolume } from "./memory-volume.ts";
import { type WatchedVolume, watchVolume } from "./watched-volume.ts";

const codecs = await Codecs.load();

export interface InstanceSetting {
  readonly signature?: SignatureAlgorithm;
  readonly replicas?: number;
  readonly states?: readonly VolumeState[];
  /** By number: where a volume has moved to. */
  readonly movedTo?: Readonly<Record<number, number>>;
  /** Numbers of volumes that are not there any more. */
  readonly gone?: readonly number[];
}

export class InstanceFixture {
  readonly warnings: InstanceWarning[] = [];
  readonly volumes: readonly WatchedVolume<MemoryVolume>[];
  readonly codecs = codecs;
  nowMs = 0;
  private readonly setting: InstanceSetting;

  constructor(count: number, setting: InstanceSetting = {}) {
    this.setting = setting;
    this.volumes = Array.from({ length: count }, (_, i) => watchVolume(this.newVolume(i)));
  }

  /** An empty one; no two have one id. */
  newVolume(number: number): MemoryVolume {
    const { signature = "sha256" } = this.setting;
    const id = createDice(number + 1 + 1000 * this.made++).uuid();
    return new MemoryVolume(codecs, { signature, id });
  }

  private made = 0;

  /** A client; each knows only what it has asked itself. */
  open(setting: InstanceSetting = {}): Instance {
    const {
      signature = "sha256",
      replicas = 1,
      states = [],
      movedTo = {},
      gone = [],
    } = { ...this.setting, ...setting };
    const members = this.volumes.map(({ volume }, i): MemberSpec => {
      const open = () => Promise.resolve<Volume>(volume);
      const state = states[i] ?? (movedTo[i] === undefined ? "writable" : "read-only");
      return { name: `volume-${i}`, state, weight: 1, movedTo: movedTo[i], open: gone.includes(i) ? undefined : open };
    });
    return new Instance(
      { signature, replicas, members },
      {
        codecs,
        clock: { now: () => this.nowMs },
        random: createDice(this.made++),
        pause: (ms) => {
          this.nowMs += ms;
          return Promise.resolve();
        },
        onWarning: (warning) => this.warnings.push(warning),
      },
    );
  }

  get inner(): readonly MemoryVolume[] {
    return this.volumes.map(({ inner }) => inner);
  }

  /** What each volume was asked since the last time. */
  calls(): string[] {
    return this.volumes.map(({ calls }) => calls.splice(0).join(" "));
  }

  /** References of all blocks in all volumes. */
  get references(): number {
    const blocks = this.inner.flatMap((volume) => [...volume.blocks.values()]);
    return blocks.reduce((sum, { references }) => sum + references, 0);
  }
}

/** A content whose home is this volume, among so many. */
export function contentFor(home: number, count: number, hint = ""): Buffer {
  for (let i = 0; ; i++) {
    const content = Buffer.from(`${hint} content ${i} of some length, so that it can be told from others`);
    if (signatureModulo(signatureOf("sha256", content), count) === home) return content;
  }
}

/** Contents with one weak signature: the first `equal` of them have one size, the others another. */
export function collidingContents(equal: number, others: number): Buffer[] {
  const signature = signatureOf("weak8", Buffer.from("content 0"));
  const found: Buffer[] = [];
  for (let i = 0; found.length < equal + others; i++) {
    const text = found.length < equal ? `content ${i}`.padEnd(16, ".") : `a longer content ${i}`.padEnd(32, ".");
    const content = Buffer.from(text);
    if (signatureOf("weak8", content) === signature) found.push(content);
  }
  return found;
}

/** Puts a content into a volume past the instance. */
export async function putInto(volume: Volume, content: Buffer): Promise<StoreReceipt> {
  const { signature: algorithm } = await volume.describe();
  const signature = signatureOf(algorithm, content);
  return await volume.store({ signature, size: content.length, mode: "compare", compression: "none", data: content });
}

/** Absent where there is no such content. */
export async function textAt(instance: Instance, key: ContentKey): Promise<string | undefined> {
  const retrieved = await instance.retrieve(key);
  return retrieved && Buffer.from(await gather(retrieved.content, 1 << 30)).toString();
}

/** A content that comes in pieces, and can be read as often as needed. */
export function repeatable(read: () => Iterable<Uint8Array>): AsyncIterable<Uint8Array> {
  return { [Symbol.asyncIterator]: () => Readable.from(read())[Symbol.asyncIterator]() as AsyncIterator<Uint8Array> };
}

export async function allOf<T>(things: AsyncIterable<T>): Promise<T[]> {
  const all: T[] = [];
  for await (const thing of things) all.push(thing);
  return all;
}
