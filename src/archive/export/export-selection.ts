/**
 * Which captures an export takes: of a URL, or of a range of keys; of a span of time, or those that were valid at one
 * moment; of some media types. They come in the order of keys and times, as of one snapshot, and whether one of them is
 * taken can be asked without a list of all.
 */
import { ArchiveError } from "../../base/index.ts";
import type { Disk } from "../../disk/index.ts";
import { LineSorter } from "../../pipeline/index.ts";
import { mediaType, payloadOf, type WarcRecord } from "../../warc/index.ts";
import type { Archive } from "../asking/archive.ts";
import { originalOf } from "../asking/whereabouts.ts";
import { urlHash } from "../catalogue/capture-key.ts";
import { archiveKey, DIGEST_HALF } from "../catalogue/capture-row.ts";
import { type FoundCapture } from "../catalogue/catalogue-view.ts";
import { decodeContent } from "../catalogue/content.ts";

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
}

export interface SelectedCapture extends FoundCapture {
  readonly archiveKey: string;
}

const FIRST_MS = -(2 ** 51);
const LAST_MS = 2 ** 51 - 1;

export class SelectedCaptures {
  private readonly disk: Disk;
  private readonly archive: Archive;
  private readonly asked: ExportSelection;
  private readonly only: string | undefined;
  private readonly onLeft: ((found: FoundCapture, error: ArchiveError) => void) | undefined;
  /** Keys of captures that cannot be read. */
  private readonly left = new Set<string>();

  /** With `onLeft`, what cannot be read is left out and told once; without it, that is an error. */
  constructor(
    disk: Disk,
    archive: Archive,
    asked: ExportSelection,
    onLeft?: (found: FoundCapture, error: ArchiveError) => void,
  ) {
    this.disk = disk;
    this.archive = archive;
    this.asked = asked;
    this.onLeft = onLeft;
    this.only = asked.url === undefined ? undefined : archiveKey(asked.url);
  }

  get leftCount(): number {
    return this.left.size;
  }

  /** From now on it is none of them. */
  leave(found: FoundCapture, error: ArchiveError): void {
    if (this.left.has(found.key)) return;
    this.left.add(found.key);
    this.onLeft?.(found, error);
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
    const { fromMs = FIRST_MS, toMs = LAST_MS, range = {}, sliceMs } = this.asked;
    if (this.isLeft(found)) return false;
    if (this.only !== undefined && key !== this.only) return false;
    if (key < (range.from ?? "") || (range.to !== undefined && key >= range.to)) return false;
    if (sliceMs === undefined) {
      if (found.timeMs < fromMs || found.timeMs > toMs) return false;
    } else if (this.validAt(key, sliceMs)?.key !== found.key) return false;
    return this.hasMime(found);
  }

  private *inSpan(): Generator<SelectedCapture> {
    const { fromMs = FIRST_MS, toMs = LAST_MS } = this.asked;
    for (const key of this.keys(fromMs, toMs)) {
      for (const found of this.archive.catalogue.captures(urlHash(key), fromMs, toMs)) {
        yield { ...found, archiveKey: key };
      }
    }
  }

  private *keys(fromMs: number, toMs: number): Generator<string> {
    if (this.only !== undefined) {
      yield this.only;
      return;
    }
    using sorter = this.pendingKeys(fromMs, toMs);
    const pending = sorter.sortedLines();
    let next = pending.next();
    let last: string | undefined;
    for (const { key } of this.archive.timeline.span(fromMs, toMs, this.asked.range ?? {})) {
      if (key === last) continue;
      for (; next.done !== true && next.value <= key; next = pending.next()) {
        if (next.value !== last && next.value !== key) yield next.value;
        last = next.value;
      }
      yield key;
      last = key;
    }
    for (; next.done !== true; next = pending.next()) {
      if (next.value !== last) yield next.value;
      last = next.value;
    }
  }

  /** A revisit whose original is not known is in no timeline; its key is found in the record alone. */
  private pendingKeys(fromMs: number, toMs: number): LineSorter {
    const sorter = new LineSorter(this.disk);
    const { catalogue } = this.archive;
    if (catalogue.state.pending === 0) return sorter;
    const { from = "", to } = this.asked.range ?? {};
    for (const found of catalogue.allCaptures()) {
      const { row, timeMs } = found;
      if (row.digest !== undefined || timeMs < fromMs || timeMs > toMs) continue;
      const key = this.readable(found, () => archiveKey(this.archive.reader.record(found, ({ uri }) => uri)));
      if (key !== undefined && key >= from && (to === undefined || key < to)) sorter.add(key);
    }
    return sorter;
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
    const digest = Buffer.from(decodeContent(key, entry.value, entry.digest).sha256.slice(0, 2 * DIGEST_HALF), "hex");
    for (const found of this.archive.catalogue.captures(urlHash(key), entry.birth, timeMs, true)) {
      if (found.row.digest?.equals(digest) === true) return found;
    }
    return undefined;
  }

  private hasMime(found: FoundCapture): boolean {
    const { mime } = this.asked;
    return mime === undefined || this.readable(found, () => mime(this.mimeOf(found))) === true;
  }

  /** What reading a capture tells; absent where it is left out because it cannot be read. */
  private readable<T>(found: FoundCapture, read: () => T): T | undefined {
    try {
      return read();
    } catch (error) {
      if (this.onLeft === undefined || !(error instanceof ArchiveError)) throw error;
      this.leave(found, error);
      return undefined;
    }
  }

  private mimeOf(found: FoundCapture): string | undefined {
    const { kind, digest } = found.row;
    const { reader, shelf } = this.archive;
    if (kind === "response" || kind === "resource") return reader.record(found, mimeOf);
    const { http } = reader.details(found);
    if (http !== undefined) return mediaType(http.headers.get("content-type"));
    const original = digest && originalOf(reader.whereabouts, digest);
    return original && shelf.read(original.place, mimeOf);
  }
}

function mimeOf(record: WarcRecord): string | undefined {
  const { http } = payloadOf(record);
  return http === undefined ? record.blockType || undefined : mediaType(http.headers.get("content-type"));
}
