/** Where nothing was captured of a URL: says so, and what there is nearby. */
import { archiveKey, type Capture } from "../../archive/index.ts";
import type { ArchiveError } from "../../base/index.ts";
import type { ServerAnswer } from "../../http/index.ts";
import { foreign, html, type Markup } from "../../markup/index.ts";
import { askedMemento } from "../replay/memento-answer.ts";
import type { Asked } from "../route.ts";
import type { PageLinks } from "./links.ts";
import { pageAnswer } from "./shell.ts";

const OFFERED_MAX = 10;

export async function missingPage(asked: Asked, error: ArchiveError): Promise<ServerAnswer> {
  const { url, time, prefix } = askedMemento(asked);
  const near = await nearby(asked, url);
  const { code, message } = error;
  return pageAnswer(asked, {
    title: "Not in this archive",
    status: 404,
    search: url,
    headers: [["Vary", "Sec-Fetch-Dest, Accept"]],
    json: () => ({ error: { code, message }, near: near.map((capture) => capture.url) }),
    body: (links) => html`<div class="head"><p class="eyebrow">404</p><h1>Not in this archive</h1>
<p class="lead">There is no capture of <code>${foreign(url)}</code>.</p></div>
${offered(links, near, `${prefix}${time.text === "" ? "" : `${time.text}/`}`)}`,
  });
}

function offered(links: PageLinks, near: readonly Capture[], path: string): Markup {
  if (near.length === 0)
    return html`<section><p>Nor is there one of anything nearby. <a href="${links.base}">Search the collection</a>.</p></section>`;
  const rows = near.map(
    (capture) => html`<li><a href="${links.base}${path}${capture.url}">${foreign(capture.url)}</a></li>`,
  );
  return html`<section><h2>Nearby</h2><ul>${rows}</ul></section>`;
}

/** The first URLs of its folder; of one that has none, of the folder above, up to the whole host. */
async function nearby({ collection }: Asked, url: string): Promise<Capture[]> {
  let folder = archiveKey(url.replace(/[?#].*$/s, ""));
  while (folder.includes(")")) {
    folder = folder.replace(/[^/)]*[/]?$/, "");
    const found: Capture[] = [];
    for await (const batch of collection.firsts({ from: folder, to: `${folder}\uffff` }, "key")) {
      found.push(...batch.slice(0, OFFERED_MAX - found.length));
      if (found.length === OFFERED_MAX) break;
    }
    if (found.length > 0 || folder.endsWith(")")) return found;
  }
  return [];
}
