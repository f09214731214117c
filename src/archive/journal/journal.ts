/**
 * What the segments of an archive cannot tell: which files were adopted, and what was removed, when and why. Lines of
 * JSON, only ever appended. Each is durable before it has any effect, and carries a checksum of itself and of all before
 * it. How far the journal reaches also stands in archive.json and in the catalogue, which may be behind it and never
 * ahead. Obeys docs/format/archive.md.
 */
import { dirname } from "node:path";
import { ArchiveError } from "../../base/index.ts";
import type { Disk } from "../../disk/index.ts";
import type { JournalEnd } from "../catalogue/catalogue-view.ts";
import type { RemovedFacts } from "../catalogue/removed-row.ts";
import { parseEntry } from "./journal-entry.ts";
import { formatLine, type JournalLine, readLines } from "./journal-lines.ts";

/** A file that became a segment where it lies; the last one of a segment tells where it lies now. */
export interface AdoptEntry {
  readonly kind: "adopt";
  readonly time: string;
  readonly segment: number;
  /** Absolute; with the entry behind a `!` where it lies in a WACZ. */
  readonly path: string;
  readonly size: number;
  readonly modifiedMs: number;
  /** The crawl that it is part of, where it was told. */
  readonly crawl?: string | undefined;
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
  /** Where its record lay: one that cannot be read any more cannot be recognised otherwise. */
  readonly place?: RemovedPlace | undefined;
}

/** Of a record and of what stands right around it, in bytes. */
export interface RemovedPlace {
  readonly segment: number;
  readonly offset: number;
  readonly length: number;
  readonly before: number;
  readonly after: number;
}

/** A record that is not a capture, and that was taken out: a request, metadata, a continuation. */
export interface RemovedNote {
  readonly url: string | null;
  readonly date: string | null;
  readonly id: string | null;
  /** What it is known by, in hex. */
  readonly mark: string;
  /** Where it lay by itself. */
  readonly place?: Pick<RemovedPlace, "segment" | "offset" | "length"> | undefined;
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
  /** Records that belonged to these captures, or to the same URL, wherever they stood; absent where there were none. */
  readonly notes?: readonly RemovedNote[] | undefined;
}

/** Captures that were removed may come back. */
export interface ReadmitEntry {
  readonly kind: "readmit";
  readonly time: string;
  readonly captures: readonly RemovedCapture[];
  readonly notes?: readonly RemovedNote[] | undefined;
}

/** Records that could not be read any more, and lie elsewhere now. What lies in the places that are told is dead. */
export interface HealEntry {
  readonly kind: "heal";
  readonly time: string;
  readonly captures: readonly RemovedCapture[];
  readonly notes?: readonly RemovedNote[] | undefined;
}

export type JournalEntry = AdoptEntry | RemoveEntry | ReadmitEntry | HealEntry;

/** The entries after the first `from`. HT_CORRUPT where a line of the journal is not what was written. */
export function* readJournal(disk: Disk, path: string, from = 0): Generator<JournalEntry> {
  if (disk.stat(path) === undefined) return;
  using file = disk.open(path, "read");
  for (const { body, end, fault } of readLines(file)) {
    // What has no line end was cut off while it was written, and had no effect.
    if (fault === "cut") return;
    if (fault !== undefined) throw damaged(path, unfitting(end));
    if (end.entries <= from) continue;
    const entry = parseEntry(body());
    if (entry === undefined) throw damaged(path, `line ${end.entries} is not one of a journal`);
    yield entry;
  }
}

/** HT_CORRUPT where what is known of the journal is not there, or is not what it was. What follows is not looked at. */
export function checkJournal(disk: Disk, path: string, known: readonly JournalEnd[]): void {
  const asked = new Known(path, known);
  if (asked.entries > 0 && disk.stat(path) === undefined) throw asked.lost(0);
  if (asked.entries === 0) return;
  using file = disk.open(path, "read");
  let entries = 0;
  for (const line of readLines(file)) {
    asked.check(line);
    ({ entries } = line.end);
    if (entries === asked.entries) return;
  }
  throw asked.lost(entries);
}

/**
 * Cuts off what was being written when the power went: from the first line on that is none, or has no end. An append is
 * acknowledged when archive.json knows of it, so nothing after such a line was ever acknowledged. What is known must be
 * there (HT_CORRUPT). Where nothing at all is known, a line that has its end may as well have rotted, and stays. Gives the
 * end of what is left.
 */
export function mendJournal(disk: Disk, path: string, known: readonly JournalEnd[]): JournalEnd {
  const asked = new Known(path, known);
  let end: JournalEnd = { entries: 0 };
  if (disk.stat(path) !== undefined) {
    using file = disk.open(path, "update");
    let size = 0;
    for (const line of readLines(file)) {
      if (line.end.entries <= asked.entries) asked.check(line);
      else if (line.fault !== undefined || (!line.isSealed && parseEntry(line.body()) === undefined)) {
        if (line.fault !== "cut" && known.length === 0) throw damaged(path, unfitting(line.end));
        break;
      }
      [end, size] = [line.end, line.next];
    }
    if (end.entries >= asked.entries && size < file.size()) {
      file.truncate(size);
      file.sync();
    }
  }
  if (end.entries < asked.entries) throw asked.lost(end.entries);
  return end;
}

/** Durable when it returns. Gives the end of the journal then. */
export function appendJournal(
  disk: Disk,
  path: string,
  before: JournalEnd,
  entries: readonly JournalEntry[],
): JournalEnd {
  const isNew = disk.stat(path) === undefined;
  using file = disk.open(path, isNew ? "create" : "update");
  const lines: string[] = [];
  let end = before;
  for (const entry of entries) {
    const next = formatLine(entry, end);
    lines.push(next.line);
    ({ end } = next);
  }
  file.write(Buffer.from(lines.join("")), file.size());
  file.sync();
  if (isNew) disk.syncFolder(dirname(path));
  return end;
}

/** What somebody knows of a journal: so many lines of it have to be there, and to be what they were. */
class Known {
  readonly entries: number;
  private readonly path: string;
  private readonly checksums: ReadonlyMap<number, string | undefined>;

  constructor(path: string, ends: readonly JournalEnd[]) {
    this.path = path;
    this.entries = Math.max(0, ...ends.map(({ entries }) => entries));
    // Those who know a checksum come last, and count.
    const inOrder = ends.toSorted(
      (one, other) => Number(one.checksum !== undefined) - Number(other.checksum !== undefined),
    );
    this.checksums = new Map(inOrder.map(({ entries, checksum }) => [entries, checksum]));
  }

  check({ end, fault }: JournalLine): void {
    if (fault === "cut") throw this.lost(end.entries - 1);
    const known = this.checksums.get(end.entries);
    if (fault !== undefined || (known !== undefined && known !== end.checksum))
      throw damaged(this.path, unfitting(end));
  }

  lost(entries: number): ArchiveError {
    return damaged(this.path, `the journal has ${entries} entries, and had ${this.entries}`);
  }
}

function unfitting({ entries }: JournalEnd): string {
  return `line ${entries} or one before it is not what was written`;
}

function damaged(path: string, what: string): ArchiveError {
  const advice = "what was removed is not known without it: bring the journal back from a copy";
  return new ArchiveError("HT_CORRUPT", `${path}: ${what}; ${advice}`, { file: path });
}
