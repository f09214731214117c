/** `/<coll>/crawls`: what was added when, and what it brought; `/<coll>/crawls/<number>`: the captures of one file. */
import type { Capture, Duplication } from "../../../archive/index.ts";
import { ArchiveError, formatTimestamp, systemClock } from "../../../base/index.ts";
import type { ServerAnswer } from "../../../http/index.ts";
import {
  type BarPart,
  barHead,
  dataTable,
  foreign,
  formatAmount,
  formatDay,
  formatNumber,
  formatShare,
  html,
  legend,
  type Markup,
  size,
  timeOf,
} from "../../../markup/index.ts";
import { formatCursor, parseCursor, wrongCursor } from "../../api/cursor.ts";
import { captureRow } from "../../api/rows.ts";
import type { Asked } from "../../route.ts";
import { csvAnswer } from "../csv-answer.ts";
import { counted, countOf, soon } from "../duplication/counted.ts";
import { tableCsv } from "../duplication/tables.ts";
import type { PageLinks } from "../links.ts";
import { PageQuery } from "../query.ts";
import { pageAnswer, wantsJson } from "../shell.ts";
import { type Addition, additionRow, additionsOf } from "./additions.ts";

const ROWS_MAX = 100;
/** So many captures are looked through for one page. */
const LOOKED_MAX = 200_000;

export async function crawlsAnswer(asked: Asked): Promise<ServerAnswer> {
  const { collection, request } = asked;
  const query = new PageQuery(request, systemClock.now());
  const format = query.choice("format", ["html", "json", "csv"]);
  const from = askedNumber(query.text("from"));
  const count = countOf(collection);
  if (format === "csv") {
    const all = await additionsOf(collection, await count.figures);
    return csvAnswer(`${collection.name}-crawls`, tableCsv(all.map(additionRow)));
  }
  const { captures } = await collection.counts();
  const figures = wantsJson(asked) ? await count.figures : await soon(count);
  const all = figures === undefined ? [] : await additionsOf(collection, figures);
  const page = { title: "Crawls", place: "crawls" } as const;
  const shown = (list: readonly Addition[], links: PageLinks) => crawls(list, from, links);
  return pageAnswer(asked, {
    ...page,
    json: () => ({
      collection: collection.name,
      crawls: all.slice(from, from + ROWS_MAX).map(additionRow),
      next: all.length > from + ROWS_MAX ? from + ROWS_MAX : null,
      lastScrub: null,
    }),
    body: (links) => (figures === undefined ? later(asked, captures, (list) => shown(list, links)) : shown(all, links)),
  });
}

async function* later(
  { collection }: Asked,
  captures: number,
  shown: (list: readonly Addition[]) => Markup,
): AsyncGenerator<Markup> {
  const count = countOf(collection);
  yield* counted(count, captures, () => html``);
  const figures: Duplication = await count.figures;
  yield shown(await additionsOf(collection, figures));
}

function askedNumber(text: string | undefined): number {
  if (text === undefined) return 0;
  if (!/^\d{1,9}$/.test(text)) throw new ArchiveError("HT_USAGE", "from is a number");
  return Number(text);
}

function crawls(all: readonly Addition[], from: number, links: PageLinks): Markup {
  const rows = all.slice(from, from + ROWS_MAX);
  const days = new Set(all.map(({ addedMs }) => (addedMs === undefined ? "" : formatDay(addedMs)))).size;
  const lead =
    all.length === 0
      ? html`<p class="lead">Nothing was added yet. <code>holotype add FILE</code> adds a WARC, ARC or WACZ file.</p>`
      : html`<p class="lead">${formatAmount(all.length, "file")} added on ${formatAmount(days, "day")}, the newest first.</p>`;
  return html`<div class="head"><p class="eyebrow">Crawls</p><h1>What was added</h1>${lead}</div>
${all.length === 0 ? undefined : additionsSection(all, rows, from, links)}
<section aria-labelledby="scrub"><h2 id="scrub">Last scrub</h2>
<p>Not recorded: <code>holotype doctor --scrub</code> reads every byte of the archive and compares every digest, and tells what it found to whoever ran it. Every content that is shown here is compared with its digest as it is sent.</p></section>`;
}

