/** Answers that are not archived: texts, JSON, redirects, and what went wrong. */
import { ArchiveError, ERROR_TABLE } from "../base/index.ts";
import type { ServerAnswer, ServerRequest, ToldError } from "../http/index.ts";

export type Headers = readonly (readonly [name: string, value: string])[];

/** A memento may be removed tomorrow, and a commit comes any second. */
export const SHORT_CACHING: Headers = [["Cache-Control", "max-age=10, must-revalidate"]];
const SAFETY: Headers = [["X-Content-Type-Options", "nosniff"]];

export function textAnswer(status: number, type: string, body: string, headers: Headers = []): ServerAnswer {
  return { status, headers: [["Content-Type", type], ...SAFETY, ...headers], body, compress: true };
}

export function jsonAnswer(status: number, value: unknown, headers: Headers = []): ServerAnswer {
  return textAnswer(status, "application/json", `${JSON.stringify(value)}\n`, headers);
}

export function redirectAnswer(location: string, headers: Headers = []): ServerAnswer {
  return textAnswer(302, "text/plain; charset=utf-8", `${location}\n`, [["Location", location], ...headers]);
}

/** What a client did wrong, or what is not there. Failures of the server and bugs are thrown on, for its log. */
export function failureAnswer(error: unknown, request: ServerRequest, headers: Headers = []): ServerAnswer {
  if (!(error instanceof ArchiveError) || ERROR_TABLE[error.code].http >= 500) throw error;
  const { code, message } = error;
  return toldAnswer({ status: ERROR_TABLE[code].http, code, message }, request, headers);
}

/** The form of errors: text, or JSON for who would rather have that. */
export function toldAnswer(
  { status, code, message }: ToldError,
  request: ServerRequest,
  headers: Headers = [],
): ServerAnswer {
  return prefersJson(request)
    ? jsonAnswer(status, { error: { code, message } }, headers)
    : textAnswer(status, "text/plain; charset=utf-8", `${message}\n`, headers);
}

/** Whether a client would rather have JSON than text. */
export function prefersJson({ headers: { accept = "" } }: ServerRequest): boolean {
  const at = accept.search(/application\/(?:[\w.-]+\+)?json/i);
  const text = accept.search(/text\/(?:plain|html|\*)/i);
  return at >= 0 && (text < 0 || at < text);
}
