/** `/<coll>/feed?url=…` or `?site=…`: the latest changes of a URL or of a site, as an Atom feed (RFC 4287). */
import type { Change, Lifespan } from "../../archive/index.ts";
import { ArchiveError, formatIso, formatTimestamp, systemClock } from "../../base/index.ts";
import type { ServerAnswer } from "../../http/index.ts";
import { formatAmount, formatBytes, formatForeign, html, type Markup } from "../../markup/index.ts";
import { keyRange } from "../../url/index.ts";
import { textAnswer } from "../answers.ts";
import { headerUrl } from "../archived-url.ts";
import type { Collection } from "../collection.ts";
import { askedUrl, nothingSeen } from "../replay/memento-answer.ts";
import type { Asked } from "../route.ts";
import { queryOf } from "./timeline.ts";

const ENTRIES_MAX = 50;
const YEAR_MS = 365.25 * 86_400_000;
/** A site is looked at as far back as it takes to fill the feed: most often the last months do. */
const LOOK_BACK_MS = [YEAR_MS / 12, YEAR_MS, Number.POSITIVE_INFINITY] as const;
const FIRST_MS = -(2 ** 46);

interface FeedEntry {
  readonly kind: Change["kind"] | "returned";
  readonly url: string;
  readonly timeMs: number;
  readonly lifespan: Lifespan | undefined;
}

export async function feedAnswer(asked: Asked): Promise<ServerAnswer> {
  const query = queryOf(asked);
  const [url, site] = [query.get("url"), query.get("site")];
  if ((url === null) === (site === null)) throw new ArchiveError("HT_USAGE", "a feed is of a url or of a site");
  const { collection } = asked;
  const entries = url === null ? await siteEntries(collection, site!) : await urlEntries(collection, askedUrl(url));
  return textAnswer(200, "application/atom+xml; charset=utf-8", formatFeed(asked, (url ?? site)!, entries).text, [
    ["Cache-Control", "no-cache"],
    ["Content-Security-Policy", "default-src 'none'"],
  ]);
}

/** The latest first. */
async function urlEntries(collection: Collection, url: string): Promise<FeedEntry[]> {
  const known = new Set<string>();
  let entries: FeedEntry[] = [];
  let isFirst = true;
  for await (const batch of collection.history(url)) {
    for (const lifespan of batch) {
      const kind = isFirst ? "appeared" : known.has(lifespan.identity) ? "returned" : "changed";
      known.add(lifespan.identity);
      isFirst = false;
      entries.push({ kind, url: lifespan.url, timeMs: lifespan.birth, lifespan });
    }
    entries = entries.slice(-ENTRIES_MAX);
  }
  if (isFirst) throw await nothingSeen(collection, url, "nearest");
  return entries.reverse();
}

async function siteEntries(collection: Collection, site: string): Promise<FeedEntry[]> {
  const range = keyRange(site.replace(/^\*\./, ""), "domain");
  if (range.from === range.to) throw new ArchiveError("HT_USAGE", `site: a host, not ${site.slice(0, 80)}`);
  const nowMs = systemClock.now();
  let entries: FeedEntry[] = [];
  for (const backMs of LOOK_BACK_MS) {
    entries = await latestChanges(collection, Math.max(FIRST_MS, nowMs - backMs), nowMs, range);
    if (entries.length === ENTRIES_MAX) break;
  }
  return entries;
}

/** Changes come in the order of keys; no more are held than twice of what is given. */
async function latestChanges(
  collection: Collection,
  fromMs: number,
  toMs: number,
  range: { readonly from: string; readonly to?: string | undefined },
): Promise<FeedEntry[]> {
  let latest: FeedEntry[] = [];
  for await (const batch of collection.changes(fromMs, toMs, range)) {
    for (const { kind, key, timeMs, lifespan } of batch) {
      latest.push({ kind, url: lifespan?.url ?? key, timeMs, lifespan });
    }
    latest = latest.sort((one, other) => other.timeMs - one.timeMs).slice(0, ENTRIES_MAX);
  }
  return latest;
}

function formatFeed({ base, collection, request }: Asked, of: string, entries: readonly FeedEntry[]): Markup {
  const self = `${base}feed?${request.target.slice(request.target.indexOf("?") + 1)}`;
  const updated = formatIso(entries[0]?.timeMs ?? 0);
  return html`<?xml version="1.0" encoding="utf-8"?>
<feed xmlns="http://www.w3.org/2005/Atom">
<id>${headerUrl(self)}</id>
<title>Changes of ${formatForeign(of)}</title>
<updated>${updated}</updated>
<author><name>Holotype, collection ${collection.name}</name></author>
<generator>Holotype</generator>
<link rel="self" type="application/atom+xml" href="${headerUrl(self)}"/>
${entries.map((entry) => formatEntry(base, entry))}</feed>
`;
}

function formatEntry(base: string, { kind, url, timeMs, lifespan }: FeedEntry): Markup {
  const address = headerUrl(url);
  const memento = `${base}${formatTimestamp(timeMs)}/${address}`;
  const what =
    lifespan === undefined
      ? "Nothing was there from then on."
      : `${lifespan.status ?? "No status"}, ${formatForeign(lifespan.mime ?? "no media type", 80)}, ${formatBytes(lifespan.payloadSize)}, ${formatAmount(lifespan.captures, "capture")} so far.`;
  return html`<entry>
<id>${memento}</id>
<title>${formatForeign(url, 200)} ${kind}</title>
<updated>${formatIso(timeMs)}</updated>
<link rel="alternate" type="text/html" href="${memento}"/>
<link rel="related" type="text/html" href="${base}*/${address}"/>
<summary>${what}</summary>
</entry>
`;
}
