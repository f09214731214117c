/** The first part of an HTTP message in a record: its start line and header lines, with their bytes kept exactly. */
import { FieldBlock } from "./field-block.ts";
import { findHeadEnd } from "./record-head.ts";
import { latin1 } from "./record-start.ts";

/** A message whose header lines go on longer than this is taken for one without an end to its header. */
export const HTTP_HEAD_SIZE_MAX = 1 << 18;

export interface HttpHead {
  /** All bytes up to and with the blank line, read as Latin-1; `Buffer.from(text, "latin1")` gives them back. */
  readonly text: string;
  /** Of a response; absent for a request, or where it is not three digits. */
  readonly status: number | undefined;
  /** `HTTP/1.1 200 OK` or `GET / HTTP/1.1`. */
  readonly startLine: string;
  readonly headers: FieldBlock;
  /** The blank line that should end the header is there. */
  readonly terminated: boolean;
}

const STATUS = /^(?:HTTP|ICY|SHOUTCAST)\S*[ \t]+(\d{3})(?:[ \t]|$)/i;
const START = /^(?:HTTP\/|ICY|[A-Z-]{3,20} )/i;

/**
 * The head of the message at the start of `bytes`; absent where the bytes do not begin like an HTTP message, or where
 * its header has no end within the limit. `complete` says that no more bytes will come.
 */
export function parseHttpHead(bytes: Uint8Array, from: number, to: number, complete: boolean): HttpHead | undefined {
  const limit = Math.min(to, from + HTTP_HEAD_SIZE_MAX);
  const end = findHeadEnd(bytes, from, limit);
  if (end === undefined && (!complete || limit < to)) return undefined;
  const text = latin1(bytes, from, end ?? to);
  const newline = text.indexOf("\n");
  const lineEnd = newline < 0 ? text.length : newline;
  const startLine = text.slice(0, lineEnd).trimEnd();
  if (!START.test(startLine)) return undefined;
  const status = STATUS.exec(startLine)?.[1];
  return {
    text,
    startLine,
    status: status === undefined ? undefined : Number(status),
    headers: new FieldBlock(text, lineEnd + 1),
    terminated: end !== undefined,
  };
}

/** Whether the header says that the body is chunked. */
export function saysChunked(head: HttpHead): boolean {
  if (head.headers.get("transfer-encoding") === undefined) return false;
  // Several fields of that name are one list.
  return /(?:^|[,\s])chunked\s*$/i.test(head.headers.all("transfer-encoding").join(","));
}

/** The media type in a Content-Type value, in small letters and without parameters; absent where there is none. */
export function mediaType(value: string | undefined): string | undefined {
  const trimmed = value?.trim() ?? "";
  const end = trimmed.search(/[;,\s]/);
  const type = (end < 0 ? trimmed : trimmed.slice(0, end)).toLowerCase();
  return type === "" ? undefined : type;
}
