/** Which records a subset is made of: those of some hosts, under some URLs, from some span of time. */
import { ArchiveError } from "../../base/index.ts";

/** Plain data, so that it can be sent to a worker thread. Hosts and prefixes are alternatives; the span holds for all. */
export interface SubsetFilter {
  /** `example.org` is that host alone; `*.example.org` is it and all below it. */
  readonly hosts?: readonly string[] | undefined;
  /** A URL belongs where it begins like this. */
  readonly prefixes?: readonly string[] | undefined;
  /** From this moment on, up to and with the other. A record without a readable date is in no span. */
  readonly fromMs?: number | undefined;
  readonly toMs?: number | undefined;
}

export type RecordFilter = (uri: string | undefined, timeMs: number | undefined) => boolean;

/** Makes the filter ready for use; throws where a host is none. */
export function createFilter(filter: SubsetFilter): RecordFilter {
  const { hosts = [], prefixes = [], fromMs, toMs } = filter;
  const exact = new Set<string>();
  const domains: string[] = [];
  for (const host of hosts) {
    const name = canonicalHost(host.replace(/^(?:\*?\.)/, ""));
    exact.add(name);
    if (/^\*?\./.test(host)) domains.push(`.${name}`);
  }
  const isHost = (host: string) => exact.has(host) || domains.some((domain) => host.endsWith(domain));
  const isWhere = (uri: string | undefined): boolean => {
    if (hosts.length === 0 && prefixes.length === 0) return true;
    if (uri === undefined) return false;
    const url = urlInside(uri);
    if (prefixes.some((prefix) => url.startsWith(prefix))) return true;
    const host = hosts.length === 0 ? undefined : hostOf(url);
    return host !== undefined && isHost(host);
  };
  const isWhen = (timeMs: number | undefined): boolean => {
    if (fromMs === undefined && toMs === undefined) return true;
    return timeMs !== undefined && timeMs >= (fromMs ?? timeMs) && timeMs <= (toMs ?? timeMs);
  };
  return (uri, timeMs) => isWhen(timeMs) && isWhere(uri);
}

function canonicalHost(text: string): string {
  try {
    const url = new URL(`http://${text}`);
    if (url.pathname === "/" && url.search === "" && url.username === "") return url.hostname;
  } catch {
    // Falls through to the refusal.
  }
  throw new ArchiveError("HT_USAGE", `not a host: ${text}`);
}

/** Browsers' crawlers file what they note of a page under a name that holds its URL: `urn:text:https://…`. */
function urlInside(uri: string): string {
  return /^urn:[a-z-]+:(?=https?:)/i.test(uri) ? uri.replace(/^urn:[a-z-]+:/i, "") : uri;
}

function hostOf(uri: string): string | undefined {
  const name = /^(?:dns|whois):(?:\/\/[^/]*\/)?([^/?]+)/i.exec(uri)?.[1];
  try {
    return new URL(name === undefined ? uri : `http://${name}`).hostname || undefined;
  } catch {
    return undefined;
  }
}
