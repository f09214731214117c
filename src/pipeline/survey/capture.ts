/**
 * What a survey keeps of a record, as a line of text that can be sorted on disk. Of every record whose payload takes part
 * there is a sketch: what its opening tells. Of those in the sample there is besides what was found by reading them.
 */
import type { Digest } from "../../base/index.ts";
import type { Framing } from "../../warc/index.ts";
import { formatColumn } from "../manifest-line.ts";

/** All that is needed to say whether a record is a duplicate of another, and what that is worth. */
export interface SurveyedCapture {
  readonly cluster: string;
  /** Equal for payloads that are equal, or in a sketch seem to be. */
  readonly identity: string;
  readonly date: string;
  readonly place: string;
  readonly framing: Framing;
  /** In a sketch a hash of it. */
  readonly uri: string;
  /** Of the record; not in a sketch. */
  readonly id: string | undefined;
  /** Bytes that the record takes in its file. */
  readonly length: number;
  /** Bytes that would be saved if a revisit stood there instead, as far as can be told. */
  readonly saving: number;
  readonly damaged: boolean;
  /** It lies in a file in which nothing can be replaced. */
  readonly fixed: SurveyFixedKind | undefined;
}

/** An ARC file, or an entry of a WACZ or another ZIP file. */
export type SurveyFixedKind = "arc" | "wacz";

const FIXED_FLAGS = { arc: "a", wacz: "w" } as const;

/** What a payload is known by when it has been read. */
export function identityOf(digest: Digest, payloadSize: number): string {
  return `${digest.hex} ${payloadSize}`;
}

/** What it is known by before, beside its beginning: its size. That of a chunked payload only reading would tell. */
export function likenessOf(framing: Framing, payloadSize: number): string {
  return framing === "plain" ? String(payloadSize) : "";
}

const ORDER_DIGITS = 7;
const OFFSET_DIGITS = 10;

/** Sorts by the order of the inputs, and by offset. */
export function placeOf(order: number, offset: number): string {
  return order.toString(36).padStart(ORDER_DIGITS, "0") + offset.toString(36).padStart(OFFSET_DIGITS, "0");
}

/** The offset in a place. */
export function offsetOf(place: string): number {
  return Number.parseInt(place.slice(ORDER_DIGITS), 36);
}

export function hashUri(uri: string): string {
  let hash = 0x811c9dc5;
  for (let i = 0; i < uri.length; i++) hash = Math.imul(hash ^ uri.charCodeAt(i), 0x01000193);
  return (hash >>> 0).toString(36);
}

/** Lines of one payload sort by date, file and offset, as deduplication takes them. */
export function formatCapture(capture: SurveyedCapture): string {
  const { cluster, identity, date, place, framing, uri, id, length, saving, damaged, fixed } = capture;
  const flags = `${framing === "plain" ? "p" : "c"}${damaged ? "d" : ""}${fixed === undefined ? "" : FIXED_FLAGS[fixed]}`;
  const columns = `${formatColumn(date)}\t${place}\t${flags}\t${length}\t${saving}\t${formatColumn(uri)}`;
  return `${cluster}\t${identity}\t${columns}${id === undefined ? "" : `\t${formatColumn(id)}`}`;
}

export function parseCapture(line: string): SurveyedCapture {
  const [cluster, identity, date, place, flags, length, saving, uri, id] = line.split("\t");
  return {
    cluster: cluster!,
    identity: identity!,
    date: date!,
    place: place!,
    framing: flags!.startsWith("p") ? "plain" : "chunked",
    uri: uri!,
    id,
    length: Number(length),
    saving: Number(saving),
    damaged: flags!.includes("d"),
    fixed: flags!.includes("a") ? "arc" : flags!.includes("w") ? "wacz" : undefined,
  };
}

/** What a revisit says more than the record whose place it takes, beside the original's URI; and that compressed. */
const REVISIT_FIELDS_SIZE = 345;
const REVISIT_FIELDS_PACKED = 235;
/** What other headers shrink to. Measured with all three on crawls by several tools; right to some 30 bytes on average. */
const HEADERS_SHRINKAGE = 0.56;

/**
 * What a revisit in the place of a record of `length` bytes would save. It has the record's own headers, and the fields
 * of a revisit, packed like the record. Nobody replaces a record by a larger one.
 */
export function estimateSaving(length: number, headersSize: number, uri: string, compressed: boolean): number {
  const size = headersSize + uri.length;
  const revisitSize = compressed ? HEADERS_SHRINKAGE * size + REVISIT_FIELDS_PACKED : size + REVISIT_FIELDS_SIZE;
  return Math.max(0, length - Math.round(revisitSize));
}
