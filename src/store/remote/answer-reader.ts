/**
 * Reads the answer to one request from the bytes of a connection, however they are cut. It knows what volume servers send:
 * a status line, fields, and as many bytes as Content-Length tells. What is anything else is not guessed at, and whoever
 * asked goes by `node:http`, which knows all of HTTP: see docs/decisions/0016-own-http-client.md.
 */
import { WIRE_HEADER_SIZE_MAX } from "../wire/protocol.ts";

/** An answer that may well be HTTP, and is not of the kind that is read here. */
export class UnfamiliarAnswer extends Error {}

export interface AnswerHead {
  readonly status: number;
  /** By their names in small letters. */
  readonly headers: Readonly<Record<string, string>>;
  /** Bytes of the body that follows. */
  readonly length: number;
  /** How long the server keeps the connection for another request, if it tells; 0 where it does not keep it. */
  readonly keptMs: number | undefined;
}

const BLANK_LINE = Buffer.from("\r\n\r\n");
const EMPTY = Buffer.alloc(0);
/** A status that is a final one, and fields that are neither folded nor have control characters in them. */
const HEAD =
  /^HTTP\/1\.1 ([2-5]\d\d)(?: [\t\x20-\x7e\x80-\xff]*)?(?:\r\n[!#$%&'*+\-.^_`|~0-9A-Za-z]+:[\t\x20-\x7e\x80-\xff]*)*$/;
const LENGTH = /^\d{1,15}$/;

/** Throws UnfamiliarAnswer. */
export function parseAnswerHead(text: string, isToHead: boolean): AnswerHead {
  const status = Number(HEAD.exec(text)?.[1] ?? Number.NaN);
  if (Number.isNaN(status)) throw new UnfamiliarAnswer("a head of another kind");
  const headers = parseFields(text);
  if ("transfer-encoding" in headers) throw new UnfamiliarAnswer("a body with a transfer coding");
  const length = headers["content-length"];
  const hasBody = !isToHead && status !== 204 && status !== 304;
  if (length === undefined ? hasBody : !LENGTH.test(length)) throw new UnfamiliarAnswer("a body of unknown length");
  return { status, headers, length: hasBody ? Number(length) : 0, keptMs: keptMs(headers) };
}

/** Of a head that was found to be one. */
function parseFields(text: string): Record<string, string> {
  const headers = Object.create(null) as Record<string, string>;
  for (let start = text.indexOf("\r\n"); start >= 0; ) {
    const end = text.indexOf("\r\n", start + 2);
    const colon = text.indexOf(":", start);
    const name = text.slice(start + 2, colon).toLowerCase();
    if (name in headers) throw new UnfamiliarAnswer(`the field ${name} twice`);
    headers[name] = text.slice(colon + 1, end < 0 ? text.length : end).trim();
    start = end;
  }
  return headers;
}

function keptMs(headers: Readonly<Record<string, string>>): number | undefined {
  const { connection } = headers;
  if (connection !== undefined && connection.toLowerCase() !== "keep-alive") return 0;
  const seconds = /^timeout=(\d{1,6})(?:,|$)/.exec(headers["keep-alive"] ?? "")?.[1];
  return seconds === undefined ? undefined : Number(seconds) * 1000;
}

export class AnswerReader {
  private readonly isToHead: boolean;
  private readonly heldSizeMax: number;
  /** Of a head that is not all there. */
  private begun: Buffer = EMPTY;
  private filled = 0;
  head: AnswerHead | undefined;
  body: Buffer = EMPTY;

  /** Bodies of up to `heldSizeMax` bytes are gathered; of a larger one only the head is read. */
  constructor(isToHead: boolean, heldSizeMax: number) {
    this.isToHead = isToHead;
    this.heldSizeMax = heldSizeMax;
  }

  /**
   * Takes bytes, which are the caller's again afterwards. Tells whether the answer is all there now; `large` where its body
   * is too large to gather: then `body` is what came of it. Throws UnfamiliarAnswer.
   */
  take(bytes: Buffer): "more" | "whole" | "large" {
    if (this.head !== undefined) return this.fill(this.head, bytes);
    const all = this.begun.length === 0 ? bytes : Buffer.concat([this.begun, bytes]);
    const end = all.indexOf(BLANK_LINE);
    if ((end < 0 ? all.length : end) > WIRE_HEADER_SIZE_MAX) throw new UnfamiliarAnswer("a header that is too large");
    if (end < 0) {
      this.begun = Buffer.from(all);
      return "more";
    }
    this.begun = EMPTY;
    const head = parseAnswerHead(all.toString("latin1", 0, end), this.isToHead);
    this.head = head;
    const rest = all.subarray(end + BLANK_LINE.length);
    if (head.length > this.heldSizeMax) {
      this.body = Buffer.from(rest);
      return "large";
    }
    if (head.length > 0) this.body = Buffer.allocUnsafe(head.length);
    return this.fill(head, rest);
  }

  private fill({ length }: AnswerHead, bytes: Buffer): "more" | "whole" {
    if (this.filled + bytes.length > length) throw new UnfamiliarAnswer("more bytes than were announced");
    bytes.copy(this.body, this.filled);
    this.filled += bytes.length;
    return this.filled === length ? "whole" : "more";
  }
}
