/**
 * What a survey keeps of a record, as lines of text that can be sorted on disk. Of every record whose payload takes part
 * there is a sketch: what its opening tells. Of those in the sample there is a capture besides: what was found by reading
 * it. Both begin with the cluster.
 */
import type { Framing } from "../warc/index.ts";
import { formatColumn } from "./manifest-line.ts";

export interface CaptureSketch {
  readonly cluster: string;
  /** Equal for equal payloads that may stand for each other, and for few others: framing and size. */
  readonly likeness: string;
  readonly uriHash: string;
  /** Bytes that the record takes in its file. */
  readonly length: number;
  /** Bytes that would be saved if a revisit stood in its place, as far as can be told. */
  readonly saving: number;
  /** It lies where nothing can be replaced. */
  readonly fixed: boolean;
}

export interface SampledCapture extends Omit<CaptureSketch, "likeness" | "uriHash"> {
  /** Of the payload, sha256 in hex. */
  readonly digest: string;
  readonly payloadSize: number;
  readonly framing: string;
  readonly date: string;
  readonly file: string;
  readonly offset: number;
  readonly damaged: boolean;
  readonly uri: string;
}

/** The size of a chunked payload is not known before it has been read. */
export function likenessOf(framing: Framing, payloadSize: number): string {
  return framing === "plain" ? `p${payloadSize}` : "c";
}

export function hashUri(uri: string): string {
  let hash = 0x811c9dc5;
  for (let i = 0; i < uri.length; i++) hash = Math.imul(hash ^ uri.charCodeAt(i), 0x01000193);
  return (hash >>> 0).toString(36);
}

export function formatSketch(sketch: CaptureSketch): string {
  const { cluster, likeness, uriHash, length, saving, fixed } = sketch;
  return `${cluster}\t${likeness}\t${uriHash}\t${length}\t${saving}\t${fixed ? "f" : ""}`;
}

export function parseSketch(line: string): CaptureSketch {
  const [cluster, likeness, uriHash, length, saving, fixed] = line.split("\t");
  return {
    cluster: cluster!,
    likeness: likeness!,
    uriHash: uriHash!,
    length: Number(length),
    saving: Number(saving),
    fixed: fixed === "f",
  };
}

const OFFSET_DIGITS = 16;

/** Lines of one payload sort by date, file and offset, as the lines of a manifest do. */
export function formatCapture(capture: SampledCapture): string {
  const offset = String(capture.offset).padStart(OFFSET_DIGITS, "0");
  const flags = `${capture.damaged ? "d" : ""}${capture.fixed ? "f" : ""}`;
  return [
    `${capture.cluster}\t${capture.digest}\t${capture.payloadSize}`,
    `${formatColumn(capture.date)}\t${formatColumn(capture.file)}\t${offset}`,
    `${capture.framing}\t${capture.length}\t${capture.saving}\t${flags}\t${formatColumn(capture.uri)}`,
  ].join("\t");
}

export function parseCapture(line: string): SampledCapture {
  const columns = line.split("\t");
  const [cluster, digest, payloadSize, date, file, offset, framing, length, saving, flags, uri] = columns;
  return {
    cluster: cluster!,
    digest: digest!,
    payloadSize: Number(payloadSize),
    date: date!,
    file: file!,
    offset: Number(offset),
    framing: framing!,
    length: Number(length),
    saving: Number(saving),
    damaged: flags!.includes("d"),
    fixed: flags!.includes("f"),
    uri: uri!,
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
