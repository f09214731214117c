/**
 * `/<name>/<time>st_/<url>` on the replay origin: a capture with its scripts off. HTML and CSS are rewritten so that all
 * they load comes from the archive at the time that was asked for; everything else is given decoded. `sf_` is a page in a
 * frame of another: its links stay in the frame.
 */

import type { AnswerBody, ServerAnswer } from "../../http/index.ts";
import { foreign, html } from "../../markup/index.ts";
import { decodeContent, loadZstd } from "../../warc/index.ts";
import { type Headers, redirectAnswer, SHORT_CACHING } from "../answers.ts";
import { headerUrl } from "../archived-url.ts";
import { httpDate } from "../memento/stamp.ts";
import { ArchivedHead } from "../replay/archived-head.ts";
import { codingsOf } from "../replay/coded.ts";
import { FoundPayload } from "../replay/found-payload.ts";
import { type AskedMemento, askedMemento, pickMemento } from "../replay/memento-answer.ts";
import { shownMemento } from "../replay/worker.ts";
import { type FramePlace, staticPolicy } from "../replay-origin/policies.ts";
import type { AskedContent } from "../route.ts";
import { decoderFor } from "./charset.ts";
import { rewriteCss } from "./css.ts";
import { HtmlRewriter } from "./html.ts";
import type { References } from "./references.ts";
import { SCROLL_SCRIPT, SCROLL_SCRIPT_HASH } from "./scroll-script.ts";

/** A style sheet that is longer is cut off. */
const CSS_SIZE_MAX = 1 << 23;
const HTML = /^\s*(?:text\/html|application\/xhtml\+xml)\b/i;
const CSS = /^\s*text\/css\b/i;
/** What a browser would run, or open as a page of its own making. */
const ACTIVE = /script|xml|pdf|x-shockwave/i;

/** A page by itself; in a frame of another archived page; or beside another version, and scrolled with it. */
export type StaticForm = "view" | "inner" | "scrolled";
const FORMS: Readonly<Record<StaticForm, string>> = { view: "st_", inner: "sf_", scrolled: "sy_" };

export async function staticAnswer(asked: AskedContent, place: FramePlace, kind: StaticForm): Promise<ServerAnswer> {
  const { collection, request } = asked;
  const isInner = kind === "inner";
  const isScrolled = kind === "scrolled";
  const memento = askedMemento(asked);
  const { capture, target } = await pickMemento(collection, shownMemento(memento));
  const form = FORMS[kind];
  if (target !== undefined)
    return redirectAnswer(`${place.origin}/${place.name}/${memento.time.text}${form}/${headerUrl(target)}`);
  const opened = await collection.open(capture);
  try {
    const head = new ArchivedHead(opened, capture);
    const payload = await FoundPayload.of(opened, request.signal);
    const type = head.contentType ?? "application/octet-stream";
    const headers: Headers = [
      ...SHORT_CACHING,
      ["Content-Security-Policy", staticPolicy(place, isScrolled ? SCROLL_SCRIPT_HASH : undefined)],
      // A link is followed to our pages, which counts as a connection, too.
      ["Connection-Allowlist", `(response-origin "${new URL(place.pages).origin}")`],
      ["X-Content-Type-Options", "nosniff"],
      // The page has no origin of its own, and fonts ask whether it may have them.
      ["Access-Control-Allow-Origin", "*"],
      ...(capture.timeMs === undefined ? [] : [["Memento-Datetime", httpDate(capture.timeMs)] as const]),
    ];
    const sentType = HTML.test(type) ? "text/html; charset=utf-8" : CSS.test(type) ? "text/css; charset=utf-8" : type;
    const isImage = /^\s*image\/svg/i.test(type);
    const shownType = ACTIVE.test(sentType) && !isImage ? "text/plain" : sentType;
    const all: Headers = [["Content-Type", shownType], ...headers];
    const status = head.status < 200 || [204, 205, 304].includes(head.status) ? 200 : Math.min(head.status, 599);
    if (request.method === "HEAD") {
      await payload.close();
      return { status, headers: all };
    }
    const references = new StaticReferences(asked, place, memento, isInner);
    const body = bodyOf(await decoded(head, payload), type, capture.url, references, isInner);
    return { status, headers: all, body: isScrolled && HTML.test(type) ? withScript(body) : body };
  } catch (error) {
    await opened[Symbol.asyncDispose]();
    throw error;
  }
}

