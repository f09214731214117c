/**
 * `/<coll>/*\/<url>`: the timeline of a URL. Versions in lanes over time, the same as a table with ways to look at each, and
 * a calendar of changes. `/<coll>/timeline?url=…` is the same with parameters, and as JSON or CSV.
 */
import { ArchiveError, formatIso, parseTimestamp } from "../../base/index.ts";
import type { ServerAnswer } from "../../http/index.ts";
import { html } from "../../markup/index.ts";
import { redirectAnswer, textAnswer } from "../answers.ts";
import { lifespanRow } from "../api/rows.ts";
import { headerUrl } from "../archived-url.ts";
import { askedUrl } from "../replay/memento-answer.ts";
import type { Asked } from "../route.ts";
import { PageLinks } from "./links.ts";
import { pageAnswer } from "./shell.ts";
import { formatTimeline, ROWS_PER_PAGE } from "./timeline-body.ts";
import { type NamedLifespan, type Span, type UrlHistory, urlHistory } from "./url-history.ts";

/** What a timeline is asked for. */
export interface AskedTimeline {
  readonly url: string;
  /** Digits, as they stand in the address. */
  readonly from: string | undefined;
  readonly to: string | undefined;
  /** From 1. */
  readonly page: number;
}

/** `/<coll>/<from>-<to>*\/<url>`; of `<url>*`, all URLs that begin with it. */
export async function timelineAnswer(asked: Asked): Promise<ServerAnswer> {
  const { from, to, url: raw = "" } = asked.found;
  if (raw.endsWith("*")) return prefixAnswer(asked, askedUrl(raw.slice(0, -1)), from, to);
  // One time alone is the span that it stands for: 2014 is a year.
  return await answer(asked, { url: askedUrl(raw), from, to: to ?? from, page: 1 });
}

/** `/<coll>/timeline?url=…` */
export async function timelineByQuery(asked: Asked): Promise<ServerAnswer> {
  const query = queryOf(asked);
  const page = Number(query.get("page") ?? "1");
  if (!Number.isSafeInteger(page) || page < 1) throw new ArchiveError("HT_USAGE", "page: a number from 1 on");
  const [from, to] = [query.get("from") ?? undefined, query.get("to") ?? undefined];
  return await answer(
    asked,
    { url: askedUrl(query.get("url") ?? undefined), from, to, page },
    query.get("format") === "csv",
  );
}

export function queryOf({ request: { target } }: Asked): URLSearchParams {
  const start = target.indexOf("?");
  return new URLSearchParams(start < 0 ? "" : target.slice(start + 1));
}

/** People get the search, programs the list of captures. */
function prefixAnswer(asked: Asked, url: string, from: string | undefined, to: string | undefined): ServerAnswer {
  const links = new PageLinks(asked);
  const vary = [["Vary", "Accept"]] as const;
  if (/\btext\/html\b/i.test(asked.request.headers.accept ?? ""))
    return redirectAnswer(links.query("", { q: url }), vary);
  const { base } = asked;
  const span = `${from === undefined ? "" : `&from=${from}`}${to === undefined ? "" : `&to=${to}`}`;
  const query = `url=${encodeURIComponent(url)}&matchType=prefix${span}`;
  return redirectAnswer(headerUrl(`${base}cdx?${query}`), vary);
}

/** HT_USAGE where a time is none. */
export function spanOf({ from, to }: { readonly from: string | undefined; readonly to: string | undefined }): Span {
  const parse = (text: string | undefined, padding: "start" | "end") => {
    if (text === undefined || text === "") return undefined;
    const digits = text.length < 4 ? text.padEnd(4, padding === "end" ? "9" : "0") : text;
    const timeMs = /^\d{4,14}$/.test(digits) ? parseTimestamp(digits, padding) : undefined;
    if (timeMs === undefined)
      throw new ArchiveError("HT_USAGE", `not a time: ${text.slice(0, 40)} (try 2014 or 20140301)`);
    return timeMs;
  };
  return { fromMs: parse(from, "start"), toMs: parse(to, "end") };
}

async function answer(asked: Asked, timeline: AskedTimeline, isCsv = false): Promise<ServerAnswer> {
  const history = await urlHistory(asked.collection, timeline.url, spanOf(timeline));
  if (isCsv) return csvAnswer(history);
  const links = new PageLinks(asked);
  const { url } = history;
  const feed = links.query("feed", { url });
  return pageAnswer(asked, {
    title: url,
    search: url,
    // As with `/<coll>/<url>`, clients of Memento find their way from here.
    headers: [["Link", `<${asked.base}timemap/link/${headerUrl(url)}>; rel="timemap"; type="application/link-format"`]],
    head: html`<link rel="alternate" type="application/atom+xml" title="Changes" href="${feed}">
`,
    json: () => timelineJson(history, timeline.page),
    body: () => formatTimeline(asked, links, history, timeline),
  });
}

function lifespanJson(history: UrlHistory, row: NamedLifespan): object {
  const { number, letter, isReturn, lifespan } = row;
  return { number, version: letter, returned: isReturn, stamp: history.stampOf(row), ...lifespanRow(lifespan) };
}

function timelineJson(history: UrlHistory, page: number): object {
  const {
    url,
    otherUrls,
    shown,
    versionCount,
    captureCount,
    failedMs,
    isCut,
    bytesSeen,
    bytesDistinct,
    firstMs,
    lastMs,
  } = history;
  const start = (page - 1) * ROWS_PER_PAGE;
  return {
    url,
    otherUrls,
    captures: captureCount,
    capturesCut: isCut,
    failed: failedMs.length,
    versions: versionCount,
    lifespanCount: shown.length,
    firstCapture: formatIso(firstMs),
    lastCapture: formatIso(lastMs),
    bytesSeen,
    bytesDistinct,
    page,
    lifespans: shown.slice(start, start + ROWS_PER_PAGE).map((row) => lifespanJson(history, row)),
  };
}

function csvAnswer({ shown }: UrlHistory): ServerAnswer {
  const quoted = (text: string) => `"${text.replaceAll('"', '""')}"`;
  const lines = shown.map(({ number, letter, isReturn, lifespan }) => {
    const { birth, lastSeen, end, captures, status, mime = "", payloadSize, sha256 } = lifespan;
    const times = [birth, lastSeen, end].map((timeMs) => (timeMs === undefined ? "" : formatIso(timeMs)));
    return [number, letter, isReturn, ...times, captures, status ?? "", quoted(mime), payloadSize, sha256].join(",");
  });
  const head = "number,version,returned,birth,lastSeen,end,captures,status,mime,size,sha256";
  return textAnswer(200, "text/csv; charset=utf-8", `${[head, ...lines].join("\r\n")}\r\n`, [
    ["Content-Disposition", 'attachment; filename="timeline.csv"'],
    ["Cache-Control", "no-cache"],
  ]);
}
