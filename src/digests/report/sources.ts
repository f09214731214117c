/** What a report is made of: crawl.logs, told by how they begin, and archive files of every kind. */
import { ArchiveError, type Warning } from "../../base/index.ts";
import type { NewCapture } from "../../dedup/index.ts";
import type { Disk } from "../../disk/index.ts";
import {
  findInputs,
  type Input,
  isUrl,
  mayHaveZstd,
  openInput,
  readGivenLines,
  readInputLines,
  type SkippedInput,
  STANDARD_INPUT,
} from "../../pipeline/index.ts";
import {
  fileSource,
  gunzip,
  isGzip,
  isZip,
  isZstd,
  loadZstd,
  parseCrawlLogLine,
  WarcReader,
} from "../../warc/index.ts";
import { logCapture } from "./log-capture.ts";
import { recordCaptures } from "./record-captures.ts";

export interface SourceEvents {
  readonly onSkip: (skipped: SkippedInput) => void;
  readonly onWarning: (warning: Warning) => void;
  /** A line of this number, from 1, is none of a crawl.log. It is left out, and the rest is read. */
  readonly onBrokenLine: (name: string, line: number) => void;
}

/** A file and the captures in it. They are read as they are asked for. */
export interface CaptureSource {
  readonly name: string;
  readonly kind: "log" | "archive";
  captures(): Iterable<NewCapture>;
}

/** Standard input is a crawl.log. What is named and cannot be taken goes to `onSkip`. */
export async function openSources(
  disk: Disk,
  names: readonly string[],
  events: SourceEvents,
): Promise<readonly CaptureSource[]> {
  const sources: CaptureSource[] = [];
  const inputs: Input[] = [];
  for (const name of names) {
    if (isLog(disk, name)) {
      sources.push({ name, kind: "log", captures: () => logCaptures(disk, name, events) });
      continue;
    }
    for (const input of findInputs(disk, [name], events.onSkip)) {
      inputs.push(input);
      sources.push({ name: input.name, kind: "archive", captures: () => archiveCaptures(disk, input, events) });
    }
  }
  if (mayHaveZstd(disk, inputs)) await loadZstd();
  return sources;
}

/** Enough for the first line of a log. */
const START_SIZE = 1 << 16;
const ARCHIVE_START = /^(?:WARC\/|filedesc:)/i;

/** A file of either kind may be compressed, and called what it likes. */
function isLog(disk: Disk, name: string): boolean {
  if (name === STANDARD_INPUT) return true;
  if (isUrl(name) || disk.stat(name)?.kind !== "file") return false;
  try {
    using file = disk.open(name, "read");
    const bytes = Buffer.alloc(START_SIZE);
    const start = bytes.subarray(0, file.read(bytes, 0));
    if (start.length >= MAGIC_SIZE && (isZip(start) || isZstd(start, 0))) return false;
    const text = isGzip(start, 0, start.length) ? firstOf(gunzip(fileSource(file, name))) : start;
    return text !== undefined && isLogText(Buffer.from(text).toString("latin1", 0, START_SIZE));
  } catch (error) {
    // Whoever reads it says what is wrong with it.
    if (error instanceof ArchiveError) return false;
    throw error;
  }
}

const MAGIC_SIZE = 4;

/** Ends what gives the pieces, too. */
function firstOf(pieces: Iterable<Uint8Array>): Uint8Array | undefined {
  for (const piece of pieces) return piece;
  return undefined;
}

function isLogText(start: string): boolean {
  return !ARCHIVE_START.test(start) && (start.includes("\n") || start.length < START_SIZE);
}

function* logCaptures(disk: Disk, name: string, { onSkip, onBrokenLine }: SourceEvents): Generator<NewCapture> {
  let [number, read] = [0, 0];
  try {
    for (const line of name === STANDARD_INPUT ? readInputLines() : readGivenLines(disk, name)) {
      number++;
      const entry = parseCrawlLogLine(line);
      if (entry !== undefined) {
        read++;
        yield logCapture(entry);
      } else if (line.trim() !== "") onBrokenLine(name, number);
      // What begins like this is no log of any kind.
      if (read === 0 && number === LINES_TRIED) break;
    }
    if (read > 0 || number === 0) return;
    throw new ArchiveError("HT_FORMAT_UNKNOWN", `${name}: neither a crawl.log nor an archive file`, { file: name });
  } catch (error) {
    if (!(error instanceof ArchiveError)) throw error;
    onSkip({ name, error });
  }
}

const LINES_TRIED = 1000;

function* archiveCaptures(disk: Disk, input: Input, { onSkip, onWarning }: SourceEvents): Generator<NewCapture> {
  try {
    const source = openInput(disk, input);
    try {
      yield* recordCaptures(new WarcReader(source, { onWarning }), onWarning);
    } finally {
      source.close?.();
    }
  } catch (error) {
    if (!(error instanceof ArchiveError)) throw error;
    onSkip({ name: input.name, error });
  }
}
