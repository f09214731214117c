/**
 * Records that were split over several: the first segment is a capture, and continuation records hold the rest of its
 * block, wherever they lie. What is read of such a capture is all segments up to the first one that is not there.
 */
import { type Payload, payloadOf, type WarcRecord } from "../../warc/index.ts";
import { archiveKey } from "../catalogue/capture-key.ts";
import type { ContinuationRow } from "../catalogue/continuation-row.ts";
import type { RecordShelf } from "./segments.ts";

/** Where continuation records are found, by the id of the record that they continue. */
export interface ContinuationFinder {
  continuations(origin: string): Iterable<ContinuationRow>;
}

export interface Continuations {
  /** All of its URL, in the order of their numbers. */
  readonly all: readonly ContinuationRow[];
  /** From the second segment on, without a gap. */
  readonly rows: readonly ContinuationRow[];
  /** The number of the first segment that is not there. Absent where the last one says that it is the last. */
  readonly missing: number | undefined;
}

const NONE: Continuations = { all: [], rows: [], missing: undefined };

/** Of the first segment; nothing for any other record. */
export function continuationsOf(finder: ContinuationFinder, { id, uri, segmented }: WarcRecord): Continuations {
  if (!segmented) return NONE;
  const key = archiveKey(uri);
  const named = id === undefined ? [] : [...finder.continuations(id)];
  // Anybody can write any id: what continues a record is of its URL.
  const all = named.filter((row) => row.uri === undefined || archiveKey(row.uri) === key);
  const rows: ContinuationRow[] = [];
  for (const row of all) if (row.number === rows.length + 2) rows.push(row);
  const missing = rows.at(-1)?.totalSize === undefined ? rows.length + 2 : undefined;
  return { all, rows, missing };
}

/** The payload of a record with what continues it. See `payloadOf`. */
export function wholePayloadOf(record: WarcRecord, finder: ContinuationFinder, shelf: RecordShelf): Payload {
  return record.segmented
    ? payloadOf(record, blocksOf(continuationsOf(finder, record).rows, shelf))
    : payloadOf(record);
}

function* blocksOf(rows: readonly ContinuationRow[], shelf: RecordShelf): Generator<Uint8Array> {
  for (const { place } of rows) yield* shelf.block(place);
}
