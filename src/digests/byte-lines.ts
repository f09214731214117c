/** The lines of a text as bytes, in stretches of many: nothing is copied but what lies across the end of a stretch. */
import { type ByteSource, gunzip } from "../warc/index.ts";

const READ_SIZE = 1 << 20;
/** No line of any index or log is longer; the rest of one that is cannot be read. */
export const LINE_MAX = 1 << 20;

/** Whole lines, from `start` to `end`, the last one perhaps without its end. Valid until the next one is asked for. */
export interface Stretch {
  readonly buffer: Buffer;
  readonly start: number;
  readonly end: number;
  /** Bytes of the source that this stretch took. */
  readonly readBytes: number;
}

function* piecesOf(source: ByteSource): Generator<Uint8Array> {
  const buffer = Buffer.allocUnsafe(READ_SIZE);
  for (let position = 0; ; ) {
    const count = source.read(buffer, position);
    if (count === 0) return;
    position += count;
    yield buffer.subarray(0, count);
  }
}

/** Behind a line that is longer than any, nothing of it comes but its first megabyte. */
export function* readStretches(source: ByteSource, isCompressed: boolean): Generator<Stretch> {
  let rest = Buffer.alloc(0);
  let isCut = false;
  for (const piece of isCompressed ? gunzip(source) : piecesOf(source)) {
    let start = 0;
    if (isCut) {
      const newline = piece.indexOf(10);
      if (newline < 0) continue;
      start = newline + 1;
      isCut = false;
    }
    const last = piece.lastIndexOf(10);
    const readBytes = piece.length;
    if (last < start) {
      rest = Buffer.concat([rest, piece.subarray(start)]);
      if (rest.length <= LINE_MAX) continue;
      yield { buffer: rest, start: 0, end: LINE_MAX, readBytes };
      rest = Buffer.alloc(0);
      isCut = true;
      continue;
    }
    const view = Buffer.from(piece.buffer, piece.byteOffset, piece.length);
    if (rest.length > 0) {
      const newline = view.indexOf(10, start);
      const line = Buffer.concat([rest, view.subarray(start, newline + 1)]);
      yield { buffer: line, start: 0, end: line.length, readBytes: 0 };
      start = newline + 1;
    }
    if (last >= start) yield { buffer: view, start, end: last + 1, readBytes };
    rest = Buffer.from(view.subarray(last + 1));
  }
  if (rest.length > 0) yield { buffer: rest, start: 0, end: rest.length, readBytes: 0 };
}
