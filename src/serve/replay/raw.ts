/**
 * `/<coll>/<time>id_/<url>`: the payload as it was captured. Of its header only type, encoding, range and language are
 * live; the rest is shown as X-Archive-Orig-*. Browsers run nothing of it.
 */
import type { ByteRange, Capture } from "../../archive/index.ts";
import type { ServerAnswer } from "../../http/index.ts";
import { type Headers, SHORT_CACHING } from "../answers.ts";
import { headerUrl } from "../archived-url.ts";
import { mementoHeaders } from "../memento/links.ts";
import type { Asked } from "../route.ts";
import { ArchivedHead } from "./archived-head.ts";
import { contentRange, parseRange } from "./byte-range.ts";
import { codingsOf } from "./coded.ts";
import { checkConditions, rangeHolds } from "./conditions.ts";
import { FoundPayload } from "./found-payload.ts";
import { type AskedMemento, askedMemento, notesOf, pickMemento } from "./memento-answer.ts";

/** Archived bytes are shown, never run. */
export const ARCHIVED_SAFETY: Headers = [
  ["Content-Security-Policy", "sandbox; default-src 'none'"],
  ["X-Content-Type-Options", "nosniff"],
];

export async function rawAnswer(asked: Asked): Promise<ServerAnswer> {
  const { collection, request } = asked;
  const memento = askedMemento(asked);
  const { capture, target } = await pickMemento(collection, memento);
  const links = await mementoHeaders(asked, memento.url, capture);
  const opened = await collection.open(capture);
  try {
    const head = new ArchivedHead(opened, capture);
    const notes = notesOf(capture, opened);
    const payload = await FoundPayload.of(opened, request.signal);
    const told = head.told();
    if (!told.isWhole) notes.push("not all archived header fields are shown");
    if (payload.damage !== undefined) notes.push(payload.damage);
    const etag = payload.damage === undefined ? etagOf(capture, head) : undefined;
    const location = target === undefined ? [] : locationOf(asked, memento, target);
    const common = [
      ...SHORT_CACHING,
      ...links,
      ...ARCHIVED_SAFETY,
      ...(etag === undefined ? [] : [["ETag", etag] as const]),
    ];
    return await new RawAnswer(asked, head, payload, etag, notes).answer([...common, ...location], told.headers);
  } catch (error) {
    await opened[Symbol.asyncDispose]();
    throw error;
  }
}

/** To the archived target, at the time that was asked for. */
function locationOf({ base }: Asked, { prefix, time }: AskedMemento, target: string): Headers {
  return [["Location", `${base}${prefix}${time.text}id_/${headerUrl(target)}`]];
}

/** By what was captured and with which header; absent where the payload is not known. */
export function etagOf({ sha256 }: Capture, head: ArchivedHead): string | undefined {
  return sha256 === undefined ? undefined : `"${sha256.slice(0, 32)}-${head.fingerprint}"`;
}

class RawAnswer {
  private readonly asked: Asked;
  private readonly head: ArchivedHead;
  private readonly payload: FoundPayload;
  private readonly etag: string | undefined;
  private readonly notes: string[];

  constructor(asked: Asked, head: ArchivedHead, payload: FoundPayload, etag: string | undefined, notes: string[]) {
    this.asked = asked;
    this.head = head;
    this.payload = payload;
    this.etag = etag;
    this.notes = notes;
  }

  /** `common` goes with every answer, `told` with those that show the capture. */
  async answer(common: Headers, told: Headers): Promise<ServerAnswer> {
    const { asked, payload, etag } = this;
    const { headers, method } = asked.request;
    const status = this.sentStatus();
    if (status === 200 && etag !== undefined) {
      const verdict = checkConditions(headers, etag);
      if (verdict !== "go on") {
        await payload.close();
        return { status: verdict === "failed" ? 412 : 304, headers: common };
      }
    }
    const range = status === 200 && method === "GET" ? this.range() : undefined;
    if (range === "none") {
      await payload.close();
      const all = { status: 416, headers: [...common, ["Content-Range", `bytes */${payload.size}`] as const] };
      return { ...all, headers: all.headers.filter(([name]) => name !== "ETag") };
    }
    const live = await this.live(status, range);
    const all = [...common, ...live, ...told, ...this.noted()];
    if (method === "HEAD" || status === 204 || status === 205) {
      await payload.close();
      return { status, headers: all };
    }
    return { status: range === undefined ? status : 206, headers: all, body: await payload.passingBody(range) };
  }

  /** Its own status, where that can be sent with a body to a client that set no condition. */
  private sentStatus(): number {
    const { status } = this.head;
    const isEmpty = this.payload.size === 0;
    const canSend = status >= 200 && status <= 999 && status !== 304 && (isEmpty || (status !== 204 && status !== 205));
    if (canSend) return status;
    this.notes.push(`captured with status ${status}`);
    return 200;
  }

  private range(): ByteRange | "none" | undefined {
    const { headers } = this.asked.request;
    const { size } = this.payload;
    if (size === undefined || this.etag === undefined || !rangeHolds(headers, this.etag)) return undefined;
    return parseRange(headers.range, size);
  }

  private async live(status: number, range: ByteRange | undefined): Promise<Headers> {
    const { head, payload } = this;
    const live: [string, string][] = [];
    const put = (name: string, value: string | undefined) => void (value !== undefined && live.push([name, value]));
    put("Content-Type", head.contentType);
    put("Content-Language", head.value("content-language"));
    const encoding = head.value("content-encoding");
    if (encoding !== undefined && codingsOf(encoding, await payload.start()).length > 0)
      put("Content-Encoding", encoding);
    const { size } = payload;
    if (status === 206) put("Content-Range", head.value("content-range"));
    else if (status === 200 && size !== undefined) put("Accept-Ranges", "bytes");
    if (range !== undefined) put("Content-Range", contentRange(range, size!));
    const length = range === undefined ? size : range.to - range.from;
    if (length !== undefined && status !== 204) put("Content-Length", `${length}`);
    return live;
  }

  private noted(): Headers {
    return this.notes.length === 0 ? [] : [["Holotype-Note", this.notes.join("; ")]];
  }
}
