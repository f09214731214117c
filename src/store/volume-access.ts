/** Who may read the contents of a volume on this machine. */
import { join } from "node:path";
import { type Access, commonAccess, type Disk, entryAccess } from "../disk/index.ts";
import { listSegments, segmentPath } from "./pack/segment.ts";
import { blockLocation, blocksFolder } from "./tree/location.ts";
import { isVolume, readVolumeSettings } from "./volume-settings.ts";

/**
 * Those who may enter its folder and read all files that a content with this signature may lie in. Absent where the
 * folder is no volume.
 */
export function volumeAccess(disk: Disk, folder: string, signature: string): Access | undefined {
  const entrance = disk.stat(folder);
  if (entrance === undefined || !isVolume(disk, folder)) return undefined;
  const { layout, treeDepth } = readVolumeSettings(disk, folder);
  const paths =
    layout === "tree"
      ? blockPaths(disk, folder, signature, treeDepth)
      : listSegments(disk, folder).map((segment) => segmentPath(folder, segment));
  return commonAccess([entryAccess(entrance), ...[...paths].flatMap((path) => disk.stat(path) ?? [])]);
}

/** Numbers have no holes: see `BlockFiles`. */
function* blockPaths(disk: Disk, folder: string, signature: string, depth: number): Generator<string> {
  for (let overflow = 0; ; overflow++) {
    const path = join(blocksFolder(folder), blockLocation({ signature, overflow }, depth));
    if (disk.stat(path) === undefined) return;
    yield path;
  }
}
