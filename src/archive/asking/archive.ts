/**
 * An archive as of one commit, for who asks: what a URL held and when, everything that was there at one time, what
 * changed. Any number of these can be open, in any number of processes, while one writes.
 */
import { setTimeout as sleep } from "node:timers/promises";
import { ArchiveError } from "../../base/index.ts";
import type { Disk } from "../../disk/index.ts";
import type { OrderedStore } from "../../rows/index.ts";
import { openRowsToRead } from "../../rows/index.ts";
import { openTimeline, type TimelineEntry, type TimelineEvent, type TimelineSnapshot } from "../../temporal/index.ts";
import { timeOf, urlHash } from "../catalogue/capture-key.ts";
import { archiveKey, DIGEST_HALF } from "../catalogue/capture-row.ts";
import { CatalogueView, type FoundCapture } from "../catalogue/catalogue-view.ts";
import { type Content, decodeContent } from "../catalogue/content.ts";
import {
  type ArchiveSettings,
  archivePaths,
  lastCatalogue,
  readSettings,
  requireTimeline,
} from "../segments/archive-folder.ts";
import { loadForSegments } from "../segments/load-zstd.ts";
import { RecordShelf } from "../segments/segments.ts";
import { CaptureReader } from "./capture-reader.ts";
import { SharedWhereabouts } from "./whereabouts.ts";

export interface ArchiveOptions {
  readonly cacheBytes?: number | undefined;
}

/** A stretch of time in which a URL held one content. Times are in milliseconds. Obeys docs/lifespans.md. */
export interface Lifespan extends Content {
  readonly key: string;
  readonly birth: number;
  /** When another content was found; absent as long as none was. */
  readonly end: number | undefined;
  /** The last capture that found it. */
  readonly lastSeen: number;
  /** How many captures found it. */
  readonly captures: number;
  /** False where end, last capture and their number are only as far as a slice tells; `at` tells them all. */
  readonly isWhole: boolean;
}

/** What a URL held at a moment. */
export interface Moment {
  readonly lifespan: Lifespan;
  /** `observed` up to the last capture that found it, `presumed` behind that. */
  readonly certainty: "observed" | "presumed";
  /** The last capture up to that moment, and the first behind it. */
  readonly before: FoundCapture | undefined;
  readonly after: FoundCapture | undefined;
}

/** Which keys a question is about. */
export interface Scope {
  readonly from?: string | undefined;
  readonly to?: string | undefined;
  readonly mime?: ((mime: string | undefined) => boolean) | undefined;
}

export interface Change {
  readonly kind: "appeared" | "changed" | "vanished";
  readonly key: string;
  readonly timeMs: number;
  /** What was there from then on; absent where nothing was. */
  readonly lifespan: Lifespan | undefined;
}

const FIRST_MS = -(2 ** 51);
const LAST_MS = 2 ** 51;
const OPEN_TRIES = 40;
const OPEN_PAUSE_MS = 5;

export class Archive implements AsyncDisposable {
  readonly settings: ArchiveSettings;
  readonly catalogue: CatalogueView;
  readonly timeline: TimelineSnapshot;
  readonly reader: CaptureReader;
  private readonly store: OrderedStore;
  readonly shelf: RecordShelf;
  private readonly whereabouts: SharedWhereabouts;

  /** HT_NOT_FOUND where there is no archive. */
  static async open(disk: Disk, folder: string, options: ArchiveOptions = {}): Promise<Archive> {
    const settings = readSettings(disk, folder);
    for (let attempt = 1; ; attempt++) {
      const number = lastCatalogue(disk, folder);
      try {
        const found = await Archive.openWith(disk, folder, settings, number, options, attempt === OPEN_TRIES);
        if (found !== undefined) return found;
      } catch (error) {
        // A writer may have put another one, or another timeline, in its place meanwhile.
        const isGone = number > 0 && error instanceof ArchiveError && error.code === "HT_NOT_FOUND";
        if (attempt === OPEN_TRIES || (!isGone && lastCatalogue(disk, folder) === number)) throw error;
      }
      await sleep(OPEN_PAUSE_MS);
    }
  }

