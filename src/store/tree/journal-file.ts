/** Reading a journal: up to its end, or to where a crash tore it. */
import { ArchiveError } from "../../base/index.ts";
import type { Disk } from "../../disk/index.ts";
import { addTotals, formatEntry, JOURNAL_VERSION, type JournalEntry, parseLine, type Totals } from "./journal-line.ts";

const CHUNK_SIZE = 1 << 20;

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

/** `onEntry` sees every entry in order. */
export function readJournal(disk: Disk, path: string, onEntry?: (entry: JournalEntry) => void): JournalContent {
  const said: SaidEntries = new Map();
  let totals: Totals | undefined;
  let unsettled: JournalEntry[] = [];
  let torn = false;
  let first = true;
  for (const text of linesOf(disk, path)) {
    const line = parseLine(text);
    if (first) checkVersion(line, path);
    first = false;
    // What was settled is durable, and so is all before it: only behind it can a crash have torn anything.
    if (torn && line?.kind === "settled") throw damaged(path, "a line in the middle is not what was written");
    if (line === undefined) torn = true;
    if (torn || line === undefined) continue;
    if (line.kind === "settled") {
      totals = line.totals;
      unsettled = [];
    } else if (line.kind !== "journal") {
      const { entry } = line;
      if (line.kind === "do") unsettled.push(entry);
      if (line.kind === "do") onEntry?.(entry);
      remember(said, entry);
    }
  }
  if (totals === undefined) throw damaged(path, "not a journal, or only the beginning of one");
  const now = unsettled.reduce<Totals>((sum, entry) => addTotals(sum, entry), totals);
  return { totals: now, unsettled, said, clean: !torn && unsettled.length === 0 };
}

/** Puts an entry behind all others. */
export function remember(said: SaidEntries, entry: JournalEntry): void {
  if (entry.requestId === undefined) return;
  said.delete(entry.requestId);
  said.set(copyOf(entry.requestId), copyOf(formatEntry(entry)));
}

/** A part of a text keeps the whole of it in memory. */
function copyOf(text: string): string {
  return Buffer.from(text, "latin1").toString("latin1");
}

function checkVersion(line: ReturnType<typeof parseLine>, path: string): void {
  if (line?.kind !== "journal") throw damaged(path, "not a journal");
  if (line.version > JOURNAL_VERSION) {
    throw new ArchiveError("HT_FORMAT_TOO_NEW", `${path}: the journal of a newer Holotype`, { file: path });
  }
}

function damaged(path: string, message: string): ArchiveError {
  return new ArchiveError("HT_CORRUPT", `${path}: ${message}`, { file: path });
}

/** Lines without their ends; what stands behind the last end is a line that is not whole. */
function* linesOf(disk: Disk, path: string): Generator<string> {
  using file = disk.open(path, "read");
  const buffer = Buffer.allocUnsafe(CHUNK_SIZE);
  let rest = "";
  let position = 0;
  for (let count = file.read(buffer, 0); count > 0; count = file.read(buffer, position)) {
    position += count;
    const lines = (rest + buffer.toString("latin1", 0, count)).split("\n");
    rest = lines.pop()!;
    yield* lines;
  }
  if (rest !== "") yield "";
}
