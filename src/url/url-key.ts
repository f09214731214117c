/**
 * The key that archives file a URL under: SURT, `com,example)/path?query`, as the Internet Archive's `surt` makes it
 * and CDX files hold it. `url-key.test.ts` has the few places where we differ, and why.
 */

import { canonicalHost, PLAIN_HOST, reversedHost, withoutWww } from "./host.ts";
import { normalizePath, withoutPathSession } from "./path.ts";
import { escapeByte, escapeOnce, toByteString, unescapeFully } from "./percent.ts";
import { sortedQuery, withoutQuerySession } from "./query.ts";
import { parseUrl, type UrlParts } from "./url-parts.ts";

export interface UrlKeyOptions {
  /** Whether `www.`, `www1.` and so on in front of the host are dropped; true unless told. Some CDXJ writers keep them. */
  readonly stripWww?: boolean;
}

/** The parts of a key. All are printable ASCII without spaces. */
export interface KeyParts {
  readonly scheme: string;
  /** Turned round: `com,example`. Empty for URLs without a host, such as `mailto:`. */
  readonly host: string;
  /** With its colon; empty when there is no host, or it is the scheme's own. */
  readonly port: string;
  readonly path: string;
  /** Without its `?`; empty when there is none. */
  readonly query: string;
}

/** The key of what is no URL at all. */
const NO_URL = "-";
const FILE_DESCRIPTION = "filedesc";
/** After the host: an escape or something to escape, a fragment, a segment to resolve or that may be a session id. */
const IRREGULAR = /[^!"$&-~]|\/[/.(]/;
const UNPRINTABLE = /[^!-~]/;
const UNPRINTABLE_ALL = /[^!-~]/g;

/**
 * The key of a URL. Never throws, takes linear time, and gives printable ASCII without spaces, so keys compare the same
 * as strings and as bytes and fit into a line of a CDX file. Different URLs may well have one key; that is its purpose.
 */
export function urlKey(url: string, options: UrlKeyOptions = {}): string {
  const plain = plainUrlKey(url, options);
  if (plain !== undefined) return plain;
  const parts = keyParts(url, options);
  if (parts !== undefined) return formatKey(parts);
  return url.startsWith(FILE_DESCRIPTION) ? printable(url) : NO_URL;
}

/** `undefined` for what has no parts: white space, and the `filedesc:` of ARC files, whose key is itself. */
export function keyParts(url: string, options: UrlKeyOptions = {}): KeyParts | undefined {
  if (url.startsWith(FILE_DESCRIPTION)) return undefined;
  const parts = parseUrl(url);
  if (parts.scheme === "") return undefined;
  let host = canonicalHost(parts.host);
  if (options.stripWww !== false && parts.scheme !== "dns") host = withoutWww(host);
  return {
    scheme: parts.scheme,
    host: reversedHost(host),
    port: host === "" ? "" : keyPort(parts),
    path: keyPath(parts.path, host !== ""),
    query: keyQuery(parts.query),
  };
}

/** The key that parts make together. */
export function formatKey(parts: KeyParts): string {
  const front = parts.host === "" ? `${parts.scheme}:` : `${parts.host}${parts.port})`;
  if (parts.query === "") return front + parts.path;
  return `${front}${parts.path === "" ? "/" : parts.path}?${parts.query}`;
}

/** `:port`, or nothing for the scheme's own port and for 0. What is no port number stays as it is written. */
function keyPort({ scheme, port }: UrlParts): string {
  if (port === "") return "";
  const number = /^[0-9]+$/.test(port) ? Number(port) : Number.NaN;
  if (!(number <= 65535)) return `:${escapeOnce(unescapeFully(port)).toLowerCase()}`;
  if (number === 0 || number === defaultPort(scheme)) return "";
  return `:${number}`;
}

function defaultPort(scheme: string): number | undefined {
  const name = scheme.toLowerCase();
  return name === "http" ? 80 : name === "https" ? 443 : undefined;
}

function keyPath(path: string, isHierarchical: boolean): string {
  const plain = unescapeFully(path);
  return withoutLastSlash(withoutPathSession(escapeOnce(isHierarchical ? normalizePath(plain) : plain).toLowerCase()));
}

function keyQuery(query: string): string {
  return query === "" ? "" : sortedQuery(withoutQuerySession(escapeOnce(unescapeFully(query)).toLowerCase()));
}

/** The short way for the URLs that most are, about twice as fast; `undefined` for those that need the long one. */
function plainUrlKey(url: string, options: UrlKeyOptions): string | undefined {
  const start = url.startsWith("http://") ? 7 : url.startsWith("https://") ? 8 : 0;
  const hostEnd = start === 0 ? -1 : url.indexOf("/", start);
  if (hostEnd < 0) return undefined;
  const name = url.slice(start, hostEnd);
  if (!PLAIN_HOST.test(name)) return undefined;
  const written = url.slice(hostEnd);
  if (IRREGULAR.test(written)) return undefined;
  const rest = written.toLowerCase();
  const host = reversedHost(options.stripWww === false ? name.toLowerCase() : withoutWww(name.toLowerCase()));
  const question = rest.indexOf("?");
  if (question < 0) return `${host})${withoutLastSlash(rest)}`;
  const path = withoutLastSlash(rest.slice(0, question));
  const query = sortedQuery(withoutQuerySession(rest.slice(question + 1)));
  return query === "" ? `${host})${path}` : `${host})${path}?${query}`;
}

function withoutLastSlash(path: string): string {
  return path.length > 1 && path.endsWith("/") ? path.slice(0, -1) : path;
}

function printable(text: string): string {
  return UNPRINTABLE.test(text) ? toByteString(text).replace(UNPRINTABLE_ALL, escapeByte) : text;
}
