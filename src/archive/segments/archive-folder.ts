/**
 * An archive on disk:
 *
 *     archive.json              what it is and how it was made
 *     journal.jsonl             what the segments cannot tell: adoptions and removals
 *     lock                      held by the one who writes
 *     volumes/0/segments/       000001.warc.gz and so on: the records
 *     catalogue-1/, timeline-1/ follow from the above
 */
import { join } from "node:path";
import { ArchiveError, type Random, systemRandom } from "../../base/index.ts";
import { createDurably, type Disk, removeTree } from "../../disk/index.ts";
import { timelineExists } from "../../temporal/index.ts";

const FORMAT = "holotype-archive/1";

export interface ArchiveSettings {
  readonly id: string;
  /** A segment is closed when it has grown to this. */
  readonly segmentSizeBytes: number;
}

const SEGMENT_SIZE = 2 ** 30;

export interface ArchivePaths {
  readonly folder: string;
  readonly settings: string;
  readonly journal: string;
  readonly lock: string;
  readonly segments: string;
  /** Of the catalogue with this number. The highest counts: one that is made anew gets its name when it is complete. */
  readonly catalogue: (number: number) => string;
  /** Of the timeline with this number, of which the catalogue says which one counts. */
  readonly timeline: (number: number) => string;
}

const TIMELINE_NAME = /^timeline-(\d+)$/;
const CATALOGUE_NAME = /^catalogue-(\d+)$/;
const UNFINISHED_NAME = /^catalogue-\d+\.unfinished$/;

/** The numbers of the timelines that are there. */
export function listTimelines(disk: Disk, folder: string): number[] {
  return numbersIn(disk, folder, TIMELINE_NAME);
}

function numbersIn(disk: Disk, folder: string, pattern: RegExp): number[] {
  return disk.list(folder).flatMap(({ name }) => {
    const number = pattern.exec(name)?.[1];
    return number === undefined ? [] : [Number(number)];
  });
}

/** The number of the catalogue that counts; 0 where there is none. */
export function lastCatalogue(disk: Disk, folder: string): number {
  return Math.max(0, ...numbersIn(disk, folder, CATALOGUE_NAME));
}

/** Where a catalogue is made that will have this number. */
export function unfinishedCatalogue(paths: ArchivePaths, number: number): string {
  return `${paths.catalogue(number)}.unfinished`;
}

/** From now on the catalogue counts that was made under its unfinished name and has been closed. */
export function installCatalogue(disk: Disk, paths: ArchivePaths, number: number): void {
  // The store has synced its bytes, not their name.
  disk.syncFolder(unfinishedCatalogue(paths, number));
  disk.rename(unfinishedCatalogue(paths, number), paths.catalogue(number), "refuse");
  disk.syncFolder(paths.folder);
  removeOtherCatalogues(disk, paths);
}

/** All but the one that counts. */
export function removeOtherCatalogues(disk: Disk, paths: ArchivePaths): void {
  const last = lastCatalogue(disk, paths.folder);
  for (const { name } of disk.list(paths.folder)) {
    const number = CATALOGUE_NAME.exec(name)?.[1];
    const isOther = number === undefined ? UNFINISHED_NAME.test(name) : Number(number) !== last;
    if (isOther) removeTree(disk, join(paths.folder, name));
  }
}

export function archivePaths(folder: string): ArchivePaths {
  return {
    folder,
    settings: join(folder, "archive.json"),
    journal: join(folder, "journal.jsonl"),
    lock: join(folder, "lock"),
    segments: join(folder, "volumes", "0", "segments"),
    catalogue: (number) => join(folder, `catalogue-${number}`),
    timeline: (number) => join(folder, `timeline-${number}`),
  };
}

/** Makes an archive where there is none. */
export function createArchive(
  disk: Disk,
  folder: string,
  options: { readonly segmentSizeBytes?: number | undefined; readonly random?: Random | undefined } = {},
): void {
  const paths = archivePaths(folder);
  disk.makeFolder(paths.segments);
  const { segmentSizeBytes = SEGMENT_SIZE, random = systemRandom } = options;
  const settings: ArchiveSettings = { id: `urn:uuid:${random.uuid()}`, segmentSizeBytes };
  const text = `${JSON.stringify({ format: FORMAT, ...settings }, undefined, 2)}\n`;
  createDurably(disk, paths.settings, (output) => output.write(Buffer.from(text)));
}

export function archiveExists(disk: Disk, folder: string): boolean {
  return disk.stat(archivePaths(folder).settings) !== undefined;
}

/** Throws HT_NOT_FOUND where there is no archive, HT_FORMAT_TOO_NEW for one of a newer Holotype. */
export function readSettings(disk: Disk, folder: string): ArchiveSettings {
  const path = archivePaths(folder).settings;
  if (disk.stat(path) === undefined) {
    throw new ArchiveError("HT_NOT_FOUND", `${folder}: no archive here; \`holotype add\` makes one`, { file: folder });
  }
  const wrong = (code: "HT_CORRUPT" | "HT_FORMAT_TOO_NEW", message: string) =>
    new ArchiveError(code, `${path}: ${message}`, { file: path });
  let json: Partial<ArchiveSettings> & { readonly format?: unknown };
  try {
    json = JSON.parse(readText(disk, path)) as typeof json;
  } catch (cause) {
    if (cause instanceof ArchiveError) throw cause;
    throw wrong("HT_CORRUPT", "not the settings of an archive");
  }
  if (json.format !== FORMAT) {
    const isNewer = /^holotype-archive\/\d+$/.test(String(json.format));
    throw isNewer
      ? wrong("HT_FORMAT_TOO_NEW", "made by a newer Holotype; it was left as it is")
      : wrong("HT_CORRUPT", "not the settings of an archive");
  }
  const { id, segmentSizeBytes } = json;
  if (typeof id !== "string" || !Number.isSafeInteger(segmentSizeBytes))
    throw wrong("HT_CORRUPT", "a setting is missing");
  return { id, segmentSizeBytes: segmentSizeBytes! };
}

function readText(disk: Disk, path: string): string {
  using file = disk.open(path, "read");
  const bytes = Buffer.alloc(file.size());
  return bytes.toString("utf8", 0, file.read(bytes, 0));
}

/** Throws where a timeline that a catalogue knows of is not there: an empty one in its place would know of nothing. */
export function requireTimeline(disk: Disk, path: string): void {
  if (timelineExists(disk, path)) return;
  const message = `${path}: the timeline is lost; \`holotype rebuild\` makes it anew`;
  throw new ArchiveError("HT_CORRUPT", message, { file: path });
}
