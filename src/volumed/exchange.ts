/**
 * One request and its answer, whatever it asks for and however it came. An answer is sent once; what fails afterwards
 * cuts the connection.
 */
import type { IncomingHttpHeaders, OutgoingHttpHeaders } from "node:http";
import type { Socket } from "node:net";
import { ArchiveError, ERROR_TABLE } from "../base/index.ts";
import type { UnderWay } from "../http/index.ts";
import { MediaType, toWireError } from "../store/index.ts";

export abstract class Exchange implements UnderWay {
  readonly method: string;
  readonly url: string;
  readonly headers: IncomingHttpHeaders;
  readonly startedMs = performance.now();
  /** What is done, for the metrics and the log. */
  kind = "other";
  outcome = "cut";
  bytesIn = 0;
  bytesOut = 0;
  /** Of the memory for bodies. */
  heldBytes = 0;
  /** The client has sent all it has to send for now: silence is not its fault. */
  isWithServer = false;
  /** What went wrong, for the log. */
  failure: unknown;
  /** Called when the server goes down: a stream that could go on for ever ends then. */
  onDrain: (() => void) | undefined;

  constructor(method: string, url: string, headers: IncomingHttpHeaders) {
    this.method = method;
    this.url = url;
    this.headers = headers;
  }

  abstract get socket(): Socket;

  abstract get isOwed(): boolean;

  /** Whether an answer has begun, or there is nobody any more to answer. */
  protected abstract get isTooLate(): boolean;

  /** Without a body, the headers tell of one that was not asked for. */
  protected abstract sendWhole(
    status: number,
    headers: OutgoingHttpHeaders,
    body: string | Uint8Array | undefined,
  ): void;

  protected abstract cut(): void;

  /** Hands on the body of `size` bytes, as Content-Length told, when all of it is there. */
  abstract gather(size: number, take: (body: Uint8Array) => void): void;

  /** The body as it comes. Throws HT_CUT_OFF. */
  abstract chunks(): AsyncGenerator<Uint8Array>;

  /** The head of an answer that is written in pieces; `headers` tell their size. */
  abstract begin(status: number, headers: OutgoingHttpHeaders): void;

  /** Writes a piece of an answer that has begun, and waits until the piece is the caller's again. */
  abstract write(piece: Uint8Array): Promise<void>;

  abstract end(): void;

  /** A whole answer. Bytes must not change any more. */
  send(status: number, outcome: string, headers: OutgoingHttpHeaders, body: string | Uint8Array): void {
    this.outcome = outcome;
    const size = typeof body === "string" ? Buffer.byteLength(body) : body.length;
    headers["Content-Length"] = size;
    if (this.method === "HEAD") return this.sendWhole(status, headers, undefined);
    this.bytesOut += size;
    this.sendWhole(status, headers, body);
  }

  sendJson(status: number, outcome: string, body: string, headers: OutgoingHttpHeaders = {}): void {
    headers["Content-Type"] = MediaType.json;
    this.send(status, outcome, headers, body);
  }

  /** The answer to what went wrong; where an answer has begun it is cut off, so that nobody takes it for whole. */
  readonly fail = (error: unknown): void => {
    this.failure = error;
    const told = toWireError(error);
    if (this.isTooLate) {
      this.outcome = told.code;
      this.cut();
      return;
    }
    const headers: OutgoingHttpHeaders = {};
    if (told.code === "HT_FORBIDDEN") headers["WWW-Authenticate"] = "Bearer";
    if (told.code === "HT_BUSY") {
      headers["Retry-After"] = 1;
      headers["Connection"] = "close";
    }
    this.sendJson(ERROR_TABLE[told.code].http, told.code, JSON.stringify({ error: told }), headers);
  };
}

export function cutOff(cause: unknown): ArchiveError {
  return new ArchiveError("HT_CUT_OFF", "the connection was closed in the middle", {}, cause);
}
