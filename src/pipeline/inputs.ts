/**
 * What may stand on the command line for an archive: a file, a folder of them, a WACZ, one file inside a WACZ
 * (`x.wacz!archive/data.warc.gz`), the URL of a file on a server that answers range requests, or `-` for standard input.
 */
import { ArchiveError } from "../base/index.ts";
import { type Disk, readStandardInput } from "../disk/index.ts";
import {
  type ByteSource,
  fileSource,
  isZip,
  openZipEntry,
  rangeSource,
  readZipEntries,
  type ZipEntry,
} from "../warc/index.ts";
import { isUrl, openUrl } from "./http-source.ts";
import { columnValues } from "./manifest-line.ts";

/** One archive file. Plain data, so that it can be sent to a worker thread. */
export interface Input {
  /** How it is called in listings: the path, and the entry where it lies in a ZIP file. */
  readonly name: string;
  readonly path: string;
  /** Names of ZIP entries, from the outermost in; empty for a file. */
  readonly entries: readonly string[];
  /** Absent for standard input. */
  readonly size: number | undefined;
  /** The CRC-32 of all its bytes, where a ZIP file tells it. */
  readonly crc?: number | undefined;
}

export const STANDARD_INPUT = "-";
const ARCHIVE_NAME = /\.w?arc(?:\.gz|\.zst)?(?:\.open)?$|\.w[ae]t(?:\.gz)?$/i;
const WACZ_NAME = /\.(?:wacz|zip)$/i;

/** Before an entry of a ZIP file that is an entry itself. */
const INNER_MARK = /(?<=\.(?:wacz|zip))!/i;

/** An input that could not be taken, and why. */
export interface SkippedInput {
  readonly name: string;
  readonly error: ArchiveError;
}

/**
 * The archive files that the arguments stand for, in order; a folder's by name. What is named and cannot be taken is
 * reported through `onSkip` and left out.
 */
export function findInputs(disk: Disk, names: readonly string[], onSkip: (skipped: SkippedInput) => void): Input[] {
  const inputs: Input[] = [];
  /** What one file stands for; a bad one in a folder does not take the others with it. */
  const take = (name: string, expand: () => Iterable<Input>) => {
    try {
      for (const input of expand()) inputs.push(input);
    } catch (error) {
      if (!(error instanceof ArchiveError)) throw error;
      onSkip({ name, error });
    }
  };
  for (const name of names) {
    const stat = name === STANDARD_INPUT || isUrl(name) ? undefined : disk.stat(name);
    if (isUrl(name)) take(name, () => expandFile(disk, name, onSkip));
    else if (name === STANDARD_INPUT) inputs.push({ name, path: name, entries: [], size: undefined });
    else if (stat === undefined) take(name, () => [expandEntryName(disk, name)]);
    else if (stat.kind === "folder") {
      take(name, () => {
        const paths = [...listArchives(disk, name, onSkip)];
        if (paths.length === 0)
          throw new ArchiveError("HT_NOT_FOUND", `${name}: no archive file in this folder`, { file: name });
        for (const path of paths) take(path, () => expandFile(disk, path, onSkip));
        return [];
      });
    } else take(name, () => expandFile(disk, name, onSkip));
  }
  return inputs;
}

function expandEntryName(disk: Disk, name: string): Input {
  const [path, ...entries] = splitName(disk, name);
  if (entries.length === 0 || disk.stat(path) === undefined) {
    throw new ArchiveError("HT_NOT_FOUND", `${name}: no such file`, { file: name });
  }
  const input = { name, path, entries, size: undefined };
  const { source, crc } = openFully(disk, input);
  source.close?.();
  return { ...input, size: source.size, crc };
}

/**
 * The file and the ZIP entries that a name stands for. Names of files and entries may have exclamation marks of their
 * own, and tabs and line ends, which manifests escape.
 */
export function splitName(disk: Disk, name: string): [path: string, ...entries: string[]] {
  const parts = name.split("!");
  for (let count = parts.length; count > 0; count--) {
    const path = parts.slice(0, count).join("!");
    const found = columnValues(path).find((candidate) => disk.stat(candidate)?.kind === "file");
    if (found === undefined) continue;
    const rest = parts.slice(count).join("!");
    return rest === "" ? [found] : [found, ...rest.split(INNER_MARK)];
  }
  return parts as [string, ...string[]];
}

/** Paths of the archive files in a folder and those below it, by name. Links to folders are not followed. */
function* listArchives(disk: Disk, folder: string, onSkip: (skipped: SkippedInput) => void): Generator<string> {
  const prefix = folder.endsWith("/") ? folder : `${folder}/`;
  for (const { name, kind } of disk.list(folder)) {
    const path = `${prefix}${name}`;
    if (kind === "folder") yield* listBelow(disk, path, onSkip);
    else if (!ARCHIVE_NAME.test(name) && !WACZ_NAME.test(name)) continue;
    // One that is not found under the name it has (of bytes that are no UTF-8) must be told of, not passed over.
    else if (kind === "file" || disk.stat(path)?.kind === "file") yield path;
  }
}

