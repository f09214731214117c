/**
 * TimeMaps (RFC 7089): every memento that a TimeGate can lead to, in three forms. A long one comes in pages, each of which
 * links to the next.
 */
import type { Capture } from "../../archive/index.ts";
import type { ServerAnswer } from "../../http/index.ts";
import { isVisit } from "../access/allowed-lifespans.ts";
import { SHORT_CACHING, textAnswer } from "../answers.ts";
import { parseAskedTime } from "../asked-time.ts";
import type { Collection } from "../collection.ts";
import { askedUrl, nothingSeen } from "../replay/memento-answer.ts";
import type { Asked } from "../route.ts";
import { MementoLinks } from "./links.ts";
import { httpDate, longStamp, stampOf } from "./stamp.ts";

export const TIMEMAP_PAGE_SIZE = 10_000;

export type TimemapForm = "link" | "json" | "cdxj";

const TYPES: Readonly<Record<TimemapForm, string>> = {
  link: "application/link-format",
  json: "application/json",
  cdxj: "text/x-cdxj",
};

interface Memento {
  readonly stamp: string;
  readonly uri: string;
  readonly date: string;
}

interface Page {
  readonly links: MementoLinks;
  readonly self: string;
  readonly mementos: readonly Memento[];
  /** The page that follows, and the first date in it. */
  readonly next: { readonly uri: string; readonly from: string } | undefined;
}

export async function timemapAnswer(asked: Asked): Promise<ServerAnswer> {
  const { collection, found } = asked;
  const form = found["form"] as TimemapForm;
  const url = askedUrl(found["url"]);
  const { page = "" } = found;
  const fromMs = page === "" ? undefined : parseAskedTime(page).ms;
  const captures = await listed(collection, url, fromMs);
  if (captures.length === 0) throw await nothingSeen(collection, url, "nearest");
  const links = new MementoLinks(asked, url);
  const shown = captures.slice(0, TIMEMAP_PAGE_SIZE);
  const after = captures[TIMEMAP_PAGE_SIZE];
  const pageOf = (each: Capture) => `${longStamp(each.timeMs!)}/`;
  const text = FORMATS[form]({
    links,
    self: links.timemap(form, page === "" ? "" : `${page}/`),
    mementos: shown.map((capture, i) => {
      const stamp = stampOf(capture, [captures[i - 1], captures[i + 1]]);
      return { stamp, uri: links.memento(capture, stamp), date: httpDate(capture.timeMs!) };
    }),
    next: after && { uri: links.timemap(form, pageOf(after)), from: httpDate(after.timeMs!) },
  });
  return textAnswer(200, TYPES[form], text, SHORT_CACHING);
}

/** One of each moment: several have one address. One more than a page has, where there are more. */
async function listed(collection: Collection, url: string, fromMs: number | undefined): Promise<Capture[]> {
  const visits = await gathered(collection, url, fromMs, isVisit);
  // Where there are no states, whatever there is.
  return visits.length > 0 || fromMs !== undefined ? visits : await gathered(collection, url, fromMs, () => true);
}

async function gathered(
  collection: Collection,
  url: string,
  fromMs: number | undefined,
  isWanted: (capture: Capture) => boolean,
): Promise<Capture[]> {
  const found: Capture[] = [];
  let last: number | undefined;
  for await (const batch of collection.captures({ url, fromMs })) {
    for (const capture of batch) {
      const { timeMs } = capture;
      if (timeMs === undefined || timeMs === last || !isWanted(capture)) continue;
      last = timeMs;
      found.push(capture);
      if (found.length > TIMEMAP_PAGE_SIZE) return found;
    }
  }
  return found;
}

const FORMATS: Readonly<Record<TimemapForm, (page: Page) => string>> = {
  link: formatLinks,
  json: formatJson,
  cdxj: formatCdxj,
};

function relOf({ mementos, next }: Page, i: number, isFirstPage: boolean): string {
  const isLast = i === mementos.length - 1 && next === undefined;
  return `${i === 0 && isFirstPage ? "first " : ""}${isLast ? "last " : ""}memento`;
}

function formatLinks(page: Page): string {
  const { links, self, mementos, next } = page;
  const isFirstPage = self === links.timemap("link");
  const [from, until] = [mementos[0]!.date, mementos.at(-1)!.date];
  const type = `type="application/link-format"`;
  const lines = [
    `<${links.original}>; rel="original"`,
    `<${self}>; rel="self"; ${type}; from="${from}"; until="${until}"`,
    `<${links.timegate}>; rel="timegate"`,
    ...mementos.map(({ uri, date }, i) => `<${uri}>; rel="${relOf(page, i, isFirstPage)}"; datetime="${date}"`),
    ...(next === undefined ? [] : [`<${next.uri}>; rel="timemap"; ${type}; from="${next.from}"`]),
  ];
  return `${lines.join(",\n")}\n`;
}

function formatJson(page: Page): string {
  const { links, self, mementos, next } = page;
  const list = mementos.map(({ uri, date }) => ({ datetime: new Date(date).toISOString().replace(".000", ""), uri }));
  const timemap = {
    original_uri: links.original,
    self,
    timegate_uri: links.timegate,
    timemap_uri: {
      link_format: links.timemap("link"),
      json_format: links.timemap("json"),
      cdxj_format: links.timemap("cdxj"),
    },
    mementos: { first: list[0], last: next === undefined ? list.at(-1) : undefined, list },
    timemap_index: next === undefined ? undefined : [{ from: next.from, uri: next.uri }],
  };
  return `${JSON.stringify(timemap)}\n`;
}

function formatCdxj(page: Page): string {
  const { links, self, mementos, next } = page;
  const isFirstPage = self === links.timemap("cdxj");
  const lines = [
    `!context ["http://tools.ietf.org/html/rfc7089"]`,
    `!id ${JSON.stringify({ uri: self })}`,
    `!keys ["memento_datetime_YYYYMMDDhhmmss"]`,
    `!meta ${JSON.stringify({ original_uri: links.original })}`,
    `!meta ${JSON.stringify({ timegate_uri: links.timegate })}`,
    ...(next === undefined ? [] : [`!meta ${JSON.stringify({ timemap_next: next.uri })}`]),
    ...mementos.map(
      ({ stamp, uri, date }, i) =>
        `${stamp} ${JSON.stringify({ uri, rel: relOf(page, i, isFirstPage), datetime: date })}`,
    ),
  ];
  return `${lines.join("\n")}\n`;
}
