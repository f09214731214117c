/**
 * The door to ask an archive: what a URL held and when, everything that was there at one time, what changed, and the
 * captures themselves. Any number of these can be open, in any number of processes, while one writes. Answers are promises,
 * or streams of batches: no promise for each row. A question is answered as of one commit; `refresh` follows new ones.
 */
import { setImmediate as turn } from "node:timers/promises";
import { ArchiveError } from "../../base/index.ts";
import type { CrawlStudyResult } from "../../dedup/index.ts";
import type { Access, Disk } from "../../disk/index.ts";
import type { TimelineEntry } from "../../temporal/index.ts";
import { archiveKey, FIRST_MS, LAST_MS } from "../catalogue/capture-key.ts";
import { Flag, halfOf, has } from "../catalogue/capture-row.ts";
import type { FoundCapture } from "../catalogue/catalogue-view.ts";
import { isVisit } from "../catalogue/visit-class.ts";
import type { ArchiveSettings } from "../segments/archive-folder.ts";
import { Capture, CaptureNames } from "./capture.ts";
import { type CaptureQuery, findCaptures } from "./capture-query.ts";
import { studyCrawls } from "./crawls.ts";
import { countDuplication, type Duplication, type DuplicationOptions } from "./duplication.ts";
import { firstsIn } from "./firsts.ts";
import { KnownInArchive } from "./known-in-archive.ts";
import {
  type Change,
  changesIn,
  type Lifespan,
  lifespanOf,
  lifespansIn,
  type Scope,
  type SliceOptions,
} from "./lifespans.ts";
import { type Moment, momentAt } from "./moment.ts";
import { type ByteRange, OpenedCapture, rawRecord } from "./opened-capture.ts";
import { PAUSE } from "./pause.ts";
import { readSegment, type SegmentFile, segmentNumber } from "./segment-file.ts";
import { type ArchiveOptions, Snapshot } from "./snapshot.ts";
import { type ArchiveSource, sourcesIn } from "./sources.ts";
import { type ArchiveTotals, archiveStats, archiveTotals, type NamedFigures, type StatsGroup } from "./stats.ts";

const BATCH_SIZE = 1000;
/** The first batch is small, and each one larger than the one before: many ask for a few answers only. */
const FIRST_BATCH_SIZE = 20;
const BATCH_GROWTH = 4;

/** A snapshot that is closed when nobody asks it any more. */
interface Shared {
  readonly snapshot: Snapshot;
  readonly names: CaptureNames;
  users: number;
}

export class Archive implements AsyncDisposable {
  private readonly disk: Disk;
  private readonly folder: string;
  private readonly options: ArchiveOptions;
  private shared: Shared;

  /** HT_NOT_FOUND where there is no archive, HT_CORRUPT where it is not what it was. */
  /** Where it lies, for whoever takes captures out of it. */
  get place(): { readonly disk: Disk; readonly folder: string } {
    const { disk, folder } = this;
    return { disk, folder };
  }

  static async open(disk: Disk, folder: string, options: ArchiveOptions = {}): Promise<Archive> {
    return new Archive(disk, folder, options, await Snapshot.openSound(disk, folder, options));
  }

  private constructor(disk: Disk, folder: string, options: ArchiveOptions, snapshot: Snapshot) {
    this.disk = disk;
    this.folder = folder;
    this.options = options;
    this.shared = share(snapshot);
  }

  get settings(): ArchiveSettings {
    return this.shared.snapshot.settings;
  }

  /** Who may read what is taken out of the archive: nobody who could not read all of its segments. */
  get access(): Access | undefined {
    return this.shared.snapshot.access();
  }

  /** Names the commit that questions are answered as of: what was answered under another name may differ now. */
  get commit(): string {
    return this.shared.snapshot.commit;
  }

  /** Questions from here on are answered as of the last commit. Whether that is another one than before. */
  async refresh(): Promise<boolean> {
    const snapshot = await Snapshot.openSound(this.disk, this.folder, this.options);
    if (snapshot.commit === this.commit) {
      snapshot[Symbol.dispose]();
      return false;
    }
    const before = this.shared;
    this.shared = share(snapshot);
    release(before);
    return true;
  }

  /** What the URL held then; absent where no state of it is known from before. */
  at(url: string, timeMs: number): Promise<Moment | undefined> {
    return this.ask(({ snapshot, names }) => momentAt(snapshot, names, archiveKey(url), timeMs));
  }

