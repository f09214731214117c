/** TimeGates and redirects to mementos (RFC 7089, pattern 2.1: a 302 of its own resource). */
import type { Capture } from "../../archive/index.ts";
import { ArchiveError, formatTimestamp, parseHttpDate } from "../../base/index.ts";
import type { ServerAnswer } from "../../http/index.ts";
import { failureAnswer, type Headers, redirectAnswer } from "../answers.ts";
import { headerUrl } from "../archived-url.ts";
import type { AskedTime } from "../asked-time.ts";
import type { Collection } from "../collection.ts";
import { isNavigation } from "../navigation.ts";
import { LATEST } from "../replay/choose.ts";
import { type AskedMemento, askedMemento, pickMemento } from "../replay/memento-answer.ts";
import type { Picked } from "../replay/redirects.ts";
import type { Asked } from "../route.ts";
import { MementoLinks, mementoHeaders } from "./links.ts";
import { mementoPath, stampOf } from "./stamp.ts";

const VARY: Headers = [["Vary", "accept-datetime, sec-fetch-dest"]];

/** `/<coll>/<url>`: to the memento for the Accept-Datetime of the request, or to the last one. */
export async function timegateAnswer(asked: Asked): Promise<ServerAnswer> {
  const { request, collection } = asked;
  const memento = askedMemento(asked);
  try {
    const time = acceptDatetime(request.headers["accept-datetime"]);
    const picked = await pickMemento(collection, { ...memento, time });
    const link = linkIn(await mementoHeaders(asked, memento.url, picked.capture));
    return redirectAnswer(await mementoUrl(asked, { ...memento, time }, picked), [...VARY, ...link]);
  } catch (error) {
    const link = new MementoLinks(asked, memento.url).common().join(", ");
    return failureAnswer(error, request, [...VARY, ["Link", link]]);
  }
}

/** The TimeGate is no memento: of the headers of one only the links are its own. */
function linkIn(headers: Headers): Headers {
  return headers.filter(([name]) => name === "Link");
}

/** `/<coll>/<time>/<url>` and `mp_`, for all but people in browsers: to the raw memento. */
export async function framedAnswer(asked: Asked): Promise<ServerAnswer> {
  const memento = askedMemento(asked);
  const address = await mementoUrl(asked, memento, await pickMemento(asked.collection, memento));
  return redirectAnswer(address, [["Vary", "Sec-Fetch-Dest, Accept"]]);
}

/** The raw one; for people in a browser our page around it. */
async function mementoUrl(asked: Asked, memento: AskedMemento, { capture }: Picked): Promise<string> {
  const { collection, base } = asked;
  const form = isNavigation(asked) ? "" : undefined;
  // What was valid then stays so: the time that was asked for is kept.
  if (memento.sense === "valid") return `${base}as-of/${mementoPath(memento.time.text, form)}${headerUrl(memento.url)}`;
  return `${base}${mementoPath(await exactStamp(collection, capture), form)}${headerUrl(capture.url)}`;
}

const SECOND_MAX = 1000;

/** Empty for a capture without a date. */
export async function exactStamp(collection: Collection, capture: Capture): Promise<string> {
  const { timeMs, url } = capture;
  if (timeMs === undefined) return "";
  const fromMs = 1000 * Math.floor(timeMs / 1000);
  const others: Capture[] = [];
  for await (const batch of collection.captures({ url, fromMs, toMs: fromMs + 999, limit: SECOND_MAX }))
    others.push(...batch);
  return stampOf(capture, others);
}

/** HT_USAGE for what is no date of RFC 1123. Blank is the same as absent. */
function acceptDatetime(value: string | string[] | undefined): AskedTime {
  const text = String(value ?? "").trim();
  if (text === "") return LATEST;
  const timeMs = parseHttpDate(text);
  if (timeMs === undefined || new Date(timeMs).toUTCString() !== text) {
    const message = `not a date for Accept-Datetime: ${text.slice(0, 60)} (as in Thu, 31 May 2007 20:35:00 GMT)`;
    throw new ArchiveError("HT_USAGE", message);
  }
  return { ms: timeMs, exact: { fromMs: timeMs, toMs: timeMs + 999 }, text: formatTimestamp(timeMs) };
}
