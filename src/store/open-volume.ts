/** Opening a volume of this machine, whatever its layout, so that nobody else has it open. */
import { join } from "node:path";
import type { Clock, Random, Warning } from "../base/index.ts";
import { type Disk, removeLeftovers } from "../disk/index.ts";
import type { Codecs } from "./codec.ts";
import { openPack } from "./pack/pack-volume.ts";
import { openTree } from "./tree/tree-volume.ts";
import type { LocalVolume } from "./volume.ts";
import { readVolumeSettings, type VolumeSettings } from "./volume-settings.ts";

export interface OpenVolumeOptions {
  readonly codecs: Codecs;
  readonly clock?: Clock;
  readonly random?: Random;
  readonly onWarning?: (warning: Warning) => void;
}

/**
 * Throws HT_NOT_FOUND where the folder is no volume and HT_LOCKED where somebody has it open, be it this process. It is
 * free again when the volume is disposed of.
 */
export async function openVolume(disk: Disk, folder: string, options: OpenVolumeOptions): Promise<LocalVolume> {
  const settings = readVolumeSettings(disk, folder);
  const lock = disk.lock(join(folder, "lock"), "beacon");
  try {
    removeLeftovers(disk, folder);
    const volume = await openLayout(disk, folder, settings, options);
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

function openLayout(
  disk: Disk,
  folder: string,
  settings: VolumeSettings,
  options: OpenVolumeOptions,
): Promise<LocalVolume> {
  return settings.layout === "tree"
    ? openTree(disk, folder, settings, options)
    : openPack(disk, folder, settings, options);
}
