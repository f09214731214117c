/**
 * The frame of every page: the head, the bar on top with a box to search in, the footer, and the headers. Pages are
 * strict: they load our style and our script by name and nothing else, and run nothing that stands in them. Each has a
 * twin in JSON, for `Accept: application/json` and for `format=json` in the query.
 */
import { ArchiveError, ERROR_TABLE } from "../../base/index.ts";
import type { ServerAnswer } from "../../http/index.ts";
import { formatForeign, html, Markup, PATTERNS } from "../../markup/index.ts";
import { failureAnswer, type Headers, jsonAnswer, prefersJson } from "../answers.ts";
import type { Asked, Route } from "../route.ts";
import { MARK } from "./icon.ts";
import { PageLinks } from "./links.ts";
import { formatSearchBox } from "./search-box.ts";

/** What the bar on top leads to, in its order. Pages that are not here are reached from others. */
const PLACES = {
  home: { name: "Overview", path: ({ base }: PageLinks) => base },
  duplication: { name: "Duplication", path: ({ base }: PageLinks) => `${base}duplication` },
  crawls: { name: "Crawls", path: ({ base }: PageLinks) => `${base}crawls` },
  api: { name: "API", path: ({ root }: PageLinks) => `${root}/api/` },
} as const;

export type Place = keyof typeof PLACES;

/** A directive of a Content-Security-Policy, to what it allows beside what every page may do. */
export type Policy = Readonly<Record<string, string>>;

export interface Page {
  /** Of the window, without the name of the program. */
  readonly title: string;
  /** What stands in `main`; called only where HTML is asked for. A stream for what is long in the making. */
  body(links: PageLinks): Markup | AsyncIterable<Markup>;
  /** The twin; called only where JSON is asked for. */
  json(links: PageLinks): object;
  /** Which entry of the bar this page is. */
  readonly place?: Place | undefined;
  readonly status?: number | undefined;
  readonly headers?: Headers | undefined;
  /** What the box in the bar holds, such as the URL of the page; false where the page has a box of its own. */
  readonly search?: string | false | undefined;
  /** Links of the head, such as those to feeds. */
  readonly head?: Markup | undefined;
  /** `frame`: the page fills the window and has a bar of its own. */
  readonly layout?: "frame" | undefined;
  /** What the page may do beside what all may: `{ "frame-src": "https://replay.example" }`. */
  readonly policy?: Policy | undefined;
}

/** A page changes with every commit, and what is removed must be gone: caches ask again. */
const PAGE_HEADERS: Headers = [
  ["Cache-Control", "no-cache"],
  ["Vary", "Accept"],
];

const TITLE_LENGTH_MAX = 200;
/** Not in a template: there the bundler would replace it, with code from a package that is not there. */
const SCRIPT_END = new Markup("</script>\n");

export function wantsJson({ request }: Asked): boolean {
  return /[?&]format=json(?:&|$)/.test(request.target) || prefersJson(request);
}

export function pageAnswer(asked: Asked, page: Page): ServerAnswer {
  const links = new PageLinks(asked);
  const { status = 200, headers = [] } = page;
  if (wantsJson(asked)) return jsonAnswer(status, page.json(links), [...PAGE_HEADERS, ...headers]);
  return {
    status,
    headers: [
      ["Content-Type", "text/html; charset=utf-8"],
      ["Content-Security-Policy", policyOf(asked, page.policy ?? {})],
      ["Referrer-Policy", "no-referrer"],
      ["Cross-Origin-Opener-Policy", "same-origin"],
      ["X-Content-Type-Options", "nosniff"],
      ...PAGE_HEADERS,
      ...headers,
    ],
    body: formatShell(asked, page, links),
    compress: true,
  };
}

