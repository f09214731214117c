/** Continuation records: the later segments of a record that was split over several. Obeys docs/format/archive.md. */
import { RowReader, RowWriter } from "../../rows/index.ts";
import { segmentsOf } from "./capture-key.ts";
import { type RecordPlace, readPlace, writePlace } from "./capture-row.ts";
import { number32, Table, tableKey } from "./catalogue-keys.ts";

export interface ContinuationRow {
  /** From 2 on: the first segment is the capture. */
  readonly number: number;
  readonly place: RecordPlace;
  /** The size of its block. */
  readonly size: number;
  /** Of the last segment: the size of the blocks of all segments. */
  readonly totalSize: number | undefined;
  /** Its target URI; absent where it has none. */
  readonly uri: string | undefined;
}

/** What the keys of all continuations of a record begin with. */
export function continuationsKey(origin: string): string {
  return tableKey(Table.continuation, segmentsOf(origin));
}

/** Two of one number are told apart by their note marks. */
export function continuationKey(origin: string, number: number, mark: string): string {
  return continuationsKey(origin) + number32(number) + mark;
}

const rows = new RowWriter();

export function encodeContinuation({ number, place, size, totalSize, uri }: ContinuationRow): Buffer {
  const row = rows.begin().count(number);
  writePlace(row, place);
  return row
    .count(size)
    .count(totalSize === undefined ? 0 : totalSize + 1)
    .text(uri ?? "")
    .finish();
}

export function decodeContinuation(bytes: Buffer): ContinuationRow {
  const row = new RowReader(bytes);
  const number = row.count();
  const place = readPlace(row);
  const [size, total, uri] = [row.count(), row.count(), row.text()];
  return {
    number,
    place,
    size,
    totalSize: total === 0 ? undefined : total - 1,
    uri: uri === "" ? undefined : uri,
  };
}
