/** What a client gets to know of an error: never a path of this machine, never the inside of a bug. */
import { ArchiveError, ERROR_TABLE } from "../../base/index.ts";
import type { ErrorFormatter, ToldError } from "./message.ts";

export function toToldError(error: unknown): ToldError {
  if (!(error instanceof ArchiveError)) {
    return { status: 500, code: "HT_UNEXPECTED", message: "a bug of this server; its log has the details" };
  }
  const { http, meaning } = ERROR_TABLE[error.code];
  // What the disk said names files.
  const isInner = http === 500 || http === 507 || error.place.file !== undefined;
  return { status: http, code: error.code, message: isInner ? meaning : error.message };
}

/** Whether the operator has to know: a bug, or a failure that is not the client's. Being busy is neither. */
export function isServerFault(error: unknown): boolean {
  if (error === undefined) return false;
  if (!(error instanceof ArchiveError)) return true;
  return error.code !== "HT_BUSY" && error.code !== "HT_UNSUPPORTED" && ERROR_TABLE[error.code].http >= 500;
}

export const formatJsonError: ErrorFormatter = ({ status, code, message }) => ({
  status,
  headers: [["Content-Type", "application/json"]],
  body: JSON.stringify({ error: { code, message } }),
});
