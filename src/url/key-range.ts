/** Ranges of keys: what lies under one URL, one prefix, one host or one domain in anything sorted by key. */

import { formatKey, keyParts, type UrlKeyOptions, urlKey } from "./url-key.ts";

/**
 * - `exact`: this URL alone.
 * - `prefix`: every URL whose key begins with this one's, a `/` or `?` at its end included. A query is compared as it
 *   stands in keys, sorted, so `?b=` does not find `?a=1&b=2`.
 * - `host`: this host on this port.
 * - `domain`: this host and all below it. They keep their own ports; of this host itself other ports are left out,
 *   because `example-2.com` sorts between them.
 */
export type KeyMatch = "exact" | "prefix" | "host" | "domain";

/** Keys from `from` on and before `to`, bytewise. Empty when both are the same. */
export interface KeyRange {
  readonly from: string;
  readonly to: string;
}

/** `example.com:8080` without a scheme, which by itself reads as the scheme `example.com`. */
const HOST_AND_PORT = /^[^:/?#@[]+:[0-9]+(?![^/?#])/;

/** Never throws. `host` and `domain` of a URL that has no host are an empty range. */
export function keyRange(url: string, match: KeyMatch, options: UrlKeyOptions = {}): KeyRange {
  switch (match) {
    case "exact": {
      const key = urlKey(url, options);
      return { from: key, to: `${key}\0` };
    }
    case "prefix": {
      const from = prefixKey(url, options);
      return { from, to: successor(from) };
    }
    case "host":
    case "domain":
      return hostRange(url.trim(), match, options);
  }
}

/** The host of a key, with its port if the key has one: `www2.example.com:8080`. `undefined` when it has none. */
export function hostOf(key: string): string | undefined {
  const end = key.indexOf(")/");
  if (end < 1) return undefined;
  const authority = key.slice(0, end);
  const colon = authority.indexOf(":");
  // More than one colon is an IPv6 address, of which a port cannot be told; a word after it is a scheme's own matter.
  if (colon >= 0 && authority.indexOf(":", colon + 1) < 0) {
    const port = authority.slice(colon);
    return /^:[0-9]+$/.test(port) ? turned(authority.slice(0, colon)) + port : undefined;
  }
  return turned(authority);
}

function hostRange(url: string, match: "host" | "domain", options: UrlKeyOptions): KeyRange {
  const parts = keyParts(HOST_AND_PORT.test(url) ? `http://${url}` : url, options);
  if (parts === undefined || parts.host === "") {
    const key = parts === undefined ? urlKey(url, options) : formatKey(parts);
    return { from: key, to: key };
  }
  if (match === "host") return { from: `${parts.host}${parts.port})`, to: successor(`${parts.host}${parts.port})`) };
  // From `host)` up to and with `host,`: nothing that a host name may contain sorts between the two.
  return { from: `${parts.host})`, to: successor(`${parts.host},`) };
}

/** The key, with the slash or question mark at the end that a key by itself drops. */
function prefixKey(url: string, options: UrlKeyOptions): string {
  const key = urlKey(url, options);
  const fragment = url.indexOf("#");
  const text = (fragment < 0 ? url : url.slice(0, fragment)).trimEnd();
  const question = text.indexOf("?");
  if (question < 0 && text.endsWith("/") && !key.endsWith("/")) return `${key}/`;
  if (question >= 0 && question === text.length - 1) return `${key}?`;
  return key;
}

/** The first text after all that begin with `text`, which ends in ASCII. */
function successor(text: string): string {
  return text.slice(0, -1) + String.fromCharCode(text.charCodeAt(text.length - 1) + 1);
}

function turned(host: string): string {
  return host.split(",").reverse().join(".");
}
