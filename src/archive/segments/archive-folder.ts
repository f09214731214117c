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
import { type Access, createDurably, type Disk, folderAccess, removeTree } from "../../disk/index.ts";
import { timelineExists } from "../../temporal/index.ts";
import type { JournalEnd } from "../catalogue/catalogue-view.ts";

const FORMAT = "holotype-archive/1";

export interface ArchiveSettings {
  readonly id: string;
  /** A segment is closed when it has grown to this. */
  readonly segmentSizeBytes: number;
  /** How far the journal reaches at least; absent where an earlier version made the archive. */
  readonly journal?: JournalEnd | undefined;
}

const SEGMENT_SIZE = 2 ** 30;
/** More than archive.json ever takes. */
const SETTINGS_SIZE_MAX = 1 << 16;

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

export interface NewArchiveOptions {
  readonly segmentSizeBytes?: number | undefined;
  readonly random?: Random | undefined;
  /** Who may enter the folder at most, if it is not there yet; default: whoever the umask allows. */
  readonly access?: Access | undefined;
}

/** Makes an archive where there is none. */
export function createArchive(disk: Disk, folder: string, options: NewArchiveOptions = {}): void {
  const paths = archivePaths(folder);
  const { segmentSizeBytes = SEGMENT_SIZE, random = systemRandom, access } = options;
  disk.makeFolder(folder, access && folderAccess(access));
  disk.makeFolder(paths.segments);
  const id = `urn:uuid:${random.uuid()}`;
  const settings: ArchiveSettings = { id, segmentSizeBytes, journal: { entries: 0, checksum: "00000000" } };
  createDurably(disk, paths.settings, (output) => output.write(formatSettings({ format: FORMAT, ...settings })));
}

function formatSettings(settings: object): Buffer {
  return Buffer.from(`${JSON.stringify(settings, undefined, 2)}\n`);
}

/** Says in archive.json how far the journal reaches. Durable when it returns; a crash leaves the old file or the new one. */
export function noteJournal(disk: Disk, paths: ArchivePaths, journal: JournalEnd): void {
  const settings = { ...readFields(disk, paths.settings), journal };
  createDurably(disk, paths.settings, (output) => output.write(formatSettings(settings)), { replace: true });
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
  const json = readFields(disk, path);
  const { format, id, segmentSizeBytes, journal } = json;
  if (format !== FORMAT) {
    const isNewer = /^holotype-archive\/\d+$/.test(String(format));
    throw isNewer
      ? wrong("HT_FORMAT_TOO_NEW", "made by a newer Holotype; it was left as it is")
      : wrong("HT_CORRUPT", "not the settings of an archive");
  }
  if (typeof id !== "string" || !Number.isSafeInteger(segmentSizeBytes) || !isJournalEnd(journal))
    throw wrong("HT_CORRUPT", "a setting is missing, or is none");
  return { id, segmentSizeBytes: Number(segmentSizeBytes), journal };
}

function isJournalEnd(value: unknown): value is JournalEnd | undefined {
  if (value === undefined) return true;
  if (typeof value !== "object" || value === null) return false;
  const { entries, checksum } = value as Record<string, unknown>;
  const isCount = Number.isSafeInteger(entries) && Number(entries) >= 0;
  return isCount && typeof checksum === "string" && /^[0-9a-f]{8}$/.test(checksum);
}

function readFields(disk: Disk, path: string): Readonly<Record<string, unknown>> {
  using file = disk.open(path, "read");
  const bytes = Buffer.alloc(Math.min(SETTINGS_SIZE_MAX, file.size()));
  const text = bytes.toString("utf8", 0, file.read(bytes, 0));
  try {
    const json: unknown = JSON.parse(text);
    if (typeof json === "object" && json !== null) return json as Readonly<Record<string, unknown>>;
  } catch {
    // Told below.
  }
  throw new ArchiveError("HT_CORRUPT", `${path}: not the settings of an archive`, { file: path });
}

/** Throws where a timeline that a catalogue knows of is not there: an empty one in its place would know of nothing. */
export function requireTimeline(disk: Disk, path: string): void {
  if (timelineExists(disk, path)) return;
  const message = `${path}: the timeline is lost; \`holotype rebuild\` makes it anew`;
  throw new ArchiveError("HT_CORRUPT", message, { file: path });
}
