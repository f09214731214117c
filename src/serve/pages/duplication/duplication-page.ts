/** `/<coll>/duplication`: what the collection holds more than once, and what that saved. */
import type { Duplication } from "../../../archive/index.ts";
import { systemClock } from "../../../base/index.ts";
import type { ServerAnswer } from "../../../http/index.ts";
import { html, type Markup } from "../../../markup/index.ts";
import type { Asked } from "../../route.ts";
import { csvAnswer } from "../csv-answer.ts";
import type { PageLinks } from "../links.ts";
import { PageQuery } from "../query.ts";
import { pageAnswer, wantsJson } from "../shell.ts";
import { counted, countOf, soon } from "./counted.ts";
import { acrossSection, groupSections, growthSection, headline, repeatedSections } from "./sections.ts";
import { DUPLICATION_TABLES, duplicationJson, tableCsv, tableRows } from "./tables.ts";

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
  const figures = wantsJson(asked) ? await count.figures : await soon(count);
  return pageAnswer(asked, {
    ...page,
    json: () => duplicationJson(collection.name, figures!),
    body: (links) =>
      figures === undefined
        ? counted(count, captures, (all) => shown(all, links, collection.hasRules))
        : shown(figures, links, collection.hasRules),
  });
}

function empty(): Markup {
  return html`<div class="head"><p class="eyebrow">Duplication</p><h1>Nothing here yet</h1>
<p class="lead">The archive has no captures. <code>holotype add FILE</code> adds some; this page then shows what they have in common.</p></div>`;
}

function shown(figures: Duplication, links: PageLinks, hasRules: boolean): Markup {
  const rules = hasRules
    ? html`<p class="note">Some captures may not be shown here. These figures are of the others alone: each content counts as stored once.</p>`
    : undefined;
  return html`${headline(figures)}${rules}
${growthSection(figures, links)}${acrossSection(figures, links)}${groupSections(figures, links)}${repeatedSections(figures, links)}`;
}
