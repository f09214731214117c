/**
 * The query form of OutbackCDX and of Wayback's RemoteCollection: `?q=type:urlquery url:http%3A%2F%2F…`, answered in XML, so
 * that what sits in front of an OutbackCDX can sit in front of an archive.
 */
import { archiveKey, type Capture } from "../../archive/index.ts";
import type { Handler } from "../../http/index.ts";
import { parseCount } from "../../warc/index.ts";
import type { Collection } from "../collection.ts";
import { answerWith, refusing } from "./cdx-answer.ts";
import { CdxRow, pywbFields } from "./cdx-row.ts";
import { LAST_MS, timestampOf } from "./cdx-times.ts";
import { decodePercent, Parameters, quoted, refusal } from "./parameters.ts";

interface OutbackQuestion {
  readonly type: string;
  readonly url: string;
  readonly offset: number;
  readonly limit: number;
  readonly signal: AbortSignal;
}

const LIMIT_DEFAULT = 10_000;
/** Results after the last one that was asked for are counted up to here. */
const COUNTED_MAX = 10_000;
const PIECE_SIZE = 1 << 16;
const START = '<?xml version="1.0" encoding="UTF-8"?><wayback>';
const END = "</wayback>";
const NOT_FOUND = errorElement("Resource Not In Archive", "The Resource you requested is not in this archive.");
const UNKNOWN_TYPE = errorElement("Unsupported query type", "The requested query type is unknown to the index.");

export function outbackQuery(collection: Collection): Handler {
  const fields = pywbFields(collection.name);
  return refusing(async ({ target, signal }) => {
    const question = questionIn(new Parameters(target), signal);
    const results =
      question.type === "urlquery"
        ? captureResults(collection, question, fields["mime"]!)
        : question.type === "prefixquery"
          ? urlResults(collection, question)
          : undefined;
    return await answerWith("application/xml; charset=utf-8", pieces(results, question));
  });
}

/** The words of `q` are encoded a second time, with `+` for a blank. */
function questionIn(parameters: Parameters, signal: AbortSignal): OutbackQuestion {
  const words = new Map<string, string>();
  for (const word of (parameters.text("q") ?? "").split(" ")) {
    const colon = word.indexOf(":");
    if (colon > 0) words.set(word.slice(0, colon), decodePercent(word.slice(colon + 1).replaceAll("+", " ")));
  }
  const url = words.get("url");
  if (url === undefined || url === "")
    throw refusal("q has no url: ?q=type:urlquery+url:http%253A%252F%252Fexample.com%252F");
  const number = (name: string) => {
    const text = words.get(name);
    const value = text === undefined ? undefined : parseCount(text);
    if (text !== undefined && value === undefined) throw refusal(`${name} is a whole number, not ${quoted(text)}`);
    return value;
  };
  const limit = parameters.count("count", 0) ?? number("limit") ?? LIMIT_DEFAULT;
  const page = parameters.count("start_page", 0);
  const offset = page === undefined ? (number("offset") ?? 0) : limit * (Math.max(1, page) - 1);
  return { type: (words.get("type") ?? "urlquery").toLowerCase(), url, offset, limit, signal };
}

async function* pieces(
  results: AsyncIterable<readonly string[]> | undefined,
  question: OutbackQuestion,
): AsyncGenerator<string> {
  if (results === undefined) {
    yield `${START}${UNKNOWN_TYPE}${END}`;
    return;
  }
  const { offset, limit } = question;
  const end = offset + limit;
  let [text, count, given] = [START, 0, 0];
  for await (const batch of results) {
    for (const result of batch) {
      const place = count++;
      if (place < offset || place >= end) continue;
      text += given++ === 0 ? `<results>${result}` : result;
      if (text.length < PIECE_SIZE) continue;
      yield text;
      text = "";
    }
    if (question.signal.aborted || count >= Math.max(end, COUNTED_MAX)) break;
  }
  if (given === 0) yield `${text}${NOT_FOUND}${END}`;
  else yield `${text}</results>${requestElement(question, given, count)}${END}`;
}

