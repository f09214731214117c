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
export function isOfRemoved(catalogue: CatalogueView, note: Note, going?: ReadonlySet<CaptureKey>): boolean {
  if (going === undefined && catalogue.state.journal === 0) return false;
  return groupsOf(catalogue, note).some((captures) => captures.every((found) => isGone(found, going)));
}

/** Whether it belongs to a capture that stays, and to none that does not. */
export function isOfLiving(catalogue: CatalogueView, note: Note, going?: ReadonlySet<CaptureKey>): boolean {
  const groups = groupsOf(catalogue, note);
  return groups.length > 0 && groups.every((captures) => captures.some((found) => !isGone(found, going)));
}

/** The captures that it belongs to and that stay. */
export function livingOf(catalogue: CatalogueView, note: Note): FoundCapture[] {
  const captures = groupsOf(catalogue, note).flat();
  return captures.filter((found) => !isGone(found, undefined));
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
export function namesLiving(catalogue: CatalogueView, note: Note, going: ReadonlySet<CaptureKey>): boolean {
  return [...namedBy(catalogue, note).values()].some((captures) => captures.some((found) => !isGone(found, going)));
}

function isGone({ key, row }: FoundCapture, going: ReadonlySet<CaptureKey> | undefined): boolean {
  return has(row, Flag.removed) || going?.has(key) === true;
}

/** What it belongs to: the captures with each id that it names, or those that are nearest; none is empty. */
function groupsOf(catalogue: CatalogueView, note: Note): FoundCapture[][] {
  const named = namedBy(catalogue, note);
  if (named.size > 0) return [...named.values()];
  // It belongs to what it names, which may come yet.
  if ((note.with?.length ?? 0) > 0) return [];
  const nearest = nearestOf(catalogue, note);
  return nearest.length > 0 ? [nearest] : [];
}

/** The captures of its URL whose ids it names, by marks of these ids. */
function namedBy(catalogue: CatalogueView, note: Note): Map<string, FoundCapture[]> {
  const found = new Map<string, FoundCapture[]>();
  const marks = new Set(note.with?.map(idMark));
  if (marks.size === 0) return found;
  for (const each of catalogue.visits(archiveKey(note.uri), FIRST_MS, LAST_MS)) {
    const mark = idMarkIn(each.key);
    if (marks.has(mark)) found.set(mark, [...(found.get(mark) ?? []), each]);
  }
  return found;
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
