/**
 * What the segments of an archive cannot tell: which files were adopted, and what was removed, when and why. Lines of
 * JSON, only ever appended. Each is durable before it has any effect. Obeys docs/format/archive.md.
 */
import { dirname } from "node:path";
import { ArchiveError } from "../../base/index.ts";
import type { Disk, DiskFile } from "../../disk/index.ts";
import type { RemovedFacts } from "../catalogue/removed-row.ts";

/** A file that became a segment where it lies; the last one of a segment tells where it lies now. */
export interface AdoptEntry {
  readonly kind: "adopt";
  readonly time: string;
  readonly segment: number;
  /** Absolute; with the entry behind a `!` where it lies in a WACZ. */
  readonly path: string;
  readonly size: number;
  readonly modifiedMs: number;
}

/** One capture that was taken out. */
export interface RemovedCapture {
  readonly url: string;
  readonly date: string;
  /** Of the payload; absent for a revisit whose original was not known, and for every revisit that is readmitted. */
  readonly sha256: string | null;
  readonly id: string | null;
  /** Its time in milliseconds, where the date does not tell it exactly. */
  readonly timeMs?: number | undefined;
  /** The file that it came from, and its record mark in hex. */
  readonly source?: number | undefined;
  readonly mark?: string | undefined;
  /** What makes the class of the visit; absent in entries of earlier versions. */
  readonly visit?: RemovedFacts | undefined;
  /** No capture has the payload any more. */
  readonly isLast?: boolean | undefined;
}

export interface RemoveEntry {
  readonly kind: "remove";
  readonly time: string;
  readonly reason: string;
  /** What was asked for, in words. */
  readonly selection: string;
  /** The number of the last file that had been added by then; earlier versions did not tell. */
  readonly lastSource?: number | undefined;
  readonly captures: readonly RemovedCapture[];
}

/** Captures that were removed may come back. */
export interface ReadmitEntry {
  readonly kind: "readmit";
  readonly time: string;
  readonly captures: readonly RemovedCapture[];
}

export type JournalEntry = AdoptEntry | RemoveEntry | ReadmitEntry;

const READ_SIZE = 1 << 20;

/** The lines of a journal as bytes, without their ends, one at a time: it may be larger than any text can be. */
function* linesIn(file: DiskFile): Generator<{ readonly line: Buffer; readonly isWhole: boolean }> {
  const size = file.size();
  let parts: Buffer[] = [];
  for (let position = 0; position < size; ) {
    const bytes = Buffer.allocUnsafe(Math.min(READ_SIZE, size - position));
    const count = file.read(bytes, position);
    if (count === 0) break;
    position += count;
    let from = 0;
    for (let end = bytes.indexOf(10); end >= 0 && end < count; end = bytes.indexOf(10, from)) {
      yield { line: Buffer.concat([...parts, bytes.subarray(from, end)]), isWhole: true };
      parts = [];
      from = end + 1;
    }
    if (from < count) parts.push(bytes.subarray(from, count));
  }
  if (parts.length > 0) yield { line: Buffer.concat(parts), isWhole: false };
}

/** The entries behind the first `known`. */
export function* readJournal(disk: Disk, path: string, known = 0): Generator<JournalEntry> {
  if (disk.stat(path) === undefined) return;
  using file = disk.open(path, "read");
  let number = 0;
  for (const { line, isWhole } of linesIn(file)) {
    // What has no line end was cut off while it was written, and had no effect.
    if (!isWhole) return;
    if (++number <= known) continue;
    try {
      yield JSON.parse(line.toString()) as JournalEntry;
    } catch (cause) {
      throw new ArchiveError("HT_CORRUPT", `${path}: line ${number} is not one of a journal`, { file: path }, cause);
    }
  }
}

/**
 * Cuts off what was being written when the power went: from the first line on that is none, or has no end. An append is
 * durable before the next one begins, so nothing behind such a line was ever told to be there. Lines that the catalogue
 * knows are not looked at; where nothing is known of how many there are, one that has its end may as well have rotted, and
 * stays.
 */
export function mendJournal(disk: Disk, path: string, known: number | undefined): void {
  if (disk.stat(path) === undefined) return;
  using file = disk.open(path, "update");
  let [number, end] = [0, 0];
  for (const { line, isWhole } of linesIn(file)) {
    const isLookedAt = known !== undefined && number++ >= known;
    if (!isWhole || (isLookedAt && !isEntry(line))) break;
    end += line.length + 1;
  }
  if (end === file.size()) return;
  file.truncate(end);
  file.sync();
}

function isEntry(line: Buffer): boolean {
  try {
    const entry: unknown = JSON.parse(line.toString());
    return typeof entry === "object" && entry !== null;
  } catch {
    return false;
  }
}

/** Durable when it returns. */
export function appendJournal(disk: Disk, path: string, entries: readonly JournalEntry[]): void {
  const isNew = disk.stat(path) === undefined;
  using file = disk.open(path, isNew ? "create" : "update");
  file.write(Buffer.from(entries.map((entry) => `${JSON.stringify(entry)}\n`).join("")), file.size());
  file.sync();
  if (isNew) disk.syncFolder(dirname(path));
}
