/** Clearing up behind processes that were killed: their unfinished files and scratch folders. */
import { join } from "node:path";
import { pid, uptime } from "node:process";
import { ArchiveError, systemClock } from "../base/index.ts";
import type { Disk } from "./disk.ts";
import { pidOfPartial } from "./partial-name.ts";
import { isRunning } from "./process-identity.ts";

/** How far the clock of a file server may be behind ours. */
const CLOCK_SKEW_MS = 60_000;

/**
 * Removes the unfinished files and scratch folders of this user in `folder` whose process is dead, and gives their names.
 * In a folder that users share, anyone can make a name that looks like ours; what is another user's stays. A process on
 * another host looks dead from here: where hosts share a folder, hold its lock around this.
 */
export function removeLeftovers(disk: Disk, folder: string): string[] {
  const removed: string[] = [];
  for (const entry of disk.list(folder)) {
    if (entry.kind === "other" || !isLeftover(disk, folder, entry.name)) continue;
    try {
      removeTree(disk, join(folder, entry.name));
      removed.push(entry.name);
    } catch (error) {
      if (!(error instanceof ArchiveError)) throw error;
    }
  }
  return removed;
}

/** Found out once: a machine that slept has a clock that goes on and an uptime that does not. */
const STARTED_MS = systemClock.now() - uptime() * 1000;

function isLeftover(disk: Disk, folder: string, name: string): boolean {
  const writer = pidOfPartial(name);
  const stat = writer === undefined ? undefined : disk.statLink(join(folder, name));
  if (writer === undefined || stat?.isOwn !== true) return false;
  if (writer !== pid) return !isRunning(writer);
  // In a container every run has the same small pid: what is older than this process is not its own.
  return stat.modifiedMs < STARTED_MS - CLOCK_SKEW_MS;
}

/** Removes a file, or a folder with all that is in it. Links are removed, not followed. */
export function removeTree(disk: Disk, path: string): void {
  if (disk.statLink(path)?.kind === "folder") {
    for (const { name, kind } of disk.list(path)) {
      if (kind === "folder") removeTree(disk, join(path, name));
      else disk.remove(join(path, name));
    }
  }
  disk.remove(path);
}