/** Files are named by their whole paths, so that no archived bytes from the same host pass for one of them. */
function policyOf({ assets, origin }: Asked, more: Policy): string {
  const place = origin.replace(/^https?:\/\//, "");
  const own: Record<string, string> = {
    "default-src": "'none'",
    "style-src": `${place}${assets.style}`,
    "img-src": `${place}${assets.icon}`,
    "script-src": assets.script === undefined ? "'none'" : `${place}${assets.script}`,
    "connect-src": `${place}/api/`,
    "form-action": "'self'",
    "base-uri": "'none'",
    "frame-ancestors": "'none'",
  };
  for (const [name, value] of Object.entries(more)) {
    const there = own[name];
    own[name] = there === undefined || there === "'none'" ? value : `${there} ${value}`;
  }
  return Object.entries(own)
    .map(([name, value]) => `${name} ${value}`)
    .join("; ");
}

function formatShell(asked: Asked, page: Page, links: PageLinks): ServerAnswer["body"] {
  const body = page.body(links);
  const { before, after } = frameOf(asked, page, links);
  return "text" in body ? before.text + body.text + after.text : streamed(before, body, after);
}

async function* streamed(before: Markup, body: AsyncIterable<Markup>, after: Markup): AsyncGenerator<string> {
  yield before.text;
  for await (const { text } of body) yield text;
  yield after.text;
}

function frameOf(asked: Asked, page: Page, links: PageLinks): { before: Markup; after: Markup } {
  const { assets, collection, collections } = asked;
  const { root, base } = links;
  const script =
    assets.script === undefined ? undefined : html`<script src="${root}${assets.script}" defer>${SCRIPT_END}`;
  const isFrame = page.layout === "frame";
  const top = html`<header class="top"><div>
<a class="brand" href="${root}/">${MARK}<span>Holotype</span></a>
<nav aria-label="Main"><ul>${navigation(links, page.place, collections.size > 1 ? collection.name : undefined)}</ul></nav>
${page.search === false ? undefined : formatSearchBox({ action: base, value: page.search ?? "" })}
</div></header>
`;
  const before = html`<!doctype html>
<html lang="en">
<head>
<meta charset="utf-8">
<meta name="viewport" content="width=device-width, initial-scale=1">
<meta name="color-scheme" content="light dark">
<title>${formatForeign(page.title, TITLE_LENGTH_MAX)} \u2013 Holotype</title>
<link rel="icon" type="image/svg+xml" href="${root}${assets.icon}">
<link rel="stylesheet" href="${root}${assets.style}">
${page.head}${script}</head>
<body${isFrame ? html` class="framed"` : undefined} data-root="${root}" data-collection="${collection.name}">
<a class="skip" href="#content">Skip to content</a>
${PATTERNS}
${isFrame ? undefined : top}<main id="content" tabindex="-1">
`;
  const foot = html`<footer class="page"><p>Collection <a href="${base}">${collection.name}</a> \u00b7 All times are UTC \u00b7 <a href="${root}/api/">API</a></p></footer>
`;
  const after = html`</main>
${isFrame ? undefined : foot}</body>
</html>
`;
  return { before, after };
}

function navigation(links: PageLinks, current: Place | undefined, collection: string | undefined): Markup[] {
  return Object.entries(PLACES).map(([key, { name, path }]) => {
    const isCurrent = key === current ? html` aria-current="page"` : undefined;
    const shown = key === "home" ? (collection ?? name) : name;
    return html`<li><a href="${path(links)}"${isCurrent}>${shown}</a></li>`;
  });
}

/** A route that answers with a page: what is wrong with a request becomes a page, too, for browsers. */
export function pageRoute(route: Route): Route {
  return {
    ...route,
    async answer(asked) {
      try {
        return await route.answer(asked);
      } catch (error) {
        return errorPage(asked, error);
      }
    },
  };
}

/** Failures of the server and bugs are thrown on, for its log. */
export function errorPage(asked: Asked, error: unknown): ServerAnswer {
  if (!(error instanceof ArchiveError) || ERROR_TABLE[error.code].http >= 500) throw error;
  const { request } = asked;
  if (wantsJson(asked) || !/\btext\/html\b/i.test(request.headers.accept ?? "")) {
    return failureAnswer(error, request, PAGE_HEADERS);
  }
  const { code, message } = error;
  const status = ERROR_TABLE[code].http;
  const title = status === 404 ? "Not in this archive" : status === 451 ? "Not for everybody" : "This cannot be asked";
  return pageAnswer(asked, {
    title,
    status,
    json: () => ({ error: { code, message } }),
    body: ({ base }) => html`<div class="head"><p class="eyebrow">${status}</p><h1>${title}</h1>
<p class="lead">${message}</p><p><a href="${base}">Search the collection</a></p></div>`,
  });
}
