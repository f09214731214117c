/** The equivalent URL of the DeDuplicator: the second try, when a URL itself is not in the digest index. */

import { formatKey, keyParts, urlKey } from "./url-key.ts";

/**
 * The normalised URL that stands for all spellings and variants of `url`, in the form of a key: `com,example)/path`.
 * Two documents may easily share one, so it proves nothing by itself: use it only where the digest must match too,
 * and never to predict from headers that a document has not changed (the paper, sections 4.1 and 4.4).
 *
 * The paper's rules, which it gives as "different parameters, 'www.' prefixes etc.":
 * - the query is dropped, whatever is in it;
 * - `www.` before the host is dropped; as in the authors' software, `www2.` and the like too;
 * - a slash at the end is dropped; this is from the authors' software, not from the paper's text.
 *
 * Ours, because they come with the key: scheme, user, fragment and the scheme's own port are dropped, case is folded,
 * escapes and dots are resolved, ASP.NET session ids are taken out of the path. And by our own choice path parameters
 * (`;jsessionid=…`) are dropped like those of the query.
 *
 * Index pages are left alone: neither the paper nor its software touches them. A URL without a host keeps its key.
 */
export function equivalentUrl(url: string): string {
  const parts = keyParts(url);
  if (parts === undefined || parts.host === "") return urlKey(url);
  return formatKey({ ...parts, path: barePath(parts.path), query: "" });
}

/** Without path parameters and slashes at the end; never empty. */
function barePath(path: string): string {
  const plain = path.includes(";") ? path.replaceAll(/;[^/]*/g, "") : path;
  let end = plain.length;
  while (end > 1 && plain.charCodeAt(end - 1) === 0x2f) end--;
  return plain.slice(0, end);
}
