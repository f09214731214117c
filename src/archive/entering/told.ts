/** Captures and other records as the journal tells of them. */
import { formatIso } from "../../base/index.ts";
import { timeOfDate } from "../../dedup/index.ts";
import type { RecordFacts } from "../../pipeline/index.ts";
import { markIn, noteMark } from "../catalogue/capture-key.ts";
import type { FoundCapture } from "../catalogue/catalogue-view.ts";
import type { RemovedCapture, RemovedNote } from "../journal/journal.ts";

/** With the place of its record; all but the id, which only its record knows. */
export function toldCapture({ key, timeMs, row }: FoundCapture): RemovedCapture {
  const { url, payload, place, before, after } = row;
  const { segment, offset, length } = place;
  return {
    url,
    date: formatIso(timeMs),
    ...(timeOfDate(formatIso(timeMs)) === timeMs ? {} : { timeMs }),
    sha256: payload?.sha256.toString("hex") ?? null,
    id: null,
    mark: markText(markIn(key)),
    place: { segment, offset, length, before, after },
  };
}

export function toldNote(
  { uri, date, id }: Partial<Pick<RecordFacts, "uri" | "date" | "id">>,
  mark: string,
  place?: RemovedNote["place"],
): RemovedNote {
  const told = { url: uri ?? null, date: date ?? null, id: id ?? null, mark: markText(mark) };
  return place === undefined || place.length === 0 ? told : { ...told, place };
}

/** One that has no place of its own to tell. */
export function toldRecord(facts: RecordFacts): RemovedNote {
  return toldNote(facts, noteMark(facts));
}

/** A mark in hex. */
export function markText(mark: string): string {
  return Buffer.from(mark, "latin1").toString("hex");
}
