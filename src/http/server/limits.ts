/** How much a server accepts from its clients, and how long it waits for them. */

/** What every server limits, whatever it serves. */
export interface ListenerLimits {
  /** Of a request's header. */
  readonly headerSizeMaxBytes: number;
  /** Until a request's header is complete. */
  readonly headerTimeoutMs: number;
  /** Until a request is complete with its body; 0 for no limit. */
  readonly requestTimeoutMs: number;
  /** Without a byte in either direction, unless the client waits for the server. */
  readonly idleTimeoutMs: number;
  /** Between two requests on one connection. */
  readonly keepAliveTimeoutMs: number;
  readonly connectionCountMax: number;
  /** For the requests that are under way when the server is closed. */
  readonly drainTimeoutMs: number;
}

export interface HttpServerLimits extends ListenerLimits {
  /** Until a handler has answered, and between two batches of a stream. */
  readonly answerTimeoutMs: number;
  /** Of one request's body. */
  readonly bodySizeMaxBytes: number;
  /** Of all request bodies held in memory at one time. */
  readonly heldSizeMaxBytes: number;
}

export const HTTP_SERVER_LIMITS_DEFAULT: HttpServerLimits = {
  headerSizeMaxBytes: 64 << 10,
  headerTimeoutMs: 10_000,
  requestTimeoutMs: 60_000,
  idleTimeoutMs: 60_000,
  keepAliveTimeoutMs: 60_000,
  connectionCountMax: 512,
  drainTimeoutMs: 30_000,
  answerTimeoutMs: 60_000,
  bodySizeMaxBytes: 1 << 20,
  heldSizeMaxBytes: 64 << 20,
};

/** What a client may still send after its request was answered; a client that sends more is disconnected. */
export const DISCARDED_SIZE_MAX = 64 << 20;
