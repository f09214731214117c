/**
 * Finds the captures of an export that cannot be taken whole, so that the others can: each one is written and read back by
 * itself, as the export will do with all of them. One that is left out may be the original of another, which then needs
 * its payload; so all are tried again until none is found any more.
 */
import { ArchiveError, type ErrorCode } from "../../base/index.ts";
import { type Disk, type DiskFile, scratchFolder } from "../../disk/index.ts";
import { fileSource } from "../../warc/index.ts";
import type { Snapshot } from "../asking/snapshot.ts";
import { ExportCheck } from "./export-check.ts";
import { RecordExport } from "./export-record.ts";
import type { SelectedCapture, SelectedCaptures } from "./export-selection.ts";

export interface SalvageParts {
  readonly disk: Disk;
  readonly archive: Snapshot;
  readonly selected: SelectedCaptures;
  readonly pause: (bytes: number) => Promise<void>;
}

/** What these say is no fault of a capture. */
const OTHER_FAULTS = new Set<ErrorCode>(["HT_INTERRUPTED", "HT_NO_SPACE", "HT_USAGE"]);

function isFaultOfCapture(error: unknown): error is ArchiveError {
  return error instanceof ArchiveError && !OTHER_FAULTS.has(error.code);
}

/** Leaves those out of the selection. */
export async function leaveOutDamaged(parts: SalvageParts): Promise<void> {
  const { disk, selected } = parts;
  using scratch = scratchFolder(disk);
  for (let before = -1; selected.leftCount !== before; ) {
    before = selected.leftCount;
    using records = new RecordExport(disk, parts.archive, selected);
    for (const capture of selected) {
      try {
        await tryCapture(parts, records, capture, `${scratch.path}/capture.warc.gz`);
      } catch (error) {
        if (!isFaultOfCapture(error)) throw error;
        selected.leave(capture, error);
      }
    }
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
