/**
 * Deduplication after the crawl, from start to end on one machine: manifest, resolve, plan, rewrite, report. Every stage
 * leaves its result in the job folder, so that the same call goes on where the last one stopped.
 */
import { resolve as absolute, basename, dirname, relative } from "node:path";
import { ArchiveError, type Clock, type DigestAlgorithm, systemClock, type Warning } from "../base/index.ts";
import { mimeFilter, type Policy } from "../dedup/index.ts";
import { type Disk, scratchFolder, userKey } from "../disk/index.ts";
import { DedupRun } from "./dedup-run.ts";
import { isUrl } from "./http-source.ts";
import { accessOf } from "./input-access.ts";
import { findInputs, type Input, type SkippedInput, STANDARD_INPUT } from "./inputs.ts";
import { commonFolder, type JobFile } from "./job-files.ts";
import { JOB_FORMAT, JOB_NAME, JobFolder, type JobState, jobFolderIn } from "./job-folder.ts";
import { checkKnown } from "./known-index.ts";
import { formatColumn } from "./manifest-line.ts";
import { copySidecars, findSidecars } from "./sidecars.ts";

export interface DedupOptions {
  /** Folder for the rewritten files; absent to rewrite them in place. */
  readonly output?: string | undefined;
  /** Where the job keeps its state and its ledger; default `holotype-job` in the output, or beside the files. */
  readonly job?: string | undefined;
  readonly digest?: DigestAlgorithm | undefined;
  readonly policy?: Policy | undefined;
  /** Manifests, CDX or CDXJ files of earlier holdings that may be referred to. */
  readonly known?: readonly string[] | undefined;
  /**
   * Folders, files or URLs where originals lie that `known` or `plan` tell of. In place, a record is replaced only for an
   * original that was found there and compared; with `output`, one that cannot be found is believed in and counted.
   */
  readonly originals?: readonly string[] | undefined;
  /** Compare payloads of one digest byte for byte; true unless said otherwise. */
  readonly compare?: boolean | undefined;
  /** A plan that was made by the stages one by one: only the rewriting is done. */
  readonly plan?: string | undefined;
  /** Find out what would be saved, and change nothing. */
  readonly dryRun?: boolean | undefined;
  /** Read every output back before it gets its name; true unless said otherwise, which is for measuring only. */
  readonly prove?: boolean | undefined;
  /** Keep manifests and plan in the job folder when it is finished. */
  readonly keep?: boolean | undefined;
  readonly threads?: number | undefined;
  readonly clock?: Clock | undefined;
  /** Name and version of the program, for the report. */
  readonly software?: string | undefined;
  readonly onProgress?: ((progress: DedupProgress) => void) | undefined;
  readonly onWarning?: ((warning: Warning) => void) | undefined;
  readonly onSkip?: ((skipped: SkippedInput) => void) | undefined;
  /** Copy other files of the input folders to the output folder, too. */
  readonly withSidecars?: boolean | undefined;
  /** What is about to be done, or was found done: for people. */
  readonly onTell?: ((message: string) => void) | undefined;
}

export type DedupStage = "reading" | "sorting" | "comparing" | "planning" | "rewriting" | "reporting";

export interface DedupProgress {
  readonly stage: DedupStage;
  readonly done: number;
  readonly total: number;
  /** Bytes saved so far. */
  readonly saved: number;
}

/** Duplicates in files of one kind, in which nothing can be replaced. */
export interface FixedDuplicates {
  readonly kind: FixedKind;
  /** Files that have some. */
  readonly files: number;
  readonly records: number;
  /** Bytes that the records take in their files: more than can be saved. */
  readonly bytes: number;
}

/** An ARC file, an entry of a WACZ or another ZIP file, a file on a server. */
export type FixedKind = "arc" | "wacz" | "server";

