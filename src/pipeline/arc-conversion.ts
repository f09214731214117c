/**
 * ARC records as WARC records. What an ARC header says becomes WARC fields; the line itself is kept in a field of ours,
 * byte for byte, so that nothing is lost and the ARC file could be written again.
 */
import { createHash } from "node:crypto";
import { type Digest, formatDigest, formatIso } from "../base/index.ts";
import type { WarcRecord } from "../warc/index.ts";

export const ARC_LINE_FIELD = "Holotype-Arc-Header";
/** For lines that cannot stand in a header as they are. */
export const ARC_LINE_BASE64_FIELD = "Holotype-Arc-Header-Base64";

export type Fields = [name: string, value: string][];

/** The header line of an ARC record as bytes read as Latin-1, without its line feed. */
export function arcLineOf(record: WarcRecord): string {
  return record.headers.text.replace(/\n$/, "");
}

function lineField(line: string): [string, string] {
  // Outer blanks, control characters and bytes that are not ASCII would not come back from a header unchanged.
  const safe = /^[!-~](?:[ -~]*[!-~])?$/.test(line);
  return safe ? [ARC_LINE_FIELD, line] : [ARC_LINE_BASE64_FIELD, Buffer.from(line, "latin1").toString("base64")];
}

/** The line that `lineField` kept; absent where a record was not converted from ARC. */
export function keptArcLine(record: WarcRecord): string | undefined {
  const plain = record.headers.get(ARC_LINE_FIELD.toLowerCase());
  if (plain !== undefined) return plain;
  const coded = record.headers.get(ARC_LINE_BASE64_FIELD.toLowerCase());
  return coded === undefined ? undefined : Buffer.from(coded, "base64").toString("latin1");
}

/** The same conversion of the same file gives the same ids. */
export function derivedId(...parts: readonly string[]): string {
  const hex = createHash("sha1")
    .update(JSON.stringify(["holotype convert", ...parts]))
    .digest("hex");
  const variant = ((Number.parseInt(hex.slice(16, 18), 16) & 0x3f) | 0x80).toString(16);
  const uuid = [
    hex.slice(0, 8),
    hex.slice(8, 12),
    `5${hex.slice(13, 16)}`,
    variant + hex.slice(18, 20),
    hex.slice(20, 32),
  ];
  return `<urn:uuid:${uuid.join("-")}>`;
}

/** The id that a record of an ARC file gets as WARC, in brackets. `name` is that of the file, without folders. */
export function arcId(name: string, record: WarcRecord, { offset, inner = 0 }: RecordPosition = record): string {
  return derivedId(name, String(offset), String(inner), arcLineOf(record));
}

/** Where a record lies in its file; one that is read by itself does not know. */
interface RecordPosition {
  readonly offset: number;
  readonly inner?: number | undefined;
}

/** Blanks and control characters, which ARC writers let through, have no place in a URI. */
export function cleanUri(uri: string): string {
  return uri.replace(/[\s\p{Cc}]/gu, (c) => encodeURIComponent(c));
}

export interface ArcContext {
  /** Base name of the ARC file. */
  readonly name: string;
  /** That of the file to be written. */
  readonly outputName: string;
  /** When the ARC file says it was made; stands in for dates that cannot be read. */
  readonly madeMs: number;
  readonly warcinfoId: string;
  readonly software: string;
}

/** The block of the warcinfo record: where the file comes from. */
export function warcinfoBlock(context: ArcContext, version: string): Buffer {
  const lines = [
    `software: ${context.software}`,
    "format: WARC File Format 1.1",
    "conformsTo: http://iipc.github.io/warc-specifications/specifications/warc-format/warc-1.1/",
    `description: converted from ${context.name} (${version})`,
  ];
  return Buffer.from(`${lines.join("\r\n")}\r\n`);
}

export function warcinfoFields(context: ArcContext): Fields {
  return [
    ["WARC-Type", "warcinfo"],
    ["WARC-Record-ID", context.warcinfoId],
    ["WARC-Date", formatIso(context.madeMs)],
    ["WARC-Filename", context.outputName],
    ["Content-Type", "application/warc-fields"],
  ];
}

const IP_ADDRESS = /^(?:\d{1,3}(?:\.\d{1,3}){3}|[0-9a-fA-F]*:[0-9a-fA-F:.]+)$/;

/** The media type of an ARC header as WARC has it. */
export function arcMime(text: string): string {
  return text.trim() === "" || /[^\x20-\x7e]/.test(text) ? "application/octet-stream" : text.trim();
}

export interface ArcPayload {
  /** The block is an HTTP response. */
  readonly isHttp: boolean;
  readonly blockSize: number;
  readonly blockDigest: Digest;
  readonly payloadDigest: Digest;
}

/** The type that an ARC record gets. */
export function convertedType({ type }: Pick<WarcRecord, "type">, isHttp: boolean): string {
  return type === "warcinfo" ? "metadata" : isHttp ? "response" : "resource";
}

/** The fields for an ARC record: a response or a resource; the file's own description becomes a metadata record. */
export function convertedFields(record: WarcRecord, context: ArcContext, payload: ArcPayload): Fields {
  const arc = record.arc!;
  const filedesc = record.type === "warcinfo";
  const type = convertedType(record, payload.isHttp);
  const mime = arcMime(arc.mime);
  const fields: Fields = [
    ["WARC-Type", type],
    ["WARC-Target-URI", cleanUri(record.uri!)],
    ["WARC-Date", formatIso(record.timeMs ?? context.madeMs)],
    ["WARC-Record-ID", arcId(context.name, record)],
    ["WARC-Warcinfo-ID", context.warcinfoId],
  ];
  if (IP_ADDRESS.test(arc.ip) && arc.ip !== "0.0.0.0") fields.push(["WARC-IP-Address", arc.ip]);
  if (!filedesc) fields.push(["WARC-Payload-Digest", formatDigest(payload.payloadDigest)]);
  fields.push(
    ["WARC-Block-Digest", formatDigest(payload.blockDigest)],
    lineField(arcLineOf(record)),
    ["Content-Type", payload.isHttp && !filedesc ? "application/http; msgtype=response" : mime],
    ["Content-Length", String(payload.blockSize)],
  );
  return fields;
}
