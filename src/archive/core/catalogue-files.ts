/** The files of the catalogue that somebody writes: the one that counts, or one that is made again beside it. */
import { ArchiveError, invariant } from "../../base/index.ts";
import { type Disk, type Lock, removeTree } from "../../disk/index.ts";
import { type OrderedStore, openRows } from "../../rows/index.ts";
import { Catalogue } from "../catalogue/catalogue.ts";
import {
  type ArchivePaths,
  installCatalogue,
  lastCatalogue,
  listTimelines,
  removeOtherCatalogues,
  requireTimeline,
  unfinishedCatalogue,
} from "../segments/archive-folder.ts";

/** `rebuilt`: made again beside the one that counts until it is complete. */
type CatalogueRole = "counts" | "rebuilt" | "complete";

export class CatalogueFiles {
  readonly catalogue: Catalogue;
  role: CatalogueRole;
  private readonly disk: Disk;
  private readonly paths: ArchivePaths;
  private readonly lock: Lock;
  private readonly store: OrderedStore;
  private readonly number: number;

  /** Releases the lock when it is closed. */
  constructor(disk: Disk, paths: ArchivePaths, lock: Lock, role: "counts" | "rebuilt") {
    this.disk = disk;
    this.paths = paths;
    this.lock = lock;
    this.role = role;
    removeOtherCatalogues(disk, paths);
    const last = lastCatalogue(disk, paths.folder);
    this.number = role === "counts" ? Math.max(1, last) : last + 1;
    this.store = openRows(
      disk,
      role === "counts" ? paths.catalogue(this.number) : unfinishedCatalogue(paths, this.number),
    );
    const timelines = listTimelines(disk, paths.folder);
    this.catalogue = new Catalogue(this.store, role === "counts" ? 1 : Math.max(0, ...timelines) + 1, paths.folder);
    if (role === "rebuilt") return;
    this.removeOtherTimelines();
    const { timeline, timelineCommit } = this.catalogue.state;
    if (timelineCommit > 0) requireTimeline(disk, paths.timeline(timeline));
  }

  /** Of a catalogue without any commit none is right: it may be that of one that was lost. */
  private removeOtherTimelines(): void {
    const { disk, paths, catalogue } = this;
    const { timeline, timelineCommit } = catalogue.state;
    for (const number of listTimelines(disk, paths.folder)) {
      if (number !== timeline || timelineCommit === 0) removeTree(disk, paths.timeline(number));
    }
  }

  /** What was rebuilt has everything now: it counts from `close` on. */
  complete(): void {
    invariant(this.role === "rebuilt", "only what is rebuilt becomes complete");
    this.role = "complete";
  }

  /** Leaves one catalogue, in the room that it needs. */
  close(hasFailed: boolean): void {
    try {
      this.leaveOne(hasFailed);
    } finally {
      this.lock.release();
    }
  }

  private leaveOne(hasFailed: boolean): void {
    const { disk, paths, number, role } = this;
    let isCopied = false;
    try {
      isCopied = !hasFailed && role !== "rebuilt" && this.copy(number + 1);
    } finally {
      this.store[Symbol.dispose]();
    }
    if (isCopied) installCatalogue(disk, paths, number + 1);
    else if (role === "complete") installCatalogue(disk, paths, number);
    if (role === "complete") this.removeOtherTimelines();
    if (role === "rebuilt") this.removeRebuilt();
  }

  /** The error that ended it is on its way, and tells more than one of this; the next one to open the archive tries again. */
  private removeRebuilt(): void {
    const { disk, paths, catalogue } = this;
    try {
      removeOtherCatalogues(disk, paths);
      removeTree(disk, paths.timeline(catalogue.state.timeline));
    } catch (error) {
      if (!(error instanceof ArchiveError)) throw error;
    }
  }

  /** Whether there is a copy with this number now. Where there is no room for it, all stays as it is. */
  private copy(number: number): boolean {
    if (!this.store.isLoose()) return false;
    try {
      this.store.copyTo(unfinishedCatalogue(this.paths, number));
      return true;
    } catch (error) {
      if (!(error instanceof ArchiveError)) throw error;
      removeTree(this.disk, unfinishedCatalogue(this.paths, number));
      return false;
    }
  }
}
