/** Makes the catalogue say what entries of the journal say. */
import { ArchiveError } from "../../base/index.ts";
import { timeOfDate } from "../../dedup/index.ts";
import {
  archiveKey,
  captureKey,
  formerMark,
  idMarkIn,
  isFormerMark,
  MARK_DIGITS,
  markIn,
  timeOf,
  urlKeyOf,
} from "../catalogue/capture-key.ts";
import { Flag, halfOf, has } from "../catalogue/capture-row.ts";
import type { Catalogue } from "../catalogue/catalogue.ts";
import { ADOPTED_SOURCES } from "../catalogue/catalogue-view.ts";
import type { Indexer } from "../entering/indexer.ts";
import type { AdoptEntry, HealEntry, JournalEntry, RemovedCapture, RemoveEntry } from "../journal/journal.ts";

/** Of the place of a record that belonged to no capture, or stood beside none. */
const ALONE = { before: 0, after: 0, healed: undefined };

export function applyJournal(catalogue: Catalogue, indexer: Indexer, entries: Iterable<JournalEntry>): void {
  for (const entry of entries) {
    catalogue.count({ journal: 1 });
    if (entry.kind === "adopt") adopt(catalogue, entry);
    else if (entry.kind === "remove") remove(catalogue, indexer, entry);
    else if (entry.kind === "readmit") {
      for (const capture of entry.captures) readmit(catalogue, indexer, capture);
      for (const { mark } of entry.notes ?? []) catalogue.readmitNote(textOf(mark));
    } else if (entry.kind === "heal") heal(catalogue, entry);
    else {
      const { kind } = entry as JournalEntry;
      const message = `the journal has an entry of a kind that this version does not know: ${JSON.stringify(kind)}`;
      throw new ArchiveError("HT_FORMAT_TOO_NEW", message);
    }
  }
}

function adopt(catalogue: Catalogue, entry: AdoptEntry): void {
  const { time, segment, path, size, modifiedMs } = entry;
  const there = catalogue.segment(segment);
  const before = catalogue.source(ADOPTED_SOURCES + segment);
  const { addedMs = timeOfDate(time) ?? 0 } = before ?? {};
  // Who tells that a file has moved need not name its crawl again.
  const crawl = entry.crawl ?? before?.crawl;
  catalogue.putSource(ADOPTED_SOURCES + segment, { name: path, addedMs, ...(crawl === undefined ? {} : { crawl }) });
  catalogue.putSegment(segment, { adopted: { path, size, modifiedMs }, end: there?.end ?? 0 });
}

/** Entries of earlier versions have shorter marks, or none. */
function isFormer({ mark }: RemovedCapture): boolean {
  return mark?.length !== MARK_DIGITS;
}

function keyOf(capture: RemovedCapture): string {
  const { url, date, timeMs, id, mark = "" } = capture;
  const bytes = textOf(mark);
  const own = isFormer(capture) ? formerMark(id ?? undefined, bytes.slice(4)) : bytes;
  return captureKey(archiveKey(url), timeMs ?? timeOfDate(date) ?? 0, own);
}

function remove(catalogue: Catalogue, indexer: Indexer, { lastSource, captures, notes = [] }: RemoveEntry): void {
  catalogue.reserveSources(lastSource ?? 0);
  const entry = catalogue.state.journal;
  for (const capture of captures) {
    const { place } = capture;
    indexer.remove(keyOf(capture), capture, entry, isFormer(capture));
    if (place !== undefined) catalogue.leave({ ...place, entry, healed: undefined });
    if (capture.isLast === true) catalogue.markDropped(halfOf(capture.sha256!), entry);
  }
  for (const { mark, url, place } of notes) {
    indexer.removeNote(textOf(mark), url ?? undefined);
    if (place !== undefined) catalogue.leave({ ...ALONE, ...place, entry });
  }
}

function heal(catalogue: Catalogue, { captures, notes = [] }: HealEntry): void {
  for (const capture of captures)
    if (capture.place !== undefined) catalogue.leave({ ...capture.place, entry: 0, healed: keyOf(capture) });
  for (const { place } of notes) if (place !== undefined) catalogue.leave({ ...ALONE, ...place, entry: 0 });
}

/** A mark in hex as keys have it. */
function textOf(mark: string): string {
  return Buffer.from(mark, "hex").toString("latin1");
}

/** By an entry of an earlier version, everything with its id comes back that such versions removed at that moment. */
function readmit(catalogue: Catalogue, indexer: Indexer, capture: RemovedCapture): void {
  const key = keyOf(capture);
  const isMeant = (each: string) =>
    each === key || (isFormer(capture) && isFormerMark(markIn(each)) && idMarkIn(each) === idMarkIn(key));
  for (const found of catalogue.at(urlKeyOf(key), timeOf(key)))
    if (has(found.row, Flag.removed) && isMeant(found.key)) indexer.readmit(found.key, found.row);
}
