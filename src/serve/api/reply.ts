/**
 * Answers of the API on their way out: one object; a page of rows with the cursor that goes on behind it; or all rows as
 * lines, in batches of text that are worth a write. No more rows are held than a page or a batch has.
 */
import { type ArchiveError, ERROR_TABLE } from "../../base/index.ts";
import type { ServerAnswer } from "../../http/index.ts";
import { LIMIT_DEFAULT, ParameterError } from "./parameters.ts";

export interface RowReply {
  readonly rows: AsyncIterable<readonly unknown[]>;
  toJson(row: unknown): object;
  /** Of the row that a page ends with. */
  cursorOf(row: unknown): string;
}

export type Reply = { readonly value: object } | RowReply;

export function rowReply<T>(
  rows: AsyncIterable<readonly T[]>,
  toJson: (row: T) => object,
  cursorOf: (row: T) => string,
): RowReply {
  return { rows, toJson: (row) => toJson(row as T), cursorOf: (row) => cursorOf(row as T) };
}

const BATCH_CHARS = 1 << 16;
const JSON_TYPE = "application/json; charset=utf-8";
const NDJSON_TYPE = "application/x-ndjson; charset=utf-8";

/** Answers change with every commit, and what is removed must be gone: caches ask again. */
function headersOf(type: string): [string, string][] {
  return [
    ["Content-Type", type],
    ["Cache-Control", "no-cache"],
    ["Vary", "Accept"],
    ["X-Content-Type-Options", "nosniff"],
  ];
}

export function jsonAnswer(value: object, status = 200): ServerAnswer {
  return { status, headers: headersOf(JSON_TYPE), body: `${JSON.stringify(value)}\n` };
}

/** A page of rows, or where there is more, `next` to go on with. */
export async function pageAnswer(reply: RowReply, limit = LIMIT_DEFAULT): Promise<ServerAnswer> {
  const items: object[] = [];
  let last: unknown;
  for await (const batch of reply.rows) {
    for (const row of batch) {
      if (items.length === limit) return jsonAnswer({ items, next: reply.cursorOf(last) });
      items.push(reply.toJson(row));
      last = row;
    }
  }
  return jsonAnswer({ items, next: null });
}

export function linesAnswer(reply: RowReply, limit: number | undefined, signal: AbortSignal): ServerAnswer {
  return { status: 200, headers: headersOf(NDJSON_TYPE), body: linesOf(reply, limit, signal) };
}

async function* linesOf(
  reply: RowReply,
  limit = Number.POSITIVE_INFINITY,
  signal: AbortSignal,
): AsyncGenerator<string> {
  let text = "";
  let left = limit;
  for await (const batch of reply.rows) {
    for (const row of left < batch.length ? batch.slice(0, left) : batch) {
      text += `${JSON.stringify(reply.toJson(row))}\n`;
      if (text.length < BATCH_CHARS) continue;
      yield text;
      text = "";
    }
    left -= batch.length;
    if (left <= 0 || signal.aborted) break;
  }
  if (text !== "") yield text;
}

/** An error in the form of the API. What is wrong inside the server is not for strangers: its log has it. */
export function apiError(error: ArchiveError): ServerAnswer {
  const status = ERROR_TABLE[error.code].http;
  const message = status < 500 ? error.message : "the server cannot answer this now; its log says why";
  const parameter = error instanceof ParameterError ? { parameter: error.parameter } : {};
  return jsonAnswer({ error: { code: error.code, message, ...parameter } }, status);
}
