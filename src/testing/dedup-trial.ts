/** Deduplication of a few small files on a disk in memory, and all that came of it. */
import type { Warning } from "../base/index.ts";
import type { Disk } from "../disk/index.ts";
import {
  type DedupOptions,
  type DedupResult,
  dedup,
  type ManifestLine,
  parseManifestLine,
  readTextLines,
  type SkippedInput,
} from "../pipeline/index.ts";
import { ForgetfulDisk } from "./forgetful-disk.ts";

/** A file in memory. */
export interface ArchiveFile {
  readonly name: string;
  readonly bytes: Buffer;
}

export interface DedupTrial {
  readonly disk: Disk;
  readonly result: DedupResult;
  readonly warnings: readonly Warning[];
  readonly skipped: readonly SkippedInput[];
  /** What is in the output folder, but for the job's own. */
  readonly output: readonly ArchiveFile[];
  readonly plan: readonly ManifestLine[];
}

export const INPUT_FOLDER = "/in";
export const OUTPUT_FOLDER = "/out";

export function putFile(disk: Disk, path: string, bytes: Uint8Array): void {
  disk.makeFolder(path.slice(0, path.lastIndexOf("/")));
  using file = disk.open(path, "replace");
  file.write(bytes, 0);
}

export function getFile(disk: Disk, path: string): Buffer {
  using file = disk.open(path, "read");
  const bytes = Buffer.alloc(file.size());
  file.read(bytes, 0);
  return bytes;
}

/** Every file below a folder, by its path from there. */
export function listFiles(disk: Disk, folder: string): ArchiveFile[] {
  return disk.list(folder).flatMap(({ name, kind }) => {
    const path = `${folder}/${name}`;
    if (kind !== "folder") return [{ name, bytes: getFile(disk, path) }];
    return listFiles(disk, path).map((file) => ({ ...file, name: `${name}/${file.name}` }));
  });
}

/** The plan that a job with `keep` left. */
export function readPlan(disk: Disk, job: string): ManifestLine[] {
  return [...readTextLines(disk, `${job}/plan.tsv`)].map((line) => parseManifestLine(line, "plan.tsv"));
}

let trials = 0;

/** Files that are named without a folder go into one; `names` are the inputs, all of them where it is absent. */
export async function dedupTrial(
  files: readonly ArchiveFile[],
  options: Partial<DedupOptions> = {},
  names: readonly string[] = [INPUT_FOLDER],
): Promise<DedupTrial> {
  const disk = new ForgetfulDisk();
  for (const { name, bytes } of files) putFile(disk, `${INPUT_FOLDER}/${name}`, bytes);
  // Settings of a job are told apart by its folder.
  const output = `${OUTPUT_FOLDER}/${++trials}`;
  disk.makeFolder(output);
  const warnings: Warning[] = [];
  const skipped: SkippedInput[] = [];
  const result = await dedup(disk, names, {
    output,
    threads: 1,
    keep: true,
    onWarning: (warning) => void warnings.push(warning),
    onSkip: (input) => void skipped.push(input),
    ...options,
  });
  const isOurs = ({ name }: ArchiveFile) => name.startsWith("holotype-job/");
  return {
    disk,
    result,
    warnings,
    skipped,
    output: listFiles(disk, output).filter((file) => !isOurs(file)),
    plan: options.dryRun === true ? [] : readPlan(disk, result.job),
  };
}
