/** How to refer to a capture so that the reference lasts: a sentence, and a robust link (robustlinks.mementoweb.org). */
import { formatIso } from "../../base/index.ts";
import { escapeHtml, formatDay, formatForeign, html, type Markup } from "../../markup/index.ts";
import { headerUrl } from "../archived-url.ts";

export interface CitedCapture {
  readonly url: string;
  readonly timeMs: number;
  readonly sha256: string;
  /** The whole address of the capture in this archive. */
  readonly memento: string;
  readonly collection: string;
}

const URL_SHOWN_MAX = 2000;

/** Ready to be put into a list of references. */
export function reference({ url, timeMs, sha256, memento, collection }: CitedCapture): string {
  const shown = formatForeign(url, URL_SHOWN_MAX);
  return `${shown}, as captured on ${formatIso(timeMs)}. Archived in \u201c${collection}\u201d, ${memento} (sha256 ${sha256}).`;
}

/** A link to the live page that carries the archived one. */
export function robustLink({ url, timeMs, memento }: CitedCapture): string {
  const safe = escapeHtml(headerUrl(url));
  return `<a href="${safe}" data-versionurl="${escapeHtml(memento)}" data-versiondate="${formatDay(timeMs)}">${escapeHtml(formatForeign(url, URL_SHOWN_MAX))}</a>`;
}

/** Both, to be opened; `id` is one that the page has only once. */
export function formatCitation(id: string, cited: CitedCapture): Markup {
  const text = (name: string, title: string, value: string) =>
    html`<p class="note">${title} <button class="quiet" type="button" data-copy="${id}-${name}" hidden>Copy</button></p><pre id="${id}-${name}">${value}</pre>`;
  return html`<details class="cite"><summary>cite</summary>${text("reference", "Reference", reference(cited))}${text("link", "Robust link", robustLink(cited))}</details>`;
}
