/** What stands on the timeline of a URL. */
import { formatTimestamp } from "../../base/index.ts";
import {
  calendarTable,
  foreign,
  formatAmount,
  formatDay,
  formatDuration,
  formatNumber,
  formatShare,
  html,
  type Lane,
  type LaneBar,
  lanesChart,
  lanesLegend,
  type Markup,
  size,
  timeOf,
} from "../../markup/index.ts";
import { hostOf } from "../../url/index.ts";
import { headerUrl } from "../archived-url.ts";
import type { Asked } from "../route.ts";
import { formatCitation } from "./citation.ts";
import type { PageLinks } from "./links.ts";
import type { AskedTimeline } from "./timeline.ts";
import type { NamedLifespan, UrlHistory } from "./url-history.ts";

export const ROWS_PER_PAGE = 50;
const LANES_MAX = 16;
/** Room to the right of the last capture, where what it found is presumed. */
const MARGIN_SHARE = 0.04;
const DAY_MS = 86_400_000;
/** Where there are many lifespans, those that begin closer to each other than this share of the width are drawn as one. */
const MANY = 300;
const MERGED_SHARE = 0.004;

export function formatTimeline(asked: Asked, links: PageLinks, history: UrlHistory, timeline: AskedTimeline): Markup {
  const { url, shown } = history;
  return html`${formatHead(links, history, timeline)}
<section aria-labelledby="lanes-title"><h2 id="lanes-title">Versions over time</h2>
<p>${sentence(history)}</p>
<figure>${formatLanes(history, timeline)}</figure></section>
<section id="versions" aria-labelledby="versions-title"><h2 id="versions-title">What it held</h2>
${formatVersions(asked, links, history, timeline)}
<p class="note">The same as <a href="${links.query("timeline", { url, from: timeline.from, to: timeline.to, format: "csv" })}">CSV</a> or <a href="${links.query("timeline", { url, from: timeline.from, to: timeline.to, format: "json" })}">JSON</a>.</p></section>
${shown.length === 0 ? undefined : formatCalendar(links, history)}`;
}

function formatHead(links: PageLinks, history: UrlHistory, { from, to }: AskedTimeline): Markup {
  const { url, otherUrls, all, versionCount, captureCount, isCut, bytesSeen, bytesDistinct, firstMs, lastMs } = history;
  const host = hostOf(all[0]?.lifespan.key ?? "");
  const last = all.at(-1);
  const figures: [string, Markup | string][] = [
    ["captures", `${isCut ? "> " : ""}${formatNumber(captureCount)}`],
    ["distinct versions", formatNumber(versionCount)],
    ["first capture", timeOf(firstMs)],
    ["last capture", timeOf(lastMs)],
    ["bytes that repeat", formatShare(bytesSeen - bytesDistinct, bytesSeen)],
  ];
  const isPart = from !== undefined || to !== undefined;
  return html`<div class="head">
<p class="crumb">${host === undefined ? undefined : html`<a href="${links.site(host)}">${foreign(host)}</a> \u203a `}Timeline${isPart ? html` of ${from ?? "\u2026"}${to === from ? undefined : html` to ${to ?? "\u2026"}`} \u00b7 <a href="${links.timeline(url)}">show all of it</a>` : undefined}</p>
<h1 class="url">${foreign(url, 1000)}</h1>
<dl class="totals">${figures.map(([name, value]) => html`<div><dt>${name}</dt><dd>${value}</dd></div>`)}</dl>
<ul class="actions">
${last === undefined ? undefined : html`<li><a class="button primary" href="${links.replay(formatTimestamp(last.lifespan.lastSeen), url)}">View the latest</a></li>`}
<li><a class="button" href="${links.query("captures", { url, from, to })}">All captures</a></li>
<li><a class="button" href="${links.query("feed", { url })}">Feed of changes</a></li>
<li><a class="button" href="${links.base}timemap/link/${headerUrl(url)}">TimeMap</a></li></ul>
${otherUrls.length === 0 ? undefined : html`<p class="note">Also captured as ${otherUrls.map((other, i) => html`${i === 0 ? "" : ", "}${foreign(other, 120)}`)}.</p>`}
</div>`;
}

