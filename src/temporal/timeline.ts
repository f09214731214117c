/**
 * A timeline on disk, as of one commit, for who asks: readers in any number of processes, who hold nothing and are not in
 * the way of the one who writes (`timeline-writer.ts`).
 */
import { join } from "node:path";
import type { Disk } from "../disk/index.ts";
import { checkPages, type TimelineFinding } from "./check.ts";
import type { TimelineEntry } from "./entry.ts";
import { PageFile } from "./page-file.ts";
import { TimelineQuery } from "./query.ts";
import type { Root, Settings } from "./slot.ts";

export const CACHE_BYTES_DEFAULT = 64 << 20;
export const FILE_NAME = "timeline.pages";

export interface TimelineOptions extends Partial<Settings> {
  readonly cacheBytes?: number | undefined;
}

/** What a timeline holds as of one commit. To be closed; until then nothing that it needs goes away. */
export class TimelineSnapshot extends TimelineQuery implements Disposable {
  readonly info: Root & { readonly fileSize: number };
  private readonly pages: PageFile;
  private readonly release: () => void;

  constructor(pages: PageFile, root: Root, release: () => void) {
    super(pages, root.root);
    this.pages = pages;
    this.release = release;
    this.info = { ...root, fileSize: pages.size };
  }

  /** Pages read from the file so far. */
  get pagesRead(): number {
    return this.pages.pagesRead;
  }

  /** The keys nearest to this one that were valid at some time in [from, to]: so many before it, and from it on. */
  nearest(key: string, from: number, to: number, count: number): { before: TimelineEntry[]; after: TimelineEntry[] } {
    const after: TimelineEntry[] = [];
    for (const entry of this.span(from, to, { from: key })) {
      if (after.at(-1)?.key === entry.key) continue;
      if (after.length === count) break;
      after.push(entry);
    }
    const before: TimelineEntry[] = [];
    for (const entry of this.spanBackwards(from, to, { to: key })) {
      if (before.at(-1)?.key === entry.key) continue;
      if (before.length === count) break;
      before.push(entry);
    }
    return { before, after };
  }

  check(): Generator<TimelineFinding> {
    return checkPages(this.pages, this.info);
  }

  [Symbol.dispose](): void {
    this.release();
  }
}

export function openFile(
  disk: Disk,
  folder: string,
  mode: "read" | "update",
  cacheBytes: number | undefined,
): PageFile {
  return PageFile.open(disk, join(folder, FILE_NAME), mode, cacheBytes ?? CACHE_BYTES_DEFAULT);
}

/** Whether there is a timeline in the folder. */
export function timelineExists(disk: Disk, folder: string): boolean {
  return disk.stat(join(folder, FILE_NAME)) !== undefined;
}

export interface OpenOptions extends TimelineOptions {
  /** The commit that is wanted, where it is the last one or the one before. */
  readonly generation?: number | undefined;
}

/** Opens the timeline as of its last commit, or the one that is wanted. HT_NOT_FOUND where there is none. */
export function openTimeline(disk: Disk, folder: string, options: OpenOptions = {}): TimelineSnapshot {
  const pages = openFile(disk, folder, "read", options.cacheBytes);
  try {
    return new TimelineSnapshot(pages, pages.readRoot(options.generation), () => pages.close());
  } catch (error) {
    pages.close();
    throw error;
  }
}
