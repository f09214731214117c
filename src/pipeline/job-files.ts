/** The files of a job as they were when it began, and whether they still are. */
import { dirname, resolve } from "node:path";
import type { Disk } from "../disk/index.ts";
import { isUrl } from "./http-source.ts";
import { readLedger } from "./ledger.ts";
import { readTextLines } from "./text-lines.ts";

/** One file that the job takes records from. */
export interface JobFile {
  /** How manifests call it. */
  readonly name: string;
  readonly path: string;
  readonly size: number;
  readonly modifiedMs: number;
  /** See `FileStat`; absent in jobs of an earlier version. */
  readonly identity?: string;
  readonly changed?: string;
  /** Where its rewritten form goes; its own path where that is in place. */
  readonly output: string;
  readonly ledger: string;
}

/** The folder that all files lie in, but for those on a server. */
export function commonFolder(files: readonly { readonly path: string }[]): string {
  const paths = files.map(({ path }) => path).filter((path) => !isUrl(path));
  let common = resolve(dirname(paths[0]!));
  for (const path of paths) {
    while (!resolve(path).startsWith(common === "/" ? "/" : `${common}/`)) common = dirname(common);
  }
  return common;
}

export function formatJobFile(file: JobFile): string {
  return JSON.stringify(file);
}

const loaded = new Map<string, ReadonlyMap<string, JobFile>>();

/** The files of a job by name. The list of a job never changes, so each thread reads it once. */
export function loadJobFiles(disk: Disk, path: string): ReadonlyMap<string, JobFile> {
  const stat = disk.stat(path);
  // Another job may have been begun under the same name.
  const key = `${path} ${stat?.identity} ${stat?.modifiedMs} ${stat?.sizeBytes}`;
  const there = loaded.get(key);
  if (there !== undefined) return there;
  const files = new Map<string, JobFile>();
  for (const line of readTextLines(disk, path)) {
    const file = JSON.parse(line) as JobFile;
    files.set(file.name, file);
  }
  loaded.clear();
  loaded.set(key, files);
  return files;
}

/** The file that a record lies in by its manifest: an entry of a ZIP file lies in what is named before some mark. */
export function fileOf(files: ReadonlyMap<string, JobFile>, name: string): JobFile | undefined {
  for (let end = name.length; end > 0; end = name.lastIndexOf("!", end - 1)) {
    const file = files.get(name.slice(0, end));
    if (file !== undefined) return file;
  }
  return undefined;
}

/** The file is as it was when the job began, by its size and its time, which anybody can set. */
export function isUnchanged(disk: Disk, file: JobFile): boolean {
  const stat = disk.stat(file.path);
  return stat?.sizeBytes === file.size && stat.modifiedMs === file.modifiedMs;
}

/** It is that very file, and nothing was done to it since: what was read of it in this run still holds. */
export function isUntouched(disk: Disk, file: JobFile): boolean {
  const stat = disk.stat(file.path);
  if (file.identity !== undefined && (stat?.identity !== file.identity || stat.changed !== file.changed)) return false;
  return isUnchanged(disk, file);
}

/** The file was rewritten in place by this job, as its ledger tells. */
export function isRewritten(disk: Disk, file: JobFile): boolean {
  const ledger = readLedger(disk, file.ledger);
  return ledger !== undefined && disk.stat(file.output)?.sizeBytes === ledger.head.output.size;
}
