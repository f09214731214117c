/** A capture as a row of CDX: the values of its fields as texts, and what a walk over rows adds to it. */

import type { Capture } from "../../archive/index.ts";
import { formatDigestValue, parseDigest } from "../../base/index.ts";
import { timestampOf } from "./cdx-times.ts";

export const REVISIT = "warc/revisit";
/** What indexes write for a capture without a media type. */
const UNKNOWN = "unk";

/** What a revisit was led to. */
export interface RowOriginal {
  readonly mime: string | undefined;
  readonly status: string | undefined;
  readonly length: string | undefined;
  readonly offset: string;
  readonly file: string;
}

export class CdxRow {
  readonly capture: Capture;
  readonly timeMs: number;
  readonly timestamp: string;
  /** Of a revisit, where its original is known. */
  original: RowOriginal | undefined = undefined;
  /** How many rows before it have its digest. */
  dupeCount = 0;
  /** How many rows after it were skipped, and the time of the last of them, or its own. */
  skipCount = 0;
  endTimestamp: string;

  constructor(capture: Capture, timeMs: number) {
    this.capture = capture;
    this.timeMs = timeMs;
    this.timestamp = timestampOf(timeMs);
    this.endTimestamp = this.timestamp;
  }

  /** sha1 of the entity, whatever the header said; of a revisit whose payload is not known, what its header says. */
  get digest(): string | undefined {
    const { sha1 } = this.capture;
    if (sha1 !== undefined) return sha1.slice(SHA1_LABEL.length);
    const { claim } = this.capture;
    const digest = claim === undefined ? undefined : parseDigest(claim);
    return digest && formatDigestValue(digest);
  }

  get status(): string | undefined {
    if (this.original !== undefined) return this.original.status;
    const { status } = this.capture;
    return status === undefined ? undefined : String(status);
  }

  get length(): string | undefined {
    const { length } = this.capture;
    return length === 0 ? undefined : String(length);
  }

  /** Without its folders: where they lie is nobody else's business. */
  get file(): string {
    return baseName(this.capture.file);
  }

  /** The record that lies there is a revisit: it came as one, or one took its place. */
  get isRevisitRecord(): boolean {
    const { capture } = this;
    return capture.type === "revisit" || capture.flags.includes("replaced");
  }
}

const SHA1_LABEL = "sha1:";

function baseName(path: string): string {
  return path.slice(Math.max(path.lastIndexOf("/"), path.lastIndexOf("\\")) + 1);
}

/** Absent where the row has no such value. */
export type FieldReader = (row: CdxRow) => string | undefined;

export interface CdxField {
  readonly name: string;
  readonly read: FieldReader;
}

const urlKey: FieldReader = ({ capture }) => capture.key;
const timestamp: FieldReader = (row) => row.timestamp;
const url: FieldReader = ({ capture }) => capture.url;
const status: FieldReader = (row) => row.status;
const digest: FieldReader = (row) => row.digest;
const length: FieldReader = (row) => row.length;
const offset: FieldReader = ({ capture }) => String(capture.offset);
const file: FieldReader = (row) => row.file;
const redirect: FieldReader = ({ capture }) => capture.location;

const ORIGINAL: Readonly<Record<string, FieldReader>> = {
  "orig.length": ({ original }) => (original === undefined ? "-" : (original.length ?? "-")),
  "orig.offset": ({ original }) => original?.offset ?? "-",
  "orig.filename": ({ original }) => original?.file ?? "-",
};

export const ORIGINAL_FIELDS: readonly string[] = Object.keys(ORIGINAL);

/**
 * The fields of pywb. A row says where a record lies, so its type is that of the record there: one that was stored as a
 * revisit of another is a revisit, and whoever reads it has to look for its payload.
 */
export function pywbFields(collection: string): Readonly<Record<string, FieldReader>> {
  const mime: FieldReader = (row) =>
    row.original === undefined
      ? row.isRevisitRecord
        ? REVISIT
        : (row.capture.mime ?? UNKNOWN)
      : (row.original.mime ?? UNKNOWN);
  const shared = { urlkey: urlKey, timestamp, url, mime, status, digest, redirect, length, offset, filename: file };
  const source: Readonly<Record<string, FieldReader>> = {
    source: ({ capture: { source } }) => (source === undefined ? undefined : baseName(source)),
    "source-coll": () => collection,
    access: () => "allow",
  };
  return { ...shared, ...source, ...ORIGINAL, original: url, mimetype: mime, statuscode: status };
}

export const PYWB_COLUMNS: readonly string[] = "urlkey timestamp url mime status digest length offset filename".split(
  " ",
);
/** Only where rows are objects: in lines, others would not know what stands in which place. */
export const PYWB_SOURCE_COLUMNS: readonly string[] = ["source", "source-coll", "access"];

/** The fields of the Wayback Machine: a row is what was captured, in whichever form that is stored. */
export function waybackFields(): Readonly<Record<string, FieldReader>> {
  const mime: FieldReader = ({ capture, original }) =>
    original === undefined
      ? capture.type === "revisit"
        ? REVISIT
        : (capture.mime ?? UNKNOWN)
      : (original.mime ?? UNKNOWN);
  return {
    urlkey: urlKey,
    timestamp,
    original: url,
    mimetype: mime,
    statuscode: status,
    digest,
    length,
    redirect,
    offset,
    filename: file,
    dupecount: (row) => String(row.dupeCount),
    skipcount: (row) => String(row.skipCount),
    endtimestamp: (row) => row.endTimestamp,
    ...ORIGINAL,
    url,
    mime,
    status,
  };
}

export const WAYBACK_COLUMNS: readonly string[] = "urlkey timestamp original mimetype statuscode digest length".split(
  " ",
);
