/**
 * What a handler is given and what it answers. A handler is a plain function: it runs in tests without a socket, and the
 * server brings its answer to the wire.
 */
import type { IncomingHttpHeaders } from "node:http";
import type { ErrorCode } from "../../base/index.ts";

export interface ServerRequest {
  readonly method: string;
  /** Path and query exactly as they were sent, not decoded: `/coll/2014id_/http://a.example/?q=%E9`. */
  readonly target: string;
  /** Names in small letters. */
  readonly headers: IncomingHttpHeaders;
  /** Aborted when nobody waits for the answer any more, or its time is over. */
  readonly signal: AbortSignal;
  /** Set by the handler: the name that the request is counted and logged under. One of few, never text of the request. */
  route?: string | undefined;
  /** All of the body, for handlers that take one; rejects with HT_TOO_LARGE beyond the limit of the server. */
  body(): Promise<Uint8Array>;
}

/**
 * A stream comes in batches of a size that is worth a write; the server waits for the client between them. Bytes that a
 * stream has given may change when it is asked for the next.
 */
export type AnswerBody = string | Uint8Array | AsyncIterable<string | Uint8Array>;

export interface ServerAnswer {
  readonly status: number;
  /**
   * In order, as they are written; values of Latin-1 without control characters. Content-Length is added for bodies that
   * are not streams. A stream with a Content-Length has to keep it, or the connection is cut.
   */
  readonly headers: readonly (readonly [name: string, value: string])[];
  readonly body?: AnswerBody | undefined;
  /** Text of our own, which may be sent compressed where the client takes it. Never for archived bytes. */
  readonly compress?: boolean | undefined;
}

/** What went wrong, as a client may see it. */
export interface ToldError {
  readonly status: number;
  readonly code: ErrorCode;
  readonly message: string;
}

/** Gives an error the form that the route's clients expect. The server adds what the code asks for (`Retry-After`). */
export type ErrorFormatter = (error: ToldError, request: ServerRequest) => ServerAnswer;

/** Throws `ArchiveError`s only; the server answers with their HTTP status in the form that its routes choose. */
export type Handler = (request: ServerRequest) => ServerAnswer | Promise<ServerAnswer>;
