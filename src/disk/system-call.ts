/** Where the errors of the operating system become ours. */
import { fromSystemError, type Place } from "../base/index.ts";

/** What to throw for `cause`. An error that is not the system's comes back as it is. */
export function toDiskError(cause: unknown, place: Place): Error {
  return fromSystemError(cause, place) as Error;
}

/** Runs one call on `path`. */
export function attempt<T>(path: string, call: () => T): T {
  try {
    return call();
  } catch (cause) {
    throw toDiskError(cause, { file: path });
  }
}

/** The system's own code (`ENOENT`), absent where `cause` has none. */
export function systemCode(cause: unknown): string | undefined {
  return cause instanceof Error ? (cause as NodeJS.ErrnoException).code : undefined;
}

/** Runs a call for which absence is an answer. */
export function unlessAbsent<T>(call: () => T): T | undefined {
  try {
    return call();
  } catch (cause) {
    const code = systemCode(cause);
    if (code === "ENOENT" || code === "ENOTDIR") return undefined;
    throw cause;
  }
}
