/** The changes of a site between two days as a table, with links that compare before and after. */
import type { Change } from "../../../archive/index.ts";
import { formatTimestamp } from "../../../base/index.ts";
import {
  dataTable,
  foreign,
  formatDay,
  formatNumber,
  html,
  type Markup,
  type TableRow,
  timeOf,
} from "../../../markup/index.ts";
import type { PageLinks } from "../links.ts";
import { exactStamp } from "../query.ts";
import type { SiteChanges } from "./changes.ts";
import type { SiteQuestion } from "./site-question.ts";

export function changesSection({ host, at }: SiteQuestion, shown: SiteChanges, links: PageLinks): Markup {
  const { since, changes, next, counts, isMore, isFirst } = shown;
  const site = `site/${encodeURIComponent(host).replaceAll("%3A", ":")}`;
  const from = formatDay(since);
  const total = counts.appeared + counts.changed + counts.vanished;
  const counted = (["appeared", "changed", "vanished"] as const).map(
    (kind) => html`<div><dt>${kind}</dt><dd>${formatNumber(counts[kind])}</dd></div>`,
  );
  const table =
    total === 0
      ? html`<p>Nothing changed between these days, as far as captures show.</p>`
      : dataTable({
          caption: `${formatNumber(changes.length)} of ${formatNumber(total)}${isMore ? "+" : ""} changes, in the order of URLs`,
          kind: "plain",
          titles: ["URL", "change", "seen first", "difference"],
          texts: [1, 2, 3],
          rows: changes.map((change) => rowOf(change, links)),
        });
  const pager =
    next === undefined
      ? undefined
      : html`<p class="pager"><a rel="next" href="${links.query(site, { at, since: from, cursor: next })}">Next changes</a></p>`;
  return html`<section aria-labelledby="changes"><div class="titled"><h2 id="changes">Changes after ${from}, up to ${at}</h2><a class="csv" href="${links.query(site, { at, since: from, format: "csv" })}">CSV<span class="unseen"> of all changes</span></a></div>
<form class="between" action="${links.query(site, {})}" method="get"><label for="since">After</label><input id="since" name="since" type="date" value="${from}" required>
<label for="until">up to</label><input id="until" name="at" type="date" value="${at}" required><button>Show</button></form>
${isFirst && total > 0 ? html`<dl class="totals">${counted}</dl>` : undefined}
${isMore && isFirst ? html`<p class="note">Counting stopped after ${formatNumber(total)} changes; all of them are in the CSV.</p>` : undefined}
${table}${pager}</section>`;
}

/** A change is where another content was found first: right before that, the one before was valid. */
function rowOf({ kind, key, timeMs, lifespan }: Change, links: PageLinks): TableRow {
  const url = lifespan?.url;
  if (url === undefined) return { head: foreign(key), cells: [tag(kind), timeOf(timeMs, "second"), ""] };
  const compared = links.query("compare", { url, a: exactStamp(timeMs - 1), b: exactStamp(timeMs) });
  return {
    head: html`<a href="${links.timeline(url)}">${foreign(url)}</a>`,
    cells: [
      tag(kind),
      html`<a href="${links.replay(formatTimestamp(timeMs), url)}">${timeOf(timeMs, "second")}</a>`,
      kind === "changed" ? html`<a href="${compared}" aria-label="compare ${url} before and after">compare</a>` : "",
    ],
  };
}

function tag(kind: Change["kind"]): Markup {
  return html`<span class="tag ${kind}">${kind}</span>`;
}
