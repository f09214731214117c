/** Who may read what a command makes: nobody who could not read all of what it is made from. */
import { Archive, archiveExists } from "../archive/index.ts";
import { isDigestIndex } from "../digests/index.ts";
import { type Access, commonAccess, createDurably, entryAccess, folderAccess, nodeDisk } from "../disk/index.ts";
import { accessOf, findInputs } from "../pipeline/index.ts";
import { say } from "./talk.ts";

/** Permission to read, of the group and of all others. */
const SHARED_READ = 0o044;

/** Those who may read all that these names stand for: files, folders of files, archives and digest indexes of ours. */
export async function accessOfNames(names: readonly string[]): Promise<Access | undefined> {
  const all: Access[] = [];
  for (const name of names) {
    const access = await accessOfName(name);
    if (access !== undefined) all.push(access);
  }
  return commonAccess(all);
}

async function accessOfName(name: string): Promise<Access | undefined> {
  const stat = nodeDisk.stat(name);
  if (stat?.kind !== "folder") return stat;
  if (archiveExists(nodeDisk, name)) {
    await using archive = await Archive.open(nodeDisk, name);
    return archive.access;
  }
  if (isDigestIndex(nodeDisk, name)) return entryAccess(stat);
  return accessOf(
    nodeDisk,
    findInputs(nodeDisk, [name], () => {}),
  );
}

/** Makes a folder that these people may enter; says so where it is there and others may. */
export function makeFolderFor(folder: string, access: Access | undefined): void {
  if (nodeDisk.stat(folder) === undefined) nodeDisk.makeFolder(folder, access && folderAccess(access));
  else tellWhoMayEnter(folder, access);
}

export function tellWhoMayEnter(folder: string, access: Access | undefined): void {
  if (access !== undefined && mayBeEnteredByOthers(folder, access))
    say(`note: more people may read ${folder} than what is added to it (see docs/operating/archive.md)`);
}

/** Whether people who may not read the inputs may enter the folder. */
function mayBeEnteredByOthers(folder: string, { permissions, group }: Access): boolean {
  const entrance = nodeDisk.stat(folder);
  if (entrance === undefined) return false;
  // A group of which nothing is known may do no more than everybody.
  const allowed = entrance.group === group ? permissions : (permissions & 0o007) * 0o11;
  return (entryAccess(entrance).permissions & SHARED_READ & ~allowed) !== 0;
}

/** A report as a file, in the place of one that is there. */
export function writeReport(path: string, text: string, access: Access | undefined): void {
  createDurably(nodeDisk, path, (output) => output.write(Buffer.from(text)), { replace: true, access });
}