export interface DedupResult {
  readonly job: string;
  readonly resumed: boolean;
  readonly files: number;
  readonly filesChanged: number;
  /** Response and resource records looked at. */
  readonly records: number;
  /** Records that are copies of others, and how many of them were replaced. */
  readonly duplicates: number;
  readonly replaced: number;
  /** How many of these refer to originals that were not read: an index or a plan claims them. */
  readonly claims: number;
  /** Copies that stayed as they are, by reason. */
  readonly left: Readonly<Record<string, number>>;
  /** The ones among these that would be replaced if their files could be rewritten; left as `fixed`. */
  readonly fixed: readonly FixedDuplicates[];
  readonly bytesBefore: number;
  readonly bytesAfter: number;
  /** Payloads that had the digest of another, and were not it. */
  readonly collisions: number;
  /** Revisits of the input whose originals were not found. */
  readonly orphans: number;
  readonly damage: number;
  readonly skipped: readonly SkippedInput[];
  /** With an output folder: inputs that lie there as they were, since they cannot be rewritten or could not be read. */
  readonly copied: readonly string[];
  /** With an output folder: inputs that are not in it. */
  readonly absent: readonly string[];
  /** With an output folder: other files of the input folders, and whether those are in it. */
  readonly sidecars: { readonly names: readonly string[]; readonly copied: boolean };
  readonly report: { readonly json: string; readonly html: string } | undefined;
}

/** How Heritrix and others call a file while they write to it. */
const OPEN_NAME = /\.open$/i;
const STRETCH_SIZE_MIN = 1 << 18;
const STRETCH_SIZE_MAX = 16 << 20;
const STRETCHES = 32;
/** A line of a manifest stands for about this many bytes of archive. */
const BYTES_A_LINE = 50;

/** Deduplicates the archive files that the names stand for. */
export async function dedup(disk: Disk, names: readonly string[], options: DedupOptions): Promise<DedupResult> {
  // Mistakes are found now, not when all has been read: a job keeps what it was asked for.
  mimeFilter(options.policy ?? {});
  for (const path of options.known ?? []) checkKnown(disk, path, options.digest ?? "sha256");
  if (options.plan !== undefined) disk.open(options.plan, "read").close();
  checkOriginals(disk, options);
  const skipped: SkippedInput[] = [];
  const onSkip = (input: SkippedInput) => {
    skipped.push(input);
    options.onSkip?.(input);
  };
  const taken = findInputs(disk, names, onSkip);
  // What cannot be taken apart can be copied as it is.
  const whole = options.output === undefined ? [] : wholeFiles(disk, skipped, taken);
  const found = leaveOutOutput(disk, taken, names, options);
  const inputs = takeOnce(disk, options.output === undefined ? leaveAlone(disk, found, onSkip) : found, onSkip);
  if (inputs.length === 0) throw new ArchiveError("HT_NOT_FOUND", "no archive file to deduplicate");
  refuseNamesakes(inputs);
  if (inputs.every(({ path }) => isUrl(path))) {
    const message = `${inputs[0]!.path}: files on a server may be referred to; name some that can be rewritten`;
    throw new ArchiveError("HT_USAGE", message, { file: inputs[0]!.path });
  }
  using scratch = options.dryRun === true ? scratchFolder(disk) : undefined;
  const state = jobState(inputs, options);
  // A scratch folder is new, and what is named is meant.
  const needsSeal = scratch === undefined && options.job === undefined && isAmongInputs(disk, names, options);
  const key = needsSeal ? userKey(disk) : undefined;
  const folder = scratch?.path ?? options.job ?? jobFolderFor(disk, inputs, options, state, key);
  using job = JobFolder.open(disk, folder, { key, needsSeal, access: accessOf(disk, inputs) }, () => ({
    state,
    files: listFiles(disk, [...inputs, ...whole], folder, options.output),
  }));
  const result = await new DedupRun(disk, job, inputs, options, skipped).run();
  if (options.output === undefined) return result;
  const paths = new Set([...taken, ...whole].map(({ path }) => path));
  return { ...result, ...handleSidecars(disk, names, paths, commonFolder(inputs), options, onSkip) };
}

/** Files that are no archives, though they have the names of some, or ZIP files that cannot be read. */
function wholeFiles(disk: Disk, skipped: readonly SkippedInput[], taken: readonly Input[]): Input[] {
  const paths = new Set(taken.map(({ path }) => path));
  return skipped.flatMap(({ name }) => {
    const stat = disk.stat(name);
    if (stat?.kind !== "file" || paths.has(name)) return [];
    paths.add(name);
    return [{ name, path: name, entries: [], size: stat.sizeBytes }];
  });
}

