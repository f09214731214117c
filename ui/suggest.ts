/** Suggestions under the search box: a combobox as ARIA has it, fed by `/api/suggest`. */

interface Suggestion {
  readonly host: string | null;
  readonly url: string;
}

const PAUSE_MS = 120;
const SHOWN_MAX = 10;

export function offerSuggestions(): void {
  for (const input of document.querySelectorAll<HTMLInputElement>("input[data-suggest]")) new SuggestBox(input);
}

class SuggestBox {
  private readonly input: HTMLInputElement;
  private readonly list = document.createElement("ul");
  private readonly status = document.createElement("span");
  private suggestions: readonly Suggestion[] = [];
  private chosen = -1;
  private timer = 0;
  private asking: AbortController | undefined;

  constructor(input: HTMLInputElement) {
    this.input = input;
    const { list, status } = this;
    list.id = `${input.id}-suggestions`;
    list.className = "suggestions";
    list.setAttribute("role", "listbox");
    list.setAttribute("aria-label", "Suggestions");
    list.hidden = true;
    status.className = "unseen";
    status.setAttribute("role", "status");
    input.setAttribute("role", "combobox");
    input.setAttribute("aria-autocomplete", "list");
    input.setAttribute("aria-expanded", "false");
    input.setAttribute("aria-controls", list.id);
    input.after(list, status);
    input.addEventListener("input", () => this.askSoon());
    input.addEventListener("keydown", (event) => this.onKey(event));
    input.addEventListener("blur", () => this.close());
    // Before the box loses the focus, which closes the list.
    list.addEventListener("mousedown", (event) => {
      event.preventDefault();
      const row = (event.target as Element).closest("li");
      if (row !== null) this.take([...list.children].indexOf(row));
    });
  }

  private askSoon(): void {
    clearTimeout(this.timer);
    this.timer = setTimeout(() => void this.ask(), PAUSE_MS);
  }

  private async ask(): Promise<void> {
    const typed = this.input.value.trim();
    this.asking?.abort();
    if (typed === "") return this.close();
    const { root = "", collection = "" } = document.body.dataset;
    const query = new URLSearchParams({ coll: collection, prefix: typed, limit: String(SHOWN_MAX) });
    const asking = new AbortController();
    this.asking = asking;
    try {
      const answer = await fetch(`${root}/api/suggest?${query}`, { signal: asking.signal });
      if (!answer.ok) return this.close();
      const { suggestions } = (await answer.json()) as { suggestions: readonly Suggestion[] };
      if (asking === this.asking && document.activeElement === this.input) this.show(suggestions);
    } catch {
      // Nobody waits for it any more, or the server is gone: the box works without.
    }
  }

  private show(suggestions: readonly Suggestion[]): void {
    this.suggestions = suggestions;
    this.chosen = -1;
    this.list.replaceChildren(...suggestions.map((suggestion, i) => this.row(suggestion, i)));
    this.list.hidden = suggestions.length === 0;
    this.input.setAttribute("aria-expanded", String(suggestions.length > 0));
    this.input.removeAttribute("aria-activedescendant");
    const count = suggestions.length;
    this.status.textContent = count === 0 ? "No suggestions" : `${count} suggestion${count === 1 ? "" : "s"}`;
  }

  private row({ host, url }: Suggestion, i: number): HTMLLIElement {
    const row = document.createElement("li");
    row.id = `${this.list.id}-${i}`;
    row.setAttribute("role", "option");
    row.setAttribute("aria-selected", "false");
    const what = document.createElement("span");
    what.className = "what";
    what.textContent = host === null ? "URL" : "Site";
    const text = document.createElement("bdi");
    text.dir = "ltr";
    text.textContent = host ?? url;
    row.append(what, text);
    return row;
  }

  private onKey(event: KeyboardEvent): void {
    const { key } = event;
    const count = this.list.hidden ? 0 : this.suggestions.length;
    if (key === "Escape" && count > 0) {
      event.preventDefault();
      this.close();
    } else if (key === "ArrowDown" && count === 0) this.askSoon();
    else if ((key === "ArrowDown" || key === "ArrowUp") && count > 0) {
      event.preventDefault();
      const step = key === "ArrowDown" ? 1 : -1;
      // One more place than rows: the box itself.
      this.choose(((this.chosen + 1 + step + count + 1) % (count + 1)) - 1);
    } else if (key === "Enter" && this.chosen >= 0 && count > 0) {
      event.preventDefault();
      this.take(this.chosen);
    }
  }

  private choose(chosen: number): void {
    this.chosen = chosen;
    for (const [i, row] of [...this.list.children].entries()) {
      row.setAttribute("aria-selected", String(i === chosen));
      if (i === chosen) row.scrollIntoView({ block: "nearest" });
    }
    if (chosen < 0) this.input.removeAttribute("aria-activedescendant");
    else this.input.setAttribute("aria-activedescendant", `${this.list.id}-${chosen}`);
  }

  private take(chosen: number): void {
    const suggestion = this.suggestions[chosen];
    if (suggestion === undefined) return;
    const { host, url } = suggestion;
    this.input.value = host ?? url;
    this.close();
    const { root = "", collection = "" } = document.body.dataset;
    if (host === null) this.input.form?.requestSubmit();
    else location.assign(`${root}/${collection}/site/${encodeURIComponent(host).replaceAll("%3A", ":")}`);
  }

  private close(): void {
    clearTimeout(this.timer);
    this.asking?.abort();
    this.asking = undefined;
    this.list.hidden = true;
    this.chosen = -1;
    this.input.setAttribute("aria-expanded", "false");
    this.input.removeAttribute("aria-activedescendant");
    this.status.textContent = "";
  }
}
