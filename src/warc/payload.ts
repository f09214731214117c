/** The payload of a record as a stream of bytes: the entity body with chunked transfer coding undone. */
import { Dechunker } from "./chunked.ts";
import { type HttpHead, parseHttpHead, saysChunked } from "./http-head.ts";
import type { WarcRecord } from "./record.ts";

export interface Payload {
  /** Absent where the block is no HTTP message; then the payload is the whole block. */
  readonly http: HttpHead | undefined;
  /** Pieces are valid until the next one is asked for. */
  readonly chunks: Iterable<Uint8Array>;
}

/**
 * Reads the head of the record's message, and gives the rest as a stream. The record's source must answer at once. `more`
 * are the blocks of the records that continue a segmented one.
 */
export function payloadOf(record: WarcRecord, more: Iterable<Uint8Array> = []): Payload {
  const whole = record.block !== undefined;
  const first = record.read() ?? new Uint8Array(0);
  const http = record.isHttp ? parseHttpHead(first, 0, first.length, whole) : undefined;
  const chunked = http !== undefined && saysChunked(http);
  return { http, chunks: stream(blockFrom(record, first.subarray(http?.text.length ?? 0), more), chunked) };
}

function* blockFrom(record: WarcRecord, first: Uint8Array, more: Iterable<Uint8Array>): Generator<Uint8Array> {
  yield first;
  yield* record.chunks();
  yield* more;
}

function* stream(block: Iterable<Uint8Array>, chunked: boolean): Generator<Uint8Array> {
  let parts: Uint8Array[] = [];
  const dechunker = chunked ? new Dechunker((bytes) => void parts.push(bytes)) : undefined;
  for (const piece of block) {
    if (dechunker === undefined) yield piece;
    else {
      dechunker.push(piece);
      yield* parts;
      parts = [];
    }
  }
  dechunker?.finish();
  yield* parts;
}