function handleSidecars(
  disk: Disk,
  names: readonly string[],
  taken: ReadonlySet<string>,
  root: string,
  { output, withSidecars = false, dryRun }: DedupOptions,
  onSkip: (skipped: SkippedInput) => void,
): Pick<DedupResult, "sidecars"> {
  const sidecars = findSidecars(disk, names, taken, output!);
  const copied = withSidecars && dryRun !== true;
  if (copied) copySidecars(disk, sidecars, { root, output: output! }, (name, error) => onSkip({ name, error }));
  return { sidecars: { names: sidecars, copied } };
}

/** In place, a payload that went on the word of an index would be gone for good. */
function checkOriginals(disk: Disk, { known = [], originals = [], output, dryRun }: DedupOptions): void {
  if (known.length > 0 && originals.length === 0 && output === undefined && dryRun !== true) {
    const message =
      "in place, --known needs --originals: a record goes only for an original that was read and compared";
    throw new ArchiveError("HT_USAGE", message);
  }
  const absent = originals.find((path) => !isUrl(path) && disk.stat(path) === undefined);
  if (absent === undefined) return;
  throw new ArchiveError("HT_NOT_FOUND", `${absent}: no such file or folder`, { file: absent });
}

/** One file under two names is one file: its records are no duplicates of themselves. */
function takeOnce(disk: Disk, inputs: readonly Input[], onSkip: (skipped: SkippedInput) => void): Input[] {
  const names = new Map<string, string>();
  return inputs.filter((input) => {
    if (input.path === STANDARD_INPUT) throw new ArchiveError("HT_USAGE", "standard input cannot be deduplicated");
    const key = [disk.stat(input.path)?.identity ?? input.path, ...input.entries].join("!");
    const twin = names.get(key);
    names.set(key, input.name);
    if (twin === undefined) return true;
    const message = `${input.name}: the same file as ${twin}`;
    if (twin !== input.name) onSkip({ name: input.name, error: new ArchiveError("HT_EXISTS", message) });
    return false;
  });
}

/** Names that a manifest writes alike: records of one file would be taken for those of the other. */
function refuseNamesakes(inputs: readonly Input[]): void {
  const names = new Map<string, string>();
  for (const { name, path } of inputs) {
    const column = formatColumn(name);
    const twin = names.get(column);
    if (twin !== undefined) {
      const message = `${JSON.stringify(path)}: a manifest cannot tell it from ${JSON.stringify(twin)}; rename one of them`;
      throw new ArchiveError("HT_USAGE", message, { file: path });
    }
    names.set(column, name);
  }
}

/**
 * In place, what a crawler still writes to is left alone: it would go on writing to the file that was swapped away. And
 * so is a symbolic link: it would be swapped for a file, and where it led to would stay as it is. A segment of an archive
 * or a volume of ours would not be where its catalogue says any more.
 */
function leaveAlone(disk: Disk, inputs: readonly Input[], onSkip: (skipped: SkippedInput) => void): Input[] {
  const links = new Map<string, ReadonlySet<string>>();
  const isLink = (path: string) => {
    const folder = dirname(path);
    const there = links.get(folder) ?? new Set(linksIn(disk, folder));
    links.set(folder, there);
    return there.has(basename(path));
  };
  return inputs.filter(({ name, path }) => {
    if (isUrl(path)) return true;
    const open = OPEN_NAME.test(path)
      ? "its name says that it is still being written; rename it if it is not"
      : undefined;
    const owner = open ?? ownerOf(disk, path);
    const reason =
      owner ?? (isLink(path) ? "a symbolic link; in place only the file itself can be rewritten" : undefined);
    if (reason !== undefined)
      onSkip({ name, error: new ArchiveError("HT_UNSUPPORTED", `${path}: ${reason}`, { file: path }) });
    return reason === undefined;
  });
}

/** What stands in the folder of an archive, and of a volume. */
const OWNERS = ["archive.json", "volume.json"];

