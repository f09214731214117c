/**
 * The heads of requests that are read here and not by `node:http`: what volume clients ask
 * for, but for streams. What is anything else, or could be meant otherwise, is not guessed at: see docs/decisions/0021-plain-requests.md.
 */
import { WIRE_HELD_SIZE_MAX } from "../store/index.ts";

export interface RequestHead {
  readonly method: string;
  readonly url: string;
  /** By their names in small letters. */
  readonly headers: Readonly<Record<string, string>>;
  /** Bytes of the body that follows. */
  readonly length: number;
  /** Whether another request may follow. */
  readonly isKept: boolean;
}

/**
 * A request line of ours, and fields that are neither folded nor have anything but visible ASCII and blanks in them. What
 * is cut off around their values is therefore what everybody cuts off: not tabs, of which readers think differently.
 */
const HEAD =
  /^(GET|HEAD|PUT|POST|DELETE) (\/blocks\/[\w.~%/-]+|\/(?:find|volume|filter)) HTTP\/1\.1(?:\r\n[!#$%&'*+\-.^_`|~0-9A-Za-z]+:[\x20-\x7e]*)+$/;
const STARTS = [
  "GET /blocks/",
  "HEAD /blocks/",
  "PUT /blocks/",
  "POST /blocks/",
  "DELETE /blocks/",
  "POST /find ",
  "GET /volume ",
  "GET /filter ",
];
const START_LENGTH_MAX = Math.max(...STARTS.map((start) => start.length));
/** Each changes what a request means, or how it has to be answered. */
const UNFAMILIAR = ["transfer-encoding", "expect", "upgrade", "te", "trailer"];
const CARRIAGE_RETURN = 0x0d;
const LENGTH = /^\d{1,15}$/;

/** Whether the bytes may be the beginning of such a head. Lines that end otherwise would never come to its blank line. */
export function mayBePlain(bytes: Buffer): boolean {
  const start = bytes.toString("latin1", 0, START_LENGTH_MAX);
  if (!STARTS.some((known) => known.startsWith(start) || start.startsWith(known))) return false;
  const lineFeed = bytes.indexOf("\n");
  return lineFeed < 0 || bytes[lineFeed - 1] === CARRIAGE_RETURN;
}

/** Of a head without its blank line. Absent where it is for `node:http` to read, or to refuse. */
export function parseRequestHead(text: string): RequestHead | undefined {
  const [, method, url] = HEAD.exec(text) ?? [];
  const headers = url === undefined ? undefined : parseFields(text);
  if (headers?.["host"] === undefined || UNFAMILIAR.some((name) => name in headers)) return undefined;
  const connection = headers["connection"]?.toLowerCase() ?? "keep-alive";
  if (connection !== "keep-alive" && connection !== "close") return undefined;
  const length = headers["content-length"] ?? "0";
  if (!LENGTH.test(length) || Number(length) > WIRE_HELD_SIZE_MAX) return undefined;
  return { method: method!, url: url!, headers, length: Number(length), isKept: connection === "keep-alive" };
}

/** Of a head that was found to be one. Absent where a field is there twice: which of them counts is not ours to say. */
function parseFields(text: string): Record<string, string> | undefined {
  const headers = Object.create(null) as Record<string, string>;
  for (let start = text.indexOf("\r\n"); start >= 0; ) {
    const end = text.indexOf("\r\n", start + 2);
    const colon = text.indexOf(":", start);
    const name = text.slice(start + 2, colon).toLowerCase();
    if (name in headers) return undefined;
    headers[name] = text.slice(colon + 1, end < 0 ? text.length : end).trim();
    start = end;
  }
  return headers;
}
