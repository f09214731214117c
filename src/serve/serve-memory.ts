/** Memory for crawlers without an archive: what a digest index knows, on the paths that crawlers ask on. */
import { ArchiveError } from "../base/index.ts";
import type { KnownContents } from "../dedup/index.ts";
import type { Handler } from "../http/index.ts";
import { failureAnswer } from "./answers.ts";
import { crawlerMemory, doppelganger } from "./cdx/memory-handlers.ts";

/** One line of the newest capture of a URL, or nothing; by digest as Doppelganger. Anything else is HT_NOT_FOUND. */
export function serveMemory(contents: KnownContents): Handler {
  const [base32, hex, records] = [
    crawlerMemory(contents, "base32"),
    crawlerMemory(contents, "hex"),
    doppelganger(contents),
  ];
  const routes: readonly (readonly [pattern: string, match: RegExp, handler: Handler])[] = [
    ["/cdx/search/cdx", /^\/(?:cdx\/search\/(?:cdx|xd)|web\/timemap\/cdx)(?:\?|$)/, base32],
    ["/cdx/hex", /^\/cdx\/hex(?:\?|$)/, hex],
    ["/api/records/<digest>", /^\/api\/records\/[^/?]+(?:\?|$)/, records],
  ];
  return (request) => {
    const [pattern, , handler] = routes.find(([, match]) => match.test(request.target)) ?? [];
    if (handler === undefined) return failureAnswer(new ArchiveError("HT_NOT_FOUND", NOTHING), request);
    request.route = pattern;
    if (request.method === "GET" || request.method === "HEAD") return handler(request);
    return { status: 405, headers: [["Allow", "GET, HEAD"]] };
  };
}

const NOTHING =
  "only memory for crawlers is served here: /cdx/search/cdx, /web/timemap/cdx, /cdx/hex, /api/records/DIGEST";
