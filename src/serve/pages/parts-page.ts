/** `/<coll>/parts?url=…`: from when the parts of a page are, how far apart, which is the odd one, and what is missing. */
import type { ServerAnswer } from "../../http/index.ts";
import { foreign, formatAmount, formatDuration, html, type Markup, timeOf } from "../../markup/index.ts";
import { SHORT_CACHING, textAnswer } from "../answers.ts";
import { parseAskedTime } from "../asked-time.ts";
import { type PageParts, type Part, partsOf } from "../parts/page-parts.ts";
import { shownMemento } from "../replay/worker.ts";
import type { Asked } from "../route.ts";
import { PageLinks } from "./links.ts";
import { askedShown } from "./replay-page.ts";
import { viewAddress } from "./replay-place.ts";
import { pageAnswer } from "./shell.ts";
import { findShown, type Shown } from "./shown.ts";

const NAMES: Readonly<Record<Part["kind"], string>> = {
  image: "picture",
  style: "style",
  font: "font",
  media: "media",
  frame: "frame",
  script: "script",
};

export async function partsPage(asked: Asked): Promise<ServerAnswer> {
  const { query, memento } = askedShown(asked);
  const shown = await findShown(asked, memento);
  const found = await partsOfShown(asked, shown);
  const links = new PageLinks(asked);
  if (query.has("fragment")) {
    const text = html`<summary>${summaryOf(found)}</summary><div class="panel">${panelOf(links, found)}</div>`.text;
    return textAnswer(200, "text/html; charset=utf-8", text, [
      ...SHORT_CACHING,
      ["Content-Security-Policy", "sandbox"],
    ]);
  }
  return pageAnswer(asked, {
    title: `Parts of ${shown.url}`,
    search: shown.url,
    json: () => jsonOf(shown, found),
    body: () => html`<div class="head"><p class="crumb"><a href="${viewAddress(links, shown, "replay")}">Back to the page</a></p>
<h1 class="url">Parts of ${foreign(shown.url)}</h1></div><section>${panelOf(links, found)}</section>`,
  });
}

/** As replay asks for them: at the time of the page, or at the moment that it is pinned to. */
export async function partsOfShown({ collection, request }: Asked, shown: Shown): Promise<PageParts> {
  const { frameTime, isPinned, url } = shown;
  const time = parseAskedTime(frameTime === "" ? "9999" : frameTime);
  const sense = isPinned ? "valid" : "nearest";
  const memento = shownMemento({ url, time, sense, prefix: "" });
  return await partsOf(collection, shown.capture, memento, request.signal);
}

function summaryOf({ parts, beforeMs, afterMs, missing, after, odd }: PageParts): Markup {
  if (parts.length === 0) return html`No parts`;
  const isFar = odd !== undefined;
  const spread = `${formatAmount(parts.length + 1, "part")}, ${formatDuration(beforeMs + afterMs)} apart`;
  const marks = [
    missing === 0 ? undefined : html` <span class="tag failed">${missing} missing</span>`,
    after === 0 ? undefined : html` <span class="tag returned">${after} from after that</span>`,
  ];
  return html`<span class="dot${isFar ? " far" : ""}" aria-hidden="true"></span>${spread}${marks}`;
}

function panelOf(links: PageLinks, found: PageParts): Markup {
  const { parts, odd, missing, after, isCut, beforeMs, afterMs, scripts } = found;
  if (parts.length === 0) return html`<p>The stored page refers to nothing that it is put together from.</p>`;
  const told = [
    html`<p>Beside the page itself, ${formatAmount(parts.length, "part")}: the earliest ${before(beforeMs)}, the latest ${afterwards(afterMs)}.</p>`,
    odd === undefined
      ? undefined
      : html`<p class="notice">The odd one is <a href="${links.timeline(odd.url)}">${foreign(odd.url, 90)}</a>, ${distance(odd)}.</p>`,
    after === 0
      ? undefined
      : html`<p class="notice">${formatAmount(after, "part")} had not been seen by the moment that was asked for; the first capture after it is shown.</p>`,
    missing === 0 ? undefined : html`<p class="notice">${formatAmount(missing, "part")} missing: never captured.</p>`,
  ];
  const rows = parts
    .toSorted((one, other) => rank(other) - rank(one))
    .slice(0, ROWS_MAX)
    .map((part) => rowOf(links, part));
  const rest = parts.length > ROWS_MAX ? html`<p>And ${parts.length - ROWS_MAX} more.</p>` : undefined;
  const cut = isCut ? " There are more than were looked at." : "";
  const loaded = scripts === 0 ? "" : ` What ${formatAmount(scripts, "script")} may load is not counted.`;
  return html`${told}<div class="scroll" role="region" aria-label="Parts" tabindex="0"><table><thead><tr><th>Part</th><th>Kind</th><th>Captured</th><th>From the page</th></tr></thead><tbody>${rows}</tbody></table></div>${rest}<p class="soft">Found in the stored HTML and CSS.${loaded || " What scripts load is not counted."}${cut}</p>`;
}

const ROWS_MAX = 100;

function rank({ capture, distanceMs = 0 }: Part): number {
  return capture === undefined ? Number.POSITIVE_INFINITY : Math.abs(distanceMs);
}

function rowOf(links: PageLinks, part: Part): Markup {
  const { url, kind, capture, isAfter } = part;
  const when =
    capture?.timeMs === undefined ? html`<span class="tag failed">missing</span>` : timeOf(capture.timeMs, "second");
  const mark = isAfter ? html` <span class="tag returned">after</span>` : undefined;
  return html`<tr><td><a href="${links.timeline(url)}">${foreign(url, 90)}</a></td><td>${NAMES[kind]}</td><td>${when}${mark}</td><td>${distance(part)}</td></tr>`;
}

function distance({ distanceMs, capture }: Part): string {
  if (capture === undefined) return "";
  if (distanceMs === undefined) return "unknown";
  if (Math.abs(distanceMs) < 1000) return "same second";
  return `${formatDuration(Math.abs(distanceMs))} ${distanceMs < 0 ? "before" : "after"}`;
}

function before(ms: number): string {
  return ms < 1000 ? "with the page" : `${formatDuration(ms)} before it`;
}

function afterwards(ms: number): string {
  return ms < 1000 ? "with the page" : `${formatDuration(ms)} after it`;
}

function jsonOf(shown: Shown, { parts, odd, ...rest }: PageParts): object {
  const row = ({ url, kind, capture, distanceMs, isAfter }: Part) => ({
    url,
    kind,
    time: capture?.timeMs === undefined ? null : new Date(capture.timeMs).toISOString(),
    distanceMs: distanceMs ?? null,
    isAfter,
  });
  const { timeMs } = shown.capture;
  const time = timeMs === undefined ? null : new Date(timeMs).toISOString();
  return { url: shown.url, time, ...rest, odd: odd === undefined ? null : row(odd), parts: parts.map(row) };
}