/** Behind all that was archived. */
async function* withScript(body: AnswerBody): AsyncGenerator<string | Uint8Array> {
  yield* pieces(body);
  yield `${SCRIPT_START}${SCROLL_SCRIPT}${SCRIPT_END}`;
}

const [SCRIPT_START, SCRIPT_END] = ["<script>", "<" + "/script>"];

async function decoded(head: ArchivedHead, payload: FoundPayload): Promise<AnswerBody> {
  const encoding = head.value("content-encoding");
  const codings = encoding === undefined ? [] : codingsOf(encoding, await payload.start());
  if (codings.includes("zstd")) await loadZstd();
  const bytes = await payload.body();
  return codings.length === 0 ? bytes : decodeContent(bytes instanceof Uint8Array ? [bytes] : bytes, codings);
}

function bodyOf(bytes: AnswerBody, type: string, url: string, references: References, isInner: boolean): AnswerBody {
  if (HTML.test(type)) return rewrittenHtml(pieces(bytes), type, url, references, isInner);
  if (CSS.test(type)) return rewrittenCss(pieces(bytes), type, url, references);
  return bytes;
}

async function* pieces(body: AnswerBody): AsyncGenerator<Uint8Array> {
  if (typeof body === "string") yield Buffer.from(body);
  else if (body instanceof Uint8Array) yield body;
  else for await (const piece of body) yield typeof piece === "string" ? Buffer.from(piece) : piece;
}

async function* rewrittenHtml(
  bytes: AsyncIterable<Uint8Array>,
  type: string,
  url: string,
  references: References,
  isInner: boolean,
): AsyncGenerator<string> {
  const linkTarget = isInner ? "_self" : "_top";
  const onRefresh = (address: string, to: string) =>
    html`<p style="font:1rem/1.5 sans-serif;padding:.5rem;background:#fbf0d0;color:#6b4a0c">This page led on by itself, to <a target="${linkTarget}" href="${address}">${foreign(to)}</a>.</p>`
      .text;
  const rewriter = new HtmlRewriter({ url, references, linkTarget, onRefresh });
  let decoder: ReturnType<typeof decoderFor> | undefined;
  for await (const piece of bytes) {
    decoder ??= decoderFor(piece, type);
    const text = rewriter.write(decoder.decode(piece, { stream: true }));
    if (text !== "") yield text;
  }
  yield rewriter.write(decoder?.decode() ?? "") + rewriter.end();
}

async function* rewrittenCss(
  bytes: AsyncIterable<Uint8Array>,
  type: string,
  url: string,
  references: References,
): AsyncGenerator<string> {
  const parts: Uint8Array[] = [];
  let size = 0;
  for await (const piece of bytes) {
    if (size < CSS_SIZE_MAX) parts.push(piece);
    size += piece.length;
  }
  const all = Buffer.concat(parts);
  yield rewriteCss(decoderFor(all, type, true).decode(all), url, references);
}

/** Resources come from the replay origin; links lead to our pages, or stay in a frame of the archived page. */
class StaticReferences implements References {
  private readonly own: string;
  private readonly links: string;

  constructor(
    { collection }: AskedContent,
    { origin, pages, name }: FramePlace,
    memento: AskedMemento,
    isInner: boolean,
  ) {
    const { prefix, time } = memento;
    this.own = `${origin}/${name}/${time.text}`;
    this.links = isInner ? `${this.own}sf_/` : `${pages}/${collection.name}/${prefix}${time.text}st_/`;
  }

  resource(url: string, kind: string): string | undefined {
    if (kind === "script") return undefined;
    return `${this.own}${kind === "frame" ? "sf_" : "st_"}/${headerUrl(url)}`;
  }

  link(url: string): string {
    return `${this.links}${headerUrl(url)}`;
  }
}
