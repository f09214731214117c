/** What the rows of the catalogue are found under: the first character of a key says of which table it is. */
import type { CaptureKey } from "./capture-key.ts";

export const Table = {
  /** Captures by their keys; and under the key of method and body, where the capture of another method lies. */
  capture: 1,
  /** Records that hold a payload, by the first half of its sha256 and the framing. */
  original: 2,
  /** The payloads that a digest in a header stands for. */
  claim: 3,
  /** Captures by their payloads. */
  seen: 4,
  /** Captures by what they wait for. */
  waiting: 5,
  /** Revisits without a header of their own, by their payloads. */
  headless: 6,
  segment: 7,
  source: 8,
  note: 9,
  state: 10,
  loose: 11,
  /** Requests that stand by themselves, by the keys of their URLs. */
  request: 12,
  /** Captures by record ids that some revisit tells without a URL. */
  byId: 13,
  /** The last entry of the journal by which nobody had a payload any more. */
  dropped: 14,
  /** Continuation records, by the ids of the records that they continue. */
  continuation: 15,
  /** Records that are not captures and stand by themselves, by the keys of their URLs. */
  apart: 16,
  /** The same by ids: their own, and those that they name. */
  apartId: 17,
  /** Payloads whose record is that of a removed capture, and that others share. */
  orphaned: 18,
  /** Places of segments that records were in, and that count no more. */
  left: 19,
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

/** Of a table in which captures stand under something. */
export function listKey(table: number, under: string, key: CaptureKey): string {
  return tableKey(table, under + key);
}

/** Of an original: half a digest, and its framing. */
export function originalKey(digest: Buffer, framing: Framing): string {
  return tableKey(Table.original, latin1(digest) + String.fromCharCode(FRAMINGS.indexOf(framing)));
}
