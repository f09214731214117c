/**
 * Locks that die with their process, made of files: Node has no `flock`, and we ship no native code. The lock file
 * names its holder: pid, start time, boot, host and pid namespace, and a token that is never used twice.
 *
 * 1. A lock file appears in one step with all its text (written beside, synced, then linked).
 * 2. Only its holder removes it; a holder that is dead is replaced, never removed, so the file does not vanish under
 *    two contenders.
 * 3. Whoever replaces the dead holder of token T first takes the guard `PATH.after-T`, a lock by these same rules,
 *    and then looks again. Since T is never used twice and all that replace it need the guard, PATH still naming T
 *    means that nobody else can be replacing it: of any number of contenders exactly one wins. A contender that dies
 *    with the guard in hand leaves a dead lock, and rule 3 applies to that.
 *
 * Limits. A holder on another host (NFS) cannot be seen, so its lock is honoured for ever; after such a holder died, a
 * person must remove the file. So is one in another container of this host, unless it has a beacon. Without `/proc` a recycled pid counts as the
 * holder. Where there are no hard links, the text arrives after the name, and a crash in between also needs a person.
 * A process killed in the instant between replacing and dropping its guard leaves the guard: one small file, never read.
 */
import { closeSync, fdatasyncSync, openSync, readFileSync, renameSync, unlinkSync, writeSync } from "node:fs";
import { basename, dirname, join } from "node:path";
import { ArchiveError, systemRandom } from "../base/index.ts";
import { isBeaconLit, lightBeacon, removeBeacon } from "./beacon.ts";
import type { Lock, LockKind } from "./disk.ts";
import { linkUnlessThere } from "./link.ts";
import { partialPath } from "./partial-name.ts";
import { systemPath } from "./path-bytes.ts";
import { ownProcess, type ProcessIdentity, stateOf } from "./process-identity.ts";
import { attempt, unlessAbsent } from "./system-call.ts";

export interface Holder extends ProcessIdentity {
  readonly token: string;
  /** The name of the holder's beacon, in the folder of the lock. */
  readonly beacon?: string;
}

/** The steps that taking a lock is made of; each is atomic. */
export interface LockFiles {
  /** False where the file is there already. */
  create(path: string, text: string): boolean;
  read(path: string): string | undefined;
  replace(path: string, text: string): void;
  remove(path: string): void;
}

/** More rounds than this mean that others take and release the lock all the time; then it is as good as held. */
const ROUND_COUNT_MAX = 100;

function refuse(path: string, reason: string): ArchiveError {
  return new ArchiveError("HT_LOCKED", `${path}: ${reason}`, { file: path });
}

function parseHolder(path: string, text: string): Holder {
  try {
    const holder = JSON.parse(text) as Partial<Holder> | null;
    if (typeof holder?.pid === "number" && typeof holder.token === "string") return holder as Holder;
  } catch {
    // Falls through to the refusal: what we cannot read we must not take.
  }
  throw refuse(path, "this lock file cannot be read; remove it if nothing uses what it guards");
}

/** Returns holding the lock, or throws HT_LOCKED. */
export function takeLock(
  files: LockFiles,
  path: string,
  me: Holder,
  judge: (holder: Holder) => ReturnType<typeof stateOf> = stateOf,
): void {
  const mine = JSON.stringify(me);
  for (let round = 0; round < ROUND_COUNT_MAX; round++) {
    if (files.create(path, mine)) return;
    const text = files.read(path);
    if (text === undefined) continue;
    const holder = parseHolder(path, text);
    const state = judge(holder);
    if (state === "running") throw refuse(path, `locked by process ${holder.pid}`);
    if (state === "unknown") {
      const where = `process ${holder.pid} on ${holder.host}`;
      throw refuse(path, `locked by ${where}, which cannot be seen from here; remove the file if it no longer runs`);
    }
    const guard = `${path}.after-${holder.token}`;
    takeLock(files, guard, me, judge);
    try {
      if (files.read(path) === text) return files.replace(path, mine);
    } finally {
      files.remove(guard);
    }
  }
  throw refuse(path, "locked by one process after another");
}

function writeNew(path: string, text: string): void {
  const descriptor = openSync(systemPath(path), "wx");
  try {
    writeSync(descriptor, text);
    // A power cut must not leave a lock file without its text.
    fdatasyncSync(descriptor);
  } finally {
    closeSync(descriptor);
  }
}

/** Runs `use` with a finished file that holds `text` beside `path`. */
function withFinished<T>(path: string, text: string, use: (finished: string) => T): T {
  return attempt(path, () => {
    const finished = partialPath(path, systemRandom);
    try {
      writeNew(finished, text);
      return use(finished);
    } finally {
      unlessAbsent(() => unlinkSync(systemPath(finished)));
    }
  });
}

const nodeLockFiles: LockFiles = {
  create: (path, text) =>
    withFinished(path, text, (finished) => {
      const outcome = linkUnlessThere(finished, path);
      if (outcome === "unsupported") return createInTwoSteps(path, text);
      return outcome === "linked";
    }),
  read: (path) => attempt(path, () => unlessAbsent(() => readFileSync(systemPath(path), "utf8"))),
  replace: (path, text) => withFinished(path, text, (finished) => renameSync(systemPath(finished), systemPath(path))),
  remove: (path) => attempt(path, () => unlessAbsent(() => unlinkSync(systemPath(path)))),
};

function createInTwoSteps(path: string, text: string): boolean {
  try {
    attempt(path, () => writeNew(path, text));
    return true;
  } catch (error) {
    if (error instanceof ArchiveError && error.code === "HT_EXISTS") return false;
    throw error;
  }
}

/** The path of a holder's beacon; absent where it has none. */
function beaconOf(path: string, { beacon }: Holder): string | undefined {
  return typeof beacon === "string" && /^[\w.-]+\.alive$/.test(beacon) ? join(dirname(path), beacon) : undefined;
}

/** The same kernel knows whether a holder lives that cannot be seen from here. */
function stateByBeacon(holder: Holder, beacon: string | undefined): ReturnType<typeof stateOf> {
  const state = stateOf(holder);
  const { boot } = ownProcess();
  if (state !== "unknown" || beacon === undefined || boot === "" || holder.boot !== boot) return state;
  return isBeaconLit(beacon) === false ? "dead" : "unknown";
}

export function lockFile(path: string, kind: LockKind = "plain"): Lock {
  const token = systemRandom.uuid();
  const name = `${basename(path)}.${token}.alive`;
  const beacon = kind === "plain" ? undefined : lightBeacon(join(dirname(path), name));
  const me: Holder = { ...ownProcess(), token, ...(beacon === undefined ? {} : { beacon: name }) };
  const wentOut: string[] = [];
  try {
    takeLock(nodeLockFiles, path, me, (holder) => {
      const theirs = beaconOf(path, holder);
      const state = stateByBeacon(holder, theirs);
      if (state === "dead" && theirs !== undefined) wentOut.push(theirs);
      return state;
    });
  } catch (error) {
    beacon?.remove();
    throw error;
  }
  for (const theirs of wentOut) removeBeacon(theirs);
  let held = true;
  const release = () => {
    if (!held) return;
    held = false;
    beacon?.remove();
    // A person may have removed our file, and another process may hold its own there by now.
    if (nodeLockFiles.read(path) === JSON.stringify(me)) nodeLockFiles.remove(path);
  };
  return { path, release, [Symbol.dispose]: release };
}
