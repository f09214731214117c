/**
 * What stands for a request that is not GET in the keys of indexes: its method and its body as further parameters of the
 * URL, as the IIPC's guideline for CDX files has it. So answers to different bodies are told apart.
 */
import type { HttpHead } from "./http-head.ts";
import { mediaType } from "./http-head.ts";

/** More of a body would not fit into a key. */
const BODY_SIZE_MAX = 1 << 14;
const DEPTH_MAX = 32;

/** `__wb_method=POST&a=b` for a request with this method, header and body. */
export function requestQuery(method: string, head: HttpHead, body: Uint8Array): string {
  const parts = [`__wb_method=${encodeURIComponent(method)}`];
  const bytes = Buffer.from(body.buffer, body.byteOffset, Math.min(body.length, BODY_SIZE_MAX));
  const rest = bytes.length === 0 ? "" : bodyQuery(head, bytes);
  return rest === "" ? parts[0]! : `${parts[0]!}&${rest}`;
}

function bodyQuery(head: HttpHead, body: Buffer): string {
  const type = mediaType(head.headers.get("content-type"));
  const text = body.toString("utf8");
  switch (type) {
    case "application/x-www-form-urlencoded":
      return text.trim();
    case "application/json":
      return jsonQuery(text) ?? base64Query(body);
    case "text/plain":
      return jsonQuery(text) ?? base64Query(body);
    case "multipart/form-data":
      return multipartQuery(head.headers.get("content-type") ?? "", body.toString("latin1")) ?? base64Query(body);
    default:
      return base64Query(body);
  }
}

function base64Query(body: Buffer): string {
  return `__wb_post_data=${encodeURIComponent(body.toString("base64"))}`;
}

/** Every plain value of a JSON text under its own name; the same name again gets a number. */
function jsonQuery(text: string): string | undefined {
  let json: unknown;
  try {
    json = JSON.parse(text);
  } catch {
    return undefined;
  }
  const counts = new Map<string, number>();
  const pairs: string[] = [];
  const put = (name: string, value: unknown, depth: number): void => {
    if (depth > DEPTH_MAX) return;
    if (typeof value === "object" && value !== null) {
      for (const [own, each] of Object.entries(value)) put(Array.isArray(value) ? name : own, each, depth + 1);
      return;
    }
    const count = (counts.get(name) ?? 0) + 1;
    counts.set(name, count);
    pairs.push(`${escaped(count === 1 ? name : `${name}.${count}_`)}=${escaped(String(value))}`);
  };
  put("", json, 0);
  return pairs.join("&");
}

/** JSON may hold halves of surrogate pairs, which no URL can. */
function escaped(text: string): string {
  return encodeURIComponent(text.replace(/\p{Surrogate}/gu, "\ufffd"));
}

function multipartQuery(contentType: string, text: string): string | undefined {
  const boundary = /boundary="?([^";]+)"?/i.exec(contentType)?.[1];
  if (boundary === undefined) return undefined;
  const pairs: string[] = [];
  for (const part of text.split(`--${boundary}`)) {
    const name = /^content-disposition:[^\r\n]*?\bname="?([^";\r\n]+)/im.exec(part)?.[1];
    const at = /\r?\n\r?\n/.exec(part);
    if (name === undefined || at === null) continue;
    const value = part.slice(at.index + at[0].length).replace(/\r?\n$/, "");
    pairs.push(`${encodeURIComponent(name)}=${encodeURIComponent(value)}`);
  }
  return pairs.join("&");
}
