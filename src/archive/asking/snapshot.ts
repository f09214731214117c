/** An archive as of one commit: catalogue, timeline and segments that belong together. */
import { setTimeout as sleep } from "node:timers/promises";
import { ArchiveError } from "../../base/index.ts";
import { type Access, commonAccess, type Disk, entryAccess } from "../../disk/index.ts";
import { type OrderedStore, openRowsToRead } from "../../rows/index.ts";
import { openTimeline, type TimelineSnapshot } from "../../temporal/index.ts";
import { CatalogueView } from "../catalogue/catalogue-view.ts";
import { checkJournal } from "../journal/journal.ts";
import {
  type ArchiveSettings,
  archivePaths,
  lastCatalogue,
  readSettings,
  requireTimeline,
} from "../segments/archive-folder.ts";
import { loadForSegments } from "../segments/load-zstd.ts";
import { RecordShelf, statAdopted } from "../segments/segments.ts";
import { CaptureReader } from "./capture-reader.ts";
import { Locator } from "./locator.ts";

export interface ArchiveOptions {
  readonly cacheBytes?: number | undefined;
}

const OPEN_TRIES = 40;
const OPEN_PAUSE_MS = 5;

export class Snapshot implements Disposable {
  readonly settings: ArchiveSettings;
  readonly catalogue: CatalogueView;
  readonly timeline: TimelineSnapshot;
  readonly shelf: RecordShelf;
  readonly locator: Locator;
  readonly reader: CaptureReader;
  private readonly disk: Disk;
  private readonly folder: string;
  private readonly store: OrderedStore;

  /** For everybody who answers from it: HT_CORRUPT where the journal is not what it was. */
  static async openSound(disk: Disk, folder: string, options: ArchiveOptions = {}): Promise<Snapshot> {
    const snapshot = await Snapshot.open(disk, folder, options);
    try {
      snapshot.checkJournal();
      return snapshot;
    } catch (error) {
      snapshot[Symbol.dispose]();
      throw error;
    }
  }

  /** HT_NOT_FOUND where there is no archive. */
  static async open(disk: Disk, folder: string, options: ArchiveOptions = {}): Promise<Snapshot> {
    const settings = readSettings(disk, folder);
    for (let attempt = 1; ; attempt++) {
      const number = lastCatalogue(disk, folder);
      try {
        const found = await Snapshot.openWith(disk, folder, settings, number, options, attempt === OPEN_TRIES);
        if (found !== undefined) return found;
      } catch (error) {
        // A writer may have put another one, or another timeline, in its place meanwhile.
        const isGone = number > 0 && error instanceof ArchiveError && error.code === "HT_NOT_FOUND";
        if (attempt === OPEN_TRIES || (!isGone && lastCatalogue(disk, folder) === number)) throw error;
      }
      await sleep(OPEN_PAUSE_MS);
    }
  }

  /** Absent where the timeline is not of the catalogue's last commit; on the last try that is damage. */
  private static async openWith(
    disk: Disk,
    folder: string,
    settings: ArchiveSettings,
    number: number,
    options: ArchiveOptions,
    isLastTry: boolean,
  ): Promise<Snapshot | undefined> {
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
      if (timelineCommit > 0 && isLastTry) requireTimeline(disk, paths.timeline(timelineNumber));
      // A writer commits the timeline first, and may be long, or killed, before the catalogue follows.
      const generation = timelineCommit === 0 ? undefined : timelineCommit;
      const timeline = openTimeline(disk, paths.timeline(timelineNumber), {
        cacheBytes: options.cacheBytes,
        generation,
      });
      // Two commits later the file does not know it any more; then the catalogue names another one by now. Before the first,
      // both are empty.
      const { since, visits } = timeline.info;
      const belongs = timelineCommit === 0 ? visits === 0 : since <= timelineCommit;
      if (belongs) return new Snapshot(disk, folder, settings, store, catalogue, timeline);
      timeline[Symbol.dispose]();
      if (isLastTry) {
        const file = paths.timeline(timelineNumber);
        const message = `${file}: the timeline is as of commit ${since}, the catalogue of ${timelineCommit}`;
        throw new ArchiveError("HT_CORRUPT", `${message}; \`holotype rebuild\` makes both again`, { file });
      }
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
    this.disk = disk;
    this.folder = folder;
    this.store = store;
    this.catalogue = catalogue;
    this.timeline = timeline;
    this.shelf = new RecordShelf(disk, archivePaths(folder).segments, (number) => catalogue.segment(number));
    this.locator = new Locator(disk, folder, catalogue, this.shelf);
    this.reader = new CaptureReader(catalogue, this.shelf, this.locator);
  }

  /** HT_CORRUPT where the journal is not what it was: then nobody can say what was removed. */
  checkJournal(): void {
    const { journal } = this.settings;
    const known = [...(journal === undefined ? [] : [journal]), ...this.catalogue.journalEnds];
    checkJournal(this.disk, archivePaths(this.folder).journal, known);
  }

  /** Those who may read all of the archive's segments, adopted files included, and enter its folder. */
  access(): Access | undefined {
    const { disk } = this;
    const folder = disk.stat(this.folder);
    const files = [...this.catalogue.segments()].flatMap(({ number, row }) => {
      const stat = row.adopted ? statAdopted(disk, row.adopted.path) : disk.stat(this.shelf.nameOf(number));
      return stat ?? [];
    });
    return commonAccess(folder === undefined ? files : [entryAccess(folder), ...files]);
  }

  /** Names the commit: two snapshots of one archive with the same name answer the same. */
  get commit(): string {
    const { timeline, timelineCommit, journal } = this.catalogue.state;
    return [this.store.generation, timeline, timelineCommit, journal].join("-");
  }

  [Symbol.dispose](): void {
    this.shelf[Symbol.dispose]();
    this.locator[Symbol.dispose]();
    this.timeline[Symbol.dispose]();
    this.store[Symbol.dispose]();
  }
}
