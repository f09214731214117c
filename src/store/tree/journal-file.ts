/** Reading a journal: up to its end, or to where a crash tore it. */
import { ArchiveError } from "../../base/index.ts";
import type { Disk } from "../../disk/index.ts";
import {
  addTotals,
  formatEntry,
  JOURNAL_VERSION,
  type JournalEntry,
  parseEntry,
  readLine,
  requestIdIn,
  type Totals,
} from "./journal-line.ts";

const CHUNK_SIZE = 1 << 20;
const LINE_FEED = 10;

/** Entries as text by the ids of their requests, the oldest first. Text takes least room, and is what is written. */
export type SaidEntries = Map<string, string>;

export interface JournalContent {
  /** With all entries. */
  readonly totals: Totals;
  /** Entries behind the last `settled`: what they say may not be done yet. */
  readonly unsettled: readonly JournalEntry[];
  readonly said: SaidEntries;
  /** Whether it was closed in order: nothing is behind the last `settled`. */
  readonly clean: boolean;
}

/** `onEntry` sees every change in order. */
export function readJournal(disk: Disk, path: string, onEntry?: (entry: JournalEntry) => void): JournalContent {
  const said: SaidEntries = new Map();
  let totals: Totals | undefined;
  /** As text: most lines are settled or only remembered, and need not be taken apart. */
  let changes: string[] = [];
  let torn = false;
  let first = true;
  for (const text of linesOf(disk, path)) {
    const line = text === undefined ? undefined : readLine(text);
    if (first) checkVersion(line, path);
    first = false;
    // What was settled is durable, and so is all before it: only behind it can a crash have torn anything.
    if (torn && line?.kind === "settled") throw damaged(path, "a line in the middle is not what was written");
    if (line === undefined) torn = true;
    if (torn || line === undefined || line.kind === "journal") continue;
    if (line.kind === "settled") {
      totals = line.totals;
      changes = [];
      continue;
    }
    if (line.kind === "do") changes.push(line.text);
    if (line.kind === "do") onEntry?.(takeApart(line.text, path));
    const id = requestIdIn(line.text);
    if (id !== undefined) putLast(said, id, line.text);
  }
  if (totals === undefined) throw damaged(path, "not a journal, or only the beginning of one");
  const unsettled = changes.map((text) => takeApart(text, path));
  const now = unsettled.reduce<Totals>((sum, entry) => addTotals(sum, entry), totals);
  return { totals: now, unsettled, said, clean: !torn && unsettled.length === 0 };
}

function takeApart(text: string, path: string): JournalEntry {
  const entry = parseEntry(text);
  if (entry === undefined) throw damaged(path, "a line that nobody writes");
  return entry;
}

function putLast(said: SaidEntries, id: string, text: string): void {
  said.delete(id);
  said.set(id, text);
}

/** Puts an entry behind all others. */
export function remember(said: SaidEntries, entry: JournalEntry): void {
  if (entry.requestId !== undefined) putLast(said, copyOf(entry.requestId), copyOf(formatEntry(entry)));
}

/** A part of a text keeps the whole of it in memory. */
function copyOf(text: string): string {
  return Buffer.from(text, "latin1").toString("latin1");
}

function checkVersion(line: ReturnType<typeof readLine>, path: string): void {
  if (line?.kind !== "journal") throw damaged(path, "not a journal");
  if (line.version > JOURNAL_VERSION) {
    throw new ArchiveError("HT_FORMAT_TOO_NEW", `${path}: the journal of a newer Holotype`, { file: path });
  }
}

function damaged(path: string, message: string): ArchiveError {
  return new ArchiveError("HT_CORRUPT", `${path}: ${message}`, { file: path });
}

/** Lines without their ends, each a text of its own; the last one is absent where it has no end. */
function* linesOf(disk: Disk, path: string): Generator<string | undefined> {
  using file = disk.open(path, "read");
  let buffer = Buffer.allocUnsafe(CHUNK_SIZE);
  let held = 0;
  let position = 0;
  for (;;) {
    const count = file.read(buffer.subarray(held), position);
    if (count === 0) break;
    position += count;
    const end = held + count;
    let start = 0;
    for (let at = buffer.indexOf(LINE_FEED); at !== -1 && at < end; at = buffer.indexOf(LINE_FEED, start)) {
      yield buffer.toString("latin1", start, at);
      start = at + 1;
    }
    buffer.copyWithin(0, start, end);
    held = end - start;
    if (held === buffer.length) buffer = Buffer.concat([buffer, Buffer.allocUnsafe(buffer.length)]);
  }
  if (held > 0) yield undefined;
}
