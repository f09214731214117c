/** Addresses of pages, as links have them: from the root of the host, so that they hold behind any proxy. */
import { headerUrl } from "../archived-url.ts";
import type { Asked } from "../route.ts";

export class PageLinks {
  /** What the server's own paths begin with: empty, or the path of its base URL. */
  readonly root: string;
  /** The same with the collection, by the name that it was asked by: `/coll/`. */
  readonly base: string;

  constructor({ origin, base }: Pick<Asked, "origin" | "base">) {
    this.root = /^https?:\/\/[^/]*(\/.*)?$/i.exec(origin)?.[1] ?? "";
    this.base = `${this.root}${base.slice(origin.length)}`;
  }

  /** `/<coll>/*\/<url>`: all that is known of a URL over time. */
  timeline(url: string): string {
    return `${this.base}*/${pathUrl(url)}`;
  }

  /** `/<coll>/<stamp>/<url>`: a capture, shown. */
  replay(stamp: string, url: string): string {
    return `${this.base}${stamp}/${pathUrl(url)}`;
  }

  /** `/<coll>/<stamp>id_/<url>`: its bytes. */
  raw(stamp: string, url: string): string {
    return `${this.base}${stamp}id_/${pathUrl(url)}`;
  }

  site(host: string): string {
    return `${this.base}site/${encodeURIComponent(host).replaceAll("%3A", ":")}`;
  }

  /** A page of the collection with a query: `compare`, `captures`, `feed` and so on. Those that are absent are left out. */
  query(page: string, values: Readonly<Record<string, string | undefined>>): string {
    const given = Object.entries(values).filter((pair): pair is [string, string] => pair[1] !== undefined);
    const text = new URLSearchParams(given).toString();
    return `${this.base}${page}${text === "" ? "" : `?${text}`}`;
  }
}

/** A link must not take what follows a `#` for a place in the page. */
function pathUrl(url: string): string {
  return headerUrl(url).replaceAll("#", "%23");
}
