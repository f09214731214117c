/**
 * Records that are not captures and do not stand beside one (a request, metadata, a continuation), as the catalogue has
 * them: a removal finds them by their URL and by the ids that they name. Obeys docs/format/archive.md.
 */
import { RowReader, RowWriter } from "../../rows/index.ts";
import { archiveKey, NOTE_SIZE } from "./capture-key.ts";
import type { RecordPlace } from "./capture-row.ts";

/** Where it lies. */
export type NotePlace = Pick<RecordPlace, "segment" | "offset">;

export interface ApartNote {
  /** The length is 0 for a record that shares its member, and where an earlier version entered it. */
  readonly place: NotePlace & Pick<RecordPlace, "length">;
  readonly uri: string | undefined;
  readonly date: string | undefined;
  /** Absent where its date cannot be read. */
  readonly timeMs: number | undefined;
  readonly id: string | undefined;
  /** Ids of records that it names. */
  readonly with: readonly string[];
}

/** Keeps times before 1970 out of the negative numbers. */
const TIME_BIAS = 2 ** 52;

const rows = new RowWriter();

export function encodeApart({ place, uri = "", date = "", timeMs, id = "", with: ids }: ApartNote): Buffer {
  const row = rows
    .begin()
    .count(place.segment)
    .count(place.offset)
    .count(timeMs === undefined ? 0 : timeMs + TIME_BIAS);
  row.text(uri).text(date).text(id).count(ids.length);
  for (const each of ids) row.text(each);
  return row.count(place.length).finish();
}

export function decodeApart(bytes: Buffer): ApartNote {
  const row = new RowReader(bytes);
  const [segment, offset, time] = [row.count(), row.count(), row.count()];
  const [uri, date, id] = [row.text(), row.text(), row.text()].map((text) => (text === "" ? undefined : text));
  const ids = Array.from({ length: row.count() }, () => row.text());
  const length = row.left > 0 ? row.count() : 0;
  const timeMs = time === 0 ? undefined : time - TIME_BIAS;
  return { place: { segment, offset, length }, timeMs, uri, date, id, with: ids };
}

/** The key of its URL, a zero, and its mark. */
export function apartKey(mark: string, uri: string | undefined): string {
  return `${archiveKey(uri)}\0${mark}`;
}

export function markInApart(key: string): string {
  return key.slice(-NOTE_SIZE);
}
