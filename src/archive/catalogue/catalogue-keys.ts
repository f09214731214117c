/** What the rows of the catalogue are found under: the first character of a key says of which table it is. */
import type { CaptureKey } from "./capture-key.ts";

export const Table = {
  capture: 1,
  original: 2,
  claim: 3,
  seen: 4,
  pending: 5,
  removed: 6,
  segment: 7,
  source: 8,
  note: 9,
  state: 10,
  loose: 11,
};

/** Of one payload: framing is part of which original a revisit may refer to. */
export type Framing = "plain" | "chunked";
export const FRAMINGS: readonly Framing[] = ["plain", "chunked"];

/** A key's first character is its table. */
export function tableKey(table: number, rest = ""): string {
  return String.fromCharCode(table) + rest;
}

export function latin1(bytes: Buffer): string {
  return bytes.toString("latin1");
}

export function number32(value: number): string {
  return String.fromCharCode(value >>> 24, (value >>> 16) & 255, (value >>> 8) & 255, value & 255);
}

/** The number that makes up the key of a small table. */
export function numberIn(key: string): number {
  return Buffer.from(key, "latin1").readUInt32BE(1);
}

export function seenKey(digest: Buffer, key: CaptureKey): string {
  return tableKey(Table.seen, latin1(digest) + key);
}

/** Of an original: half a digest, and its framing. */
export function originalKey(digest: Buffer, framing: Framing): string {
  return tableKey(Table.original, latin1(digest) + String.fromCharCode(FRAMINGS.indexOf(framing)));
}