  /** The same for the state or confirmation that is nearest in time, as replay of an archive has it. */
  nearest(url: string, timeMs: number): Promise<Moment | undefined> {
    return this.ask(({ snapshot, names }) => {
      const key = archiveKey(url);
      const first = (from: number, to: number, backwards: boolean) => {
        for (const found of snapshot.catalogue.captures(key, from, to, backwards)) if (isVisit(found.row)) return found;
        return undefined;
      };
      const [before, after] = [first(FIRST_MS, timeMs, true), first(timeMs, LAST_MS, false)];
      const isAfter = before === undefined || (after !== undefined && after.timeMs - timeMs < timeMs - before.timeMs);
      const nearest = isAfter ? after : before;
      return nearest === undefined ? undefined : momentAt(snapshot, names, key, nearest.timeMs);
    });
  }

  /** The lifespans of a URL in a span of time, or all of them, in order. */
  history(url: string, fromMs?: number, toMs?: number): AsyncIterable<readonly Lifespan[]> {
    return this.stream(({ snapshot }) => snapshot.timeline.history(archiveKey(url), fromMs, toMs).map(lifespanOf));
  }

  /** Captures in the order of keys and times, or as the query says. */
  captures(query: CaptureQuery): AsyncIterable<readonly Capture[]> {
    return this.stream(({ snapshot, names }) => captured(findCaptures(snapshot.catalogue, query), names));
  }

  /** Everything that was alive then, in the order of keys. */
  slice(timeMs: number, scope?: Scope, options?: SliceOptions): AsyncIterable<readonly Lifespan[]> {
    return this.stream(({ snapshot }) => lifespansIn(snapshot, snapshot.timeline.slice(timeMs, scope), scope, options));
  }

  /** How many lifespans `slice` would give, of all media types; without a walk where nothing has changed since then. */
  countSlice(timeMs: number, range: Pick<Scope, "from" | "to">): Promise<number> {
    return this.ask(({ snapshot }) => snapshot.timeline.countSlice(timeMs, range));
  }

  /** Everything that was alive at some time from one moment to another, in the order of keys and births. */
  span(fromMs: number, toMs: number, scope?: Scope, options?: SliceOptions): AsyncIterable<readonly Lifespan[]> {
    return this.stream(({ snapshot }) =>
      lifespansIn(snapshot, snapshot.timeline.span(fromMs, toMs, scope), scope, options),
    );
  }

  /** The keys nearest to that of a URL that were alive in a span of time: so many before it, and from it on. */
  near(url: string, fromMs: number, toMs: number, count: number): Promise<{ before: Lifespan[]; after: Lifespan[] }> {
    return this.ask(({ snapshot }) => {
      const { before, after } = snapshot.timeline.nearest(archiveKey(url), fromMs, toMs, count);
      const whole = (entries: Iterable<TimelineEntry>) =>
        [...lifespansIn(snapshot, entries)].filter((each) => each !== PAUSE);
      return { before: whole(before), after: whole(after) };
    });
  }

  /** What appeared, changed or vanished after one time and up to another, in the order of keys and times. */
  changes(fromMs: number, toMs: number, scope?: Scope): AsyncIterable<readonly Change[]> {
    return this.stream(({ snapshot }) => changesIn(snapshot.timeline, fromMs, toMs, scope));
  }

  /**
   * Every capture whose payload has this digest, wherever and whenever, in the order of keys and times; or those behind the
   * capture with a cursor.
   */
  same(sha256: string, after?: string): AsyncIterable<readonly Capture[]> {
    if (!/^[0-9a-f]{64}$/.test(sha256)) throw new ArchiveError("HT_USAGE", `not a sha256: ${sha256}`);
    return this.stream(({ snapshot, names }) => captured(seen(snapshot, sha256, after), names));
  }

  /** The counts that need no walk over the archive. */
  counts(): Promise<{ readonly captures: number; readonly contents: number; readonly pending: number }> {
    return this.ask(({ snapshot }) => {
      const { captures, contents, pending } = snapshot.catalogue.state;
      return { captures, contents, pending };
    });
  }

  /** How much there is as a whole: walks over all captures. */
  totals(): Promise<ArchiveTotals> {
    return this.walk(({ snapshot }) => archiveTotals(snapshot));
  }

  stats(by: StatsGroup): AsyncIterable<readonly NamedFigures[]> {
    return this.stream(({ snapshot }) => archiveStats(snapshot, by));
  }

  /** The files that captures came from, in the order in which they came; those that were adopted last. */
  sources(): AsyncIterable<readonly ArchiveSource[]> {
    return this.stream(({ snapshot }) => sourcesIn(snapshot));
  }

