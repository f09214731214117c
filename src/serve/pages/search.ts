/**
 * `/<coll>/?q=…`: what was typed may be a URL, the beginning or any part of one, or a host. A URL that is there leads to
 * its timeline at once, with a date to what it was then. Otherwise a list: what begins like it, then what has it inside.
 */
import type { Capture } from "../../archive/index.ts";
import { ArchiveError } from "../../base/index.ts";
import type { ServerAnswer } from "../../http/index.ts";
import { dataTable, foreign, formatAmount, formatNumber, html, type Markup, timeOf } from "../../markup/index.ts";
import { redirectAnswer } from "../answers.ts";
import { formatCursor, parseCursor } from "../api/cursor.ts";
import { type Suggestion, suggest } from "../api/suggest.ts";
import { archivedUrl } from "../archived-url.ts";
import { parseAskedTime } from "../asked-time.ts";
import type { Collection } from "../collection.ts";
import type { Asked } from "../route.ts";
import { PageLinks } from "./links.ts";
import { formatSearchBox } from "./search-box.ts";
import { pageAnswer, wantsJson } from "./shell.ts";

const LISTED_MAX = 50;
/** URLs that one page looks into for a part; the next page goes on behind them. */
const LOOKED_MAX = 20_000;

interface Parts {
  readonly found: readonly Capture[];
  /** The key to go on behind; absent where all were looked at. */
  readonly next: string | undefined;
  readonly looked: number;
}

export async function searchPage(asked: Asked, typed: string, query: URLSearchParams): Promise<ServerAnswer> {
  const { collection } = asked;
  const links = new PageLinks(asked);
  const stamp = dateDigits(query.get("date") ?? "");
  const after = parseCursor(query.get("after") ?? undefined);
  const exact = after === undefined && !wantsJson(asked) ? await knownUrl(collection, typed) : undefined;
  if (exact !== undefined) {
    const path = stamp === undefined ? links.timeline(exact) : links.replay(stamp, exact);
    return redirectAnswer(path, [["Cache-Control", "no-cache"]]);
  }
  const begun = after === undefined ? await suggest(collection, typed, LISTED_MAX) : [];
  const parts = await urlsWith(collection, typed, after, new Set(begun.map(({ url }) => url)));
  const next = parts.next && links.query("", { q: typed, date: stamp, after: formatCursor(parts.next) });
  return pageAnswer(asked, {
    title: `Search: ${typed}`,
    place: "home",
    search: false,
    json: () => ({
      query: typed,
      begins: begun,
      contains: parts.found.map(({ url, key }) => ({ url, key })),
      next: next ?? null,
    }),
    body: () => formatResults({ typed, stamp, begun, parts, next, links }),
  });
}

/** HT_USAGE where it is no date. */
function dateDigits(text: string): string | undefined {
  const digits = text.replace(/[-\s:T]/g, "");
  if (digits === "") return undefined;
  if (!/^\d+$/.test(digits)) throw new ArchiveError("HT_USAGE", "the date is none (try 2014, 2014-03 or 2014-03-01)");
  return parseAskedTime(digits).text;
}

/** As it was captured; absent where the collection has no capture of it. */
async function knownUrl(collection: Collection, typed: string): Promise<string | undefined> {
  if (/\s/.test(typed)) return undefined;
  const url = archivedUrl(typed);
  if (url === undefined) return undefined;
  for await (const [capture] of collection.captures({ url, limit: 1 })) return capture?.url;
  return undefined;
}

async function urlsWith(
  collection: Collection,
  typed: string,
  after: string | undefined,
  known: ReadonlySet<string>,
): Promise<Parts> {
  const part = typed.toLowerCase();
  const found: Capture[] = [];
  let looked = 0;
  let last: string | undefined;
  for await (const batch of collection.firsts(after === undefined ? {} : { from: `${after}\x01` }, "key")) {
    for (const first of batch) {
      if (found.length === LISTED_MAX || looked === LOOKED_MAX) return { found, next: last, looked };
      looked++;
      last = first.key;
      if (first.url.toLowerCase().includes(part) && !known.has(first.url)) found.push(first);
    }
  }
  return { found, next: undefined, looked };
}

interface Results {
  readonly typed: string;
  readonly stamp: string | undefined;
  readonly begun: readonly Suggestion[];
  readonly parts: Parts;
  readonly next: string | undefined;
  readonly links: PageLinks;
}

function formatResults({ typed, stamp, begun, parts, next, links }: Results): Markup {
  const link = (url: string) => (stamp === undefined ? links.timeline(url) : links.replay(stamp, url));
  const sites = begun.filter(({ host }) => host !== null);
  const urls = begun.filter(({ host }) => host === null);
  const nothing = begun.length + parts.found.length === 0;
  return html`<div class="head"><h1>${nothing ? "Nothing found" : "Found"}</h1>
<p class="lead">${nothing ? html`No URL in this collection has ${foreign(typed, 200)} in it${next === undefined ? "" : ", among those looked at so far"}.` : html`URLs with ${foreign(typed, 200)} in them.`}</p>
${formatSearchBox({ action: links.base, value: typed, isLarge: true, date: stamp })}</div>
${list(
  "Sites",
  sites.map(({ host }) => html`<a href="${links.site(host!)}">${foreign(host!)}</a>`),
)}
${list(
  "URLs that begin like this",
  urls.map(({ url }) => html`<a href="${link(url)}">${foreign(url)}</a>`),
)}
${parts.found.length === 0 ? undefined : formatParts(parts.found, link)}
${next === undefined ? undefined : html`<p class="pager"><a class="button" href="${next}">Look further</a> <span class="note">Looked into ${formatAmount(parts.looked, "URL")} here.</span></p>`}`;
}

function list(title: string, items: readonly Markup[]): Markup | undefined {
  if (items.length === 0) return undefined;
  return html`<section><h2>${title}</h2><ul class="links">${items.map((item) => html`<li>${item}</li>`)}</ul></section>`;
}

function formatParts(found: readonly Capture[], link: (url: string) => string): Markup {
  return html`<section><h2>URLs with it inside</h2>${dataTable({
    caption: `${formatNumber(found.length)} found`,
    kind: "plain",
    titles: ["URL", "First capture"],
    texts: [1],
    rows: found.map(({ url, timeMs }) => ({
      head: html`<a href="${link(url)}">${foreign(url)}</a>`,
      cells: [timeMs === undefined ? "\u2013" : timeOf(timeMs)],
    })),
  })}</section>`;
}
