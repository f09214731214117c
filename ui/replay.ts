/**
 * The page around a replayed one. What the frame says is never shown: a message only makes this script ask the server about
 * a URL, and make a new frame for what the server answered. So the bar says what the frame was made for.
 */
import { offerCopies } from "./copy.ts";
import { offerSuggestions } from "./suggest.ts";

interface Answer {
  readonly url: string;
  readonly title: string;
  readonly address: string;
  readonly bar: string;
  readonly stage: string;
}

/** Pages may move on by themselves; so often, and no more without a click. */
const MOVES_MAX = 5;

export function tendReplay(): void {
  const stage = document.querySelector<HTMLElement>(".stage[data-replay]");
  if (stage === null) return void fillParts();
  new ReplayPage(stage);
}

class ReplayPage {
  private stage: HTMLElement;
  private moves = 0;
  private asking: AbortController | undefined;

  constructor(stage: HTMLElement) {
    this.stage = stage;
    history.replaceState({ url: this.url }, "");
    window.addEventListener("message", (event) => this.hear(event));
    window.addEventListener("popstate", ({ state }: PopStateEvent) => {
      const url = (state as { readonly url?: string } | null)?.url;
      if (url !== undefined) void this.show(url, "none");
    });
    void fillParts();
  }

  private get url(): string {
    return this.stage.dataset["url"] ?? "";
  }

  private hear({ origin, source, data }: MessageEvent<{ holotype?: unknown; url?: unknown } | null>): void {
    if (origin !== this.stage.dataset["replay"] || typeof data !== "object" || data === null) return;
    const isOurs = source === this.stage.querySelector("iframe")?.contentWindow;
    const url = webUrl(data.url);
    // Another view has another policy, so it is another page.
    if (data.holotype === "no-worker" && isOurs) return location.replace(this.address(this.url, "st_"));
    if (url === undefined) return;
    if (data.holotype === "go") {
      const { isActive } = navigator.userActivation;
      if (!isActive && ++this.moves > MOVES_MAX) return;
      if (isActive) this.moves = 0;
      void this.show(url, "push");
    } else if (data.holotype === "at" && isOurs && !isSame(url, this.url) && ++this.moves <= MOVES_MAX) {
      void this.show(url, "replace");
    }
  }

  private address(url: string, form = ""): string {
    const { time = "", asOf } = this.stage.dataset;
    const { root = "", collection = "" } = document.body.dataset;
    return `${root}/${collection}/${asOf === undefined ? "" : "as-of/"}${time}${form === "" && time === "" ? "mp_" : form}/${url}`;
  }

  private async show(url: string, entry: "push" | "replace" | "none"): Promise<void> {
    this.asking?.abort();
    const asking = new AbortController();
    this.asking = asking;
    const { time = "", asOf, view = "replay" } = this.stage.dataset;
    const query = new URLSearchParams({ url, time, view, ...(asOf === undefined ? {} : { "as-of": "1" }) });
    const { root = "", collection = "" } = document.body.dataset;
    try {
      const reply = await fetch(`${root}/${collection}/replay?${query}`, { signal: asking.signal });
      if (reply.ok) return this.put((await reply.json()) as Answer, entry);
    } catch (error) {
      if ((error as Error).name === "AbortError") return;
    }
    this.miss(url);
  }

  /** The page stays, and so does the window: a message moves neither. */
  private miss(url: string): void {
    const line = document.createElement("p");
    line.className = "miss";
    line.setAttribute("role", "status");
    const link = document.createElement("a");
    link.href = this.address(url);
    link.textContent = "what is near";
    line.append("Not in the archive: ", shortened(url), " \u2013 ", link);
    document.querySelector(".miss")?.remove();
    this.stage.before(line);
  }

  private put({ url, title, address, bar, stage }: Answer, entry: "push" | "replace" | "none"): void {
    const main = document.querySelector("main");
    if (main === null) return;
    // All of it is markup that the server made; a new frame, so that nothing of the page before is left.
    main.innerHTML = bar + stage;
    document.title = title;
    if (entry === "push") history.pushState({ url }, "", address);
    else if (entry === "replace") history.replaceState({ url }, "", address);
    const made = main.querySelector<HTMLElement>(".stage[data-replay]");
    if (made === null) return location.assign(address);
    this.stage = made;
    offerSuggestions();
    offerCopies();
    void fillParts();
  }
}

const SHOWN_MAX = 200;

function shortened(url: string): string {
  return url.length > SHOWN_MAX ? `${url.slice(0, SHOWN_MAX)}\u2026` : url;
}

/** Absolute, and without steps upwards that would lead out of where it stands in an address. */
function webUrl(value: unknown): string | undefined {
  if (typeof value !== "string" || !URL.canParse(value)) return undefined;
  const { protocol, href } = new URL(value);
  return /^https?:$/.test(protocol) ? href : undefined;
}

function isSame(one: string, other: string): boolean {
  try {
    const [first, second] = [new URL(one), new URL(other)];
    [first.hash, second.hash] = ["", ""];
    return first.href === second.href;
  } catch {
    return one === other;
  }
}

async function fillParts(): Promise<void> {
  const details = document.querySelector<HTMLElement>("details[data-parts]");
  const address = details?.dataset["parts"];
  if (details === null || address === undefined) return;
  try {
    const reply = await fetch(`${address}&fragment=1`);
    if (reply.ok && details.isConnected) details.innerHTML = await reply.text();
  } catch {
    // The link that is there leads to the same.
  }
}
