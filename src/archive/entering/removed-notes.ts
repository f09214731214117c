/**
 * Which records that are not captures (requests, metadata, continuations) belong to captures that were removed, though they
 * do not stand beside them. Ids decide; without them the URL does, and the time.
 */
import type { RecordFacts } from "../../pipeline/index.ts";
import type { NotePlace } from "../catalogue/apart-note.ts";
import {
  archiveKey,
  type CaptureKey,
  FIRST_MS,
  idMark,
  idMarkIn,
  LAST_MS,
  noteMark,
} from "../catalogue/capture-key.ts";
import { type CaptureRow, Flag, has } from "../catalogue/capture-row.ts";
import type { CatalogueView, FoundCapture } from "../catalogue/catalogue-view.ts";
import { NEAR_MS } from "../segments/companions.ts";
import { type RecordShelf, readable } from "../segments/segments.ts";

/** What decides. */
type Note = Pick<RecordFacts, "uri" | "timeMs" | "with">;

/**
 * Whether a note belongs to a capture that was removed, or is about to be. One that names captures belongs to those. One that
 * names none belongs to the nearest of its URL, about the same time; of two that are as near, to the one that stays.
 */
export function isOfRemoved(catalogue: CatalogueView, note: Note, going?: Going): boolean {
  if (going === undefined && catalogue.state.journal === 0) return false;
  return groupsOf(catalogue, note, going).some((captures) => captures.every((found) => isGone(found, going)));
}

/** Whether it belongs to a capture that stays, and to none that does not. */
export function isOfLiving(catalogue: CatalogueView, note: Note, going: Going): boolean {
  const groups = groupsOf(catalogue, note, going);
  return groups.length > 0 && groups.every((captures) => captures.some((found) => !isGone(found, going)));
}

/** The captures that it belongs to and that stay. */
export function livingOf(catalogue: CatalogueView, note: Note): FoundCapture[] {
  const captures = groupsOf(catalogue, note).flat();
  return captures.filter((found) => !isGone(found, undefined));
}

/** The records right beside a capture, as far as they can be read. */
export function* notesBeside(
  shelf: RecordShelf,
  { place, before, after }: CaptureRow,
  isAdopted: boolean,
): Generator<RecordFacts> {
  const { offset, length } = place;
  for (const [from, size] of [
    [offset - before, before],
    [offset + length, after],
  ] as const) {
    if (size === 0) continue;
    const bytes = { ...place, offset: from, length: size };
    for (const facts of readable(() => [...shelf.facts({ place: bytes, before: 0, after: 0 })]) ?? []) {
      // What is our own was sound when it was written.
      if (facts.capture !== undefined || facts.damaged === "cut" || (facts.damaged && !isAdopted)) continue;
      yield { ...facts, offset: from + facts.offset };
    }
  }
}

/** Whether the same record stands right beside a capture, elsewhere than in a place. */
export function standsBeside(shelf: RecordShelf, note: RecordFacts, row: CaptureRow, except?: NotePlace): boolean {
  const { place, before, after } = row;
  if (before + after === 0) return false;
  const mark = noteMark(note);
  const isElsewhere = ({ offset }: RecordFacts) =>
    except?.segment !== place.segment || except.offset !== place.offset - before + offset;
  const isIt = (facts: RecordFacts) =>
    facts.capture === undefined && facts.damaged === undefined && isElsewhere(facts) && noteMark(facts) === mark;
  return readable(() => [...shelf.facts(row)].some(isIt)) === true;
}

/** Whether it names a capture of its URL that stays. Ids may be those of several. */
export function namesLiving(catalogue: CatalogueView, note: Note, going: Going): boolean {
  return [...namedBy(catalogue, note, going).values()].some((captures) =>
    captures.some((found) => !isGone(found, going)),
  );
}

function isGone({ key, row }: FoundCapture, going: Going | undefined): boolean {
  return has(row, Flag.removed) || going?.keys.has(key) === true;
}

/** Captures that are about to be removed. As long as it is asked, no capture may change. */
export class Going {
  readonly keys: ReadonlySet<CaptureKey>;
  private readonly catalogue: CatalogueView;
  /** The captures of the URL that was asked for last, by marks of their ids: there may be thousands of notes of it. */
  private last: { readonly urlKey: string; readonly byMark: ReturnType<typeof groupedById> } | undefined;

  constructor(catalogue: CatalogueView, keys: ReadonlySet<CaptureKey>) {
    this.catalogue = catalogue;
    this.keys = keys;
  }

  byIdMark(urlKey: string): ReturnType<typeof groupedById> {
    if (this.last?.urlKey !== urlKey)
      this.last = { urlKey, byMark: groupedById(this.catalogue.visits(urlKey, FIRST_MS, LAST_MS)) };
    return this.last.byMark;
  }
}

/** What it belongs to: the captures with each id that it names, or those that are nearest; none is empty. */
function groupsOf(catalogue: CatalogueView, note: Note, going?: Going): (readonly FoundCapture[])[] {
  const named = namedBy(catalogue, note, going);
  if (named.size > 0) return [...named.values()];
  // It belongs to what it names, which may come yet.
  if ((note.with?.length ?? 0) > 0) return [];
  const nearest = nearestOf(catalogue, note);
  return nearest.length > 0 ? [nearest] : [];
}

/** The captures of its URL whose ids it names, by marks of these ids. */
function namedBy(catalogue: CatalogueView, note: Note, going: Going | undefined): Map<string, readonly FoundCapture[]> {
  const named = new Map<string, readonly FoundCapture[]>();
  const marks = new Set(note.with?.map(idMark));
  const urlKey = archiveKey(note.uri);
  if (marks.size === 0) return named;
  const byMark = going?.byIdMark(urlKey) ?? groupedById(catalogue.matching(urlKey, (key) => marks.has(idMarkIn(key))));
  for (const mark of marks) if (byMark.has(mark)) named.set(mark, byMark.get(mark)!);
  return named;
}

function groupedById(captures: Iterable<FoundCapture>): ReadonlyMap<string, readonly FoundCapture[]> {
  const byMark = new Map<string, FoundCapture[]>();
  for (const found of captures) {
    const there = byMark.get(idMarkIn(found.key));
    if (there === undefined) byMark.set(idMarkIn(found.key), [found]);
    else there.push(found);
  }
  return byMark;
}

/** The captures of its URL that are nearest to it in time, about the same time. */
function nearestOf(catalogue: CatalogueView, { uri, timeMs }: Note): FoundCapture[] {
  if (uri === undefined || timeMs === undefined) return [];
  let nearest: FoundCapture[] = [];
  let distance = NEAR_MS;
  for (const found of catalogue.visits(archiveKey(uri), timeMs - NEAR_MS, timeMs + NEAR_MS)) {
    const own = Math.abs(found.timeMs - timeMs);
    if (own > distance) continue;
    if (own < distance) nearest = [];
    distance = own;
    nearest.push(found);
  }
  return nearest;
}
