/** `/<coll>/site/<host>`: the URLs of a host as a tree, as of a day, or what changed between two days. */
import { ArchiveError, formatIso, formatTimestamp } from "../../../base/index.ts";
import type { ServerAnswer } from "../../../http/index.ts";
import { formatDay, formatNumber, html, type Markup } from "../../../markup/index.ts";
import { formatCursor, parseCursor } from "../../api/cursor.ts";
import { lifespanRow } from "../../api/rows.ts";
import type { Asked } from "../../route.ts";
import { csvAnswer } from "../csv-answer.ts";
import type { PageLinks } from "../links.ts";
import { pageAnswer } from "../shell.ts";
import { listChanges, type SiteChanges } from "./changes.ts";
import { changesSection } from "./changes-section.ts";
import { exportSection } from "./export-section.ts";
import { changesCsv, treeCsv } from "./site-csv.ts";
import { type SiteQuestion, siteQuestion, sliderDay } from "./site-question.ts";
import { endOfDay, type SiteSpan } from "./span.ts";
import { folderRange, listFolder, type SiteListing, type SiteRow } from "./tree.ts";
import { treeSection } from "./tree-section.ts";

const ROWS_MAX = 200;
const COUNT_MAX = 1000;
const DAY_MS = 86_400_000;

export async function siteAnswer(asked: Asked): Promise<ServerAnswer> {
  const { collection } = asked;
  const question = await siteQuestion(asked);
  const { host, hostKey, range, timeMs, path, mime, query } = question;
  const since = query.time("since", "end");
  if (since !== undefined && since > timeMs) throw new ArchiveError("HT_USAGE", "since is later than at");
  const folder = { hostKey, path };
  if (query.choice("format", ["html", "json", "csv"]) === "csv") {
    const name = `${host}-${question.at}`;
    return since === undefined
      ? csvAnswer(name, treeCsv(collection, question, folderRange(folder)))
      : csvAnswer(`${name}-changes`, changesCsv(collection, question, since));
  }
  const urls = await collection.countSlice(timeMs, { ...range, mime }, COUNT_MAX);
  const isMore = urls >= COUNT_MAX && collection.isCountedByWalk(mime);
  const count = `${formatNumber(urls)}${isMore ? "+" : ""}`;
  const changes =
    since === undefined
      ? undefined
      : await listChanges(collection, { range, since, timeMs, cursor: query.text("cursor") });
  const listing =
    changes === undefined
      ? await listFolder(collection, { folder, timeMs, from: askedStart(question), limit: ROWS_MAX, mime })
      : undefined;
  const shown = { urls, isMore, listing, changes };
  return pageAnswer(asked, {
    title: `${host} on ${question.at}`,
    search: host,
    json: () => siteJson(question, shown),
    body: (links) => html`<div class="head"><p class="crumb">Site</p><h1 class="url">${host}</h1>
<p class="lead">${count} URL${urls === 1 ? "" : "s"} as of ${question.at}. First seen ${formatDay(endOfDay(question.span.firstDay))}, last change ${formatDay(endOfDay(question.span.lastDay))}.</p>
${slider(question, links)}
${tabs(question, links, changes !== undefined)}</div>
${listing === undefined ? undefined : treeSection(question, listing, links)}
${changes === undefined ? undefined : changesSection(question, changes, links)}
${exportSection(asked, question, urls, isMore, links)}`,
  });
}

/** The cursor of a page of the tree is the key that it begins with. */
function askedStart({ query, hostKey, path }: SiteQuestion): string | undefined {
  const start = parseCursor(query.text("cursor"));
  if (start === undefined) return undefined;
  const { from, to } = folderRange({ hostKey, path });
  if (start < from || start >= to) throw new ArchiveError("HT_USAGE", "cursor is of another folder");
  return start;
}

interface Shown {
  readonly urls: number;
  readonly isMore: boolean;
  readonly listing: SiteListing | undefined;
  readonly changes: SiteChanges | undefined;
}

function siteJson({ host, timeMs, path, only, span }: SiteQuestion, { urls, isMore, listing, changes }: Shown): object {
  const next = listing?.next === undefined ? null : formatCursor(listing.next);
  return {
    host,
    at: formatIso(timeMs),
    firstDay: formatDay(endOfDay(span.firstDay)),
    lastChangeDay: formatDay(endOfDay(span.lastDay)),
    only: only ?? "all",
    urls,
    isMore,
    ...(listing === undefined ? {} : { path, rows: listing.rows.map(rowJson), next }),
    ...(changes === undefined ? {} : changes.json()),
  };
}

function rowJson(row: SiteRow): object {
  if (row.kind === "folder") return row;
  const { lifespan, ...rest } = row;
  return { ...rest, ...lifespanRow(lifespan) };
}

/** The slider sends the number of a day, so that it works without a script; with one, it shows its date. */
function slider(question: SiteQuestion, links: PageLinks): Markup {
  const { span, host, path, only, at } = question;
  const hidden = (name: string, value: string | undefined) =>
    value === undefined ? undefined : html`<input type="hidden" name="${name}" value="${value}">`;
  const kept = [hidden("path", path === "/" ? undefined : path), hidden("only", only)];
  const isOne = span.firstDay === span.lastDay;
  const sliding = isOne
    ? undefined
    : html`<form class="slide" action="${links.site(host)}" method="get" data-slider>${kept}
<div class="shown"><label for="day">As of</label> <output for="day">${at}</output></div>
<input id="day" name="day" type="range" min="${span.firstDay}" max="${span.lastDay}" step="1" value="${sliderDay(question)}" aria-valuetext="${at}">
${yearTicks(span)}<button>Show</button></form>`;
  return html`<div class="dates">${sliding}
<form class="dated" action="${links.site(host)}" method="get">${kept}<label for="at">Date</label><input id="at" name="at" type="date" value="${at}" required><button>Go</button></form></div>`;
}

const TICKS_MAX = 8;

/** The years under the slider, as many as have room. */
function yearTicks({ firstDay, lastDay }: SiteSpan): Markup {
  const yearOf = (day: number) => new Date(endOfDay(day)).getUTCFullYear();
  const [first, last] = [yearOf(firstDay) + 1, yearOf(lastDay)];
  const step = Math.max(1, Math.ceil((last - first + 1) / TICKS_MAX));
  const ticks: Markup[] = [];
  for (let year = first; year <= last; year += step) {
    const share = (Date.UTC(year, 0, 1) / DAY_MS - firstDay) / (lastDay - firstDay);
    const isSecond = ticks.length % 2 === 1 ? html` class="second"` : undefined;
    ticks.push(html`<text${isSecond} x="${(100 * share).toFixed(2)}%" y="11" text-anchor="middle">${year}</text>`);
  }
  return html`<svg class="years" aria-hidden="true" focusable="false" width="100%" height="14">${ticks}</svg>`;
}

function tabs({ host, at, only, span, timeMs }: SiteQuestion, links: PageLinks, isChanges: boolean): Markup {
  const site = `site/${encodeURIComponent(host).replaceAll("%3A", ":")}`;
  const before = formatDay(Math.max(endOfDay(span.firstDay - 1), timeMs - 365 * DAY_MS));
  const current = html` aria-current="page"`;
  const pinned = links.replay(`as-of/${formatTimestamp(timeMs)}`, `http://${host}/`);
  return html`<ul class="tabs"><li><a href="${links.query(site, { at, only })}"${isChanges ? undefined : current}>Tree</a></li>
<li><a href="${links.query(site, { at, since: before })}"${isChanges ? current : undefined}>Changes</a></li>
<li><a href="${pinned}">Browse as of ${at}</a></li></ul>`;
}
