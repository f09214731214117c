/** Opening a volume of this machine, whatever its layout, so that nobody else has it open. */
import { join } from "node:path";
import { ArchiveError, type Clock, type Random, type Warning } from "../base/index.ts";
import { type Disk, type Lock, removeLeftovers } from "../disk/index.ts";
import type { Codecs } from "./codec.ts";
import { openPack, openPackToRead } from "./pack/pack-volume.ts";
import { openTree } from "./tree/tree-volume.ts";
import type { LocalVolume } from "./volume.ts";
import { readVolumeSettings, type VolumeSettings } from "./volume-settings.ts";

export interface OpenVolumeOptions {
  readonly codecs: Codecs;
  readonly clock?: Clock;
  readonly random?: Random;
  readonly onWarning?: (warning: Warning) => void;
  /** The caller only reads. Where nothing can be written the volume opens all the same; changes fail (HT_READ_ONLY). */
  readonly reading?: boolean;
}

/**
 * Throws HT_NOT_FOUND where the folder is no volume and HT_LOCKED where somebody has it open, be it this process. It is
 * free again when the volume is disposed of.
 */
export async function openVolume(disk: Disk, folder: string, options: OpenVolumeOptions): Promise<LocalVolume> {
  const settings = readVolumeSettings(disk, folder);
  const lock = lockVolume(disk, folder, options);
  if (lock === undefined) return await openLayout(disk, folder, settings, options, true);
  try {
    removeLeftovers(disk, folder);
    const volume = await openLayout(disk, folder, settings, options, false);
    const close = volume[Symbol.asyncDispose].bind(volume);
    volume[Symbol.asyncDispose] = async () => {
      try {
        await close();
      } finally {
        lock.release();
      }
    };
    return volume;
  } catch (error) {
    lock.release();
    throw error;
  }
}

/** What the system says where a file cannot be written, and never will be without somebody's help. */
const REFUSALS: ReadonlySet<unknown> = new Set(["EROFS", "EACCES", "EPERM", "ENOSPC", "EDQUOT"]);

/** Absent where there cannot be a lock and the caller only reads. What is read is proven by its signature all the same. */
function lockVolume(disk: Disk, folder: string, { reading = false, onWarning }: OpenVolumeOptions): Lock | undefined {
  const path = join(folder, "lock");
  try {
    return disk.lock(path, "beacon");
  } catch (error) {
    const cause = error instanceof ArchiveError ? (error.cause as NodeJS.ErrnoException | undefined) : undefined;
    if (!reading || !REFUSALS.has(cause?.code)) throw error;
    const others = disk.stat(path) === undefined ? "" : ", though another process may be writing";
    const message = `${folder}: cannot be written (${cause!.code!}); read without a lock${others}`;
    onWarning?.({ code: "HT_READ_ONLY", message, file: path, offset: 0 });
    return undefined;
  }
}

function openLayout(
  disk: Disk,
  folder: string,
  settings: VolumeSettings,
  options: OpenVolumeOptions,
  isReader: boolean,
): Promise<LocalVolume> {
  if (settings.layout === "tree") return openTree(disk, folder, settings, { ...options, isReader });
  return isReader ? openPackToRead(disk, folder, settings, options) : openPack(disk, folder, settings, options);
}
