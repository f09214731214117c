/**
 * One of the volumes of an instance, whether it answers or not. It is opened when it is first needed.
 *
 * 1. One that did not answer is passed over until it does, unless there is nobody else to ask. From time to time one
 *    question in the background finds out whether it does, and nobody waits for that.
 * 2. Where it was waited for in vain, it is not asked at all meanwhile: who asks is told at once what it was told then.
 */
import { ArchiveError, type Clock } from "../../base/index.ts";
import { WAIT_MS } from "../remote/deadlines.ts";
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
  /** Whether there is no other volume. */
  readonly isAlone: boolean;
  /** Told of each volume that was opened; throws where another member is the same volume. */
  readonly onOpen: (id: string, name: string) => void;
}

/** How long until a volume that did not answer is asked again: longer each time, because asking may mean waiting. */
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
  /** Opened, but has not said yet what it is. */
  private unknown: Volume | undefined;
  private isClosed = false;
  private description: VolumeDescription | undefined;
  /** What it was told when it did not answer; absent while it answers. */
  private failure: { readonly error: ArchiveError; readonly isHung: boolean } | undefined;
  private probeAtMs = 0;
  private isProbing = false;
  private passOverMs = PASS_OVER_MS_MIN;

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

  /** Whether it did not answer, the last time that it was asked. */
  get isDown(): boolean {
    if (this.failure === undefined) return false;
    if (!this.isProbing && this.nowMs >= this.probeAtMs) void this.probe();
    return true;
  }

  /** Asks in the background whether it answers again. */
  private async probe(): Promise<void> {
    this.isProbing = true;
    try {
      await (this.volume ?? (await this.open())).describe();
      this.noteUp();
    } catch {
      // Whatever it is: who asks next hears of it, and it is asked again later.
      this.putOff();
    } finally {
      this.isProbing = false;
    }
  }

  private putOff(): void {
    this.probeAtMs = this.nowMs + this.passOverMs;
    this.passOverMs = Math.min(this.passOverMs * 2, PASS_OVER_MS_MAX);
  }

  get nowMs(): number {
    return this.surroundings.clock.now();
  }

  /** Made up when the volume was made; only of a volume that was opened. */
  get id(): string | undefined {
    return this.description?.id;
  }

  /** Throws HT_PEER_UNAVAILABLE or HT_BUSY where the volume does not answer, and tells it as a warning, once. */
  async ask<T>(question: (volume: Volume) => Promise<T>): Promise<T> {
    this.refuseHung();
    const startedMs = this.nowMs;
    try {
      const answer = await question(this.volume ?? (await this.open()));
      if (this.failure !== undefined) this.noteUp();
      return answer;
    } catch (error) {
      throw isUnavailable(error) ? this.noteDown(error, startedMs) : error;
    }
  }

  private refuseHung(): void {
    if (this.isDown && this.failure?.isHung === true && !this.surroundings.isAlone) throw this.failure.error;
  }

  /** For answers that come one after the other. */
  async *askAll<T>(question: (volume: Volume) => AsyncIterable<T>): AsyncGenerator<T> {
    this.refuseHung();
    let heardMs = this.nowMs;
    try {
      for await (const answer of question(this.volume ?? (await this.open()))) {
        yield answer;
        heardMs = this.nowMs;
      }
    } catch (error) {
      throw isUnavailable(error) ? this.noteDown(error, heardMs) : error;
    }
  }

  private noteUp(): void {
    this.failure = undefined;
    this.passOverMs = PASS_OVER_MS_MIN;
  }

  /** To be told of an answer that is none, and since when it was waited for. */
  noteDown(error: ArchiveError, startedMs: number): ArchiveError {
    const isHung = this.nowMs - startedMs >= WAIT_MS;
    if (this.failure === undefined) {
      this.putOff();
      this.warn(error.code, `volume ${this.name} is passed over: ${error.message}`);
    }
    // An answer to what was asked before says nothing of now.
    this.failure = { error, isHung: isHung || this.failure?.isHung === true };
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
    this.unknown = volume;
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
      if (!this.isClosed) await volume[Symbol.asyncDispose]();
      throw error;
    } finally {
      this.unknown = undefined;
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
    this.isClosed = true;
    // One that hangs is not waited for: closing it ends the wait of those who do.
    const volume = this.volume ?? this.unknown ?? (await this.opening?.catch(() => undefined));
    this.volume = undefined;
    await volume?.[Symbol.asyncDispose]();
  }
}
