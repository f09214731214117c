/** How the first bytes of a record look: what the reader asks when it has to find its way again. */
import { ARC_LINE_SIZE_MAX, parseArcLine } from "./arc-line.ts";

/** `WARC/` and a digit. */
export const MAGIC_SIZE = 6;
const LF = 10;
const CR = 13;

function isDigit(byte: number | undefined): boolean {
  return byte !== undefined && byte >= 48 && byte <= 57;
}

/** `WARC/` and a digit, in any case of letters, at `pos`. */
export function isWarcMagic(bytes: Uint8Array, pos: number, end: number): boolean {
  return (
    pos + MAGIC_SIZE <= end &&
    (bytes[pos]! | 32) === 119 &&
    (bytes[pos + 1]! | 32) === 97 &&
    (bytes[pos + 2]! | 32) === 114 &&
    (bytes[pos + 3]! | 32) === 99 &&
    bytes[pos + 4] === 47 &&
    isDigit(bytes[pos + 5])
  );
}

/** True where the bytes are too few to tell, but are the beginning of `WARC/0`. */
export function mayBecomeWarcMagic(bytes: Uint8Array, pos: number, end: number): boolean {
  const magic = "warc/";
  for (let i = pos; i < end && i < pos + 5; i++)
    if ((bytes[i]! | 32) !== (magic.charCodeAt(i - pos) | 32)) return false;
  return end - pos < MAGIC_SIZE;
}

export const VERSION_LINE_SIZE_MAX = 24;

/** Whether a whole version line (`WARC/1.0`) stands at `pos`: enough to believe in a record that begins mid-line. */
export function isVersionLine(bytes: Uint8Array, pos: number, end: number): "yes" | "no" | "more" {
  const text = latin1(bytes, pos, Math.min(end, pos + VERSION_LINE_SIZE_MAX));
  if (/^WARC\/\d+\.\d+[ \t]*\r*\n/.test(text)) return "yes";
  if (text.length === VERSION_LINE_SIZE_MAX || text.includes("\n")) return "no";
  return "WARC/".startsWith(text.slice(0, 5)) && /^[\d. \t\r]*$/.test(text.slice(5)) ? "more" : "no";
}

/** The first `WARC/` in `bytes[from..to)`; below zero where there is none. */
export function indexOfMagic(bytes: Buffer, from: number, to: number): number {
  const at = bytes.subarray(from, to).indexOf("WARC/", 0, "latin1");
  return at < 0 ? at : from + at;
}

/** The end (behind the line feed) of the line at `pos`; absent where there is none before `end`. */
export function lineEnd(bytes: Uint8Array, pos: number, end: number): number | undefined {
  // Not beyond what there is: the buffer may be far longer.
  const at = bytes.subarray(pos, end).indexOf(LF);
  return at < 0 ? undefined : pos + at + 1;
}

export function latin1(bytes: Uint8Array, from: number, to: number): string {
  const buffer = Buffer.isBuffer(bytes) ? bytes : Buffer.from(bytes.buffer, bytes.byteOffset, bytes.length);
  return buffer.toString("latin1", from, to);
}

/** A whole ARC header line at `pos`. */
export function isArcLine(bytes: Uint8Array, pos: number, end: number): boolean {
  const first = bytes[pos]! | 32;
  if (pos >= end || first < 97 || first > 122) return false;
  const stop = lineEnd(bytes, pos, Math.min(end, pos + ARC_LINE_SIZE_MAX));
  return stop !== undefined && parseArcLine(latin1(bytes, pos, stop)) !== undefined;
}

/** Whether a decoded member that begins with these bytes begins with a record: a test for finding members again. */
export function beginsRecord(bytes: Uint8Array, pos: number, end: number): boolean {
  let at = pos;
  while (at < end && (bytes[at] === CR || bytes[at] === LF)) at++;
  if (isWarcMagic(bytes, at, end) || isArcLine(bytes, at, end)) return true;
  // An ARC line may be longer than the bytes at hand: `scheme:` and no line end must do.
  return (
    lineEnd(bytes, at, end) === undefined &&
    /^(filedesc|https?|ftp|dns|metadata):/i.test(latin1(bytes, at, Math.min(at + 16, end)))
  );
}
