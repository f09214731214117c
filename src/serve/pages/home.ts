/** `/` and `/<coll>/`: a box to search in, how much there is, what came last, and the hosts. */
import type { NamedFigures } from "../../archive/index.ts";
import type { ServerAnswer } from "../../http/index.ts";
import {
  barHead,
  dataTable,
  foreign,
  formatAmount,
  formatNumber,
  formatShare,
  html,
  legend,
  type Markup,
  size,
} from "../../markup/index.ts";
import { fileName } from "../api/rows.ts";
import type { Collection } from "../collection.ts";
import type { Asked } from "../route.ts";
import type { PageLinks } from "./links.ts";
import { searchPage } from "./search.ts";
import { formatSearchBox } from "./search-box.ts";
import { pageAnswer } from "./shell.ts";
import { type Summary, type Survey, summaryOf } from "./summary.ts";

/** `/`: the only collection, or a list of all. */
export async function serverHome(asked: Asked): Promise<ServerAnswer> {
  const { collections } = asked;
  if (collections.size === 1) return await collectionHome(asked);
  const all = await Promise.all(
    [...collections.values()].map(async (collection) => ({ collection, ...(await summaryOf(collection)) })),
  );
  const url = (name: string) => `${asked.origin}/${name}/`;
  return pageAnswer(asked, {
    title: "Collections",
    search: false,
    json: () => ({
      collections: all.map(({ collection: { name }, counts }) => ({ name, url: url(name), ...counts })),
    }),
    body: (links) => html`<div class="head"><h1>Collections</h1>
<p class="lead">What every URL held, and when. Choose where to look.</p></div>
<section aria-label="Collections">${dataTable({
      caption: "Collections of this server",
      kind: "plain",
      titles: ["Collection", "Captures", "Distinct contents"],
      rows: all.map(({ collection: { name }, counts }) => ({
        head: html`<a href="${links.root}/${name}/">${name}</a>`,
        cells: counts === undefined ? ["\u2026", "\u2026"] : [counts.captures, counts.contents].map(formatNumber),
      })),
    })}</section>`,
  });
}

/** `/<coll>/`; with `q` in its query, the search. */
export async function collectionHome(asked: Asked): Promise<ServerAnswer> {
  const { collection, request, base } = asked;
  const start = request.target.indexOf("?");
  const query = new URLSearchParams(start < 0 ? "" : request.target.slice(start + 1));
  const typed = query.get("q")?.trim() ?? "";
  if (typed !== "") return await searchPage(asked, typed, query);
  const summary = await summaryOf(collection);
  return pageAnswer(asked, {
    title: collection.name,
    place: "home",
    search: false,
    json: () => homeJson(base, collection, summary),
    body: (links) => formatHome(links, collection, summary),
  });
}

function homeJson(base: string, { name }: Collection, { counts, survey }: Summary): object {
  const row = ({ name: each, ...figures }: NamedFigures) => figures;
  return {
    collections: [{ name, url: base }],
    name,
    timegate: `${base}{url}`,
    timemap: `${base}timemap/link/{url}`,
    memento: `${base}{time}id_/{url}`,
    cdx: `${base}cdx?url={url}`,
    timeline: `${base}*/{url}`,
    captures: counts?.captures ?? null,
    contents: counts?.contents ?? null,
    bytesSeen: survey?.bytesSeen ?? null,
    bytesKept: survey?.bytesKept ?? null,
    recent: survey?.recent.map((each) => ({ file: fileName(each.name), ...row(each) })) ?? null,
    hosts: survey?.hosts.map((each) => ({ host: each.name, ...row(each) })) ?? null,
  };
}

function formatHome(links: PageLinks, { name }: Collection, { counts, survey }: Summary): Markup {
  const box = formatSearchBox({ action: links.base, value: "", isLarge: true });
  if (counts?.captures === 0) return formatEmpty(name);
  return html`<div class="head home"><h1>What did it say, and when?</h1>
<p class="lead">Every distinct content once, and what every URL held at every moment.</p>
${box}
${formatTotals(counts, survey)}</div>
${survey === undefined ? html`<section><p role="status">Bytes, hosts and files are being counted. They are here when you load the page again.</p></section>` : html`<div class="columns">${formatHosts(links, survey)}${formatRecent(survey)}</div>`}`;
}

