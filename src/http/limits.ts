/** How long and how much of an exchange is waited for. */
import { INTERIM_COUNT_MAX } from "./message-framer.ts";

/**
 * Every phase has its own deadline; `exchangeTimeoutMs` covers all of them together. A deadline that passes before the
 * first byte of an answer is a failure, later ones cut the answer (`time`). Headers are limited to 256 KB, which is what
 * warc/ reads.
 */
export interface ExchangeLimits {
  readonly resolveTimeoutMs: number;
  /** For all addresses of a host together. */
  readonly connectTimeoutMs: number;
  readonly tlsTimeoutMs: number;
  /** From the request to the first byte of the answer, an interim one included. */
  readonly firstByteTimeoutMs: number;
  /** Between two pieces of an answer. Time that the sink takes does not count. */
  readonly idleTimeoutMs: number;
  readonly exchangeTimeoutMs: number;
  /** Raw bytes of a body, chunk markers included; more are cut off (`length`). */
  readonly bodySizeMax: number;
  /** Interim answers (1xx) before the final one. */
  readonly interimCountMax: number;
}

export const LIMITS_DEFAULT: ExchangeLimits = {
  resolveTimeoutMs: 10_000,
  connectTimeoutMs: 10_000,
  tlsTimeoutMs: 10_000,
  firstByteTimeoutMs: 30_000,
  idleTimeoutMs: 30_000,
  exchangeTimeoutMs: 30 * 60_000,
  bodySizeMax: 4 * 2 ** 30,
  interimCountMax: INTERIM_COUNT_MAX,
};
