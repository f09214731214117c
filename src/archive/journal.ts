/**
 * What the segments of an archive cannot tell: which files were adopted, and what was removed, when and why. Lines of
 * JSON, only ever appended. Each is durable before it has any effect. Obeys docs/format/archive.md.
 */
import { dirname } from "node:path";
import { ArchiveError } from "../base/index.ts";
import { timeOfDate } from "../dedup/index.ts";
import type { Disk } from "../disk/index.ts";
import { readText } from "./archive-folder.ts";
import { archiveKey, idHash } from "./capture-row.ts";
import { type Catalogue, urlHash } from "./catalogue.ts";
import { removalMark } from "./removal-mark.ts";

/** A file that became a segment where it lies. */
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
  /** Of the payload; absent for a revisit whose original was never known. */
  readonly sha256: string | null;
  readonly id: string | null;
}

export interface RemoveEntry {
  readonly kind: "remove";
  readonly time: string;
  readonly reason: string;
  /** What was asked for, in words. */
  readonly selection: string;
  readonly captures: readonly RemovedCapture[];
}

/** Captures that were removed may come back. */
export interface ReadmitEntry {
  readonly kind: "readmit";
  readonly time: string;
  readonly captures: readonly RemovedCapture[];
}

export type JournalEntry = AdoptEntry | RemoveEntry | ReadmitEntry;

export function* readJournal(disk: Disk, path: string): Generator<JournalEntry> {
  if (disk.stat(path) === undefined) return;
  const lines = readText(disk, path).split("\n");
  for (const [i, line] of lines.entries()) {
    // What has no line end was cut off while it was written, and had no effect.
    if (i === lines.length - 1) return;
    try {
      yield JSON.parse(line) as JournalEntry;
    } catch (cause) {
      throw new ArchiveError("HT_CORRUPT", `${path}: line ${i + 1} is not one of a journal`, { file: path }, cause);
    }
  }
}

/** Durable when it returns. */
export function appendJournal(disk: Disk, path: string, entry: JournalEntry): void {
  const isNew = disk.stat(path) === undefined;
  using file = disk.open(path, isNew ? "create" : "update");
  const end = wholeEnd(file.size(), isNew ? "" : readText(disk, path));
  file.truncate(end);
  file.write(Buffer.from(`${JSON.stringify(entry)}\n`), end);
  file.sync();
  disk.syncFolder(dirname(path));
}

/** Where the last whole line ends. */
function wholeEnd(size: number, text: string): number {
  if (size === 0) return 0;
  return Buffer.byteLength(text.slice(0, text.lastIndexOf("\n") + 1));
}

/** Makes the catalogue say what the journal says, from the first entry on that it has not heard of. */
export function enterJournal(catalogue: Catalogue, entries: Iterable<JournalEntry>): void {
  const known = catalogue.state.journal;
  let number = 0;
  for (const entry of entries) {
    if (++number > known) enterOne(catalogue, entry);
  }
  if (number > known) catalogue.count({ journal: number - known });
}

function enterOne(catalogue: Catalogue, entry: JournalEntry): void {
  if (entry.kind === "adopt") {
    const { segment, path, size, modifiedMs } = entry;
    if (catalogue.segment(segment) === undefined) {
      catalogue.putSegment(segment, { adopted: { path, size, modifiedMs }, end: 0 });
    }
    return;
  }
  for (const { url, date, id } of entry.captures) {
    const key = archiveKey(url);
    const timeMs = timeOfDate(date) ?? 0;
    catalogue.markRemoved(removalMark(key, timeMs, id ?? undefined), entry.kind === "remove");
    if (entry.kind !== "remove") continue;
    for (const found of catalogue.capturesAt(urlHash(key), timeMs)) {
      if (found.row.idHash.equals(idHash(id ?? undefined))) catalogue.removeCapture(found.key);
    }
  }
}
