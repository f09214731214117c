/** What is asked of a site: the host, the day, the folder, and which media types. */

import type { Scope } from "../../../archive/index.ts";
import { ArchiveError, systemClock } from "../../../base/index.ts";
import { formatDay } from "../../../markup/index.ts";
import { hostOf } from "../../../url/index.ts";
import { isHtml } from "../../api/versions.ts";
import type { Asked } from "../../route.ts";
import { PageQuery } from "../query.ts";
import { dayOf, endOfDay, type SiteSpan, siteSpan } from "./span.ts";
import { hostKeyOf } from "./tree.ts";

export interface SiteQuestion {
  readonly host: string;
  readonly hostKey: string;
  /** Keys of the host. */
  readonly range: { readonly from: string; readonly to: string };
  readonly span: SiteSpan;
  /** As of when: the end of a day, or of what was given. */
  readonly timeMs: number;
  /** The same as text, for links. */
  readonly at: string;
  /** Ends in `/`, or in `?` for the queries of one path. */
  readonly path: string;
  readonly only: "pages" | undefined;
  readonly mime: Scope["mime"];
  readonly query: PageQuery;
}

const DAYS_MAX = 10_000_000;

/** HT_NOT_FOUND or HT_BLOCKED where nothing of the host may be seen. */
export async function siteQuestion({ collection, request, found }: Asked): Promise<SiteQuestion> {
  const name = decodeHost(found["host"] ?? "");
  const hostKey = hostKeyOf(name);
  if (hostKey === undefined) throw new ArchiveError("HT_USAGE", `not a host: ${name.slice(0, 100)}`);
  const range = { from: hostKey, to: `${hostKey.slice(0, -1)}*` };
  const host = hostOf(`${hostKey}/`) ?? name;
  const span = await siteSpan(collection, range);
  if (span === undefined) {
    const isBlocked = (await collection.hidden({ range, limit: 1000 })) === "block";
    throw isBlocked
      ? new ArchiveError("HT_BLOCKED", `access to ${host} is blocked`)
      : new ArchiveError("HT_NOT_FOUND", `nothing of ${host} is in this collection`);
  }
  const query = new PageQuery(request, systemClock.now());
  const only = query.choice("only", ["pages", "all"]);
  const timeMs = askedTime(query, span);
  return {
    host,
    hostKey,
    range,
    span,
    timeMs,
    at: formatDay(timeMs),
    path: askedPath(query),
    only: only === "pages" ? only : undefined,
    mime: only === "pages" ? isHtml : undefined,
    query,
  };
}

function decodeHost(raw: string): string {
  try {
    return decodeURIComponent(raw).trim();
  } catch {
    throw new ArchiveError("HT_USAGE", "not a host");
  }
}

/** The date that is given; the day of the slider; or the last on which something changed. */
function askedTime(query: PageQuery, span: SiteSpan): number {
  const at = query.time("at");
  if (at !== undefined) return at;
  const day = query.text("day");
  if (day === undefined) return endOfDay(span.lastDay);
  if (!/^-?\d{1,7}$/.test(day) || Math.abs(Number(day)) > DAYS_MAX)
    throw new ArchiveError("HT_USAGE", "day is a number of days since 1970");
  return endOfDay(Number(day));
}

function askedPath(query: PageQuery): string {
  const path = query.text("path") ?? "/";
  if (!/^\/(?:[!-~]*[/?])?$/.test(path)) throw new ArchiveError("HT_USAGE", "path begins with / and ends with / or ?");
  return path;
}

/** Whether a day lies within the slider. */
export function sliderDay({ timeMs, span }: SiteQuestion): number {
  return Math.min(span.lastDay, Math.max(span.firstDay, dayOf(timeMs)));
}
