/** `/<coll>/duplication/<sha256>`: everywhere that one content was seen. */
import type { Capture } from "../../../archive/index.ts";
import { ArchiveError, formatTimestamp, systemClock } from "../../../base/index.ts";
import type { ServerAnswer } from "../../../http/index.ts";
import { dataTable, foreign, formatAmount, formatBytes, html, timeOf } from "../../../markup/index.ts";
import { formatCursor, parseCursor, wrongCursor } from "../../api/cursor.ts";
import { captureRow } from "../../api/rows.ts";
import type { Asked } from "../../route.ts";
import type { PageLinks } from "../links.ts";
import { PageQuery } from "../query.ts";
import { pageAnswer } from "../shell.ts";

const ROWS_MAX = 100;

export async function contentAnswer(asked: Asked): Promise<ServerAnswer> {
  const { collection, request, found } = asked;
  const sha256 = (found["sha256"] ?? "").toLowerCase();
  const query = new PageQuery(request, systemClock.now());
  const after = parseCursor(query.text("cursor"));
  if (after !== undefined && /[^\0-\xff]/.test(after)) throw wrongCursor();
  const captures: Capture[] = [];
  for await (const batch of collection.same(sha256, after)) {
    captures.push(...batch);
    if (captures.length > ROWS_MAX) break;
  }
  const [first] = captures;
  if (first === undefined) throw new ArchiveError("HT_NOT_FOUND", "no capture that may be seen has this content");
  const shown = captures.slice(0, ROWS_MAX);
  const next = captures.length > ROWS_MAX ? formatCursor(shown.at(-1)!.cursor) : undefined;
  const { size = 0, mime } = first;
  return pageAnswer(asked, {
    title: `Content ${sha256.slice(0, 12)}`,
    place: "duplication",
    json: () => ({ sha256, size, mime: mime ?? null, captures: shown.map(captureRow), next: next ?? null }),
    body: (
      links,
    ) => html`<div class="head"><p class="crumb"><a href="${links.query("duplication", {})}">Duplication</a></p>
<h1 class="url">One content, ${formatBytes(size)}</h1>
<p class="lead">${foreign(mime)}, sha256 <code class="long">${sha256}</code></p></div>
<section aria-labelledby="where"><h2 id="where">Where it was seen</h2>
${dataTable({
  caption: `${formatAmount(shown.length, "capture")}${after === undefined && next === undefined ? "" : " on this page"}, in the order of URLs`,
  kind: "plain",
  titles: ["URL", "captured", "as", "status"],
  texts: [1, 2],
  rows: shown.map((capture) => rowOf(capture, links)),
})}
${next === undefined ? undefined : html`<p class="pager"><a rel="next" href="${links.query(`duplication/${sha256}`, { cursor: next })}">Next ${ROWS_MAX}</a></p>`}</section>`,
  });
}

function rowOf({ url, timeMs, type, status }: Capture, links: PageLinks) {
  const when =
    timeMs === undefined
      ? "no date"
      : html`<a href="${links.replay(formatTimestamp(timeMs), url)}">${timeOf(timeMs, "second")}</a>`;
  return { head: html`<a href="${links.timeline(url)}">${foreign(url)}</a>`, cells: [when, type, status] };
}
