/**
 * The folder of a job: what was asked for, and each stage's result as a file that is whole or not there. So a job that
 * was stopped goes on with the first stage whose file is missing. Obeys docs/format/job-folder.md.
 */
import { createHmac } from "node:crypto";
import { resolve as absolute } from "node:path";
import { ArchiveError } from "../base/index.ts";
import type { Policy } from "../dedup/index.ts";
import {
  type Access,
  type ByteSink,
  createDurably,
  type Disk,
  folderAccess,
  type Lock,
  removeLeftovers,
} from "../disk/index.ts";
import { formatJobFile, isRewritten, isUnchanged, type JobFile, loadJobFiles } from "./job-files.ts";
import { readTextLines, writeTextLines } from "./text-lines.ts";

export const JOB_FORMAT = "holotype-job/1";

/** What decides over the result. A job goes on only where these are the same. */
export interface JobSettings {
  readonly digest: string;
  readonly policy: Policy;
  /** The folder for the output; absent where files are rewritten in place. */
  readonly output: string | undefined;
  readonly compare: boolean;
  readonly known: readonly string[];
  /** Where originals of other files are looked for. */
  readonly originals?: readonly string[] | undefined;
  /** A plan that was made elsewhere. */
  readonly plan?: string | undefined;
}

export interface JobState {
  readonly format: typeof JOB_FORMAT;
  readonly startedMs: number;
  readonly settings: JobSettings;
  readonly inputs: readonly string[];
  /** Bytes of sorted manifest that are resolved at a time. */
  readonly stretchSize: number;
  /** Proves who began the job; absent where that user has no key. */
  readonly seal?: string | undefined;
}

/** What only who has the key can write into the state of a job in this folder. */
function sealOf(key: Uint8Array, path: string, { seal: _, ...state }: JobState): string {
  return createHmac("sha256", key)
    .update(`${absolute(path)}\n${JSON.stringify(state)}`)
    .digest("hex");
}

/** How a job folder is opened. */
export interface JobOpening {
  /** The key of the user, if there is one. */
  readonly key: Uint8Array | undefined;
  /** The folder is in a place that others may have filled: only a job with the user's seal is taken for ours. */
  readonly needsSeal: boolean;
  /** Who may read the folder, at most. */
  readonly access: Access | undefined;
}

/** What a job folder is called where nobody has named it; the second one in a folder ends in -2, and so on. */
export const JOB_NAME = "holotype-job";

/** Whether a folder of this name is a job's, as far as its name says. */
export function isJobFolder(name: string): boolean {
  return NUMBERED_JOB.test(name);
}

/** The job folders in a folder, the oldest first. */
export function jobFoldersIn(disk: Disk, folder: string): string[] {
  if (disk.stat(folder)?.kind !== "folder") return [];
  const numbered = disk.list(folder).flatMap(({ name, kind }) => {
    const found = kind === "folder" ? NUMBERED_JOB.exec(name) : null;
    return found === null ? [] : [{ path: `${folder}/${name}`, number: Number(found[1] ?? 1) }];
  });
  return numbered.sort((one, other) => one.number - other.number).map(({ path }) => path);
}

const NUMBERED_JOB = /^holotype-job(?:-([1-9]\d{0,5}))?$/;

/**
 * Where a job is kept in a folder: in the one that is this job; else in one behind those that are finished, which must
 * stay, since their ledgers prove the undo. One that is neither stands in the way, and who opens it learns of that.
 */
export function jobFolderIn(disk: Disk, folder: string, wanted: JobState, key: Uint8Array | undefined): string {
  const there = jobFoldersIn(disk, folder);
  const same = there.findLast((path) => {
    const state = readOwnState(disk, path, key);
    if (state === undefined || differenceOf(state, wanted) !== undefined) return false;
    return !isFinished(disk, path) || isAsLeft(disk, path);
  });
  const last = there.at(-1);
  if (same !== undefined || last === undefined) return same ?? `${folder}/${JOB_NAME}`;
  if (!isFinished(disk, last)) return last;
  const number = Number(NUMBERED_JOB.exec(last.slice(folder.length + 1))?.[1] ?? 1);
  return `${folder}/${JOB_NAME}-${number + 1}`;
}

/** The state of a job that the key's user began; absent where it is another's, whatever is in it. */
function readOwnState(disk: Disk, path: string, key: Uint8Array | undefined): JobState | undefined {
  try {
    const state = readState(disk, `${path}/job.json`);
    return state !== undefined && isSealed(state, path, key) ? state : undefined;
  } catch (error) {
    if (!(error instanceof ArchiveError)) throw error;
    return undefined;
  }
}

