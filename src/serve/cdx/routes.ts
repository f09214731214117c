/** The routes of CDX in its dialects, and those that crawlers ask on. */
import type { Handler } from "../../http/index.ts";
import { headerUrl } from "../archived-url.ts";
import { mementoPath } from "../memento/stamp.ts";
import type { Asked, Route } from "../route.ts";
import type { MementoUrl } from "./cdx-answer.ts";
import { crawlerMemory, doppelganger } from "./memory-handlers.ts";
import { outbackQuery } from "./outback-query.ts";
import { pywbCdx } from "./pywb-cdx.ts";
import { waybackAvailable } from "./wayback-available.ts";
import { waybackCdx, waybackTimemap } from "./wayback-cdx.ts";

function mementoUrlOf({ base }: Asked): MementoUrl {
  return (_request, timestamp, url) => `${base}${mementoPath(timestamp)}${headerUrl(url)}`;
}

/** What the Wayback Machine names: the page, under a name that every archive has. */
function pageUrlOf({ origin }: Asked): MementoUrl {
  return (_request, timestamp, url) => `${origin}/web/${timestamp}/${headerUrl(url)}`;
}

function answeredBy(make: (asked: Asked) => Handler): Route["answer"] {
  return (asked) => make(asked)(asked.request);
}

const wayback = answeredBy(({ collection }) => waybackCdx(collection));

/** The server's own: of the first collection, as `/web/` is. */
export const CDX_SERVER_ROUTES: readonly Route[] = [
  { pattern: "/cdx/search/cdx", match: /^cdx\/search\/cdx(?:\?.*)?$/s, isOfServer: true, answer: wayback },
  { pattern: "/cdx/search/xd", match: /^cdx\/search\/xd(?:\?.*)?$/s, isOfServer: true, answer: wayback },
  {
    pattern: "/cdx/hex",
    match: /^cdx\/hex(?:\?.*)?$/s,
    isOfServer: true,
    answer: answeredBy(({ collection }) => crawlerMemory(collection, "hex")),
  },
  {
    pattern: "/wayback/available",
    match: /^wayback\/available(?:\?.*)?$/s,
    isOfServer: true,
    answer: answeredBy((asked) => waybackAvailable(asked.collection, pageUrlOf(asked))),
  },
  {
    pattern: "/api/records/<digest>",
    match: /^api\/records\/[^/?]+(?:\?.*)?$/s,
    isOfServer: true,
    answer: answeredBy(({ collection }) => doppelganger(collection)),
  },
];

export const CDX_ROUTES: readonly Route[] = [
  {
    pattern: "/<coll>?q=type:urlquery…",
    match: /^\?(?:.*&)?q=type(?::|%3a)/is,
    answer: answeredBy(({ collection }) => outbackQuery(collection)),
  },
  {
    pattern: "/<coll>/cdx",
    match: /^cdx(?:\?.*)?$/s,
    answer: answeredBy((asked) => pywbCdx(asked.collection, mementoUrlOf(asked))),
  },
  {
    pattern: "/<coll>/timemap/cdx",
    match: /^timemap\/cdx(?:\?.*)?$/s,
    answer: answeredBy(({ collection }) => waybackTimemap(collection)),
  },
];
