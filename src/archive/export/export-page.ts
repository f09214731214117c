/** The page that a capture is, for the list of pages in a WACZ: where it is, when, and under what title. */
import { hash } from "node:crypto";
import { brotliDecompressSync, constants, gunzipSync } from "node:zlib";
import { formatIso } from "../../base/index.ts";
import { mediaType, type RecordScan, type WarcRecord } from "../../warc/index.ts";

export const PAGES_HEADER = { format: "json-pages-1.0", id: "pages", title: "All Pages" };

export interface Page {
  readonly id: string;
  readonly url: string;
  readonly ts: string;
  readonly title?: string | undefined;
}

const HTML = new Set(["text/html", "application/xhtml+xml"]);
const TITLE_SIZE_MAX = 300;
/** Of the first bytes of a page, decoded. */
const DECODED_SIZE_MAX = 1 << 22;

/** Absent for what is no page: an HTML capture with status 200 is one. `start` are the first bytes of its payload. */
export function pageOf(record: WarcRecord, { http }: RecordScan, start: Uint8Array): Page | undefined {
  const { uri, timeMs, type } = record;
  if (uri === undefined || timeMs === undefined || (type !== "response" && type !== "revisit")) return undefined;
  if (http?.status !== 200 || !HTML.has(mediaType(http.headers.get("content-type")) ?? "")) return undefined;
  const ts = formatIso(timeMs);
  const id = hash("sha256", `${ts} ${uri}`, "hex").slice(0, 32);
  const title = type === "revisit" ? undefined : titleOf(start, http.headers);
  return { id, url: uri, ts, ...(title === undefined ? {} : { title }) };
}

type Headers = NonNullable<RecordScan["http"]>["headers"];

function titleOf(start: Uint8Array, headers: Headers): string | undefined {
  const bytes = decoded(start, headers.get("content-encoding"));
  if (bytes === undefined) return undefined;
  const charset = /charset\s*=\s*["']?([\w-]+)/i;
  const label = charset.exec(headers.get("content-type") ?? "") ?? charset.exec(bytes.toString("latin1", 0, 2048));
  const found = /<title[^>]*>([^<]*)<\/title/i.exec(textOf(bytes, label?.[1]));
  const title = found === null ? "" : unescapeEntities(found[1]!).replace(/\s+/g, " ").trim();
  return title === "" ? undefined : Array.from(title).slice(0, TITLE_SIZE_MAX).join("");
}

/** The first bytes as far as they can be decoded; absent where nothing here knows how. */
function decoded(start: Uint8Array, coding: string | undefined): Buffer | undefined {
  const maxOutputLength = DECODED_SIZE_MAX;
  try {
    switch (coding?.trim().toLowerCase() ?? "") {
      case "":
      case "identity":
        return Buffer.from(start.buffer, start.byteOffset, start.length);
      case "gzip":
      case "x-gzip":
        return gunzipSync(start, { finishFlush: constants.Z_SYNC_FLUSH, maxOutputLength });
      case "br":
        return brotliDecompressSync(start, { finishFlush: constants.BROTLI_OPERATION_FLUSH, maxOutputLength });
      default:
        return undefined;
    }
  } catch {
    // A page without a title is none the worse.
    return undefined;
  }
}

function textOf(bytes: Buffer, label: string | undefined): string {
  try {
    return new TextDecoder(label ?? "utf-8").decode(bytes);
  } catch {
    return bytes.toString("latin1");
  }
}

const ENTITIES: Readonly<Record<string, string>> = { amp: "&", lt: "<", gt: ">", quot: '"', apos: "'", nbsp: " " };

function unescapeEntities(text: string): string {
  return text.replace(/&(?:#(\d{1,7})|#x([0-9a-f]{1,6})|([a-z]+));/gi, (whole, decimal, hex, name) => {
    if (name !== undefined) return ENTITIES[(name as string).toLowerCase()] ?? whole;
    const code = decimal === undefined ? Number.parseInt(hex as string, 16) : Number(decimal);
    return code > 0 && code <= 0x10ffff ? String.fromCodePoint(code) : whole;
  });
}
