/**
 * The two parts of `verify` that can be done on any thread, piece by piece: comparing a file with its original, and
 * proving a stretch of revisits. What they find goes to a file of lines, since there may be any number of it.
 */
import { formatPlace, loadDigest } from "../../base/index.ts";
import type { Disk } from "../../disk/index.ts";
import { type ByteSource, loadZstd } from "../../warc/index.ts";
import { parseCapture, type RevisitLine } from "../capture-line.ts";
import { detectCompression } from "../compression.ts";
import { type Input, openInput } from "../inputs.ts";
import type { StageEvents } from "../stage-job.ts";
import { readTextLines } from "../text-lines.ts";
import { compareFiles, type Parting } from "./against.ts";
import type { RebuildPair } from "./closure.ts";
import { findDifferences, type GoneRecord } from "./difference.ts";
import type { FoundProblem } from "./problems.ts";
import { Rebuilder } from "./rebuild.ts";
import { loadInputs, ScratchWriter } from "./scratch.ts";

/** A line that a job leaves; one of these. */
export interface FoundLine {
  readonly problem?: FoundProblem;
  /** A record that is not in the original as it is: offset and length. */
  readonly touched?: readonly [offset: number, length: number];
  /** A record of the original that held a payload, and is no more as it was. */
  readonly gone?: GoneRecord;
}

export interface VerifyAgainstJob {
  readonly kind: "verify-against";
  /** The file and its original, with their indexes. */
  readonly file: { readonly input: Input; readonly index: number };
  readonly original: { readonly input: Input; readonly index: number };
  /** The lines of the reading, and the stretch of them that is this file's. */
  readonly captures: string;
  readonly start: number;
  readonly end: number;
  readonly output: string;
}

export interface VerifyAgainstResult {
  /** All bytes outside of what was replaced are the same. */
  readonly equal: boolean;
  /** Records of the original that stand as revisits. */
  readonly standing: number;
}

export interface VerifyRebuildJob {
  readonly kind: "verify-rebuild";
  /** The inputs by their index, see `scratch.ts`. */
  readonly inputs: string;
  readonly pairs: string;
  readonly start: number;
  readonly end: number;
  readonly output: string;
}

export interface VerifyRebuildResult {
  readonly proven: number;
}

export async function doVerifyRebuildJob(
  disk: Disk,
  job: VerifyRebuildJob,
  events: StageEvents,
): Promise<VerifyRebuildResult> {
  await loadZstd();
  await loadDigest("blake3");
  using output = new ScratchWriter(disk, job.output);
  const tell = (problem: FoundProblem) => put(output, { problem });
  using rebuilder = new Rebuilder(disk, loadInputs(disk, job.inputs), tell);
  const progress = everyBytes(PAIRS_STEP, events.onProgress);
  let done = 0;
  for (const line of readTextLines(disk, job.pairs, job.start, job.end)) {
    rebuilder.prove(JSON.parse(line.slice(line.indexOf("{"))) as RebuildPair);
    done += Buffer.byteLength(line) + 1;
    progress(done);
  }
  return { proven: rebuilder.proven };
}

export async function doVerifyAgainstJob(
  disk: Disk,
  job: VerifyAgainstJob,
  events: StageEvents,
): Promise<VerifyAgainstResult> {
  await loadZstd();
  const onProgress = everyBytes(FILE_STEP, events.onProgress);
  // A WACZ is never rewritten, and there is more in it than records.
  const isEntry = job.file.input.entries.length > 0 && job.original.input.entries.length > 0;
  if (isEntry && areContainersEqual(disk, job.file.input.path, job.original.input.path)) {
    new ScratchWriter(disk, job.output)[Symbol.dispose]();
    return { equal: true, standing: 0 };
  }
  const file = openInput(disk, job.file.input);
  try {
    const original = openInput(disk, job.original.input);
    try {
      return compare(disk, job, { file, original }, { ...events, onProgress });
    } finally {
      original.close?.();
    }
  } finally {
    file.close?.();
  }
}

const PAIRS_STEP = 1 << 16;
const FILE_STEP = 16 << 20;

/** Progress that is told now and then. */
function everyBytes(step: number, tell: (bytes: number) => void): (bytes: number) => void {
  let told = 0;
  return (bytes) => {
    if (Math.abs(bytes - told) < step) return;
    told = bytes;
    tell(bytes);
  };
}

