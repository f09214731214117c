/** How a site as of a day is taken along: as WACZ from here, or from the command line. */
import { formatAmount, formatNumber, html, type Markup } from "../../../markup/index.ts";
import type { Asked } from "../../route.ts";
import type { PageLinks } from "../links.ts";
import type { SiteQuestion } from "./site-question.ts";

/** More URLs are too much for one answer. */
export const EXPORT_URLS_MAX = 20_000;

export function exportSection(
  { collection }: Pick<Asked, "collection">,
  { host, at, only }: SiteQuestion,
  urls: number,
  isMore: boolean,
  links: PageLinks,
): Markup | undefined {
  if (collection.hasRules || urls === 0) return undefined;
  const target = links.query(`site/${encodeURIComponent(host).replaceAll("%3A", ":")}/export`, { at, only });
  const command = `holotype export --prefix http://${host}/ --slice ${at}${only === undefined ? "" : " --mime text/html,application/xhtml+xml"} -o ${host.replace(/[^\w.-]/g, "-")}-${at}.wacz`;
  const isLarge = isMore || urls > EXPORT_URLS_MAX;
  const offer = isLarge
    ? html`<p>${formatNumber(urls)}${isMore ? "+" : ""} URLs are too many for a download. The command line exports them:</p>`
    : html`<p><a class="button" href="${target}" download>Download WACZ of ${formatAmount(urls, "URL")}</a></p><p>The same from the command line:</p>`;
  return html`<section aria-labelledby="export"><h2 id="export">Export</h2>
<p>Exactly this: of each URL the capture that was valid at the end of ${at}, with its request, in a file that stands by itself.</p>
${offer}<pre tabindex="0"><code>${command}</code></pre></section>`;
}
