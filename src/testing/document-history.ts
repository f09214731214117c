/**
 * Documents in two crawls, made by chance: some change, some move, and their headers tell the truth or do not. What a
 * DeDuplicator has to find in them is counted while they are made, from what each was made to be.
 */
import { digestOf, formatDigest, formatIso } from "../base/index.ts";
import type { HeaderScheme, HeaderValues, KnownCapture, NewCapture } from "../dedup/index.ts";
import type { Dice } from "./dice.ts";

export const FIRST_CRAWL_MS = Date.UTC(2026, 0, 10, 12);
export const SECOND_CRAWL_MS = Date.UTC(2026, 3, 20, 12);
const WRITTEN_MS = Date.UTC(2026, 0, 1);
const REWRITTEN_MS = Date.UTC(2026, 3, 1);

/** What a header says in the second crawl: whether the document changed, or nothing that can be used. */
const HABITS = ["right", "right", "right", "stale", "eager", "none", "broken"] as const;
type Habit = (typeof HABITS)[number];
/** Where the second crawl finds the document. */
const PLACES = ["same", "same", "same", "same", "www", "session", "elsewhere", "new"] as const;
const TYPES = ["image/png", "application/pdf", "text/html", undefined] as const;

export interface HistoryTruth {
  handled: number;
  bytes: number;
  duplicateBytes: number;
  exact: number;
  equivalent: number;
  elsewhere: number;
  exempt: number;
  /** change correctly, change falsely, non-change correct, non-change falsely, missing, unreadable */
  readonly headers: Record<HeaderScheme, [number, number, number, number, number, number]>;
}

export interface DocumentHistory {
  readonly before: readonly KnownCapture[];
  readonly after: readonly NewCapture[];
  readonly truth: HistoryTruth;
}

export function createHistory(dice: Dice, count: number): DocumentHistory {
  const before: KnownCapture[] = [];
  const after: NewCapture[] = [];
  const none = () => [0, 0, 0, 0, 0, 0] as [number, number, number, number, number, number];
  const truth: HistoryTruth = {
    handled: 0,
    bytes: 0,
    duplicateBytes: 0,
    exact: 0,
    equivalent: 0,
    elsewhere: 0,
    exempt: 0,
    headers: { datestamp: none(), etag: none(), both: none(), either: none() },
  };
  for (let i = 0; i < count; i++) {
    const place = pick(dice, PLACES);
    const changed = dice.below(4) === 0;
    const [date, tag] = [pick(dice, HABITS), pick(dice, HABITS)];
    const mime = pick(dice, TYPES);
    const status = pick(dice, [200, 200, 200, 200, 200, 200, 404]);
    const size = dice.below(20) === 0 ? 0 : 1 + dice.below(100_000);
    const [then, now] = urisOf(place, i);
    const digest = (version: number) => [formatDigest(digestOf("sha1", Buffer.from(`document ${i} of ${version}`)))];
    if (place !== "new") {
      before.push({
        uri: then,
        timeMs: FIRST_CRAWL_MS + i * 1000,
        digests: digest(1),
        status: 200,
        ...headersOf(date, tag, false, 1),
        certainty: "claimed",
        origin: "first",
      });
    }
    after.push({
      uri: now,
      date: formatIso(SECOND_CRAWL_MS + i * 1000),
      mime,
      framing: undefined,
      payloadSize: size,
      length: undefined,
      digests: digest(changed ? 2 : 1),
      status,
      headers: headersOf(date, tag, changed, 2),
    });
    if (status !== 200 || size === 0 || mime === "text/html") truth.exempt++;
    else countDocument(truth, { place, changed, size, says: [saysOf(date, changed), saysOf(tag, changed)] });
  }
  return { before, after, truth };
}

function pick<T>(dice: Dice, values: readonly T[]): T {
  return values[dice.below(values.length)]!;
}

function urisOf(place: (typeof PLACES)[number], i: number): readonly [string, string] {
  const host = `host${i % 40}.example.org`;
  const plain = `http://${host}/files/${i}`;
  if (place === "www") return [`http://www.${host}/files/${i}`, plain];
  if (place === "session") return [`${plain}?PHPSESSID=${"a".repeat(32)}`, `${plain}?PHPSESSID=${"b".repeat(32)}`];
  return place === "elsewhere" ? [`http://mirror.example.net/${i}`, plain] : [plain, plain];
}

function headersOf(date: Habit, tag: Habit, changed: boolean, crawl: 1 | 2): HeaderValues {
  const isMoved = (habit: Habit) => crawl === 2 && (habit === "eager" || (habit === "right" && changed));
  const timeMs = isMoved(date) ? REWRITTEN_MS : WRITTEN_MS;
  const lastModified = date === "broken" ? "yesterday" : new Date(timeMs).toUTCString();
  return {
    ...(date === "none" ? {} : { lastModified }),
    // There is no ETag that cannot be read.
    ...(tag === "none" || tag === "broken" ? {} : { etag: `"v${isMoved(tag) ? 2 : 1}"` }),
  };
}

type Says = boolean | "none" | "broken";

function saysOf(habit: Habit, changed: boolean): Says {
  if (habit === "right") return changed;
  return habit === "stale" ? false : habit === "eager" ? true : habit;
}

interface MadeDocument {
  readonly place: (typeof PLACES)[number];
  readonly changed: boolean;
  readonly size: number;
  readonly says: readonly [date: Says, tag: Says];
}

function countDocument(truth: HistoryTruth, { place, changed, size, says: [date, tag] }: MadeDocument): void {
  truth.handled++;
  truth.bytes += size;
  if (!changed && place !== "new") {
    truth[place === "same" ? "exact" : place === "elsewhere" ? "elsewhere" : "equivalent"]++;
    if (place !== "elsewhere") truth.duplicateBytes += size;
  }
  if (place !== "same") return;
  const counter = (says: Says) => {
    if (typeof says === "boolean") return says ? (changed ? 0 : 1) : changed ? 3 : 2;
    return says === "none" ? 4 : 5;
  };
  const tagSays = tag === "broken" ? "none" : tag;
  const told = [date, tagSays].filter((each) => typeof each === "boolean");
  const silent = date === "broken" ? 5 : 4;
  const denials = told.filter((isChange) => !isChange).length;
  truth.headers.datestamp[counter(date)]++;
  truth.headers.etag[counter(tagSays)]++;
  truth.headers.both[told.length === 0 ? silent : counter(denials === 0)]++;
  truth.headers.either[told.length === 0 ? silent : counter(denials < 2)]++;
}
