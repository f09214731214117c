/**
 * The folder of a job: what it is, so that it is not mistaken for another; what is in it; and the lock that keeps two
 * processes apart. It obeys docs/format/crawl-folder.md.
 */
import { join } from "node:path";
import { ArchiveError, type Clock, createHasher, formatIso, type Random } from "../base/index.ts";
import { createDurably, type Disk, type Lock, removeLeftovers } from "../disk/index.ts";
import { parseJsonObject } from "../warc/index.ts";

export interface JobIdentity {
  /** The settings that say what is fetched, and how it is compared. How fast it goes is no part of it. */
  readonly settings: Readonly<Record<string, unknown>>;
  readonly urls: { readonly count: number; readonly sha256: string };
}

const FORMAT = "holotype fetch job";
const VERSION = 1;
const JOB_SIZE_MAX = 1 << 24;

export interface JobFolder extends Disposable {
  readonly id: string;
  /** It was there already. */
  readonly isResumed: boolean;
}

/** The identity of a list of URLs, in their order. */
export function urlsIdentity(urls: readonly string[]): JobIdentity["urls"] {
  const hasher = createHasher("sha256");
  for (const url of urls) hasher.update(Buffer.from(`${url}\n`));
  return { count: urls.length, sha256: hasher.finish().hex };
}

/**
 * Makes the folder, or goes on with the job in it. HT_EXISTS where the folder holds another job or something else, HT_LOCKED
 * where a process works on it.
 */
export function openJobFolder(
  disk: Disk,
  folder: string,
  identity: JobIdentity,
  { clock, random }: { readonly clock: Clock; readonly random: Random },
): JobFolder {
  const path = join(folder, "job.json");
  if (disk.stat(path) === undefined) refuseForeign(disk, folder);
  disk.makeFolder(folder);
  const lock = disk.lock(join(folder, "lock"));
  try {
    removeLeftovers(disk, folder);
    const isResumed = disk.stat(path) !== undefined;
    const id = isResumed ? readJob(disk, path, identity) : random.uuid();
    if (!isResumed) {
      const job = { format: FORMAT, version: VERSION, id, created: formatIso(clock.now()), ...identity };
      createDurably(disk, path, (output) => output.write(Buffer.from(`${JSON.stringify(job, undefined, 2)}\n`)));
    }
    return { id, isResumed, [Symbol.dispose]: () => releaseLock(lock) };
  } catch (error) {
    lock.release();
    throw error;
  }
}

function releaseLock(lock: Lock): void {
  lock.release();
}

function refuseForeign(disk: Disk, folder: string): void {
  const there = disk.stat(folder);
  if (there !== undefined && there.kind !== "folder") {
    throw new ArchiveError("HT_EXISTS", `${folder}: not a folder`, { file: folder });
  }
  if (there !== undefined && disk.list(folder).some(({ name }) => !/^lock|^\.|\.alive$/.test(name))) {
    throw new ArchiveError("HT_EXISTS", `${folder}: has files in it, but is not the folder of a fetch job`, {
      file: folder,
    });
  }
}

/** The id of the job that is there, if it is this one. */
function readJob(disk: Disk, path: string, identity: JobIdentity): string {
  using file = disk.open(path, "read");
  const bytes = Buffer.alloc(Math.min(file.size(), JOB_SIZE_MAX));
  file.read(bytes, 0);
  const job = parseJsonObject(bytes.toString());
  const corrupt = () => new ArchiveError("HT_CORRUPT", `${path}: not the description of a fetch job`, { file: path });
  if (job?.["format"] !== FORMAT || typeof job["id"] !== "string") throw corrupt();
  if (typeof job["version"] !== "number" || job["version"] > VERSION) {
    throw new ArchiveError("HT_FORMAT_TOO_NEW", `${path}: written by a newer Holotype`, { file: path });
  }
  const differences = differencesOf(job as unknown as JobIdentity, identity);
  if (differences.length === 0) return job["id"];
  const what = differences.join(", ");
  throw new ArchiveError(
    "HT_EXISTS",
    `${path}: this folder holds another job (${what} differ); choose another folder`,
    {
      file: path,
    },
  );
}

function differencesOf(there: Partial<JobIdentity>, wanted: JobIdentity): string[] {
  const before = there.settings ?? {};
  const names = new Set([...Object.keys(before), ...Object.keys(wanted.settings)]);
  const differing = [...names].filter((name) => JSON.stringify(before[name]) !== JSON.stringify(wanted.settings[name]));
  return [...(there.urls?.sha256 === wanted.urls.sha256 ? [] : ["URLs"]), ...differing];
}