  /** Absent where the timeline is not of the catalogue's last commit, unless that does not matter. */
  private static async openWith(
    disk: Disk,
    folder: string,
    settings: ArchiveSettings,
    number: number,
    options: ArchiveOptions,
    takesAny: boolean,
  ): Promise<Archive | undefined> {
    const paths = archivePaths(folder);
    if (number === 0) {
      const message = `${folder}: no catalogue; \`holotype rebuild\` makes it`;
      throw new ArchiveError("HT_NOT_FOUND", message, { file: folder });
    }
    const store = openRowsToRead(disk, paths.catalogue(number));
    try {
      const catalogue = new CatalogueView(store.view());
      catalogue.checkFormat(folder);
      if (catalogue.state.unfinished > 0) {
        const message = `${folder}: the catalogue was lost, and is not complete yet; \`holotype rebuild\` makes it`;
        throw new ArchiveError("HT_CORRUPT", message, { file: folder });
      }
      await loadForSegments(catalogue);
      const { timeline: timelineNumber, timelineCommit } = catalogue.state;
      if (timelineCommit > 0 && takesAny) requireTimeline(disk, paths.timeline(timelineNumber));
      const { cacheBytes } = options;
      // A writer commits the timeline first, and may be long, or killed, before the catalogue follows.
      const wanted = { cacheBytes, generation: timelineCommit };
      const timeline = openTimeline(disk, paths.timeline(timelineNumber), wanted);
      // It may have been written anew in between; then the catalogue is about to say so. Before the first, both are empty.
      const { generation, visits } = timeline.info;
      const belongs = generation === timelineCommit || (timelineCommit === 0 && visits === 0);
      if (belongs || takesAny) return new Archive(disk, folder, settings, store, catalogue, timeline);
      timeline[Symbol.dispose]();
      store[Symbol.dispose]();
      return undefined;
    } catch (error) {
      store[Symbol.dispose]();
      throw error;
    }
  }

  private constructor(
    disk: Disk,
    folder: string,
    settings: ArchiveSettings,
    store: OrderedStore,
    catalogue: CatalogueView,
    timeline: TimelineSnapshot,
  ) {
    this.settings = settings;
    this.store = store;
    this.catalogue = catalogue;
    this.timeline = timeline;
    this.shelf = new RecordShelf(disk, archivePaths(folder).segments, (number) => catalogue.segment(number));
    this.whereabouts = new SharedWhereabouts(disk, folder, catalogue, this.shelf);
    this.reader = new CaptureReader(catalogue, this.shelf, this.whereabouts);
  }

  /** Whether a segment of this commit was taken away by a compaction since. */
  isTaken(segment: number): boolean {
    return this.whereabouts.isTaken(segment);
  }

  /** What the URL held then; absent where no capture is known from before. */
  at(url: string, timeMs: number): Moment | undefined {
    const key = archiveKey(url);
    const entry = this.timeline.at(key, timeMs);
    if (entry === undefined) return undefined;
    const before = this.catalogue.firstCapture(urlHash(key), FIRST_MS, timeMs, true);
    const after = this.catalogue.firstCapture(urlHash(key), timeMs + 1, LAST_MS);
    const certainty = timeMs <= entry.lastSeen ? "observed" : "presumed";
    return { lifespan: lifespanOf(entry), certainty, before, after };
  }

  /** The same for the capture that is nearest in time, as replay of an archive has it. */
  nearest(url: string, timeMs: number): Moment | undefined {
    const hash = urlHash(archiveKey(url));
    const before = this.catalogue.firstCapture(hash, FIRST_MS, timeMs, true);
    const after = this.catalogue.firstCapture(hash, timeMs, LAST_MS);
    const isAfter = before === undefined || (after !== undefined && after.timeMs - timeMs < timeMs - before.timeMs);
    const nearest = isAfter ? after : before;
    return nearest === undefined ? undefined : this.at(url, nearest.timeMs);
  }

  /** The lifespans of a URL in a span of time, or all of them. */
  history(url: string, fromMs?: number, toMs?: number): Lifespan[] {
    return this.timeline.history(archiveKey(url), fromMs, toMs).map(lifespanOf);
  }

