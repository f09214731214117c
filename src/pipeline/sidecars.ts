/** Files beside the archives in the folders that were named: notes, indexes, logs. They hold no records, and may matter. */
import { dirname, relative, resolve } from "node:path";
import { ArchiveError } from "../base/index.ts";
import { type Disk, DurableOutput, isPartial } from "../disk/index.ts";
import { accessOf } from "./input-access.ts";
import { isJobFolder } from "./job-folder.ts";

/** The paths of all files in the named folders but those of `taken`, by name. Links are not followed, but named. */
export function findSidecars(
  disk: Disk,
  names: readonly string[],
  taken: ReadonlySet<string>,
  output: string,
): string[] {
  const found: string[] = [];
  const walk = (folder: string) => {
    for (const { name, kind } of list(disk, folder)) {
      const path = `${folder.endsWith("/") ? folder : `${folder}/`}${name}`;
      if (kind !== "folder") {
        if (!taken.has(path) && !isPartial(name)) found.push(path);
      } else if (!isJobFolder(name) && resolve(path) !== resolve(output)) walk(path);
    }
  };
  for (const name of names) if (disk.stat(name)?.kind === "folder") walk(name);
  return found;
}

/** A folder that cannot be read was named when inputs were looked for. */
function list(disk: Disk, folder: string) {
  try {
    return disk.list(folder);
  } catch (error) {
    if (!(error instanceof ArchiveError)) throw error;
    return [];
  }
}

const PIECE_SIZE = 1 << 20;

/**
 * Copies the files to the same places below `output`. One that is there with the same bytes is fine. Those that could not
 * be copied go to `onFail`.
 */
export function copySidecars(
  disk: Disk,
  paths: readonly string[],
  { root, output }: { readonly root: string; readonly output: string },
  onFail: (path: string, error: ArchiveError) => void,
): void {
  for (const path of paths) {
    try {
      const place = relative(root, resolve(path));
      if (place.startsWith("../")) throw unfit(path, `outside of ${root}, the folder of the archives`);
      if (disk.statLink(path)?.kind !== "file") throw unfit(path, "not a regular file");
      copyFile(disk, path, `${output}/${place}`);
    } catch (error) {
      if (!(error instanceof ArchiveError) || error.code === "HT_NO_SPACE") throw error;
      onFail(path, error);
    }
  }
}

function unfit(path: string, reason: string): ArchiveError {
  return new ArchiveError("HT_UNSUPPORTED", `${path}: ${reason}`, { file: path });
}

function copyFile(disk: Disk, from: string, to: string): void {
  if (disk.stat(to) !== undefined) {
    if (equalFiles(disk, from, to)) return;
    throw new ArchiveError("HT_EXISTS", `${to}: there already, and not the same as ${from}`, { file: to });
  }
  disk.makeFolder(dirname(to));
  using source = disk.open(from, "read");
  using output = DurableOutput.begin(disk, to, { access: accessOf(disk, [{ path: from }]) });
  const piece = new Uint8Array(PIECE_SIZE);
  for (let at = 0, count = source.read(piece, 0); count > 0; count = source.read(piece, at)) {
    output.write(piece.subarray(0, count));
    at += count;
  }
  output.commit();
}

/** Whether two files have the same bytes. */
export function equalFiles(disk: Disk, one: string, other: string): boolean {
  using left = disk.open(one, "read");
  using right = disk.open(other, "read");
  if (left.size() !== right.size()) return false;
  const [a, b] = [Buffer.allocUnsafe(PIECE_SIZE), Buffer.allocUnsafe(PIECE_SIZE)];
  for (let at = 0; ; at += PIECE_SIZE) {
    const [count, found] = [left.read(a, at), right.read(b, at)];
    if (count !== found || !a.subarray(0, count).equals(b.subarray(0, found))) return false;
    if (count < PIECE_SIZE) return true;
  }
}