/** The chart in words. */
function sentence({ shown, failedMs, all, captureCount, isCut }: UrlHistory): string {
  if (shown.length === 0) return "No visit in this time says what the URL held.";
  const letters = new Set(shown.map(({ letter }) => letter));
  const returns = shown.filter(({ isReturn }) => isReturn).length;
  const longest = shown.reduce((one, other) => (seenFor(other) > seenFor(one) ? other : one));
  const parts = [
    letters.size === 1 && shown.length === 1
      ? `One version, ${seenFor(longest) === 0 ? "seen once" : `observed for ${formatDuration(seenFor(longest))}`}.`
      : `${formatAmount(letters.size, "version")} in ${formatAmount(shown.length, "lifespan")}; ${seenFor(longest) === 0 ? "each was seen once" : `the longest observed is ${longest.letter}, for ${formatDuration(seenFor(longest))}`}.`,
    returns > 0 ? `An earlier version returned ${returns === 1 ? "once" : formatAmount(returns, "time")}.` : "",
    failedMs.length > 0 ? `${formatAmount(failedMs.length, "visit")} failed.` : "",
    isCut ? `Ticks are those of the last ${formatNumber(captureCount)} captures.` : "",
    shown.length < all.length ? `There are ${formatAmount(all.length, "lifespan")} in all.` : "",
  ];
  return parts.filter((part) => part !== "").join(" ");
}

function seenFor({ lifespan: { birth, lastSeen } }: NamedLifespan): number {
  return lastSeen - birth;
}

function formatLanes(history: UrlHistory, { from, to }: AskedTimeline): Markup {
  const { shown, ticks, failedMs, otherMs, firstMs, lastMs } = history;
  const room = Math.max(MARGIN_SHARE * (lastMs - firstMs), lastMs === firstMs ? DAY_MS : 0);
  // A part of the history begins with what was there before.
  const startMs =
    from === undefined ? firstMs : Math.min(firstMs, Math.max(shown[0]?.lifespan.birth ?? firstMs, firstMs - room));
  const endMs =
    to === undefined
      ? lastMs + room
      : Math.max(lastMs + room, Math.min(shown.at(-1)?.lifespan.lastSeen ?? lastMs, lastMs + room));
  const step = shown.length > MANY ? MERGED_SHARE * (endMs - startMs) : 0;
  const lanes: Lane[] = lanesOf(shown).map(({ name, members }) => ({
    name,
    bars: mergedBars(members, endMs, step),
    ticksMs: members.flatMap(({ number }) => ticks.get(number) ?? []),
  }));
  if (failedMs.length > 0) lanes.push({ name: "failed", bars: [], ticksMs: failedMs, kind: "failed" });
  if (otherMs.length > 0) lanes.push({ name: "other", bars: [], ticksMs: otherMs, kind: "other" });
  const kinds = new Set<"presumed" | "failed" | "other">(["presumed"]);
  if (failedMs.length > 0) kinds.add("failed");
  if (otherMs.length > 0) kinds.add("other");
  return html`${lanesChart(lanes, startMs, endMs)}${lanesLegend(kinds)}`;
}

/** One lane for each version; where there are many, the earlier ones share one. */
function lanesOf(shown: readonly NamedLifespan[]): { name: string; members: NamedLifespan[] }[] {
  const byLetter = new Map<string, NamedLifespan[]>();
  for (const each of shown) {
    const there = byLetter.get(each.letter);
    if (there === undefined) byLetter.set(each.letter, [each]);
    else there.push(each);
  }
  const lanes = [...byLetter].map(([name, members]) => ({ name, members }));
  if (lanes.length <= LANES_MAX) return lanes;
  const earlier = lanes.slice(0, lanes.length - LANES_MAX + 1).flatMap(({ members }) => members);
  earlier.sort((one, other) => one.number - other.number);
  return [{ name: "earlier", members: earlier }, ...lanes.slice(lanes.length - LANES_MAX + 1)];
}

/** Those that begin within a step of each other are one. */
function mergedBars(members: readonly NamedLifespan[], endMs: number, stepMs: number): LaneBar[] {
  const groups: { first: NamedLifespan; last: NamedLifespan }[] = [];
  for (const each of members) {
    const group = groups.at(-1);
    if (group !== undefined && each.lifespan.birth - group.first.lifespan.birth < stepMs) group.last = each;
    else groups.push({ first: each, last: each });
  }
  return groups.map(({ first, last }) => ({
    fromMs: first.lifespan.birth,
    seenMs: last.lifespan.lastSeen,
    toMs: last.lifespan.end ?? endMs,
    title:
      first === last
        ? barTitle(first)
        : `Several, ${formatDay(first.lifespan.birth)} to ${formatDay(last.lifespan.lastSeen)}`,
    href: `#l${first.number}`,
  }));
}