let compared: { readonly paths: string; readonly equal: boolean } | undefined;

/** Entries of one container come one after another, so the last answer is kept. */
function areContainersEqual(disk: Disk, path: string, originalPath: string): boolean {
  const paths = JSON.stringify([path, originalPath]);
  if (compared?.paths === paths) return compared.equal;
  const open = (name: string) => openInput(disk, { name, path: name, entries: [], size: undefined });
  const [file, original] = [open(path), open(originalPath)];
  try {
    const equal =
      compareFiles(
        file,
        original,
        [],
        () => {},
        () => {},
      ) === undefined;
    compared = { paths, equal };
    return equal;
  } finally {
    file.close?.();
    original.close?.();
  }
}

function put(output: ScratchWriter, line: FoundLine): void {
  output.write(`${JSON.stringify(line)}\n`);
}

interface Sources {
  readonly file: ByteSource;
  readonly original: ByteSource;
}

function compare(disk: Disk, job: VerifyAgainstJob, sources: Sources, events: StageEvents): VerifyAgainstResult {
  const { file, original } = sources;
  const isSeekable = [file, original].every(({ seekable, size }) => seekable && size !== undefined);
  if (!isSeekable) return compareRecords(disk, job, sources, undefined, events);
  let standing = 0;
  let parting: Parting | undefined;
  {
    using output = new ScratchWriter(disk, job.output);
    parting = compareFiles(
      file,
      original,
      oursOf(disk, job),
      ({ revisit, record }) => {
        standing++;
        put(output, { touched: [revisit.offset, revisit.length!] });
        put(output, { gone: record });
      },
      events.onProgress,
    );
    if (parting === undefined) noteContainer(output, job, `its bytes are those of ${original.name}`);
  }
  return parting === undefined ? { equal: true, standing } : compareRecords(disk, job, sources, parting, events);
}

function* oursOf(disk: Disk, { captures, start, end }: VerifyAgainstJob): Generator<RevisitLine> {
  if (start === end) return;
  for (const line of readTextLines(disk, captures, start, end)) {
    const capture = parseCapture(line);
    if (capture.kind === "revisit" && capture.ours === true) yield capture;
  }
}

/** Of an entry that is as it was in a ZIP file that is not. */
function noteContainer(output: ScratchWriter, { file }: VerifyAgainstJob, equal: string): void {
  if (file.input.entries.length === 0) return;
  const message = `${equal}, but the ZIP file around it differs`;
  put(output, { problem: { code: "HT_RECOMPRESSED", message, file: file.index, offset: 0 } });
}

/** The bytes differ, or cannot be compared: do the records? */
function compareRecords(
  disk: Disk,
  job: VerifyAgainstJob,
  { file, original }: Sources,
  parting: Parting | undefined,
  events: StageEvents,
): VerifyAgainstResult {
  using output = new ScratchWriter(disk, job.output);
  let standing = 0;
  const here = (code: FoundProblem["code"], message: string, offset: number) =>
    put(output, { problem: { code, message, file: job.file.index, offset } });
  const { differences, damaged } = findDifferences(file, original, {
    onDifference: ({ code, message, offset, originalOffset }) => {
      if (code !== "HT_LOST") return here(code, message, offset!);
      put(output, { problem: { code, message, file: job.original.index, offset: originalOffset! } });
    },
    onTouched: (offset, length) => put(output, { touched: [offset, length] }),
    onGone: ({ uri, date, id }) => put(output, { gone: { uri, date, id } }),
    onStanding: () => {
      standing++;
    },
    onProgress: events.onProgress,
  });
  if (differences === 0 && parting === undefined)
    noteContainer(output, job, `its records are those of ${original.name}`);
  if (differences === 0 && parting !== undefined) {
    const there = formatPlace({ file: original.name, offset: parting.originalOffset });
    const isPlain = [file, original].every((source) => detectCompression(source) === "none");
    // Only compression can make other bytes of the same records.
    if (damaged || isPlain)
      here("HT_LOST", `bytes outside of the records differ from those at ${there}`, parting.offset);
    else here("HT_RECOMPRESSED", `its bytes differ from those at ${there}, its records do not`, parting.offset);
  }
  return { equal: false, standing };
}
