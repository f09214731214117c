/**
 * Makes the index of a pack volume anew from its segments. The new one grows beside the old one and takes its place when
 * it is complete, so that a half-made index is never taken for one.
 */
import { join } from "node:path";
import { systemClock, type Warning } from "../../base/index.ts";
import type { Disk } from "../../disk/index.ts";
import type { VolumeSettings } from "../volume-settings.ts";
import { indexFolder, LmdbIndex } from "./lmdb-index.ts";
import { PackCore } from "./pack-core.ts";
import type { IndexTotals } from "./pack-index.ts";

export interface RebuildOptions {
  /** What lies in the segments and is no whole record. */
  readonly onWarning?: ((warning: Warning) => void) | undefined;
  readonly segmentSizeMax?: number | undefined;
}

/** The volume must not be open, and whoever calls holds its lock. */
export async function rebuildPack(
  disk: Disk,
  folder: string,
  settings: VolumeSettings,
  options: RebuildOptions = {},
): Promise<IndexTotals> {
  const target = indexFolder(folder);
  const unfinished = `${target}.unfinished`;
  removeFolder(disk, unfinished);
  const core = await PackCore.open({
    disk,
    folder,
    settings,
    clock: systemClock,
    onWarning: options.onWarning,
    segmentSizeMax: options.segmentSizeMax ?? Number.POSITIVE_INFINITY,
    openIndex: () => LmdbIndex.open(disk, unfinished),
  });
  const totals = { ...core.state.summary };
  await core.close();
  removeFolder(disk, target);
  disk.rename(unfinished, target);
  disk.syncFolder(folder);
  return totals;
}

function removeFolder(disk: Disk, folder: string): void {
  if (disk.stat(folder) === undefined) return;
  for (const { name } of disk.list(folder)) disk.remove(join(folder, name));
  disk.remove(folder);
}
