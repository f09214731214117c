/** Headers, links and resources of two versions as tables and lists. */
import { dataTable, foreign, formatAmount, formatNumber, html, type Markup } from "../../../markup/index.ts";
import type { PageLinks } from "../links.ts";
import type { FieldDifference, ListDifference } from "./differences.ts";

const VALUE_LENGTH_MAX = 500;
const LISTED_MAX = 300;

export function fieldsSection(fields: readonly FieldDifference[]): Markup {
  if (fields.length === 0) return html`<p>Neither version came with an HTTP header.</p>`;
  const word = ({ before, after }: FieldDifference) =>
    before === after ? "same" : before === undefined ? "added" : after === undefined ? "removed" : "changed";
  const value = (text: string | undefined, mark: "ins" | "del" | undefined) => {
    if (text === undefined) return "";
    const shown = foreign(text, VALUE_LENGTH_MAX);
    return mark === undefined ? shown : mark === "ins" ? html`<ins>${shown}</ins>` : html`<del>${shown}</del>`;
  };
  const rows = fields.map((field) => {
    const isSame = field.before === field.after;
    const cells = [
      html`<span class="tag ${word(field)}">${word(field)}</span>`,
      value(field.before, isSame ? undefined : "del"),
      value(field.after, isSame ? undefined : "ins"),
    ];
    return { head: foreign(field.name, 80), cells };
  });
  return dataTable({
    caption: "Fields of the HTTP header, as they were captured",
    kind: "plain",
    titles: ["field", "change", "before", "after"],
    texts: [1, 2, 3],
    rows,
  });
}

export function listsSection(
  name: string,
  { added, removed, inBoth }: ListDifference,
  links: PageLinks,
  kindOf: (url: string) => string | undefined = () => undefined,
): Markup {
  const list = (urls: readonly string[], word: "added" | "removed") => {
    if (urls.length === 0) return html`<p class="none">none ${word}</p>`;
    const items = urls.slice(0, LISTED_MAX).map((url) => {
      const kind = kindOf(url);
      const tag = kind === undefined ? undefined : html` <span class="tag">${kind}</span>`;
      const shown = html`<a href="${links.timeline(url)}">${foreign(url, 200)}</a>`;
      return html`<li>${word === "added" ? html`<ins>${shown}</ins>` : html`<del>${shown}</del>`}${tag}</li>`;
    });
    const more = urls.length - items.length;
    return html`<ul class="urls">${items}</ul>${more > 0 ? html`<p class="note">and ${formatNumber(more)} more</p>` : undefined}`;
  };
  return html`<h3>${name}</h3><p class="note">${formatAmount(inBoth, "address", "addresses")} in both.</p>
<div class="two"><div><h4>Removed (${formatNumber(removed.length)})</h4>${list(removed, "removed")}</div>
<div><h4>Added (${formatNumber(added.length)})</h4>${list(added, "added")}</div></div>`;
}