/** A folder that cannot be read does not take the others with it. */
function* listBelow(disk: Disk, folder: string, onSkip: (skipped: SkippedInput) => void): Generator<string> {
  try {
    yield* listArchives(disk, folder, onSkip);
  } catch (error) {
    if (!(error instanceof ArchiveError)) throw error;
    onSkip({ name: folder, error });
  }
}

function* expandFile(disk: Disk, path: string, onSkip: (skipped: SkippedInput) => void): Generator<Input> {
  const source = openFile(disk, path);
  try {
    const magic = Buffer.alloc(4);
    if (source.read(magic, 0) < 4 || !isZip(magic)) {
      yield { name: path, path, entries: [], size: source.size };
      return;
    }
    let count = 0;
    const skip = (skipped: SkippedInput) => {
      count++;
      onSkip(skipped);
    };
    for (const input of expandZip(source, path, [], skip)) {
      count++;
      yield input;
    }
    if (count === 0)
      throw new ArchiveError("HT_FORMAT_UNKNOWN", `${path}: a ZIP file with no archive in it`, { file: path });
  } finally {
    source.close?.();
  }
}

/** Entries that hold archives and cannot be taken are told: who counts the others must not believe to have all. */
function* expandZip(
  source: ByteSource,
  path: string,
  outer: readonly string[],
  onSkip: (skipped: SkippedInput) => void,
): Generator<Input> {
  const names = new Set<string>();
  for (const entry of readZipEntries(source)) {
    const entries = [...outer, entry.name];
    const name = [path, ...entries].join("!");
    const isArchive = ARCHIVE_NAME.test(entry.name);
    if (!isArchive && !WACZ_NAME.test(entry.name)) continue;
    try {
      if (names.has(entry.name)) throw unreachable(name, "another entry has this name too, and is taken for it");
      names.add(entry.name);
      if (isArchive) yield { name, path, entries, size: entry.size, crc: entry.crc };
      else if (outer.length > 0) throw unreachable(name, "a ZIP file in one in another; unpack it first");
      else if (entry.method !== "stored") throw unreachable(name, "a ZIP file that is compressed; unpack it first");
      else yield* expandZip(openZipEntry(source, entry, entry.name), path, entries, onSkip);
    } catch (error) {
      if (!(error instanceof ArchiveError)) throw error;
      onSkip({ name, error });
    }
  }
}

function unreachable(name: string, message: string): ArchiveError {
  return new ArchiveError("HT_UNSUPPORTED", `${name}: ${message}`, { file: name });
}

export function openFile(disk: Disk, path: string): ByteSource {
  if (isUrl(path)) return openUrl(path);
  const file = disk.open(path, "read");
  return { ...fileSource(file, path), close: () => file.close() };
}

/** Standard input can be read on, but not back: what lies before a position is passed over. */
function standardInputSource(): ByteSource {
  let reached = 0;
  const readOn = (into: Uint8Array): number => {
    const count = readStandardInput(into);
    reached += count;
    return count;
  };
  return {
    name: STANDARD_INPUT,
    seekable: false,
    read(into, position) {
      while (reached < position) {
        if (readOn(into.subarray(0, Math.min(into.length, position - reached))) === 0) return 0;
      }
      return readOn(into);
    },
  };
}

/** Opens an input for reading; whoever opens it closes it. */
export function openInput(disk: Disk, input: Input): ByteSource {
  return input.path === STANDARD_INPUT ? standardInputSource() : openFully(disk, input).source;
}

/** The source, and its CRC-32 where a ZIP file tells it. */
function openFully(disk: Disk, input: Input): { readonly source: ByteSource; readonly crc: number | undefined } {
  const file = openFile(disk, input.path);
  try {
    let source = file;
    let crc: number | undefined;
    for (const name of input.entries) {
      const entry = findEntry(source, name);
      ({ crc } = entry);
      const size = entry.method === "stored" ? entry.size : undefined;
      source = openZipEntry(source, entry, input.name);
      if (size !== undefined) source = rangeSource(source, 0, size, input.name);
    }
    return { source: source === file ? file : { ...source, close: () => file.close?.() }, crc };
  } catch (error) {
    file.close?.();
    throw error;
  }
}

function findEntry(source: ByteSource, name: string): ZipEntry {
  for (const entry of readZipEntries(source)) if (entry.name === name) return entry;
  throw new ArchiveError("HT_NOT_FOUND", `${source.name}: no entry ${name}`, { file: source.name });
}