function additionsSection(all: readonly Addition[], rows: readonly Addition[], from: number, links: PageLinks): Markup {
  const widest = all.reduce((most, { figures }) => Math.max(most, figures?.bytesSeen ?? 0), 0);
  const table = dataTable({
    caption: `What each file brought${all.length > rows.length ? `, ${formatNumber(from + 1)} to ${formatNumber(from + rows.length)} of ${formatNumber(all.length)}` : ""}`,
    kind: "bars",
    titles: ["file", "added", "captured", "captures", "new contents", "seen", "saved", "share"],
    texts: [1, 2],
    rows: rows.map((addition) => rowOf(addition, widest, links)),
  });
  const next = from + ROWS_MAX;
  const pager =
    all.length > next
      ? html`<p class="pager"><a rel="next" href="${links.query("crawls", { from: `${next}` })}">Next ${ROWS_MAX} files</a></p>`
      : undefined;
  return html`<section aria-labelledby="files"><div class="titled"><h2 id="files">Files</h2><a class="csv" href="${links.query("crawls", { format: "csv" })}">CSV<span class="unseen"> of files</span></a></div>
<p>A content counts as new for the file that brought it; what others brought again was not stored again.</p>
${legend([
  ["kept", "stored"],
  ["saved", "seen, not stored again"],
])}${table}${pager}</section>`;
}

function rowOf({ number, name, addedMs, adoptedBytes, figures }: Addition, widest: number, links: PageLinks) {
  const { captures = 0, contents = 0, bytesSeen = 0, bytesKept = 0, firstMs, lastMs } = figures ?? {};
  const parts: BarPart[] = [
    { value: bytesKept, fill: "kept" },
    { value: bytesSeen - bytesKept, fill: "saved" },
  ];
  const link = html`<a href="${links.query(`crawls/${number}`, {})}">${foreign(name)}</a>`;
  const tag = adoptedBytes === undefined ? undefined : html` <span class="tag">adopted</span>`;
  const dates =
    firstMs === undefined || lastMs === undefined
      ? ""
      : formatDay(firstMs) === formatDay(lastMs)
        ? timeOf(firstMs)
        : html`${timeOf(firstMs)} to ${timeOf(lastMs)}`;
  return {
    head: barHead([link, tag], parts, widest),
    cells: [
      addedMs === undefined ? "" : timeOf(addedMs),
      dates,
      formatNumber(captures),
      formatNumber(contents),
      size(bytesSeen),
      size(bytesSeen - bytesKept),
      formatShare(bytesSeen - bytesKept, bytesSeen),
    ],
  };
}

/** The captures that came with one file, in the order of URLs: found by a walk, which goes on with the next page. */
export async function crawlAnswer(asked: Asked): Promise<ServerAnswer> {
  const { collection, request, found } = asked;
  const number = Number(found["number"]);
  const query = new PageQuery(request, systemClock.now());
  const after = parseCursor(query.text("cursor"));
  if (after !== undefined && /[^\0-\xff]/.test(after)) throw wrongCursor();
  const captures: Capture[] = [];
  let [last, looked]: [string | undefined, number] = [undefined, 0];
  walk: for await (const batch of collection.captures({ after })) {
    for (const capture of batch) {
      if (captures.length === ROWS_MAX || looked === LOOKED_MAX) break walk;
      looked++;
      if (capture.sourceNumber === number) captures.push(capture);
      last = capture.cursor;
    }
    if (request.signal.aborted) break;
  }
  const isMore = captures.length === ROWS_MAX || looked === LOOKED_MAX;
  const next = isMore && last !== undefined ? formatCursor(last) : undefined;
  const [first] = captures;
  if (first === undefined && next === undefined && after === undefined)
    throw new ArchiveError("HT_NOT_FOUND", "no file with this number brought a capture that may be seen");
  const name = first?.source?.replace(/^.*[/\\!]/, "") ?? `File ${number}`;
  return pageAnswer(asked, {
    title: name,
    place: "crawls",
    json: () => ({ number, file: name, captures: captures.map(captureRow), next: next ?? null }),
    body: (
      links,
    ) => html`<div class="head"><p class="crumb"><a href="${links.query("crawls", {})}">Crawls</a></p><h1 class="url">${foreign(name)}</h1>
<p class="lead">Captures that came with this file, in the order of URLs.</p></div>
<section aria-label="Captures">${
      captures.length === 0
        ? html`<p>None among the ${formatNumber(looked)} captures that were looked through.</p>`
        : dataTable({
            caption: `${formatAmount(captures.length, "capture")}${next === undefined && after === undefined ? "" : " on this page"}`,
            kind: "plain",
            titles: ["URL", "captured", "media type", "status", "size"],
            texts: [1, 2],
            rows: captures.map((capture) => captureCells(capture, links)),
          })
    }${next === undefined ? undefined : html`<p class="pager"><a rel="next" href="${links.query(`crawls/${number}`, { cursor: next })}">Go on</a></p>`}</section>`,
  });
}

function captureCells({ url, timeMs, mime, status, size: bytes }: Capture, links: PageLinks) {
  const when =
    timeMs === undefined
      ? "no date"
      : html`<a href="${links.replay(formatTimestamp(timeMs), url)}">${timeOf(timeMs, "second")}</a>`;
  return {
    head: html`<a href="${links.timeline(url)}">${foreign(url)}</a>`,
    cells: [when, foreign(mime), status, bytes === undefined ? "" : size(bytes)],
  };
}
