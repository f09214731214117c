/** Where an answer leads, if it is a redirect that may be followed. */
import type { HttpHead } from "../warc/index.ts";
import type { Assignment, RedirectTrouble } from "./retrieval.ts";

const REDIRECTS: ReadonlySet<number | undefined> = new Set([301, 302, 303, 307, 308]);
/** Longer ones are not addresses but attacks, or mistakes. */
const URL_SIZE_MAX = 1 << 15;

export interface Redirect {
  readonly target?: Assignment | undefined;
  readonly trouble?: RedirectTrouble | undefined;
}

/** Absent where the answer is no redirect. */
export function redirectOf(from: Assignment, head: HttpHead | undefined, redirectsMax: number): Redirect | undefined {
  const location = REDIRECTS.has(head?.status) ? head?.headers.uri("location") : undefined;
  if (location === undefined) return undefined;
  if (location.length > URL_SIZE_MAX) return { trouble: "too-long" };
  const uri = parseTarget(location, from.uri);
  if (uri === undefined) return { trouble: "invalid" };
  if (from.hops.length >= redirectsMax) return { trouble: "too-many" };
  return { target: { uri, hops: `${from.hops}R`, via: from.uri, seed: from.seed ?? from.uri } };
}

/** The URL as it is asked and recorded: absolute, normalised, without a fragment. Absent where it is not http or https. */
export function parseTarget(text: string, base?: string): string | undefined {
  try {
    const url = new URL(text, base);
    url.hash = "";
    // They are not sent, and are nobody's business.
    url.username = "";
    url.password = "";
    const isHttp = url.protocol === "http:" || url.protocol === "https:";
    return isHttp && url.hostname !== "" && url.href.length <= URL_SIZE_MAX ? url.href : undefined;
  } catch {
    return undefined;
  }
}

const HOSTNAME = /^[a-z]+:\/\/(\[[^\]]*\]|[^/:]*)/;

/** The host of a URL that `parseTarget` gave. */
export function hostnameOf(uri: string): string {
  return HOSTNAME.exec(uri)![1]!;
}
