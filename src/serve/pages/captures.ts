/** `/<coll>/captures?url=…`: every capture of a URL, page by page. */
import type { Capture } from "../../archive/index.ts";
import { archiveKey } from "../../archive/index.ts";
import { formatTimestamp } from "../../base/index.ts";
import type { ServerAnswer } from "../../http/index.ts";
import { dataTable, foreign, formatNumber, html, type Markup, size, timeOf } from "../../markup/index.ts";
import { formatCursor, parseCursor, wrongCursor } from "../api/cursor.ts";
import { captureRow } from "../api/rows.ts";
import { stampOf } from "../memento/stamp.ts";
import { askedUrl, nothingSeen } from "../replay/memento-answer.ts";
import type { Asked } from "../route.ts";
import { PageLinks } from "./links.ts";
import { pageAnswer } from "./shell.ts";
import { queryOf, spanOf } from "./timeline.ts";

const ROWS_PER_PAGE = 100;

export async function capturesAnswer(asked: Asked): Promise<ServerAnswer> {
  const { collection } = asked;
  const query = queryOf(asked);
  const url = askedUrl(query.get("url") ?? undefined);
  const [from, to] = [query.get("from") ?? undefined, query.get("to") ?? undefined];
  const after = cursorOf(query.get("cursor") ?? undefined, archiveKey(url));
  const rows: Capture[] = [];
  const asking = { url, ...spanOf({ from, to }), after, limit: ROWS_PER_PAGE + 1 };
  for await (const batch of collection.captures(asking)) rows.push(...batch);
  if (rows.length === 0 && after === undefined) throw await nothingSeen(collection, url, "nearest");
  const shown = rows.slice(0, ROWS_PER_PAGE);
  const links = new PageLinks(asked);
  const cursor = rows.length > shown.length ? formatCursor(shown.at(-1)!.cursor) : undefined;
  const next = cursor && links.query("captures", { url, from, to, cursor });
  return pageAnswer(asked, {
    title: `Captures of ${url}`,
    search: url,
    json: () => ({ url, captures: shown.map(captureRow), next: cursor ?? null }),
    body: () => html`<div class="head"><p class="crumb"><a href="${links.timeline(url)}">Timeline</a> \u203a All captures</p>
<h1 class="url">${foreign(url, 1000)}</h1></div>
<section aria-label="Captures">${formatRows(links, shown)}
<p class="pager">${after === undefined ? undefined : html`<a class="button" href="${links.query("captures", { url, from, to })}">First page</a>`}${next && html`<a class="button" href="${next}">Next page</a>`}</p></section>`,
  });
}

function cursorOf(text: string | undefined, key: string): string | undefined {
  const cursor = parseCursor(text);
  if (cursor !== undefined && (/[^\0-\xff]/.test(cursor) || !cursor.startsWith(`${key}\0`))) throw wrongCursor();
  return cursor;
}

function formatRows(links: PageLinks, captures: readonly Capture[]): Markup {
  return dataTable({
    caption: `${formatNumber(captures.length)} captures, in the order of time`,
    kind: "plain",
    titles: ["Time", "What", "Answer", "Size", "Content", "Look"],
    texts: [1, 2, 4, 5],
    rows: captures.map((capture, i) => {
      const { timeMs, class: kind, flags, status, mime, sha256, url } = capture;
      const stamp = timeMs === undefined ? undefined : stampOf(capture, [captures[i - 1], captures[i + 1]]);
      const looks =
        stamp === undefined
          ? undefined
          : html`<ul class="actions"><li><a href="${links.replay(stamp, url)}">view<span class="unseen"> ${formatTimestamp(timeMs!)}</span></a></li><li><a href="${links.raw(stamp, url)}">raw<span class="unseen"> ${formatTimestamp(timeMs!)}</span></a></li></ul>`;
      return {
        head: timeMs === undefined ? html`<span class="none">no date</span>` : timeOf(timeMs, "second"),
        cells: [
          html`<span class="tag${kind === "failed" ? " failed" : ""}">${kind}</span>${flags.map((flag) => html` <span class="tag">${flag}</span>`)}`,
          html`${status === undefined ? "\u2013" : status} <span class="fine">${foreign(mime, 60)}</span>`,
          capture.size === undefined ? "\u2013" : size(capture.size),
          sha256 === undefined
            ? html`<span class="none">not known</span>`
            : html`<code title="${sha256}">${sha256.slice(0, 12)}</code>`,
          looks,
        ],
      };
    }),
  });
}
