/** Memory for crawlers on paths of their own: the form of a CDX server with one line, and that of Doppelganger. */
import { formatDigest } from "../../base/index.ts";
import type { KnownContents } from "../../dedup/index.ts";
import type { Handler } from "../../http/index.ts";
import { parseCdxDigest } from "../../warc/index.ts";
import { Collection } from "../collection.ts";
import { jsonAnswer, refusing, textAnswer } from "./cdx-answer.ts";
import { timestampOf } from "./cdx-times.ts";
import { archiveMemory, type CrawlerMemory, indexMemory, lastLine } from "./crawler-memory.ts";
import { decodePercent, Parameters, refusal } from "./parameters.ts";

function memoryOf(source: Collection | KnownContents): CrawlerMemory {
  return source instanceof Collection ? archiveMemory(source) : indexMemory(source);
}

/**
 * `?url=`: the newest state of the URL as one line of seven fields, or with `fl=timestamp,digest` of two; nothing where it is
 * not known. Other parameters change nothing. warcprox compares digests as texts, and has them in hex unless it is told.
 */
export function crawlerMemory(source: Collection | KnownContents, digests: "base32" | "hex"): Handler {
  const memory = memoryOf(source);
  return refusing(async ({ target }) => {
    const parameters = new Parameters(target);
    const url = parameters.text("url");
    if (url === undefined) throw refusal("the parameter url is missing: ?url=http://example.com/");
    const fields = parameters.text("fl") === "timestamp,digest" ? "time-and-digest" : "all";
    return textAnswer(lastLine(await memory.newest(url), { fields }, digests));
  });
}

const URI = "?uri=";

/** `/api/records/DIGEST?uri=URL`, where the URL is not encoded: all that follows is part of it. 404 where nothing is known. */
export function doppelganger(source: Collection | KnownContents): Handler {
  const memory = memoryOf(source);
  return refusing(async ({ target }) => {
    const question = target.indexOf("?");
    const path = question < 0 ? target : target.slice(0, question);
    const id = decodePercent(path.slice(path.lastIndexOf("/") + 1));
    const told = target.startsWith(URI, question) ? target.slice(question + URI.length) : "";
    const uri = /^[a-z]+%3a/i.test(told) ? decodePercent(told) : told;
    const digest = parseCdxDigest(id);
    const found = digest && (await memory.withDigest(formatDigest(digest), uri));
    if (found === undefined) return jsonAnswer(404, { message: "no record has this digest" });
    return jsonAnswer(200, { id, uri: found.url, date: Number(timestampOf(found.timeMs)) });
  });
}
