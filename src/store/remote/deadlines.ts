/** How long a volume server is waited for: to take a connection, to begin its answer, and to go on with it. */
export interface Deadlines {
  readonly connectTimeoutMs: number;
  /** From the last byte that was sent to the first that comes. */
  readonly answerTimeoutMs: number;
  /** Between two bytes of an answer, or of a body that is sent in pieces. */
  readonly idleTimeoutMs: number;
}

/** For who has nobody else to ask. */
export const PATIENT: Deadlines = { connectTimeoutMs: 10_000, answerTimeoutMs: 30_000, idleTimeoutMs: 30_000 };

/**
 * Where there are other volumes. A server that hangs is asked twice, and what it does not do in that time another one
 * does: with these, within 10 s.
 */
export const AMONG_OTHERS: Deadlines = { connectTimeoutMs: 2000, answerTimeoutMs: 4000, idleTimeoutMs: 10_000 };

/** What took longer than this was waiting, not a refusal: of such tries there are two, however many others there are. */
export const WAIT_MS = 1000;
export const LATE_TRIES = 2;

/** A deadline that passed, for people. */
export function timedOut(what: string, afterMs: number): Error {
  return new Error(`timed out: ${what} within ${afterMs / 1000} s`);
}
