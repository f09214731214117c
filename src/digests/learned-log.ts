/**
 * The log of what an index learns between runs: one line an entry, a checksum and JSON. Each writer begins one of its own, so
 * that nothing is ever written behind a torn line. What of it is lost is lost for the index only: the records are in their
 * files. Obeys docs/format/digest-index.md.
 */
import { join } from "node:path";
import { crc32 } from "node:zlib";
import { ArchiveError, parseDigest } from "../base/index.ts";
import { timeOfDate } from "../dedup/index.ts";
import { AppendLog, type Disk } from "../disk/index.ts";
import { readTextLines } from "../pipeline/index.ts";
import { type OriginalReference, parseJsonObject } from "../warc/index.ts";
import { type DigestEntry, isHeaderText, type RecordPlace } from "./entry.ts";

const LOG_NAME = /^learned-(\d{6,})\.log$/;

function logName(number: number): string {
  return `learned-${String(number).padStart(6, "0")}.log`;
}

function checksum(json: string): string {
  return crc32(json).toString(16).padStart(8, "0");
}

export function formatLearnedLine(entry: DigestEntry): string {
  const json = JSON.stringify(entry);
  return `${checksum(json)} ${json}\n`;
}

/** Absent where the line fails its checksum or is none of ours. */
export function parseLearnedLine(line: string): DigestEntry | undefined {
  const json = line.slice(9);
  if (line[8] !== " " || line.slice(0, 8) !== checksum(json)) return undefined;
  const value: unknown = parseJsonObject(json);
  return isEntry(value) ? value : undefined;
}

/** JSON that holds its checksum may still be anything. */
type Untold<T> = { readonly [Key in keyof T]?: unknown };

function isEntry(value: unknown): value is DigestEntry {
  if (!isObject(value)) return false;
  const { uri, timeMs, digests, original, place, framing, ...more }: Untold<DigestEntry> = value;
  const { payloadSize, status, mime, etag, lastModified, origin } = more;
  return (
    isHeaderText(uri) &&
    Number.isSafeInteger(timeMs) &&
    Array.isArray(digests) &&
    digests.every((digest) => typeof digest === "string" && parseDigest(digest) !== undefined) &&
    (framing === undefined || framing === "plain" || framing === "chunked") &&
    [payloadSize, status].every((number) => number === undefined || isCount(number)) &&
    [mime, etag, lastModified, origin].every((text) => text === undefined || isHeaderText(text)) &&
    (original === undefined || isReference(original)) &&
    (place === undefined || isPlace(place))
  );
}

function isReference(value: unknown): boolean {
  if (!isObject(value)) return false;
  const { uri, date, id }: Untold<OriginalReference> = value;
  const isDate = isHeaderText(date) && timeOfDate(date) !== undefined;
  return isDate && isHeaderText(uri) && (id === undefined || isHeaderText(id));
}

function isPlace(value: unknown): boolean {
  if (!isObject(value)) return false;
  const { file, offset }: Untold<RecordPlace> = value;
  return isHeaderText(file) && isCount(offset);
}

function isObject(value: unknown): value is object {
  return typeof value === "object" && value !== null;
}

function isCount(value: unknown): boolean {
  return Number.isSafeInteger(value) && (value as number) >= 0;
}

/** Numbers of the logs in a folder, the oldest first. */
export function listLearned(disk: Disk, folder: string): number[] {
  const numbers = disk.list(folder).flatMap(({ name }) => LOG_NAME.exec(name)?.[1] ?? []);
  return numbers.map(Number).sort((one, other) => one - other);
}

/** What all logs in the folder tell; lines that do not hold are passed over, and a log that has just been folded too. */
export function* readLearned(disk: Disk, folder: string): Generator<DigestEntry> {
  for (const number of listLearned(disk, folder)) {
    try {
      for (const line of readTextLines(disk, join(folder, logName(number)))) {
        const entry = parseLearnedLine(line);
        if (entry !== undefined) yield entry;
      }
    } catch (error) {
      if (!(error instanceof ArchiveError) || error.code !== "HT_NOT_FOUND") throw error;
    }
  }
}

export class LearnedLog {
  private readonly disk: Disk;
  private readonly folder: string;
  private log: AppendLog | undefined;
  /** The logs that hold what is not in a run yet. */
  private numbers: number[];
  private last: number;

  constructor(disk: Disk, folder: string) {
    this.disk = disk;
    this.folder = folder;
    this.numbers = listLearned(disk, folder);
    this.last = this.numbers.at(-1) ?? 0;
  }

  /** Resolves when the entry is durable. */
  append(entries: readonly DigestEntry[]): Promise<number> {
    this.log ??= this.begin();
    return this.log.append(Buffer.from(entries.map(formatLearnedLine).join("")));
  }

  private begin(): AppendLog {
    this.last++;
    const file = this.disk.open(join(this.folder, logName(this.last)), "create");
    this.disk.syncFolder(this.folder);
    this.numbers.push(this.last);
    return new AppendLog(file);
  }

  /** What is appended from now on goes to another log. Resolves, when all before is settled, to what removes the logs of it. */
  async rotate(): Promise<() => void> {
    const { log, numbers } = this;
    this.log = undefined;
    this.numbers = [];
    await log?.close();
    return () => {
      for (const number of numbers) this.disk.remove(join(this.folder, logName(number)));
    };
  }

  async close(): Promise<void> {
    await this.log?.close();
    this.log = undefined;
  }
}
