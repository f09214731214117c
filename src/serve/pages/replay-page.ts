/**
 * Our page around an archived one: the bar, and a frame on the replay origin. What the bar says is what the server answers
 * for the address that the frame was made for; nothing in the frame can change it.
 */
import { ArchiveError } from "../../base/index.ts";
import type { ServerAnswer } from "../../http/index.ts";
import { escapeHtml, foreign, formatBytes, html, Markup } from "../../markup/index.ts";
import { jsonAnswer, redirectAnswer } from "../answers.ts";
import { askedMemento } from "../replay/memento-answer.ts";
import type { Asked } from "../route.ts";
import { PageLinks } from "./links.ts";
import { formatBar } from "./replay-bar.ts";
import { type Frame, frameOf, type View, viewAddress } from "./replay-place.ts";
import { pageAnswer } from "./shell.ts";
import { findShown, type Shown } from "./shown.ts";

/** What a frame can show. A PDF needs a program of the browser, which a sandbox does not let in. */
const FRAMED = /^\s*(?:text\/|image\/|video\/|audio\/|application\/(?:xhtml\+xml|json|xml|javascript))/i;

/** `/<coll>/<time>/<url>` as a browser goes there. HT_NOT_FOUND or HT_BLOCKED where nothing can be shown. */
export async function replayPage(asked: Asked, wanted: View): Promise<ServerAnswer> {
  const links = new PageLinks(asked);
  const shown = await findShown(asked, askedMemento(asked));
  const { url, target } = shown;
  if (target !== undefined)
    return redirectAnswer(
      `${asked.origin.replace(/^(https?:\/\/[^/]+).*$/, "$1")}${viewAddress(links, shown, wanted, shown.time.text, target)}`,
      VARY,
    );
  const view = viewOf(asked, wanted);
  const frame = frameOf(asked, shown, view);
  const { host } = new URL(asked.origin);
  return pageAnswer(asked, {
    title: url,
    layout: "frame",
    json: () => answerOf(asked, links, shown, view),
    body: () => html`${formatBar(asked, links, shown, view)}${stage(links, shown, view, frame)}`,
    headers: VARY,
    policy: {
      "frame-src": frame?.allowed ?? "'none'",
      "connect-src": `${host}${links.base}replay ${host}${links.base}parts`,
    },
  });
}

/** The answer depends on who asks. */
export const VARY = [["Vary", "Sec-Fetch-Dest, Accept"]] as const;

function viewOf({ replay }: Asked, wanted: View): View {
  return replay?.hasWorker === true ? wanted : "static";
}

function stage(links: PageLinks, shown: Shown, view: View, frame: Frame | undefined): Markup {
  const { mime = "application/octet-stream", size } = shown.capture;
  if (frame === undefined || !FRAMED.test(mime)) {
    const bytes = size === undefined ? "" : `, ${formatBytes(size)}`;
    return html`<div class="stage plain"><h1>${foreign(shown.url)}</h1><p>This capture is not shown inside a page: <code>${foreign(mime)}</code>${bytes}.</p><p><a class="button primary" href="${links.raw(shown.stamp, shown.capture.url)}" download>Download it as it was captured</a></p></div>`;
  }
  const data = new Markup(
    ` data-replay="${new URL(frame.src).origin}" data-view="${view}" data-url="${escapeHtml(shown.url)}" data-time="${shown.time.text}"${shown.isPinned ? ' data-as-of="1"' : ""}`,
  );
  return html`<h1 class="unseen">Archived page: ${foreign(shown.url)}</h1><div class="stage"${data}>${formatFrame(frame)}</div>`;
}

function formatFrame({ src, sandbox, csp }: Frame): Markup {
  const demanded = csp === undefined ? undefined : html` csp="${csp}"`;
  return html`<iframe src="${src}" title="Archived page" name="___wb_replay_top_frame" sandbox="${sandbox}"${demanded} allow="fullscreen" referrerpolicy="no-referrer"></iframe>`;
}

/** What the script of the page asks for when the frame goes on: the same page, in pieces. */
function answerOf(asked: Asked, links: PageLinks, shown: Shown, view: View): object {
  const frame = frameOf(asked, shown, view);
  return {
    url: shown.url,
    title: `${shown.url} \u2013 Holotype`,
    address: viewAddress(links, shown, view),
    time: shown.capture.timeMs === undefined ? null : new Date(shown.capture.timeMs).toISOString(),
    version: shown.version ?? null,
    versions: shown.versions,
    isAfter: shown.isAfter,
    bar: formatBar(asked, links, shown, view).text,
    stage: stage(links, shown, view, frame).text,
  };
}

/** `/<coll>/replay?url=…&time=…`: where captured redirects lead has been followed. */
export async function replayAnswer(asked: Asked): Promise<ServerAnswer> {
  const { query, memento } = askedShown(asked);
  const links = new PageLinks(asked);
  let shown = await findShown(asked, memento);
  for (let hop = 0; shown.target !== undefined && hop < HOPS_MAX; hop++)
    shown = await findShown(asked, { ...memento, url: shown.target });
  const view = viewOf(asked, query.get("view") === "static" ? "static" : "replay");
  return jsonAnswer(200, answerOf(asked, links, shown, view), [["Cache-Control", "no-cache"]]);
}

const HOPS_MAX = 20;

/** `url`, `time` and `as-of` of a query. HT_USAGE where they are none. */
export function askedShown(asked: Asked) {
  const query = new URLSearchParams(asked.request.target.replace(/^[^?]*\??/, ""));
  const url = query.get("url") ?? "";
  if (url === "") throw new ArchiveError("HT_USAGE", "url: of which page?");
  const found = { url, ts: query.get("time") ?? "", asOf: query.has("as-of") ? "as-of/" : undefined };
  return { query, memento: askedMemento({ found }) };
}
