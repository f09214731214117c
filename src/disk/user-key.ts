/** A secret that one user of one machine has, by which work is known again as begun by the same user. */
import { homedir } from "node:os";
import { join } from "node:path";
import { ArchiveError, type Random, systemRandom } from "../base/index.ts";
import type { Disk } from "./disk.ts";
import { createDurably } from "./durable-output.ts";
import { removeLeftovers } from "./leftovers.ts";
import { systemCode } from "./system-call.ts";

const FOLDER = [".local", "state", "holotype"];
const NAME = "key";
const KEY_SIZE = 32;
/** A home that is not there or must not be written to. */
const REFUSALS: ReadonlySet<string | undefined> = new Set(["EACCES", "EPERM", "EROFS", "ENOENT", "ENOTDIR", "EEXIST"]);

/** The key of this user, made where it is not there yet; absent where the user has no home to keep it in. */
export function userKey(disk: Disk, random: Random = systemRandom): Uint8Array | undefined {
  try {
    const folder = join(homedir(), ...FOLDER);
    const path = join(folder, NAME);
    disk.makeFolder(folder, { permissions: 0o700 });
    removeLeftovers(disk, folder);
    if (disk.statLink(path) === undefined) writeKey(disk, path, random);
    return readKey(disk, path);
  } catch (error) {
    const code = systemCode(error instanceof ArchiveError ? error.cause : error);
    if (!REFUSALS.has(code)) throw error;
    return undefined;
  }
}

function writeKey(disk: Disk, path: string, random: Random): void {
  const access = { permissions: 0o600 };
  try {
    createDurably(disk, path, (output) => output.write(random.bytes(KEY_SIZE)), { access });
  } catch (error) {
    // Another process of the user was faster.
    if (!(error instanceof ArchiveError) || error.code !== "HT_EXISTS") throw error;
  }
}

/** Absent where others can read it, or it is none. */
function readKey(disk: Disk, path: string): Uint8Array | undefined {
  const stat = disk.statLink(path);
  if (stat?.kind !== "file" || !stat.isOwn || (stat.permissions & 0o077) !== 0) return undefined;
  using file = disk.open(path, "read");
  const key = new Uint8Array(KEY_SIZE);
  return file.read(key, 0) === KEY_SIZE ? key : undefined;
}