  /** What there is more than once: walks over all captures. */
  duplication(options?: DuplicationOptions): Promise<Duplication> {
    return this.walk(({ snapshot, names }) => countDuplication(snapshot.catalogue, names, options));
  }

  /** The studies of duplication within and between crawls: walks over all captures three times. */
  crawls(): Promise<CrawlStudyResult> {
    return this.walk(({ snapshot }) => studyCrawls(snapshot));
  }

  /** The first capture of each URL key, or of each host, in a range of keys, in their order. */
  firsts(range: Pick<Scope, "from" | "to">, of: "key" | "host"): AsyncIterable<readonly Capture[]> {
    return this.stream(({ snapshot, names }) => captured(firstsIn(snapshot.catalogue, range, of), names));
  }

  /** Whether contents are known, and where, as of this commit. To be closed. */
  known(): KnownInArchive {
    const shared = this.hold();
    const { catalogue, shelf, locator } = shared.snapshot;
    return new KnownInArchive({ catalogue, shelf, locator, onClose: () => release(shared) });
  }

  /** The record's header, the HTTP header and the payload of a capture. To be closed. */
  async open(capture: Capture): Promise<OpenedCapture> {
    const shared = this.hold();
    return await OpenedCapture.open(shared.snapshot, Capture.foundIn(capture), () => release(shared));
  }

  /** The bytes of the record as they lie in its file. */
  async *record(capture: Capture): AsyncGenerator<Uint8Array> {
    const shared = this.hold();
    try {
      yield* rawRecord(shared.snapshot, Capture.foundIn(capture));
    } finally {
      release(shared);
    }
  }

  /**
   * One of the archive's own segments as a file, by the name of the file. Absent for any other name, and for a segment that
   * waits for compaction after a removal.
   */
  segment(name: string): Promise<SegmentFile | undefined> {
    return this.ask(({ snapshot: { catalogue, shelf } }) => {
      const found = segmentNumber(catalogue, (segment) => shelf.nameOf(segment), name);
      return found && { size: found.size, read: (range: ByteRange) => this.readSegment(found.number, range) };
    });
  }

  private async *readSegment(segment: number, range: ByteRange): AsyncGenerator<Uint8Array> {
    const shared = this.hold();
    try {
      yield* readSegment(shared.snapshot, segment, range);
    } finally {
      release(shared);
    }
  }

  private hold(): Shared {
    this.shared.users++;
    return this.shared;
  }

  private ask<T>(answer: (shared: Shared) => T): Promise<T> {
    return new Promise((resolve) => {
      resolve(answer(this.shared));
    });
  }

  /** The result of a walk that pauses, so that others have their turn. */
  private async walk<T>(begin: (shared: Shared) => Generator<typeof PAUSE, T>): Promise<T> {
    const shared = this.hold();
    try {
      const steps = begin(shared);
      for (;;) {
        const step = steps.next();
        if (step.done === true) return step.value;
        await turn();
      }
    } finally {
      release(shared);
    }
  }

  private async *stream<T>(answers: (shared: Shared) => Iterable<T | typeof PAUSE>): AsyncGenerator<readonly T[]> {
    const shared = this.hold();
    try {
      let batch: T[] = [];
      let size = FIRST_BATCH_SIZE;
      for (const answer of answers(shared)) {
        if (answer === PAUSE) {
          await turn();
          continue;
        }
        batch.push(answer);
        if (batch.length < size) continue;
        yield batch;
        batch = [];
        size = Math.min(BATCH_SIZE, BATCH_GROWTH * size);
        // Others have their turn between two batches, however fast these are taken.
        await turn();
      }
      if (batch.length > 0) yield batch;
    } finally {
      release(shared);
    }
  }

  [Symbol.asyncDispose](): Promise<void> {
    release(this.shared);
    return Promise.resolve();
  }
}

function share(snapshot: Snapshot): Shared {
  return { snapshot, names: new CaptureNames(snapshot.catalogue, snapshot.shelf), users: 1 };
}

function release(shared: Shared): void {
  if (--shared.users === 0) shared.snapshot[Symbol.dispose]();
}

function* captured(all: Iterable<FoundCapture | typeof PAUSE>, names: CaptureNames): Generator<Capture | typeof PAUSE> {
  for (const found of all) yield found && new Capture(found, names);
}

function* seen({ catalogue }: Snapshot, sha256: string, after: string | undefined): Generator<FoundCapture> {
  for (const key of catalogue.seen(halfOf(sha256), after)) {
    const found = catalogue.found(key);
    if (found === undefined || has(found.row, Flag.removed)) continue;
    if (found.row.payload?.sha256.toString("hex") === sha256) yield found;
  }
}
