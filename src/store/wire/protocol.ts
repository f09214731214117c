/** What client and server of a volume agree on, beside the bytes. Obeys docs/protocol. */
import { ArchiveError, ERROR_TABLE, type ErrorCode } from "../../base/index.ts";

export const PROTOCOL_VERSION = 1;

/** What is larger, as content or as stored, goes over in pieces and is held whole by nobody. */
export const WIRE_HELD_SIZE_MAX = 1 << 20;
/** Signatures in one batched lookup. */
export const FIND_COUNT_MAX = 10_000;
/** Blocks in one page of a listing, where nothing else is asked for, and at most. */
export const LIST_COUNT_DEFAULT = 1000;
export const LIST_COUNT_MAX = 100_000;

export const MediaType = {
  bytes: "application/octet-stream",
  json: "application/json",
  lines: "application/x-ndjson",
  text: "text/plain; charset=utf-8",
  warc: "application/warc",
} as const;

/** Of a request's or an answer's header: a block can have some hundred former keys. */
export const WIRE_HEADER_SIZE_MAX = 64 << 10;

/** Throws HT_USAGE for what is not a size; `what` is named in the message. */
export function parseSize(text: string, what: string): number {
  const size = /^\d{1,15}$/.test(text) ? Number(text) : Number.NaN;
  if (Number.isSafeInteger(size)) return size;
  throw new ArchiveError("HT_USAGE", `${what} is not a size: ${text.slice(0, 100)}`);
}

/** How an error goes over the wire. */
export interface WireError {
  readonly code: ErrorCode;
  readonly message: string;
}

/** A bug of ours has no code and may have a message for nobody else: its message stays here. */
export function toWireError(error: unknown): WireError {
  if (error instanceof ArchiveError) return { code: error.code, message: error.message };
  return { code: "HT_UNEXPECTED", message: "something that should not happen did; the log of the server has it" };
}

/** Absent where the value is not an error of ours. */
export function fromWireError(value: unknown): ArchiveError | undefined {
  if (typeof value !== "object" || value === null) return undefined;
  const { code, message } = value as Record<string, unknown>;
  if (typeof code !== "string" || !Object.hasOwn(ERROR_TABLE, code) || typeof message !== "string") return undefined;
  return new ArchiveError(code as ErrorCode, message);
}
