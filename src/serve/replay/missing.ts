/** What a frame shows in place of what is not there: that it is missing, and what is near. */
import { ArchiveError, ERROR_TABLE } from "../../base/index.ts";
import type { ServerAnswer } from "../../http/index.ts";
import { foreign, html } from "../../markup/index.ts";
import { failureAnswer, textAnswer } from "../answers.ts";
import type { AskedContent } from "../route.ts";
import { askedUrl } from "./memento-answer.ts";

/** A page for who asks for one; for all else an answer without a body that could be taken for what is missing. */
export function missingAnswer(asked: AskedContent, error: unknown): ServerAnswer {
  const { request, found } = asked;
  const answer = failureAnswer(error, request);
  if (!(error instanceof ArchiveError) || !/text\/html/i.test(request.headers.accept ?? "")) return answer;
  const url = askedUrl(found["url"]);
  const isBlocked = error.code === "HT_BLOCKED";
  const title = isBlocked ? "Not shown" : "Not in the archive";
  const page = html`<!doctype html>
<html lang="en"><head><meta charset="utf-8"><title>${title}</title>
<style>:root{color-scheme:light dark}body{font:1rem/1.5 system-ui,sans-serif;margin:2rem;max-width:40rem}code{overflow-wrap:anywhere}p{margin:.5rem 0}</style></head>
<body><h1>${title}</h1><p><code>${foreign(url)}</code></p><p>${error.message}</p></body></html>
`;
  return textAnswer(ERROR_TABLE[error.code].http, "text/html; charset=utf-8", page.text, [
    ["Content-Security-Policy", "default-src 'none'; style-src 'unsafe-inline'; sandbox"],
  ]);
}
