/**
 * The undoing of `dedup`: every file comes back with the records in it that were replaced, each put together from its
 * revisit and its original and proven by digest. A file in which one cannot be proven does not get its name.
 */
import { resolve as absolute, dirname, relative } from "node:path";
import { ArchiveError, type Warning } from "../../base/index.ts";
import type { Disk } from "../../disk/index.ts";
import { jobFoldersIn } from "../job-folder.ts";
import { formatColumn } from "../manifest-line.ts";
import type { RestoredFile, RestoreJob } from "./job.ts";
import { LedgerShelf } from "./ledger.ts";
import { type RestoreGround, type RestoreOutcome, type RestoreRunOptions, runRestore } from "./run.ts";

export interface RestoreOptions extends RestoreRunOptions {
  /** The job folders of the deduplications; default those in the folders that are named, or beside the files. */
  readonly jobs?: readonly string[] | undefined;
  readonly onFile?: ((file: RestoredFile) => void) | undefined;
  /** What was found on the way: for people. */
  readonly onTell?: ((message: string) => void) | undefined;
}

export interface RestoreResult extends RestoreOutcome {
  readonly files: readonly RestoredFile[];
  /** Records that were put together again, in all files. */
  readonly restored: number;
}

/** Restores the files that the names stand for into the folder `output`, under their names and relative paths. */
export async function restore(disk: Disk, names: readonly string[], options: RestoreOptions): Promise<RestoreResult> {
  const files: RestoredFile[] = [];
  const { skipped, failed } = await runRestore(
    disk,
    names,
    options,
    (ground) => jobsFor(disk, ground, openShelf(disk, names, options)),
    (file) => {
      files.push(file);
      options.onFile?.(file);
    },
  );
  return { files, restored: files.reduce((sum, file) => sum + file.restored, 0), skipped, failed };
}

/** A job for each file; a WACZ is one file with many inputs. */
function jobsFor(disk: Disk, { inputs, plan, root, output, access }: RestoreGround, shelf: LedgerShelf): RestoreJob[] {
  const jobs = new Map<string, RestoreJob & { readonly parts: RestoreJob["parts"][number][] }>();
  for (const { name, path } of inputs) {
    let job = jobs.get(path);
    if (job === undefined) {
      const size = disk.stat(path)?.sizeBytes ?? 0;
      const target = `${output}/${relative(root, absolute(path))}`;
      const ledger = shelf.find(path, size);
      job = { kind: "restore", name: path, path, size, output: target, plan: plan.path, parts: [], ledger, access };
      jobs.set(path, job);
    }
    const stretch = plan.stretches.get(formatColumn(name));
    if (stretch !== undefined) job.parts.push({ name, stretch });
  }
  return [...jobs.values()];
}

function openShelf(disk: Disk, names: readonly string[], options: RestoreOptions): LedgerShelf {
  const { jobs = [], onTell, onWarning } = options;
  const absent = jobs.find((job) => disk.stat(job)?.kind !== "folder");
  if (absent !== undefined) throw new ArchiveError("HT_NOT_FOUND", `${absent}: no such folder`, { file: absent });
  const beside = names.map((name) => (disk.stat(name)?.kind === "folder" ? name : dirname(name)));
  const folders = jobs.length === 0 ? beside.flatMap((folder) => jobFoldersIn(disk, folder)) : jobs;
  for (const folder of new Set(folders)) {
    if (disk.stat(`${folder}/job.json`) !== undefined && disk.stat(`${folder}/report.json`) === undefined) {
      onTell?.(`the deduplication in ${folder} is not finished; what it has written is restored`);
    }
  }
  return new LedgerShelf(disk, folders, (warning: Warning) => onWarning?.(warning));
}
