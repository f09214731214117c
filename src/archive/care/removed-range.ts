/**
 * Where what a removal asks for lies among keys of URLs. Beside the URLs themselves these are records about them that
 * crawlers file under URIs of their own: screenshots, page descriptions, DNS lookups.
 */
import { type KeyRange, keyRange } from "../../url/index.ts";
import { archiveKey } from "../catalogue/capture-key.ts";
import type { Selection } from "./remove.ts";

/** Keys from one up to another; within them, only what is meant. */
interface RemovedRange {
  readonly from: string;
  readonly to: string;
  readonly isMeant: (uri: string) => boolean;
}

/** Their schemes, as keys have them. */
const ABOUT_SCHEMES = ["dns", "screenshot", "thumbnail", "urn", "whois", "youtube-dl", "yt-dlp"];
/** `urn:pageinfo:https://…` (Browsertrix), `screenshot:https://…` and `youtube-dl:00001:https://…` (Brozzler). */
const ABOUT_URL = /^(?:urn:[^:/]+|screenshot|thumbnail|youtube-dl|yt-dlp)(?::\d+)?:(https?:\/\/.+)$/is;
const ABOUT_HOST = /^(?:dns|whois):(?:\/\/[^/]*\/)?([^/?;]+)/i;

/** In the order of their keys. Not for a selection by payload. */
export function rangesOf({ url, site, prefix }: Selection): RemovedRange[] {
  const ranges = site !== undefined ? ofSite(site) : [url === undefined ? keyRange(prefix!, "prefix") : exactly(url)];
  const isIn = (uri: string) => {
    const key = `${archiveKey(uri)}\0`;
    return ranges.some(({ from, to }) => key >= from && key < to);
  };
  const isAbout = (uri: string) => {
    const about = ABOUT_URL.exec(uri)?.[1];
    if (about !== undefined) return isIn(about);
    const host = site === undefined ? undefined : ABOUT_HOST.exec(uri)?.[1];
    return host !== undefined && isIn(`http://${host}/`);
  };
  const others = ABOUT_SCHEMES.flatMap(writings).map((scheme) => ({
    from: `${scheme}:`,
    to: `${scheme};`,
    isMeant: isAbout,
  }));
  const own = ranges.map((range) => ({ ...range, isMeant: () => true }));
  return [...own, ...others].sort((one, other) => (one.from < other.from ? -1 : 1));
}

/** A host and all below it, on every port. */
function ofSite(site: string): KeyRange[] {
  const { from, to } = keyRange(site, "domain");
  if (from === to) return [];
  const host = from.slice(0, -1);
  return [
    { from, to },
    { from: `${host}:`, to: `${host};` },
  ];
}

/** Keys have schemes as records do: `DNS:` is another one than `dns:`. */
function writings(scheme: string): string[] {
  if (scheme.length > 3) return [scheme];
  const [first = "", ...rest] = scheme;
  const others = rest.length === 0 ? [""] : writings(rest.join(""));
  return [first, first.toUpperCase()].flatMap((letter) => others.map((other) => letter + other));
}

function exactly(url: string) {
  const key = archiveKey(url);
  return { from: `${key}\0`, to: `${key}\x01` };
}
