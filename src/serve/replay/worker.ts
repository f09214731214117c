/**
 * `/<coll>/<time>ir_/<url>`: for the replay worker in a browser, which rewrites by itself. The body is decoded, redirects
 * and cookies come as headers of its own protocol, and the time that was asked for stays in the address.
 */
import type { ByteRange } from "../../archive/index.ts";
import { formatTimestamp } from "../../base/index.ts";
import type { AnswerBody, ServerAnswer } from "../../http/index.ts";
import { decodeContent, loadZstd } from "../../warc/index.ts";
import { type Headers, SHORT_CACHING } from "../answers.ts";
import { headerUrl } from "../archived-url.ts";
import { httpDate } from "../memento/stamp.ts";
import type { AskedContent } from "../route.ts";
import { ArchivedHead } from "./archived-head.ts";
import { contentRange, parseRange } from "./byte-range.ts";
import { codingsOf } from "./coded.ts";
import { FoundPayload } from "./found-payload.ts";
import { type AskedMemento, askedMemento, notesOf, pickAlike } from "./memento-answer.ts";
import { ARCHIVED_SAFETY } from "./raw.ts";
import { targetOf } from "./redirects.ts";

export async function workerAnswer(asked: AskedContent): Promise<ServerAnswer> {
  const { collection, request } = asked;
  const memento = askedMemento(asked);
  const { capture, target } = await pickAlike(collection, shownMemento(memento));
  const opened = await collection.open(capture);
  try {
    const head = new ArchivedHead(opened, capture);
    const notes = notesOf(capture, opened);
    const payload = await FoundPayload.of(opened, request.signal);
    if (payload.damage !== undefined) notes.push(payload.damage);
    const headers: [string, string][] = [...SHORT_CACHING, ...ARCHIVED_SAFETY].map(([name, value]) => [name, value]);
    const put = (name: string, value: string | undefined) => void (value !== undefined && headers.push([name, value]));
    put("Memento-Datetime", capture.timeMs === undefined ? undefined : httpDate(capture.timeMs));
    // Where it leads, the worker would go on with this time instead of the one that was asked for.
    if (target === undefined && capture.timeMs !== undefined) put("x-orig-ts", formatTimestamp(capture.timeMs));
    put("Content-Type", head.contentType);
    put("Content-Language", head.value("content-language"));
    for (const cookie of head.values("set-cookie")) put("x-proxy-set-cookie", cookie);
    if (target !== undefined) {
      put("x-redirect-status", `${head.status}`);
      put("x-redirect-statusText", head.reason.replace(/[^\x20-\x7e]/g, "") || "Redirect");
      put("x-orig-location", headerUrl(target));
    }
    if (notes.length > 0) put("Holotype-Note", notes.join("; "));
    const isRedirect = target !== undefined || targetOf(capture) !== undefined;
    // The worker shows its own page in place of an answer of 401 and above; told in this way, it shows what was captured.
    const isHidden = !isRedirect && head.status > 400 && head.status !== 404;
    if (isHidden) {
      put("x-redirect-status", `${Math.min(head.status, 599)}`);
      put("x-redirect-statusText", head.reason.replace(/[^\x20-\x7e]/g, "") || "Error");
    }
    const isPlain = isRedirect || isHidden || head.status < 200 || [204, 205, 304].includes(head.status);
    const status = isPlain ? 200 : head.status;
    return await body(asked, head, payload, { status, headers });
  } catch (error) {
    await opened[Symbol.asyncDispose]();
    throw error;
  }
}

/**
 * What replay shows for a question. A page that leads to itself would be asked for again and again, so no time is exact;
 * and what is valid at a time is pinned to it.
 */
export function shownMemento(memento: AskedMemento): AskedMemento {
  const { time, sense } = memento;
  const ms = sense === "nearest" ? time.ms : (time.exact?.toMs ?? time.ms);
  return { ...memento, sense: sense === "nearest" ? sense : "pinned", time: { ...time, ms, exact: undefined } };
}

/** Ranges are of what is sent, so only of bodies that need no decoding. */
async function body(
  { request }: AskedContent,
  head: ArchivedHead,
  payload: FoundPayload,
  { status, headers }: { readonly status: number; readonly headers: Headers },
): Promise<ServerAnswer> {
  const encoding = head.value("content-encoding");
  const codings = encoding === undefined ? [] : codingsOf(encoding, await payload.start());
  const { size } = payload;
  const isPlain = codings.length === 0 && size !== undefined;
  const range =
    isPlain && status === 200 && request.method === "GET" ? parseRange(request.headers.range, size) : undefined;
  if (range === "none") {
    await payload.close();
    return { status: 416, headers: [...headers, ["Content-Range", `bytes */${size}`]] };
  }
  const all = [...headers, ...(isPlain ? lengthOf(size, range) : [])];
  if (request.method === "HEAD") {
    await payload.close();
    return { status, headers: all };
  }
  if (codings.includes("zstd")) await loadZstd();
  const bytes = await payload.body(range);
  const decoded: AnswerBody =
    codings.length === 0 ? bytes : decodeContent(bytes instanceof Uint8Array ? [bytes] : bytes, codings);
  return { status: range === undefined ? status : 206, headers: all, body: decoded };
}

function lengthOf(size: number, range: ByteRange | undefined): Headers {
  if (range === undefined)
    return [
      ["Accept-Ranges", "bytes"],
      ["Content-Length", `${size}`],
    ];
  return [
    ["Content-Range", contentRange(range, size)],
    ["Content-Length", `${range.to - range.from}`],
  ];
}
