/**
 * One of the volumes of an instance, whether it answers or not. It is opened when it is first needed. One that did not
 * answer is passed over for a while, unless there is nobody else to ask.
 */
import { ArchiveError, type Clock } from "../../base/index.ts";
import type { SignatureAlgorithm } from "../signature.ts";
import type { BlockInfo, Volume, VolumeDescription, VolumeState } from "../volume.ts";
import { KnownSignatures } from "./known-signatures.ts";
import type { PlacedVolume } from "./placement.ts";

/** Something that went wrong with a volume and that the work went on behind. */
export interface InstanceWarning {
  readonly code: ArchiveError["code"];
  readonly message: string;
  /** The name of the volume. */
  readonly volume: string;
}

export interface MemberSpec {
  readonly name: string;
  readonly state: VolumeState;
  readonly weight: number;
  /** The number of the volume that its blocks moved to. */
  readonly movedTo?: number | undefined;
  /** Absent where the volume is not there any more. */
  readonly open?: (() => Promise<Volume>) | undefined;
}

export interface MemberSurroundings {
  readonly signature: SignatureAlgorithm;
  readonly clock: Clock;
  readonly onWarning: (warning: InstanceWarning) => void;
  /** Told of each volume that was opened; throws where another member is the same volume. */
  readonly onOpen: (id: string, name: string) => void;
}

/** How long a volume that did not answer is passed over: longer each time, because asking may mean waiting. */
const PASS_OVER_MS_MIN = 2000;
const PASS_OVER_MS_MAX = 60_000;

/** What a volume says that does not answer now, but may later. */
export type Unavailable = ArchiveError & { readonly code: "HT_PEER_UNAVAILABLE" | "HT_BUSY" };

export function isUnavailable(error: unknown): error is Unavailable {
  return error instanceof ArchiveError && (error.code === "HT_PEER_UNAVAILABLE" || error.code === "HT_BUSY");
}

export class Member implements PlacedVolume {
  readonly number: number;
  readonly spec: MemberSpec;
  readonly known: KnownSignatures;
  private readonly surroundings: MemberSurroundings;
  private volume: Volume | undefined;
  private opening: Promise<Volume> | undefined;
  private description: VolumeDescription | undefined;
  private downUntilMs = 0;
  private passOverMs = PASS_OVER_MS_MIN;
  private isTold = false;

  constructor(number: number, spec: MemberSpec, surroundings: MemberSurroundings) {
    this.number = number;
    this.spec = spec;
    this.surroundings = surroundings;
    this.known = new KnownSignatures(() => this.ask((volume) => volume.filter()), surroundings.clock);
  }

  get name(): string {
    return this.spec.name;
  }

  get weight(): number {
    return this.spec.weight;
  }

  /** Whether there is anything to ask: not so for a volume that has moved and was taken away. */
  get isThere(): boolean {
    return this.spec.open !== undefined;
  }

  /** Whether it did not answer a moment ago. */
  get isDown(): boolean {
    return this.downUntilMs > 0 && this.surroundings.clock.now() < this.downUntilMs;
  }

  /** Made up when the volume was made; only of a volume that was opened. */
  get id(): string | undefined {
    return this.description?.id;
  }

  /** Throws HT_PEER_UNAVAILABLE or HT_BUSY where the volume does not answer, and tells it as a warning, once. */
  async ask<T>(question: (volume: Volume) => Promise<T>): Promise<T> {
    try {
      const answer = await question(this.volume ?? (await this.open()));
      if (this.downUntilMs > 0) this.noteUp();
      return answer;
    } catch (error) {
      throw isUnavailable(error) ? this.noteDown(error) : error;
    }
  }

  /** For answers that come one after the other. */
  async *askAll<T>(question: (volume: Volume) => AsyncIterable<T>): AsyncGenerator<T> {
    try {
      yield* question(this.volume ?? (await this.open()));
    } catch (error) {
      throw isUnavailable(error) ? this.noteDown(error) : error;
    }
  }

  private noteUp(): void {
    this.downUntilMs = 0;
    this.passOverMs = PASS_OVER_MS_MIN;
    this.isTold = false;
  }

  /** To be told of an answer that is none. */
  noteDown(error: ArchiveError): ArchiveError {
    if (!this.isDown) {
      this.downUntilMs = this.surroundings.clock.now() + this.passOverMs;
      this.passOverMs = Math.min(this.passOverMs * 2, PASS_OVER_MS_MAX);
    }
    if (!this.isTold) this.warn(error.code, `volume ${this.name} is passed over: ${error.message}`);
    this.isTold = true;
    return error;
  }

  warn(code: ArchiveError["code"], message: string): void {
    this.surroundings.onWarning({ code, message, volume: this.name });
  }

  private open(): Promise<Volume> {
    this.opening ??= this.openNow().finally(() => {
      this.opening = undefined;
    });
    return this.opening;
  }

  private async openNow(): Promise<Volume> {
    if (this.spec.open === undefined) {
      throw new ArchiveError("HT_PEER_UNAVAILABLE", `volume ${this.name} has no place in the connector any more`);
    }
    const volume = await this.spec.open();
    try {
      this.description = await volume.describe();
      const { signature } = this.description;
      if (signature !== this.surroundings.signature) {
        const wanted = this.surroundings.signature;
        throw new ArchiveError(
          "HT_USAGE",
          `volume ${this.name} has signatures of ${signature}, and the instance of ${wanted}`,
        );
      }
      this.surroundings.onOpen(this.description.id, this.name);
    } catch (error) {
      await volume[Symbol.asyncDispose]();
      throw error;
    }
    this.volume = volume;
    return volume;
  }

  describe(): Promise<VolumeDescription> {
    return this.ask((volume) => volume.describe());
  }

  async find(signature: string): Promise<readonly BlockInfo[]> {
    const [blocks] = await this.ask((volume) => volume.find([signature]));
    return blocks!;
  }

  async close(): Promise<void> {
    const volume = this.volume ?? (await this.opening?.catch(() => undefined));
    this.volume = undefined;
    await volume?.[Symbol.asyncDispose]();
  }
}