function isSealed(state: JobState, path: string, key: Uint8Array | undefined): boolean {
  return key !== undefined && state.seal === sealOf(key, path, state);
}

const FOLDERS = ["manifest", "resolved", "ledger"] as const;
const RESULTS = ["sorted.tsv", "plan.tsv", "copies.tsv", "report.html", "result.json", "report.json"] as const;
/** How the name of a ledger ends that is not finished. */
export const DRAFT = ".draft";

export class JobFolder implements Disposable {
  readonly path: string;
  readonly state: JobState;
  /** The job was begun by an earlier run. */
  readonly resumed: boolean;
  private readonly disk: Disk;
  private readonly lock: Lock;

  private constructor(disk: Disk, path: string, state: JobState, resumed: boolean, lock: Lock) {
    this.disk = disk;
    this.path = path;
    this.state = state;
    this.resumed = resumed;
    this.lock = lock;
  }

  /** Opens the job in the folder, or begins one. Throws where the folder holds another job, or one of somebody else. */
  static open(
    disk: Disk,
    path: string,
    { key, needsSeal, access }: JobOpening,
    begin: () => { state: JobState; files: readonly JobFile[] },
  ): JobFolder {
    refuseLinks(disk, path, needsSeal);
    if (needsSeal) refuseUnsealed(disk, path, key);
    makeJobFolder(disk, path, access);
    const lock = disk.lock(`${path}/lock`);
    try {
      removeLeftovers(disk, path);
      const wanted = begin();
      const there = readState(disk, `${path}/job.json`);
      if (there === undefined) {
        refuseForeign(disk, path);
        for (const name of FOLDERS) disk.makeFolder(`${path}/${name}`);
        writeTextLines(disk, `${path}/files.jsonl`, wanted.files.map(formatJobFile));
        const seal = key === undefined ? undefined : sealOf(key, path, wanted.state);
        writeTextLines(disk, `${path}/job.json`, [JSON.stringify({ ...wanted.state, seal })]);
        return new JobFolder(disk, path, wanted.state, false, lock);
      }
      const difference = differenceOf(there, wanted.state);
      if (difference !== undefined) {
        const advice = isFinished(disk, path)
          ? "it is finished, so choose another folder with -o, or with --job"
          : "finish that with its own command, or choose another folder with --job";
        const warning = "keep this one: its ledger proves the undo";
        const message = `${path} holds another job (${difference}); ${advice} (${warning})`;
        throw new ArchiveError("HT_EXISTS", message, { file: path });
      }
      refuseOtherPaths(disk, path, wanted.files);
      for (const name of FOLDERS)
        if (disk.stat(`${path}/${name}`) !== undefined) removeLeftovers(disk, `${path}/${name}`);
      for (const { name } of disk.stat(`${path}/ledger`) === undefined ? [] : disk.list(`${path}/ledger`))
        if (name.endsWith(DRAFT)) disk.remove(`${path}/ledger/${name}`);
      return new JobFolder(disk, path, there, true, lock);
    } catch (error) {
      lock.release();
      throw error;
    }
  }

  file(name: string): string {
    return `${this.path}/${name}`;
  }

  has(name: string): boolean {
    return this.disk.stat(this.file(name)) !== undefined;
  }

  /** Makes a file of lines, unless it is there from an earlier run. */
  makeLines(name: string, lines: () => Iterable<string>): void {
    if (!this.has(name)) writeTextLines(this.disk, this.file(name), lines());
  }

  /** The same of chunks that end with lines. */
  makeText(name: string, chunks: () => Iterable<Uint8Array>): void {
    if (this.has(name)) return;
    const fill = (output: ByteSink) => {
      for (const chunk of chunks()) output.write(chunk);
    };
    createDurably(this.disk, this.file(name), fill, { replace: true });
  }

  lines(name: string): Generator<string> {
    return readTextLines(this.disk, this.file(name));
  }

  /** Removes what is of no use once the job is finished. */
  clear(names: readonly string[]): void {
    for (const name of names) {
      const path = this.file(name);
      const stat = this.disk.stat(path);
      if (stat?.kind === "folder") for (const entry of this.disk.list(path)) this.disk.remove(`${path}/${entry.name}`);
      this.disk.remove(path);
    }
    this.disk.syncFolder(this.path);
  }

  [Symbol.dispose](): void {
    this.lock.release();
  }
}

/** We make no links. One in the place of a folder would have us write wherever it leads. */
function refuseLinks(disk: Disk, path: string, alsoItself: boolean): void {
  const names = [...(alsoItself ? [path] : []), ...FOLDERS.map((name) => `${path}/${name}`)];
  const link = names.find((name) => !["folder", undefined].includes(disk.statLink(name)?.kind));
  if (link === undefined) return;
  throw new ArchiveError("HT_EXISTS", `${link}: not a folder; remove it, or choose another folder with --job`, {
    file: link,
  });
}

