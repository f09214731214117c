/** How much a volume server takes, of everything. */
import type { ListenerLimits } from "../http/index.ts";
import { WIRE_HEADER_SIZE_MAX } from "../store/index.ts";

export interface ServerLimits extends Omit<ListenerLimits, "requestTimeoutMs"> {
  /** Of one content, and of its stored bytes. */
  readonly contentSizeMaxBytes: number;
  /** Of bodies that are gathered in memory at one time, those of bulk streams left out. */
  readonly heldSizeMaxBytes: number;
  readonly bulkRecordCountMax: number;
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
