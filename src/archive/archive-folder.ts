/**
 * An archive on disk:
 *
 *     archive.json              what it is and how it was made
 *     journal.jsonl             what the segments cannot tell: adoptions and removals
 *     lock                      held by the one who writes
 *     volumes/0/segments/       000001.warc.gz and so on: the records
 *     catalogue/, timeline-1/   follow from the above
 */
import { join } from "node:path";
import { ArchiveError, type Random, systemRandom } from "../base/index.ts";
import { createDurably, type Disk } from "../disk/index.ts";

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
  readonly catalogue: string;
  /** Of the timeline with this number: one that is made anew stands beside the old one until it is complete. */
  readonly timeline: (number: number) => string;
}

const TIMELINE_NAME = /^timeline-(\d+)$/;

/** The numbers of the timelines that are there. */
export function listTimelines(disk: Disk, folder: string): number[] {
  return disk.list(folder).flatMap(({ name }) => {
    const number = TIMELINE_NAME.exec(name)?.[1];
    return number === undefined ? [] : [Number(number)];
  });
}

export function archivePaths(folder: string): ArchivePaths {
  return {
    folder,
    settings: join(folder, "archive.json"),
    journal: join(folder, "journal.jsonl"),
    lock: join(folder, "lock"),
    segments: join(folder, "volumes", "0", "segments"),
    catalogue: join(folder, "catalogue"),
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

export function readText(disk: Disk, path: string): string {
  using file = disk.open(path, "read");
  const bytes = Buffer.alloc(file.size());
  return bytes.toString("utf8", 0, file.read(bytes, 0));
}
