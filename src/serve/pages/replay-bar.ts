/** The bar over a replayed page: its URL, what was asked for and what is shown, versions, parts, and what else there is. */
import { formatDuration, html, type Markup, timeOf } from "../../markup/index.ts";
import { headerUrl } from "../archived-url.ts";
import type { Asked } from "../route.ts";
import { formatCitation } from "./citation.ts";
import { MARK } from "./icon.ts";
import type { PageLinks } from "./links.ts";
import { type View, viewAddress } from "./replay-place.ts";
import { formatSearchBox } from "./search-box.ts";
import type { OtherVersion, Shown } from "./shown.ts";

/** The query of a page about what is shown. */
export function shownQuery(shown: Shown): Readonly<Record<string, string>> {
  return { url: shown.url, time: shown.time.text, ...(shown.isPinned ? { "as-of": "1" } : {}) };
}

export function formatBar(asked: Asked, links: PageLinks, shown: Shown, view: View): Markup {
  return html`<header class="bar">
<a class="brand" href="${links.root}/" title="Holotype">${MARK}<span class="unseen">Holotype</span></a>
${formatSearchBox({ action: links.base, value: shown.url })}
${moreIn(asked, links, shown, view)}
<div class="second"><div class="when">${versionsIn(links, shown, view)}${timesIn(shown)}</div>
${partsIn(links, shown)}</div>
</header>`;
}

function versionsIn(links: PageLinks, shown: Shown, view: View): Markup {
  const { version, versions, earlier, later } = shown;
  const place = version === undefined ? "No version" : `Version ${version} of ${versions}`;
  const step = (other: OtherVersion | undefined, name: string, sign: string): Markup =>
    other === undefined
      ? html`<span class="step" aria-hidden="true">${sign}</span>`
      : html`<a class="step" href="${viewAddress(links, shown, view, other.stamp)}" title="${name} version, of ${timeText(other)}"><span aria-hidden="true">${sign}</span><span class="unseen">${name} version</span></a>`;
  return html`<nav aria-label="Versions">${step(earlier, "Earlier", "\u2039")}<a href="${links.timeline(shown.url)}">${place}</a>${step(later, "Later", "\u203a")}</nav>`;
}

function timeText({ timeMs }: OtherVersion): string {
  return new Date(timeMs).toISOString().slice(0, 10);
}

/** `201403` is `2014-03`. */
function shortTime(digits: string): string {
  const [, year, month, day, rest] = /^(\d{1,4})(\d{2})?(\d{2})?(\d*)$/.exec(digits) ?? [];
  const date = [year, month, day].filter((part) => part !== undefined).join("-");
  return rest === undefined || rest === "" ? date : `${date} ${rest}`;
}

function timesIn(shown: Shown): Markup {
  const { capture, time, isPinned, isAfter } = shown;
  if (capture.timeMs === undefined) return html`<p>Captured at an unknown time</p>`;
  const taken = timeOf(capture.timeMs, "second");
  const asked =
    time.text === "" ? undefined : time.exact === undefined ? shortTime(time.text) : timeOf(time.ms, "second");
  const apart = Math.abs(capture.timeMs - time.ms);
  if (isPinned) {
    const told = isAfter
      ? html` <span class="tag returned">not known by then: first seen ${formatDuration(apart)} later</span>`
      : undefined;
    return html`<p>As of <strong>${asked ?? "now"}</strong>, captured ${taken}${told}</p>`;
  }
  if (asked === undefined || apart < 1000) return html`<p>Captured <strong>${taken}</strong></p>`;
  return html`<p>Captured <strong>${taken}</strong>, asked for ${asked}</p>`;
}

/** Filled by the script of the pages, which asks for it; without that it is a link. */
function partsIn(links: PageLinks, shown: Shown): Markup {
  const address = links.query("parts", shownQuery(shown));
  return html`<details class="parts" data-parts="${address}"><summary>Parts</summary><div class="panel"><p><a href="${address}">From when the parts of this page are</a></p></div></details>`;
}

function moreIn(asked: Asked, links: PageLinks, shown: Shown, view: View): Markup {
  const { collection, serveFiles, replay } = asked;
  const { stamp, url, capture } = shown;
  const other: View = view === "static" ? "replay" : "static";
  const record = `${links.base}record/${stamp}/${headerUrl(capture.url)}`;
  const pinned = shown.isPinned
    ? html`<li><a href="${links.replay(stamp, url)}">Leave the moment: browse by capture</a></li>`
    : html`<li><a href="${links.base}as-of/${stamp}/${headerUrl(url)}">Browse pinned to this moment</a></li>`;
  const views =
    other === "replay" && replay?.hasWorker !== true
      ? html`<li>Scripts are off: the replay worker is not installed here</li>`
      : html`<li><a href="${viewAddress(links, shown, other)}">${other === "static" ? "Static view, scripts off" : "Replay, scripts on"}</a></li>`;
  return html`<details class="more"><summary>More</summary><div class="panel"><ul>
${views}
${pinned}
<li><a href="${links.raw(stamp, capture.url)}">Raw bytes</a></li>
<li><a href="${links.query("capture", { url: capture.url, time: stamp })}">Headers and record</a></li>
${serveFiles && !collection.hasRules ? html`<li><a href="${record}" download>Record as WARC</a></li>` : undefined}
<li><a href="${links.query("page.wacz", shownQuery(shown))}" download>This page as WACZ</a></li>
</ul>${citationIn(asked, shown)}</div></details>`;
}

function citationIn({ base, collection }: Asked, { capture, stamp }: Shown): Markup | undefined {
  const { url, timeMs, sha256 } = capture;
  if (timeMs === undefined || sha256 === undefined) return undefined;
  const memento = `${base}${stamp}/${headerUrl(url)}`;
  return formatCitation("cite", { url, timeMs, sha256, memento, collection: collection.name });
}