type Mime = (row: CdxRow) => string | undefined;

async function* captureResults(
  collection: Collection,
  { url }: OutbackQuestion,
  mime: Mime,
): AsyncGenerator<readonly string[]> {
  for await (const captures of collection.captures({ url, fromMs: Number.MIN_SAFE_INTEGER }))
    yield captures.map((capture) => captureElement(capture, mime));
}

function captureElement(capture: Capture, mime: Mime): string {
  const row = new CdxRow(capture, capture.timeMs!);
  const { length } = row;
  return `<result>${elements([
    ["compressedoffset", String(capture.offset)],
    ...(length === undefined ? [] : [["compressedendoffset", length] as const]),
    ["mimetype", mime(row)],
    ["file", row.file],
    ["redirecturl", capture.location],
    ["urlkey", capture.key],
    ["digest", row.digest],
    ["httpresponsecode", row.status],
    ["robotflags", undefined],
    ["url", capture.url],
    ["capturedate", row.timestamp],
  ])}</result>`;
}

/** All captures of one key. */
interface Resource {
  readonly key: string;
  url: string;
  readonly firstMs: number;
  lastMs: number;
  captures: number;
  versions: number;
  digest: string | undefined;
}

async function* urlResults(collection: Collection, { url }: OutbackQuestion): AsyncGenerator<readonly string[]> {
  let current: Resource | undefined;
  for await (const captures of collection.captures({ url, match: "prefix", fromMs: Number.MIN_SAFE_INTEGER })) {
    const done: string[] = [];
    for (const { key, url: own, timeMs = 0, sha1 } of captures) {
      if (current?.key !== key) {
        if (current !== undefined) done.push(resourceElement(current));
        current = { key, url: own, firstMs: timeMs, lastMs: timeMs, captures: 0, versions: 0, digest: undefined };
      }
      if (current.captures === 0 || current.digest !== sha1) current.versions++;
      current.captures++;
      current.digest = sha1;
      current.url = own;
      current.lastMs = timeMs;
    }
    if (done.length > 0) yield done;
  }
  if (current !== undefined) yield [resourceElement(current)];
}

function resourceElement({ key, url, versions, captures, firstMs, lastMs }: Resource): string {
  return `<result>${elements([
    ["urlkey", key],
    ["originalurl", url],
    ["numversions", String(versions)],
    ["numcaptures", String(captures)],
    ["firstcapturets", timestampOf(firstMs)],
    ["lastcapturets", timestampOf(lastMs)],
  ])}</result>`;
}

function requestElement({ type, url, offset, limit }: OutbackQuestion, given: number, count: number): string {
  return `<request>${elements([
    ["startdate", "19960101000000"],
    ["enddate", timestampOf(LAST_MS)],
    ["type", type],
    ["firstreturned", String(offset)],
    ["url", archiveKey(url)],
    ["resultsrequested", String(limit)],
    ["resultstype", type === "urlquery" ? "resultstypecapture" : "resultstypeurl"],
    ["numreturned", String(given)],
    ["numresults", String(count)],
  ])}</request>`;
}

function errorElement(title: string, message: string): string {
  return `<error>${elements([
    ["title", title],
    ["message", message],
  ])}</error>`;
}

/** What is absent is `-`. */
function elements(pairs: readonly (readonly [name: string, value: string | undefined])[]): string {
  return pairs.map(([name, value]) => `<${name}>${escapeXml(value ?? "-")}</${name}>`).join("");
}

/** Characters that XML cannot hold, even as references, become U+FFFD. */
function escapeXml(text: string): string {
  return text
    .replace(/[&<>"]/g, (char) => `&#${char.charCodeAt(0)};`)
    .replace(/[^\t\n\r\u0020-\ud7ff\ue000-\ufffd\u{10000}-\u{10ffff}]/gu, "\ufffd");
}
