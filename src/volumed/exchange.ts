/** One request and its answer, whatever it asks for. An answer is sent once; what fails afterwards cuts the connection. */
import type { IncomingMessage, OutgoingHttpHeaders, ServerResponse } from "node:http";
import { ArchiveError, ERROR_TABLE } from "../base/index.ts";
import { MediaType, toWireError } from "../store/index.ts";
import { DISCARDED_SIZE_MAX } from "./limits.ts";

export class Exchange {
  readonly request: IncomingMessage;
  readonly response: ServerResponse;
  readonly startedMs = performance.now();
  /** What is done, for the metrics and the log. */
  kind = "other";
  outcome = "cut";
  bytesIn = 0;
  bytesOut = 0;
  /** Of the memory for bodies. */
  heldBytes = 0;
  /** The client has sent all it has to send for now: silence is not its fault. */
  isWithVolume = false;
  /** What went wrong, for the log. */
  failure: unknown;
  /** Called when the server goes down: a stream that could go on for ever ends then. */
  onDrain: (() => void) | undefined;

  constructor(request: IncomingMessage, response: ServerResponse) {
    this.request = request;
    this.response = response;
  }

  /** A whole answer. Bytes must not change any more. */
  send(status: number, outcome: string, headers: OutgoingHttpHeaders, body: string | Uint8Array): void {
    this.outcome = outcome;
    const size = typeof body === "string" ? Buffer.byteLength(body) : body.length;
    headers["Content-Length"] = size;
    this.response.writeHead(status, headers);
    if (this.request.method === "HEAD") this.response.end();
    else {
      this.bytesOut += size;
      this.response.end(body);
    }
    this.discard();
  }

  sendJson(status: number, outcome: string, body: string, headers: OutgoingHttpHeaders = {}): void {
    headers["Content-Type"] = MediaType.json;
    this.send(status, outcome, headers, body);
  }

  /** The answer to what went wrong; where an answer has begun it is cut off, so that nobody takes it for whole. */
  readonly fail = (error: unknown): void => {
    this.failure = error;
    const told = toWireError(error);
    if (this.response.headersSent || this.response.destroyed) {
      this.outcome = told.code;
      this.response.destroy();
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

  /** Reads on until the client has sent all, so that it gets to see the answer; but not for ever. */
  discard(): void {
    if (this.request.complete) return;
    let size = 0;
    this.request.on("data", (piece: Buffer) => {
      size += piece.length;
      if (size > DISCARDED_SIZE_MAX) this.request.destroy();
    });
    this.request.on("error", () => {});
  }

  /** Writes a piece of an answer that has begun, and waits until the piece is the caller's again. */
  write(piece: Uint8Array): Promise<void> {
    this.isWithVolume = false;
    this.bytesOut += piece.length;
    return new Promise((resolve, reject) => {
      this.response.write(piece, (error) => {
        this.isWithVolume = true;
        if (error) reject(cutOff(error));
        else resolve();
      });
    });
  }
}

export function cutOff(cause: unknown): ArchiveError {
  return new ArchiveError("HT_CUT_OFF", "the connection was closed in the middle", {}, cause);
}
