/** The box for a URL, a part of one, or a host. The script of the pages adds suggestions while somebody types. */
import { formatForeign, html, type Markup } from "../../markup/index.ts";
import { headerUrl } from "../archived-url.ts";

export interface SearchBox {
  /** The page that answers, by its query. */
  readonly action: string;
  readonly value: string;
  /** The large one has a date, too, and its labels are seen. */
  readonly isLarge?: boolean | undefined;
  readonly date?: string | undefined;
}

const VALUE_LENGTH_MAX = 2000;

/** What cannot be seen in a box is escaped, which finds the same. */
function visible(text: string): string {
  return formatForeign(text, VALUE_LENGTH_MAX) === text ? text : headerUrl(text).slice(0, VALUE_LENGTH_MAX);
}

export function formatSearchBox({ action, value, isLarge = false, date = "" }: SearchBox): Markup {
  const label = "URL, part of one, or host";
  const box = html`<input id="q" name="q" type="search" value="${visible(value)}" placeholder="${isLarge ? "example.org/about" : label}" autocomplete="off" autocapitalize="none" spellcheck="false" required data-suggest>`;
  if (!isLarge) {
    return html`<form class="find" role="search" action="${action}" method="get"><div class="typed"><label class="unseen" for="q">${label}</label>${box}</div><button>Find</button></form>`;
  }
  return html`<form class="find large" role="search" action="${action}" method="get">
<div class="typed"><label for="q">${label}</label>${box}</div>
<div class="date"><label for="date">As of (optional)</label><input id="date" name="date" value="${date}" placeholder="2014-03-01" autocomplete="off" pattern="[0-9]{1,14}|[0-9]{4}-[0-9]{2}(-[0-9]{2})?" title="A year, a month or a day: 2014, 2014-03, 2014-03-01"></div>
<button class="primary">Find</button></form>`;
}
