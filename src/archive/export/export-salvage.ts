/**
 * Finds the captures of an export that cannot be copied, so that the others can: each one is written and read back by
 * itself, as the export will do with all of them. What can be read all the same is written again; what cannot is left out.
 * One that is left out may be the original of another, which then needs its payload; so all are tried again until none is
 * found any more.
 */
import { ArchiveError, type ErrorCode, formatIso } from "../../base/index.ts";
import { type Disk, type DiskFile, scratchFolder } from "../../disk/index.ts";
import { fileSource } from "../../warc/index.ts";
import type { Snapshot } from "../asking/snapshot.ts";
import { ExportCheck } from "./export-check.ts";
import { RecordExport } from "./export-record.ts";
import type { Mending, SelectedCapture, SelectedCaptures } from "./export-selection.ts";

export interface SalvageParts {
  readonly disk: Disk;
  readonly archive: Snapshot;
  readonly selected: SelectedCaptures;
  readonly pause: (bytes: number) => Promise<void>;
  /** Is told once of each capture with which something is wrong, and how it goes out, if it does. */
  readonly onDamage: (capture: SelectedCapture, error: ArchiveError, mending: Mending | undefined) => void;
  /** Which of them are tried; all of them where it is absent. */
  readonly isTried?: ((capture: SelectedCapture) => boolean) | undefined;
}

/** What these say is no fault of a capture. */
const OTHER_FAULTS = new Set<ErrorCode>(["HT_INTERRUPTED", "HT_NO_SPACE", "HT_USAGE", "HT_EXISTS", "HT_NOT_FOUND"]);

/** Whether an error is the fault of a capture, so that others can be exported. */
export function isFaultOfCapture(error: unknown): error is ArchiveError {
  return error instanceof ArchiveError && !OTHER_FAULTS.has(error.code);
}

/** What is wrong with a capture, for people. */
export function describeDamage({ timeMs, row }: SelectedCapture, { message }: ArchiveError): string {
  return `the capture of ${row.url} of ${formatIso(timeMs)} is damaged (${message})`;
}

const MENDINGS: readonly Mending[] = ["anew", "alone"];

/** Leaves those out of the selection that cannot be read, and says of others how they can be. */
export async function leaveOutDamaged(parts: SalvageParts): Promise<void> {
  const { disk, selected, isTried } = parts;
  using scratch = scratchFolder(disk);
  for (let before = -1; selected.leftCount !== before; ) {
    before = selected.leftCount;
    using records = new RecordExport(disk, parts.archive, selected);
    for (const capture of selected) {
      if (isTried?.(capture) === false) continue;
      const failure = await failureOf(parts, records, capture, scratch.path);
      if (failure === undefined) continue;
      const mending = await mend(parts, records, capture, scratch.path);
      if (mending === undefined) selected.leave(capture);
      parts.onDamage(capture, failure, mending);
    }
  }
}

async function mend(parts: SalvageParts, records: RecordExport, capture: SelectedCapture, folder: string) {
  for (const mending of MENDINGS) {
    parts.selected.mend(capture, mending);
    if ((await failureOf(parts, records, capture, folder)) === undefined) return mending;
  }
  return undefined;
}

async function failureOf(parts: SalvageParts, records: RecordExport, capture: SelectedCapture, folder: string) {
  try {
    await tryCapture(parts, records, capture, `${folder}/capture.warc.gz`);
    return undefined;
  } catch (error) {
    if (!isFaultOfCapture(error)) throw error;
    return error;
  }
}

async function tryCapture(
  { disk, pause }: SalvageParts,
  records: RecordExport,
  capture: SelectedCapture,
  path: string,
): Promise<void> {
  let size = 0;
  {
    using file = disk.open(path, "replace");
    const write = (bytes: Uint8Array) => {
      file.write(bytes, size);
      size += bytes.length;
    };
    records.write(capture, { write });
  }
  using file: DiskFile = disk.open(path, "read");
  const check = new ExportCheck({
    captures: [capture][Symbol.iterator](),
    onRecord: () => {},
    pause: () => Promise.resolve(),
  });
  await check.file(fileSource(file, "the copy"));
  check.end();
  await pause(size);
}