function barTitle({ letter, isReturn, lifespan: { birth, lastSeen, end, captures } }: NamedLifespan): string {
  const until = end === undefined ? "" : `, presumed until ${formatDay(end)}`;
  return `${letter}${isReturn ? " (returned)" : ""}: observed ${formatDay(birth)} to ${formatDay(lastSeen)}${until}; ${formatAmount(captures, "capture")}`;
}

function formatVersions(asked: Asked, links: PageLinks, history: UrlHistory, timeline: AskedTimeline): Markup {
  const { shown } = history;
  const start = (timeline.page - 1) * ROWS_PER_PAGE;
  const rows = shown.slice(start, start + ROWS_PER_PAGE);
  const caption =
    rows.length < shown.length
      ? `Lifespans ${formatNumber(start + 1)} to ${formatNumber(start + rows.length)} of ${formatNumber(shown.length)}`
      : "Lifespans, in the order of time";
  const heads = ["Version", "First seen", "Last seen", "Observed for", "Until", "Captures", "Answer", "Look"];
  return html`<div class="scroll" role="region" aria-label="${caption}" tabindex="0"><table class="versions"><caption>${caption}</caption>
<thead><tr>${heads.map((head) => html`<th scope="col"${head === "Captures" ? html` class="number"` : undefined}>${head}</th>`)}</tr></thead>
<tbody>${rows.map((row) => formatRow(asked, links, history, row))}</tbody></table></div>
${formatPager(links, history, timeline, shown.length)}`;
}

function formatRow({ base, collection }: Asked, links: PageLinks, history: UrlHistory, row: NamedLifespan): Markup {
  const { number, letter, isReturn, lifespan } = row;
  const stamp = history.stampOf(row);
  const { url, birth, lastSeen, end, captures, status, mime, payloadSize, sha256 } = lifespan;
  const before = history.all[number - 2];
  const memento = `${base}${stamp}/${headerUrl(url)}`;
  return html`<tr id="l${number}"><th scope="row">${letter}${isReturn ? html` <span class="tag returned">returned</span>` : undefined}</th>
<td data-name="First seen">${timeOf(birth)}</td><td data-name="Last seen">${timeOf(lastSeen)}</td><td data-name="Observed for">${lastSeen === birth ? html`<span class="none">one capture</span>` : formatDuration(lastSeen - birth)}</td><td data-name="Until">${end === undefined ? html`<span class="none">nothing else seen</span>` : timeOf(end)}</td><td class="number" data-name="Captures">${formatNumber(captures)}</td>
<td data-name="Answer"><span>${status === undefined ? undefined : html`<span class="tag${status >= 400 ? " failed" : ""}">${status}</span> `}<span class="fine">${foreign(mime, 60)}, ${size(payloadSize)}</span></span></td>
<td><ul class="actions"><li><a href="${links.replay(stamp, url)}">view<span class="unseen"> ${letter} of ${formatDay(birth)}</span></a></li><li><a href="${links.raw(stamp, url)}">raw<span class="unseen"> ${letter} of ${formatDay(birth)}</span></a></li>${before === undefined ? undefined : html`<li><a href="${links.query("compare", { url, a: history.stampOf(before), b: stamp })}">compare<span class="unseen"> with the one before</span></a></li>`}<li>${formatCitation(`l${number}`, { url, timeMs: birth, sha256, memento, collection: collection.name })}</li></ul></td></tr>
`;
}

function formatPager(
  links: PageLinks,
  { url }: UrlHistory,
  { page, from, to }: AskedTimeline,
  count: number,
): Markup | undefined {
  const last = Math.ceil(count / ROWS_PER_PAGE);
  if (last <= 1) return undefined;
  const link = (number: number, text: string) =>
    html`<a class="button" href="${links.query("timeline", { url, from, to, page: String(number) })}#versions">${text}</a>`;
  return html`<nav class="pager" aria-label="Pages of lifespans">${page > 1 ? html`${link(1, "First")} ${link(page - 1, "Earlier")}` : undefined}${page < last ? html` ${link(page + 1, "Later")} ${link(last, "Last")}` : undefined}</nav>`;
}

function formatCalendar(links: PageLinks, { url, months }: UrlHistory): Markup {
  return html`<section aria-labelledby="calendar-title"><h2 id="calendar-title">Calendar of changes</h2>
${calendarTable({
  caption: "Changes seen in each month; a dot is a month with captures and no change",
  months,
  link: (year, month) => {
    const digits = `${String(year).padStart(4, "0")}${String(month + 1).padStart(2, "0")}`;
    return links.timeline(url).replace("*/", () => `${digits}*/`);
  },
  describe: ({ count, looks }) => `${formatAmount(count, "change")}, ${formatAmount(looks, "capture")}`,
})}</section>`;
}