  /** Every capture of a URL in a span of time, in order. */
  captures(url: string, fromMs = FIRST_MS, toMs = LAST_MS, backwards = false): Generator<FoundCapture> {
    return this.catalogue.captures(urlHash(archiveKey(url)), fromMs, toMs, backwards);
  }

  /** Captures of a key, as slices tell it. */
  capturesOf(key: string, fromMs = FIRST_MS, toMs = LAST_MS): Generator<FoundCapture> {
    return this.catalogue.captures(urlHash(key), fromMs, toMs);
  }

  /** Everything that was alive then, in the order of keys. */
  *slice(timeMs: number, scope: Scope = {}): Generator<Lifespan> {
    yield* only(this.timeline.slice(timeMs, scope), scope);
  }

  /** Everything that was alive at some time from one moment to another, in the order of keys and births. */
  *span(fromMs: number, toMs: number, scope: Scope = {}): Generator<Lifespan> {
    yield* only(this.timeline.span(fromMs, toMs, scope), scope);
  }

  /** The keys nearest to that of a URL that were alive in a span of time. */
  near(url: string, fromMs: number, toMs: number, count: number): { before: Lifespan[]; after: Lifespan[] } {
    const { before, after } = this.timeline.nearest(archiveKey(url), fromMs, toMs, count);
    return { before: before.map(lifespanOf), after: after.map(lifespanOf) };
  }

  /** What appeared, changed or vanished behind one time and up to another. */
  *changes(fromMs: number, toMs: number, scope: Scope = {}): Generator<Change> {
    for (const event of this.timeline.events(fromMs, toMs, scope)) yield this.changeOf(event);
  }

  /** A URL that answers with an error has vanished for who looks at it, and one that answers again has appeared. */
  private changeOf(event: TimelineEvent): Change {
    const { key, birth: timeMs, isGone, replaced } = event;
    if (isGone) return { kind: "vanished", key, timeMs, lifespan: undefined };
    const lifespan = lifespanOf(event);
    const before = replaced ? this.timeline.at(key, timeMs - 1) : undefined;
    const [wasThere, isThere] = [before !== undefined && !isError(lifespanOf(before)), !isError(lifespan)];
    const kind = wasThere === isThere && replaced ? "changed" : wasThere ? "vanished" : "appeared";
    return { kind, key, timeMs, lifespan };
  }

  /** Every capture whose payload has this digest, wherever and whenever. */
  *seen(sha256: string): Generator<FoundCapture> {
    if (!/^[0-9a-f]{64}$/.test(sha256)) throw new ArchiveError("HT_USAGE", `not a sha256: ${sha256}`);
    const digest = Buffer.from(sha256, "hex");
    const original = this.catalogue.anyOriginal(digest.subarray(0, DIGEST_HALF));
    if (original === undefined || !original.digestRest.equals(digest.subarray(DIGEST_HALF))) return;
    for (const key of this.catalogue.seen(digest.subarray(0, DIGEST_HALF))) {
      const row = this.catalogue.capture(key);
      if (row !== undefined) yield { key, timeMs: timeOf(key), row };
    }
  }

  [Symbol.asyncDispose](): Promise<void> {
    this.shelf[Symbol.dispose]();
    this.whereabouts[Symbol.dispose]();
    this.timeline[Symbol.dispose]();
    this.store[Symbol.dispose]();
    return Promise.resolve();
  }
}

function lifespanOf(entry: TimelineEntry): Lifespan {
  const { key, birth, end, lastSeen, visits, isWhole } = entry;
  return { key, birth, end, lastSeen, captures: visits, isWhole, ...decodeContent(key, entry.value, entry.digest) };
}

function* only(entries: Iterable<TimelineEntry>, { mime }: Scope): Generator<Lifespan> {
  for (const entry of entries) {
    const lifespan = lifespanOf(entry);
    if (mime === undefined || mime(lifespan.mime)) yield lifespan;
  }
}

function isError({ status }: Lifespan): boolean {
  return status !== undefined && status >= 400;
}