function refuseUnsealed(disk: Disk, path: string, key: Uint8Array | undefined): void {
  if (disk.stat(`${path}/job.json`) === undefined || readOwnState(disk, path, key) !== undefined) return;
  const message =
    `${path}: a job that this user did not begin, or on another machine; if it is yours, name it with --job ${path}, ` +
    "else remove it or choose another folder with --job";
  throw new ArchiveError("HT_EXISTS", message, { file: path });
}

/** What is in the folder tells of the files of the job, so it may be read by those who may read all of them. */
function makeJobFolder(disk: Disk, path: string, access: Access | undefined): void {
  const there = disk.stat(path);
  const limit = access && folderAccess(access);
  if (there === undefined || limit === undefined) return disk.makeFolder(path, limit);
  const shared = there.permissions & 0o044;
  if ((shared & ~limit.permissions) === 0) return;
  const message = `${path}: readable to more people than the files of the job; chmod go-rx it, or choose another with --job`;
  throw new ArchiveError("HT_EXISTS", message, { file: path });
}

/** Where files are read and written follows from the command line. A job that says otherwise was begun elsewhere. */
function refuseOtherPaths(disk: Disk, path: string, wanted: readonly JobFile[]): void {
  const there = loadJobFiles(disk, `${path}/files.jsonl`);
  const isSame = (file: JobFile) => {
    const other = there.get(file.name);
    return other?.path === file.path && other.output === file.output && other.ledger === file.ledger;
  };
  if (there.size === wanted.length && wanted.every(isSame)) return;
  const message = `${path}: begun with other paths; run the command from the folder and with the names it was begun with`;
  throw new ArchiveError("HT_EXISTS", message, { file: path });
}

/**
 * A folder without a job in it must hold nothing under the names that a job uses: it would be taken for a result of the
 * job and removed with those in the end, or it is the ledger of a job whose state is gone.
 */
function refuseForeign(disk: Disk, path: string): void {
  const isEmpty = (name: string) => disk.stat(name)?.kind === "folder" && disk.list(name).length === 0;
  const foreign = [...RESULTS, ...FOLDERS]
    .map((name) => `${path}/${name}`)
    .find((name) => disk.stat(name) !== undefined && !isEmpty(name));
  if (foreign === undefined) return;
  const message = `${foreign}: there already, and no job.json beside it; choose another folder with --job`;
  throw new ArchiveError("HT_EXISTS", message, { file: foreign });
}

/** Whether no file has another content than a finished job left it with, under a name that it knows. */
function isAsLeft(disk: Disk, path: string): boolean {
  const files = loadJobFiles(disk, `${path}/files.jsonl`).values();
  return [...files].every((file) => isRewritten(disk, file) || isUnchanged(disk, file));
}

function isFinished(disk: Disk, path: string): boolean {
  return ["job.json", "report.json"].every((name) => disk.stat(`${path}/${name}`) !== undefined);
}

/** Absent where no job was begun. */
export function readState(disk: Disk, path: string): JobState | undefined {
  if (disk.stat(path) === undefined) return undefined;
  try {
    const [line] = readTextLines(disk, path);
    const state = JSON.parse(line ?? "") as JobState;
    const format: string = state.format;
    if (format === JOB_FORMAT && Array.isArray(state.inputs) && typeof state.settings === "object") return state;
    if (format.startsWith("holotype-job/") && format !== JOB_FORMAT) {
      throw new ArchiveError("HT_FORMAT_TOO_NEW", `${path}: a job of another version: ${format}`, { file: path });
    }
  } catch (cause) {
    if (cause instanceof ArchiveError) throw cause;
    throw notState(path, cause);
  }
  throw notState(path);
}

function notState(path: string, cause?: unknown): ArchiveError {
  const message = `${path}: not the state of a job, or damaged; choose another folder with --job`;
  return new ArchiveError("HT_CORRUPT", message, { file: path }, cause);
}

/** What sets two jobs apart; absent where one goes on with the other. */
function differenceOf(there: JobState, wanted: JobState): string | undefined {
  const settings = Object.keys({ ...there.settings, ...wanted.settings }) as (keyof JobSettings)[];
  const other = settings.find((name) => JSON.stringify(there.settings[name]) !== JSON.stringify(wanted.settings[name]));
  if (other !== undefined) return `with another ${other}`;
  return JSON.stringify(there.inputs) === JSON.stringify(wanted.inputs) ? undefined : "over other files";
}
