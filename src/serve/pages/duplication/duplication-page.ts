/** `/<coll>/duplication`: what the collection holds more than once, and what that saved. */
import { setTimeout as sleep } from "node:timers/promises";
import type { Duplication } from "../../../archive/index.ts";
import { systemClock } from "../../../base/index.ts";
import type { ServerAnswer } from "../../../http/index.ts";
import { formatNumber, html, type Markup } from "../../../markup/index.ts";
import type { Asked } from "../../route.ts";
import { csvAnswer } from "../csv-answer.ts";
import type { PageLinks } from "../links.ts";
import { PageQuery } from "../query.ts";
import { pageAnswer, wantsJson } from "../shell.ts";
import { type Count, countOf } from "./counted.ts";
import { acrossSection, groupSections, growthSection, headline, repeatedSections } from "./sections.ts";
import { DUPLICATION_TABLES, duplicationJson, tableCsv, tableRows } from "./tables.ts";

/** A count that takes longer is shown as it goes on. */
const PATIENCE_MS = 400;

export async function duplicationAnswer(asked: Asked): Promise<ServerAnswer> {
  const { collection, request } = asked;
  const query = new PageQuery(request, systemClock.now());
  const format = query.choice("format", ["html", "json", "csv"]);
  const table = query.choice("table", DUPLICATION_TABLES);
  const count = countOf(collection);
  if (format === "csv") {
    const rows = tableRows(await count.figures, table ?? "mime");
    return csvAnswer(`${collection.name}-duplication-${table ?? "mime"}`, tableCsv(rows));
  }
  const { captures } = await collection.counts();
  const page = { title: "Duplication", place: "duplication" } as const;
  if (captures === 0) return pageAnswer(asked, { ...page, json: () => ({ collection: collection.name }), body: empty });
  if (wantsJson(asked)) await count.figures;
  else await Promise.race([count.figures, sleep(PATIENCE_MS)]);
  const figures = count.isDone ? await count.figures : undefined;
  return pageAnswer(asked, {
    ...page,
    json: () => duplicationJson(collection.name, figures!),
    body: (links) =>
      figures === undefined
        ? counting(count, captures, links, collection.hasRules)
        : shown(figures, links, collection.hasRules),
  });
}

function empty(): Markup {
  return html`<div class="head"><p class="eyebrow">Duplication</p><h1>Nothing here yet</h1>
<p class="lead">The archive has no captures. <code>holotype add FILE</code> adds some; this page then shows what they have in common.</p></div>`;
}

/** How far the count is, again and again, and then what it found. Only the last line of it is seen. */
async function* counting(
  count: Count,
  captures: number,
  links: PageLinks,
  hasRules: boolean,
): AsyncGenerator<Markup> {
  while (!count.isDone) {
    const words = `Counting: ${formatNumber(count.done)} of ${formatNumber(captures)} captures`;
    yield html`<p class="counting"><progress max="${captures}" value="${count.done}" aria-label="${words}"></progress> ${words}</p>
`;
    await Promise.race([count.figures, sleep(PATIENCE_MS)]);
  }
  yield shown(await count.figures, links, hasRules);
}

function shown(figures: Duplication, links: PageLinks, hasRules: boolean): Markup {
  const rules = hasRules
    ? html`<p class="note">Some captures may not be shown here. These figures are of the others alone: each content counts as stored once.</p>`
    : undefined;
  return html`${headline(figures)}${rules}
${growthSection(figures, links)}${acrossSection(figures, links)}${groupSections(figures, links)}${repeatedSections(figures, links)}`;
}
