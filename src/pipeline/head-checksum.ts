/** By what the header of a record is known to be the same when it is read again. */
import { crc32 } from "node:zlib";
import type { WarcRecord } from "../warc/index.ts";

/** Absent for an ARC record, whose header is made anew. */
export function headChecksumOf({ arc, headers }: WarcRecord): number | undefined {
  return arc === undefined ? crc32(Buffer.from(headers.text, "latin1")) : undefined;
}
