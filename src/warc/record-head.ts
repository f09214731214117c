/** The header of a record: where it ends, what its lines say. Reads WARC 0.12 to 1.1 and beyond, and ARC 1 and 2. */
import { type ArcLine, parseArcLine } from "./arc-line.ts";
import { FieldBlock } from "./field-block.ts";
import { latin1 } from "./record-start.ts";

const LF = 10;
const CR = 13;

/** No real header comes near this. */
export const HEAD_SIZE_MAX = 1 << 18;

/** Other readers take headers up to this: FastWARC gives up a file at one of more than 32,764 bytes. */
export const COMMON_HEAD_SIZE_MAX = 32_000;

export interface RecordHead {
  readonly version: string;
  readonly headers: FieldBlock;
  readonly arc?: ArcLine;
  /** What the header says about the size of the block; absent where it says nothing that can be believed. */
  readonly blockSize: number | undefined;
  /** Lines end in CR LF, as they should. */
  readonly crlf: boolean;
}

/**
 * The index behind the blank line that ends the header which begins before `from`; absent where it is not there yet.
 * A blank line is one with nothing but carriage returns.
 */
export function findHeadEnd(bytes: Uint8Array, from: number, end: number): number | undefined {
  for (let i = from; i < end; i++) {
    if (bytes[i] !== LF) continue;
    let next = i + 1;
    while (next < end && bytes[next] === CR) next++;
    if (next < end && bytes[next] === LF) return next + 1;
  }
  return undefined;
}

export function parseWarcHead(bytes: Uint8Array, from: number, to: number): RecordHead {
  return parseHeadText(latin1(bytes, from, to));
}

/** The same from the bytes as Latin-1. */
function parseHeadText(text: string): RecordHead {
  const newline = text.indexOf("\n");
  const lineEnd = newline < 0 ? text.length : newline;
  const headers = new FieldBlock(text, lineEnd + 1);
  const length = headers.get("content-length");
  return {
    version: text.slice(0, lineEnd).trimEnd(),
    headers,
    blockSize: length !== undefined && /^\d{1,15}$/.test(length) ? Number(length) : undefined,
    crlf: text.charCodeAt(lineEnd - 1) === CR && text.endsWith("\r\n"),
  };
}

/** Absent where the line is no ARC header. */
export function parseArcHead(bytes: Uint8Array, from: number, to: number, version: string): RecordHead | undefined {
  const text = latin1(bytes, from, to);
  const arc = parseArcLine(text);
  if (arc === undefined) return undefined;
  // The line has no fields; the block stands for it and keeps its text.
  return { version, headers: new FieldBlock(text, text.length), arc, blockSize: arc.length, crlf: true };
}
