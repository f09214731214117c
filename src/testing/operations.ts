/** The operations of a forgetful disk, counted, and the faults that come with their number. */
import { ArchiveError } from "../base/index.ts";

export interface Faults {
  /** The power is cut at this operation, counted from 1. */
  readonly stopAt?: number;
  /** From this write on, counted from 1, the disk is full. */
  readonly fullFromWrite?: number;
  /** This operation fails, whatever it is, and does nothing; counted from 1. */
  readonly failAt?: number;
  /** This sync of a file or folder fails, counted from 1. */
  readonly failSyncAt?: number;
  /** Called before each operation, by who wants to know what a power cut would leave now. */
  readonly onOperation?: () => void;
}

/** What every call throws from the power cut on. It is no `ArchiveError`, so no code under test takes it for one. */
export class PowerCut extends Error {
  override readonly name = "PowerCut";
}

export type OperationKind = "open" | "write" | "truncate" | "sync" | "rename" | "remove" | "makeFolder" | "syncFolder";

export class Operations {
  readonly #faults: Faults;
  readonly #log: string[] = [];
  #writeCount = 0;
  #syncCount = 0;
  #stopped = false;

  constructor(faults: Faults) {
    this.#faults = faults;
  }

  /** Every operation so far, as `write /folder/file`. */
  get log(): readonly string[] {
    return this.#log;
  }

  get stopped(): boolean {
    return this.#stopped;
  }

  count(kind: OperationKind): number {
    return this.#log.filter((line) => line.startsWith(`${kind} `)).length;
  }

  /** For calls that change nothing: they are not counted, but a disk without power does not answer. */
  check(): void {
    if (this.#stopped) throw new PowerCut("the power is off");
  }

  /** An operation that the power cut at it does not undo: it is merely not durable. */
  run<T>(kind: OperationKind, path: string, effect: () => T): T {
    this.#begin(kind, path);
    const result = effect();
    this.check();
    return result;
  }

  /** `part` is given the share of the bytes that the disk still takes. */
  runWrite(path: string, effect: (part: number) => void): void {
    this.run("write", path, () => {
      const full = ++this.#writeCount >= (this.#faults.fullFromWrite ?? Number.POSITIVE_INFINITY);
      effect(full ? 0.5 : 1);
      if (full) throw new ArchiveError("HT_NO_SPACE", `${path}: the disk is full`, { file: path });
    });
  }

  /** A sync that the power cut at it prevents. `failed` is called where it fails otherwise. */
  runSync(kind: "sync" | "syncFolder", path: string, effect: () => void, failed: () => void = () => undefined): void {
    this.beginSync(kind, path)(effect, failed);
  }

  /** The same in two halves, for a sync during which other operations run. */
  beginSync(kind: "sync" | "syncFolder", path: string): (effect: () => void, failed: () => void) => void {
    this.#begin(kind, path);
    this.check();
    const fails = ++this.#syncCount === this.#faults.failSyncAt;
    return (effect, failed) => {
      this.check();
      if (!fails) return effect();
      failed();
      throw new ArchiveError("HT_IO", `${path}: sync failed`, { file: path });
    };
  }

  #begin(kind: OperationKind, path: string): void {
    this.check();
    this.#faults.onOperation?.();
    this.#log.push(`${kind} ${path}`);
    if (this.#log.length === this.#faults.stopAt) this.#stopped = true;
    if (this.#log.length === this.#faults.failAt) throw new ArchiveError("HT_IO", `${path}: failed`, { file: path });
  }
}
