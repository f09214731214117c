/** How much a volume server takes, of everything. */
import { WIRE_HEADER_SIZE_MAX } from "../store/index.ts";

export interface ServerLimits {
  /** Of one content, and of its stored bytes. */
  readonly contentSizeMaxBytes: number;
  /** Of a request's header. */
  readonly headerSizeMaxBytes: number;
  /** Until a request's header is there. */
  readonly headerTimeoutMs: number;
  /** Without a byte in either direction, unless it is the volume that is waited for. */
  readonly idleTimeoutMs: number;
  /** Between two requests on one connection. */
  readonly keepAliveTimeoutMs: number;
  readonly connectionCountMax: number;
  /** Of bodies that are gathered in memory at one time, those of bulk streams left out. */
  readonly heldSizeMaxBytes: number;
  readonly bulkRecordCountMax: number;
  /** For the requests that are under way when the server is closed. */
  readonly drainTimeoutMs: number;
}

export const SERVER_LIMITS_DEFAULT: ServerLimits = {
  contentSizeMaxBytes: 4 * 2 ** 30,
  headerSizeMaxBytes: WIRE_HEADER_SIZE_MAX,
  headerTimeoutMs: 10_000,
  idleTimeoutMs: 60_000,
  keepAliveTimeoutMs: 60_000,
  connectionCountMax: 512,
  heldSizeMaxBytes: 256 << 20,
  bulkRecordCountMax: 10_000_000,
  drainTimeoutMs: 30_000,
};

/** Under way in one bulk store, in number and in bytes held. */
export const BULK_UNDER_WAY_MAX = 512;
export const BULK_HELD_SIZE_MAX = 16 << 20;
/** What a request may still send after it was refused; who sends more is cut off. */
export const DISCARDED_SIZE_MAX = 64 << 20;
