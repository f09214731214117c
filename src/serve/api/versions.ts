/** The distinct contents of a URL, and the HTML pages of an archive: made of lifespans, without a walk over captures. */
import type { Lifespan } from "../../archive/index.ts";
import type { PageOfUrl } from "./rows.ts";

export interface Version {
  readonly identity: string;
  readonly firstSeen: number;
  lastSeen: number;
  captures: number;
  /** All of its lifespans; the first of them are in `lifespans`. */
  count: number;
  readonly lifespans: Lifespan[];
  last: Lifespan;
}

/** Of a content that comes back time and again, this many lifespans are listed. */
const LISTED_MAX = 100;

/** In the order in which they were seen first. What is held is as much as the answer. */
export async function versionsOf(batches: AsyncIterable<readonly Lifespan[]>): Promise<readonly Version[]> {
  const versions = new Map<string, Version>();
  for await (const batch of batches) {
    for (const lifespan of batch) {
      const { identity, birth, lastSeen, captures } = lifespan;
      const known = versions.get(identity);
      if (known === undefined) {
        const version = {
          identity,
          firstSeen: birth,
          lastSeen,
          captures,
          count: 1,
          lifespans: [lifespan],
          last: lifespan,
        };
        versions.set(identity, version);
        continue;
      }
      known.lastSeen = lastSeen;
      known.captures += captures;
      known.count++;
      known.last = lifespan;
      if (known.lifespans.length < LISTED_MAX) known.lifespans.push(lifespan);
    }
  }
  return [...versions.values()];
}

const HTML = /^\s*(?:text\/html|application\/xhtml\+xml)\b/i;

export function isHtml(mime: string | undefined): boolean {
  return mime !== undefined && HTML.test(mime);
}

/** The pages among lifespans in the order of keys: one row for each key that answered 200. */
export async function* pagesIn(batches: AsyncIterable<readonly Lifespan[]>): AsyncGenerator<readonly PageOfUrl[]> {
  let page: PageOfUrl | undefined;
  for await (const batch of batches) {
    const pages: PageOfUrl[] = [];
    for (const lifespan of batch) {
      if (lifespan.status !== 200) continue;
      const { captures } = lifespan;
      if (page !== undefined && page.last.key === lifespan.key) {
        page = { first: page.first, last: lifespan, captures: page.captures + captures, lifespans: page.lifespans + 1 };
        continue;
      }
      if (page !== undefined) pages.push(page);
      page = { first: lifespan, last: lifespan, captures, lifespans: 1 };
    }
    if (pages.length > 0) yield pages;
  }
  if (page !== undefined) yield [page];
}
