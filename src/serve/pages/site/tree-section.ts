/** One folder of a site as a table: folders in it that can be opened, and URLs with their age and versions. */
import { formatTimestamp } from "../../../base/index.ts";
import {
  dataTable,
  foreign,
  formatAmount,
  formatDay,
  formatDuration,
  formatNumber,
  html,
  type Markup,
  type TableRow,
  timeOf,
} from "../../../markup/index.ts";
import { formatCursor } from "../../api/cursor.ts";
import type { PageLinks } from "../links.ts";
import type { SiteQuestion } from "./site-question.ts";
import type { SiteListing, SiteRow, UrlRow } from "./tree.ts";

export function treeSection(question: SiteQuestion, { rows, next }: SiteListing, links: PageLinks): Markup {
  const { host, at, path, only, query } = question;
  const here = (values: Readonly<Record<string, string | undefined>>) =>
    links.query(`site/${encodeURIComponent(host).replaceAll("%3A", ":")}`, { at, only, ...values });
  const other = only === "pages" ? "all" : "pages";
  const isPart = next !== undefined || query.text("cursor") !== undefined;
  const table =
    rows.length === 0
      ? html`<p>Nothing here was known by then.</p>`
      : dataTable({
          caption: `${formatAmount(rows.length, "entry", "entries")}${isPart ? " on this page" : ""}`,
          kind: "plain",
          titles: ["name", "media type", "unchanged for", "versions", "captured last"],
          texts: [1, 2, 4],
          rows: rows.map((row) => rowOf(row, question, links, here)),
        });
  const pager =
    next === undefined
      ? undefined
      : html`<p class="pager"><a rel="next" href="${here({ path, cursor: formatCursor(next) })}">Next entries</a></p>`;
  return html`<section aria-labelledby="tree"><div class="titled"><h2 id="tree">${trail(question, here)}</h2>
<span class="csv"><a href="${here({ path: path === "/" ? undefined : path, only: other })}">${only === "pages" ? "All media types" : "HTML pages only"}</a> \u00b7 <a href="${here({ path: path === "/" ? undefined : path, format: "csv" })}">CSV<span class="unseen"> of all URLs here</span></a></span></div>
${table}${pager}</section>`;
}

type Here = (values: Readonly<Record<string, string | undefined>>) => string;

/** The folders on the way, each a link. */
function trail({ host, path }: SiteQuestion, here: Here): Markup {
  if (path === "/") return html`${host}/`;
  const names = path.slice(1).match(/[^/?]*[/?]/g) ?? [];
  let way = "/";
  const steps = names.map((name, i) => {
    way += name;
    return i === names.length - 1 ? foreign(name) : html`<a href="${here({ path: way })}">${foreign(name)}</a>`;
  });
  return html`<a href="${here({})}">${host}/</a>${steps}`;
}

function rowOf(row: SiteRow, question: SiteQuestion, links: PageLinks, here: Here): TableRow {
  if (row.kind === "url") return urlRow(row, question, links);
  const { name, path, urls, isMore } = row;
  return {
    head: html`<a class="folder" href="${here({ path })}">${foreign(name)}</a>`,
    cells: [`${formatNumber(urls)}${isMore ? "+" : ""}\u00a0URLs`, "", "", ""],
  };
}

function urlRow({ name, lifespan, versions, lifespans }: UrlRow, { timeMs }: SiteQuestion, links: PageLinks): TableRow {
  const { url, birth, lastSeen, status, mime } = lifespan;
  const pinned = links.replay(`as-of/${formatTimestamp(timeMs)}`, url);
  const isGone = status !== undefined && status >= 400;
  const tag =
    status === undefined || status === 200
      ? undefined
      : html` <span class="tag${isGone ? " failed" : ""}">${status}</span>`;
  // What was valid then may have been seen again later.
  const seen = Math.min(lastSeen, timeMs);
  return {
    head: html`<a class="leaf" href="${pinned}">${foreign(name)}</a>${tag}`,
    cells: [
      html`<span class="tied">${foreign(mime)}</span>`,
      html`<span class="tied" title="since ${formatDay(birth)}">${formatDuration(timeMs - birth)}</span>`,
      html`<a href="${links.timeline(url)}" aria-label="${formatAmount(versions, "version")} of ${name}">${formatNumber(versions)}</a>${lifespans > versions ? html` <span class="tag returned">returned</span>` : undefined}`,
      timeOf(seen),
    ],
  };
}
