/**
 * Cuts a URL, or anything that was written where a URL belongs, into its parts, with the leniency of the archives: it
 * never fails, adds `http://` where there is no scheme, and looks for the host in the path where `http:` has none.
 */

import { toByteString } from "./percent.ts";

/** The parts as written, still escaped, as byte strings; what is absent is empty. User and fragment are dropped. */
export interface UrlParts {
  /** As written, so perhaps in upper case; empty only when the whole URL is. */
  readonly scheme: string;
  readonly host: string;
  /** The text after the colon, whatever it is. */
  readonly port: string;
  readonly path: string;
  readonly query: string;
}

const NON_ASCII = /[^\0-\x7f]/;
const LINE_BREAK_OR_TAB = /[\n\r\t]/;
const LINE_BREAK_OR_TAB_ALL = /[\n\r\t]/g;
const SCHEME = /^[a-zA-Z][a-zA-Z0-9+.-]*:/;

export function parseUrl(url: string): UrlParts {
  const text = withScheme(cleaned(url));
  const colon = text.indexOf(":");
  const scheme = text.slice(0, Math.max(colon, 0));
  const start = colon + 1;
  const end = endOf(text, "#", start, text.length);
  const queryMark = endOf(text, "?", start, end);
  const query = text.slice(queryMark + 1, end);
  if (!text.startsWith("//", start)) {
    return hostFromPath({ scheme, host: "", port: "", path: text.slice(start, queryMark), query });
  }
  const pathStart = endOf(text, "/", start + 2, queryMark);
  const { host, port } = parseAuthority(text.slice(start + 2, pathStart));
  return hostFromPath({ scheme, host, port, path: text.slice(pathStart, queryMark), query });
}

/** The URL as a byte string without white space round it and without line breaks and tabs in it. */
function cleaned(url: string): string {
  let start = 0;
  let end = url.length;
  while (start < end && isAsciiSpace(url.charCodeAt(start))) start++;
  while (end > start && isAsciiSpace(url.charCodeAt(end - 1))) end--;
  let text = url.slice(start, end);
  if (LINE_BREAK_OR_TAB.test(text)) text = text.replace(LINE_BREAK_OR_TAB_ALL, "");
  return NON_ASCII.test(text) ? toByteString(text) : text;
}

function isAsciiSpace(code: number): boolean {
  return code === 0x20 || (code >= 0x09 && code <= 0x0d);
}

/** `http://` in front where no scheme is, and of several `http://` and `https://` in a row only the last. */
function withScheme(text: string): string {
  if (text === "") return text;
  const url = SCHEME.test(text) ? text : `http://${text}`;
  let start = 0;
  let end = webSchemeEnd(url, 0);
  if (end === 0) return url;
  for (let next = webSchemeEnd(url, end); next > 0; next = webSchemeEnd(url, end)) {
    start = end;
    end = next;
  }
  return start === 0 ? url : url.slice(start);
}

/** Where `http://` or `https://` ends that begins at `start`; 0 when neither does. */
function webSchemeEnd(text: string, start: number): number {
  if (text.startsWith("http://", start)) return start + 7;
  return text.startsWith("https://", start) ? start + 8 : 0;
}

/** The index of `mark` in [start, end), or `end`. */
function endOf(text: string, mark: string, start: number, end: number): number {
  const index = text.indexOf(mark, start);
  return index < 0 || index > end ? end : index;
}

/** Host and port of `user:password@host:port`. Of anything with a bracket the bracket's inside is the host. */
function parseAuthority(text: string): { host: string; port: string } {
  let end = text.length;
  while (end > 0 && text.charCodeAt(end - 1) === 0x3a) end--;
  const authority = text.slice(text.lastIndexOf("@", end) + 1, end);
  const open = authority.indexOf("[");
  const hostStart = open + 1;
  let hostEnd = open < 0 ? -1 : authority.indexOf("]", hostStart);
  if (open >= 0 && hostEnd < 0) return { host: authority.slice(hostStart), port: "" };
  const colon = authority.indexOf(":", Math.max(hostEnd, 0));
  if (open < 0) hostEnd = colon < 0 ? authority.length : colon;
  return { host: authority.slice(hostStart, hostEnd), port: colon < 0 ? "" : authority.slice(colon + 1) };
}

/** `http:////example.com/a` and `http:/example.com/a` mean the host `example.com`. */
function hostFromPath(parts: UrlParts): UrlParts {
  if (parts.host !== "" || parts.path === "" || !parts.scheme.startsWith("http")) return parts;
  let start = 0;
  while (parts.path.charCodeAt(start) === 0x2f) start++;
  const end = endOf(parts.path, "/", start, parts.path.length);
  return { ...parts, host: parts.path.slice(start, end), path: parts.path.slice(end) || "/" };
}
