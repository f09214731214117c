/**
 * Which captures an export takes: of a URL, or of a range of keys; of a span of time, or those that were valid at one
 * moment; of some media types. They come in the order of keys and times, as of one snapshot, and whether one of them is
 * taken can be asked without a list of all.
 */
import type { Snapshot } from "../asking/snapshot.ts";
import { archiveKey, FIRST_MS, LAST_MS, urlKeyOf } from "../catalogue/capture-key.ts";
import { Flag, has } from "../catalogue/capture-row.ts";
import { type FoundCapture, LAST_KEY } from "../catalogue/catalogue-view.ts";
import { visitIdentity } from "../entering/visit-changes.ts";

/** What is asked for; nothing stands for everything. */
export interface ExportSelection {
  readonly url?: string | undefined;
  /** Keys from the one on and before the other. */
  readonly range?: { readonly from?: string | undefined; readonly to?: string | undefined } | undefined;
  /** Captures from then on, and up to and with then. */
  readonly fromMs?: number | undefined;
  readonly toMs?: number | undefined;
  /** Of each URL the capture that was valid then. */
  readonly sliceMs?: number | undefined;
  readonly mime?: ((mime: string | undefined) => boolean) | undefined;
  /** These very captures, by their cursors. */
  readonly captures?: ReadonlySet<string> | undefined;
}

/**
 * How a capture goes out that cannot be copied with all that belongs to it: `anew`, each record that can be read is written
 * again; `alone`, without what stands around it.
 */
export type Mending = "anew" | "alone";

export interface SelectedCapture extends FoundCapture {
  readonly archiveKey: string;
}

export class SelectedCaptures {
  private readonly archive: Snapshot;
  private readonly asked: ExportSelection;
  private readonly only: string | undefined;
  /** Keys of captures that cannot be read, and of those that need something. */
  private readonly left = new Set<string>();
  private readonly mended = new Map<string, Mending>();

  constructor(archive: Snapshot, asked: ExportSelection) {
    this.archive = archive;
    this.asked = asked;
    this.only = asked.url === undefined ? undefined : archiveKey(asked.url);
  }

  /** Whether everything was asked for. */
  get isAll(): boolean {
    const { url, range = {}, fromMs, toMs, sliceMs, mime, captures } = this.asked;
    return [url, range.from, range.to, fromMs, toMs, sliceMs, mime, captures].every((limit) => limit === undefined);
  }

  get leftCount(): number {
    return this.left.size;
  }

  get mendedCount(): number {
    return this.mended.size;
  }

  /** From now on it is none of them. */
  leave({ key }: FoundCapture): void {
    this.left.add(key);
    this.mended.delete(key);
  }

  mend({ key }: FoundCapture, mending: Mending): void {
    this.mended.set(key, mending);
  }

  mendingOf({ key }: FoundCapture): Mending | undefined {
    return this.mended.size === 0 ? undefined : this.mended.get(key);
  }

  private isLeft({ key }: FoundCapture): boolean {
    return this.left.size > 0 && this.left.has(key);
  }

  /** May be called more than once, and gives the same each time. */
  *[Symbol.iterator](): Generator<SelectedCapture> {
    const captures = this.asked.sliceMs === undefined ? this.inSpan() : this.inSlice(this.asked.sliceMs);
    for (const capture of captures) if (!this.isLeft(capture) && this.hasMime(capture)) yield capture;
  }

  /** Whether a capture that is filed under this key is among them. */
  has(key: string, found: FoundCapture): boolean {
    const { range = {}, sliceMs, captures } = this.asked;
    if (this.isLeft(found)) return false;
    if (captures !== undefined && !captures.has(found.under ?? found.key)) return false;
    if (this.only !== undefined && key !== this.only) return false;
    if (key < (range.from ?? "") || (range.to !== undefined && key >= range.to)) return false;
    if (sliceMs === undefined) {
      if (!this.isInSpan(found)) return false;
    } else if (this.validAt(key, sliceMs)?.key !== found.key) return false;
    return this.hasMime(found);
  }

  private *inSpan(): Generator<SelectedCapture> {
    const { catalogue } = this.archive;
    const { captures } = this.asked;
    if (captures !== undefined) return yield* this.named(captures);
    const { from = "", to = LAST_KEY } = this.asked.range ?? {};
    const { only } = this;
    const all = only === undefined ? catalogue.rowsIn(from, to) : catalogue.captures(only, FIRST_MS, LAST_MS);
    for (const found of all) if (this.isInSpan(found)) yield { ...found, archiveKey: urlKeyOf(found.key) };
  }

  private *named(captures: ReadonlySet<string>): Generator<SelectedCapture> {
    const keys = new Set([...captures].map(urlKeyOf));
    for (const key of [...keys].sort())
      for (const found of this.archive.catalogue.captures(key, FIRST_MS, LAST_MS))
        if (captures.has(found.under ?? found.key)) yield { ...found, archiveKey: key };
  }

  /** What has no place in time is there where no time is asked for. */
  private isInSpan({ timeMs, row }: FoundCapture): boolean {
    const { fromMs, toMs } = this.asked;
    if (fromMs === undefined && toMs === undefined) return true;
    return !has(row, Flag.undated) && timeMs >= (fromMs ?? FIRST_MS) && timeMs <= (toMs ?? LAST_MS);
  }

  private *inSlice(timeMs: number): Generator<SelectedCapture> {
    const { only } = this;
    const keys = only === undefined ? this.archive.timeline.slice(timeMs, this.asked.range ?? {}) : [{ key: only }];
    for (const { key } of keys) {
      const found = this.validAt(key, timeMs);
      if (found !== undefined) yield { ...found, archiveKey: key };
    }
  }

  /** The last capture up to then that found what was valid then. */
  private validAt(key: string, timeMs: number): FoundCapture | undefined {
    const entry = this.archive.timeline.at(key, timeMs);
    if (entry === undefined) return undefined;
    for (const found of this.archive.catalogue.captures(key, entry.birth, timeMs, true))
      if (visitIdentity(found.row) === entry.digest) return found;
    return undefined;
  }

  private hasMime({ row }: FoundCapture): boolean {
    const { mime } = this.asked;
    return mime === undefined || mime(row.mime);
  }
}