function formatTotals(counts: Summary["counts"], survey: Survey | undefined): Markup {
  const { bytesSeen, bytesKept } = survey ?? {};
  const figures: [string, Markup | string | undefined][] = [
    ["captures", counts && formatNumber(counts.captures)],
    ["distinct contents", counts && formatNumber(counts.contents)],
    ["seen", bytesSeen === undefined ? undefined : size(bytesSeen)],
    ["kept", bytesKept === undefined ? undefined : size(bytesKept)],
    [
      "saved",
      bytesSeen === undefined || bytesKept === undefined ? undefined : formatShare(bytesSeen - bytesKept, bytesSeen),
    ],
  ];
  const known = figures.filter(([, value]) => value !== undefined);
  return html`<dl class="totals">${known.map(([name, value]) => html`<div><dt>${name}</dt><dd>${value}</dd></div>`)}</dl>`;
}

/** Seen bytes as a bar: what was kept of them, and what was not kept twice. */
function bytesBar(name: Markup, { bytesSeen, bytesKept }: NamedFigures, whole: number, hasKept: boolean): Markup {
  if (!hasKept) return barHead(name, [{ value: bytesSeen, fill: "kept" }], whole);
  const parts = [
    { value: bytesKept, fill: "kept" },
    { value: bytesSeen - bytesKept, fill: "saved" },
  ] as const;
  return barHead(name, parts, whole);
}

function formatHosts(links: PageLinks, { hosts, hostCount, bytesKept }: Survey): Markup {
  const whole = Math.max(...hosts.map(({ bytesSeen }) => bytesSeen));
  const more = hostCount - hosts.length;
  return html`<section id="hosts" aria-labelledby="hosts-title"><h2 id="hosts-title">Sites</h2>
${dataTable({
  caption: more > 0 ? `The ${hosts.length} sites with the most captures, of ${formatNumber(hostCount)}` : "All sites",
  kind: "bars long",
  titles: ["Site", "Captures", "Seen"],
  rows: hosts.map((host) => ({
    head: bytesBar(hostLink(links, host.name), host, whole, bytesKept !== undefined),
    cells: [formatNumber(host.captures), size(host.bytesSeen)],
  })),
})}${bytesKept === undefined ? undefined : KEY}</section>`;
}

const KEY = legend([
  ["kept", "kept"],
  ["saved", "seen again, not kept twice"],
]);

function hostLink(links: PageLinks, host: string): Markup {
  return host === "-"
    ? html`<span class="none">no host</span>`
    : html`<a href="${links.site(host)}">${foreign(host)}</a>`;
}

function formatRecent({ recent, fileCount, bytesKept }: Survey): Markup {
  const whole = Math.max(...recent.map(({ bytesSeen }) => bytesSeen));
  return html`<section id="recent" aria-labelledby="recent-title"><h2 id="recent-title">Recent additions</h2>
${dataTable({
  caption:
    recent.length < fileCount
      ? `The last ${recent.length} files of ${formatNumber(fileCount)}`
      : formatAmount(fileCount, "file"),
  kind: "bars long",
  titles: ["File", "Captures", "New contents"],
  rows: recent.map((file) => ({
    head: bytesBar(foreign(fileName(file.name), 80), file, whole, bytesKept !== undefined),
    cells: [formatNumber(file.captures), formatNumber(file.contents)],
  })),
})}</section>`;
}

function formatEmpty(name: string): Markup {
  return html`<div class="head"><h1>Nothing here yet</h1>
<p class="lead">The collection ${name} has no captures. Add WARC, ARC or WACZ files, and they show up here within a second.</p></div>
<section aria-labelledby="begin"><h2 id="begin">How to begin</h2>
<p>Files that you have:</p><pre><code>holotype add FILE\u2026 --archive DIR</code></pre>
<p>Pages from the web, of which only what changed is kept:</p><pre><code>holotype fetch https://example.org/ --archive DIR</code></pre></section>`;
}
