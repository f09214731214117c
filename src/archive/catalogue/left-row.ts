/**
 * Places of our segments in which a record lay until it was removed, or could not be read any more and was written again
 * elsewhere. What was removed is dead, whether it can be read or not; of what was healed, what cannot be read is. Obeys
 * docs/format/archive.md.
 */
import { RowReader, RowWriter } from "../../rows/index.ts";
import type { CaptureKey } from "./capture-key.ts";
import { number32, Table, tableKey } from "./catalogue-keys.ts";

export interface LeftPlace {
  readonly segment: number;
  readonly offset: number;
  readonly length: number;
  /** Bytes of records that belonged to it and stand right before and after it. */
  readonly before: number;
  readonly after: number;
}

export interface LeftRow extends LeftPlace {
  /** The entry of the journal by which it was removed; 0 where it was healed. */
  readonly entry: number;
  /** Of a capture that was healed: what stands beside the place is dead when that is removed. Of all others, it is. */
  readonly healed: CaptureKey | undefined;
}

const rows = new RowWriter();

export function leftKey(segment: number, offset?: number): string {
  const place = offset === undefined ? "" : number32(Math.floor(offset / 2 ** 32)) + number32(offset % 2 ** 32);
  return tableKey(Table.left, number32(segment) + place);
}

export function encodeLeft({ length, before, after, entry, healed = "" }: LeftRow): Buffer {
  const row = rows.begin().count(length).count(before).count(after).count(entry);
  return row.raw(Buffer.from(healed, "latin1")).finish();
}

export function decodeLeft(key: string, bytes: Buffer): LeftRow {
  const [segment, high, low] = [1, 5, 9].map((at) => Buffer.from(key, "latin1").readUInt32BE(at)) as [
    number,
    number,
    number,
  ];
  const row = new RowReader(bytes);
  const [length, before, after, entry] = [row.count(), row.count(), row.count(), row.count()];
  const healed = row.raw(row.left).toString("latin1");
  const offset = high * 2 ** 32 + low;
  return { segment, offset, length, before, after, entry, healed: healed === "" ? undefined : healed };
}
