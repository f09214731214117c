/** `volume.json`: what a volume is. Obeys docs/format/volume.md. */
import { dirname, join } from "node:path";
import { ArchiveError, type Random, systemRandom } from "../base/index.ts";
import { createDurably, type Disk, partialPath, removeLeftovers, removeTree } from "../disk/index.ts";
import { isSignatureAlgorithm, type SignatureAlgorithm } from "./signature.ts";
import { VOLUME_STATES, type VolumeState } from "./volume.ts";

export const VOLUME_LAYOUTS = ["pack", "tree"] as const;
export type VolumeLayout = (typeof VOLUME_LAYOUTS)[number];

export interface VolumeSettings {
  /** A UUID. */
  readonly id: string;
  readonly layout: VolumeLayout;
  readonly signature: SignatureAlgorithm;
  readonly state: VolumeState;
  /** Of a tree: directories above a block, and one. */
  readonly treeDepth: number;
}

export const TREE_DEPTH_DEFAULT = 3;
export const TREE_DEPTH_MAX = 8;
const FORMAT = "holotype-volume";
const VERSION = 1;
const NAME = "volume.json";
const READ_MAX = 1 << 16;

export type NewVolume = Partial<Omit<VolumeSettings, "id">>;

/** Whether the folder is a volume. */
export function isVolume(disk: Disk, folder: string): boolean {
  return disk.stat(join(folder, NAME)) !== undefined;
}

/**
 * Makes a volume of a folder that is empty or not there yet (HT_EXISTS). One that was not there appears as a volume: a folder
 * without its settings would be taken for the place of a disk that is not mounted, for ever.
 */
export function createVolume(
  disk: Disk,
  folder: string,
  options: NewVolume = {},
  random: Random = systemRandom,
): VolumeSettings {
  const { layout = "pack", signature = "sha256", state = "writable", treeDepth = TREE_DEPTH_DEFAULT } = options;
  const settings: VolumeSettings = { id: random.uuid(), layout, signature, state, treeDepth };
  const present = disk.stat(folder);
  if (present === undefined) makeFolderOf(disk, folder, settings, random);
  else {
    if (present.kind !== "folder" || !isAsGoodAsEmpty(disk, folder)) throw notEmpty(folder);
    // Of two who do so at once, one is refused.
    createDurably(disk, join(folder, NAME), (output) => output.write(formatSettings(settings)));
  }
  return settings;
}

/** With what an attempt that was killed left behind. */
function isAsGoodAsEmpty(disk: Disk, folder: string): boolean {
  removeLeftovers(disk, folder);
  return disk.list(folder).every(({ name }) => /^lock(?:\..*\.alive)?$/.test(name));
}

function makeFolderOf(disk: Disk, folder: string, settings: VolumeSettings, random: Random): void {
  const unfinished = partialPath(folder, random);
  disk.makeFolder(unfinished);
  try {
    writeVolumeSettings(disk, unfinished, settings);
    // It takes the place of an empty folder that came meanwhile, and of no other.
    disk.rename(unfinished, folder);
  } catch (error) {
    removeTree(disk, unfinished);
    throw isVolume(disk, folder) ? notEmpty(folder) : error;
  }
  disk.syncFolder(dirname(folder));
}

function notEmpty(folder: string): ArchiveError {
  return new ArchiveError("HT_EXISTS", `${folder}: there already, and not empty`, { file: folder });
}

export function writeVolumeSettings(disk: Disk, folder: string, settings: VolumeSettings): void {
  createDurably(disk, join(folder, NAME), (output) => output.write(formatSettings(settings)), { replace: true });
}

function formatSettings(settings: VolumeSettings): Buffer {
  const text = JSON.stringify({ format: FORMAT, version: VERSION, ...settings }, undefined, 2);
  return Buffer.from(`${text}\n`);
}

/** Throws HT_NOT_FOUND where the folder is no volume. */
export function readVolumeSettings(disk: Disk, folder: string): VolumeSettings {
  const path = join(folder, NAME);
  if (disk.stat(path) === undefined) {
    throw new ArchiveError("HT_NOT_FOUND", `${folder}: not a volume: it has no ${NAME}`, { file: folder });
  }
  using file = disk.open(path, "read");
  const bytes = Buffer.alloc(READ_MAX);
  const damaged = (message: string) => new ArchiveError("HT_CORRUPT", `${path}: ${message}`, { file: path });
  let json: Record<string, unknown>;
  try {
    json = JSON.parse(bytes.toString("utf8", 0, file.read(bytes, 0))) as Record<string, unknown>;
  } catch {
    throw damaged("not JSON");
  }
  if (typeof json !== "object" || json === null || json["format"] !== FORMAT)
    throw damaged("not the settings of a volume");
  if (typeof json["version"] !== "number" || json["version"] > VERSION) {
    throw new ArchiveError("HT_FORMAT_TOO_NEW", `${path}: made by a newer Holotype`, { file: path });
  }
  const { id, layout, signature, state, treeDepth } = json;
  if (typeof id !== "string" || !/^[0-9a-f-]{36}$/.test(id)) throw damaged("no id");
  if (!isOneOf(VOLUME_LAYOUTS, layout)) throw damaged(`an unknown layout: ${String(layout)}`);
  if (typeof signature !== "string" || !isSignatureAlgorithm(signature))
    throw damaged(`an unknown signature: ${String(signature)}`);
  if (!isOneOf(VOLUME_STATES, state)) throw damaged(`an unknown state: ${String(state)}`);
  if (!Number.isInteger(treeDepth) || (treeDepth as number) < 1 || (treeDepth as number) > TREE_DEPTH_MAX) {
    throw damaged(`a tree of depth ${String(treeDepth)}`);
  }
  return { id, layout, signature, state, treeDepth: treeDepth as number };
}

function isOneOf<T extends string>(names: readonly T[], value: unknown): value is T {
  return (names as readonly unknown[]).includes(value);
}