/** Says so where the file lies in an archive or a volume. */
function ownerOf(disk: Disk, path: string): string | undefined {
  for (let folder = dirname(absolute(path)); ; folder = dirname(folder)) {
    for (const name of OWNERS) {
      if (disk.stat(`${folder}/${name}`) !== undefined) {
        return `part of ${folder}, as ${name} there says; what it holds is kept once already`;
      }
    }
    if (folder === dirname(folder)) return undefined;
  }
}

function linksIn(disk: Disk, folder: string): string[] {
  return disk
    .list(folder)
    .filter(({ kind }) => kind === "other")
    .map(({ name }) => name);
}

/** What lies in the output folder is no input: it is what this job wrote before it was stopped, or a mistake. */
function leaveOutOutput(
  disk: Disk,
  inputs: readonly Input[],
  names: readonly string[],
  { output, job = `${output}/${JOB_NAME}` }: DedupOptions,
): readonly Input[] {
  if (output === undefined) return inputs;
  const folder = `${absolute(output)}/`;
  const isInside = (path: string) => `${absolute(path)}/`.startsWith(folder);
  const inside = inputs.find(({ path }) => isInside(path));
  if (inside === undefined) return inputs;
  const isBegun = disk.stat(`${job}/job.json`) !== undefined;
  if (isBegun && !names.some(isInside)) return inputs.filter(({ path }) => !isInside(path));
  throw new ArchiveError("HT_USAGE", `${inside.path}: lies in the output folder ${output}; choose another with -o`);
}

/** Whether the job folder lies where whoever made the inputs could have put one. */
function isAmongInputs(disk: Disk, names: readonly string[], { output }: DedupOptions): boolean {
  if (output === undefined) return true;
  const inside = (name: string) => `${absolute(output)}/`.startsWith(`${absolute(name)}/`);
  return names.some((name) => !isUrl(name) && disk.stat(name)?.kind === "folder" && inside(name));
}

/** A collection that grows is deduplicated in place again and again; a folder for output is written once. */
function jobFolderFor(
  disk: Disk,
  inputs: readonly Input[],
  { output }: DedupOptions,
  state: JobState,
  key: Uint8Array | undefined,
): string {
  return output === undefined ? jobFolderIn(disk, commonFolder(inputs), state, key) : `${output}/${JOB_NAME}`;
}

function jobState(inputs: readonly Input[], options: DedupOptions): JobState {
  const { output, digest = "sha256", policy = {}, compare = true, known = [] } = options;
  const { originals = [], clock = systemClock } = options;
  const bytes = inputs.reduce((sum, input) => sum + (input.size ?? 0), 0);
  const stretch = Math.ceil(bytes / BYTES_A_LINE / STRETCHES);
  return {
    format: JOB_FORMAT,
    startedMs: clock.now(),
    settings: {
      digest,
      policy,
      output: output === undefined ? undefined : absolute(output),
      compare,
      known: known.map((path) => absolute(path)),
      originals: originals.length === 0 ? undefined : originals.map((path) => (isUrl(path) ? path : absolute(path))),
      plan: options.plan === undefined ? undefined : absolute(options.plan),
    },
    // The same names mean other files where the command is run from another folder.
    inputs: inputs.map(({ name }) => (isUrl(name) ? name : absolute(name))),
    stretchSize: Math.min(Math.max(stretch, STRETCH_SIZE_MIN), STRETCH_SIZE_MAX),
  };
}

/** The files behind the inputs, each with the place of its output and its ledger. A WACZ is one file with many inputs. */
function listFiles(disk: Disk, inputs: readonly Input[], folder: string, output: string | undefined): JobFile[] {
  const root = commonFolder(inputs);
  const files = new Map<string, JobFile>();
  for (const { path } of inputs) {
    const stat = disk.stat(path);
    if (stat === undefined || files.has(path)) continue;
    files.set(path, {
      name: formatColumn(path),
      path,
      size: stat.sizeBytes,
      modifiedMs: stat.modifiedMs,
      identity: stat.identity,
      changed: stat.changed,
      output: output === undefined ? path : `${output}/${relative(root, absolute(path)) || basename(path)}`,
      ledger: `${folder}/ledger/${String(files.size + 1).padStart(6, "0")}.tsv`,
    });
  }
  return [...files.values()];
}
