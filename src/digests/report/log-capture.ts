/** Captures as a line of a crawl.log has them. Headers are not in it. */
import { formatDigest, formatIso } from "../../base/index.ts";
import type { NewCapture } from "../../dedup/index.ts";
import type { CrawlLogEntry } from "../../warc/index.ts";

/** What Heritrix writes where there is no media type. */
const NO_TYPE: ReadonlySet<string | undefined> = new Set(["no-type", "unknown"]);
/** Annotations of Heritrix for an answer that it cut off. */
const TRUNCATED: ReadonlySet<string> = new Set(["lenTrunc", "timeTrunc", "headerTrunc", "midFetchTrunc"]);

export function logCapture(entry: CrawlLogEntry): NewCapture {
  const { uri, status, mime, digest, size, fetchStartMs, timeMs, annotations, extra } = entry;
  const whole = extra?.["contentSize"];
  return {
    uri,
    // As the record of it has the date.
    date: formatIso(fetchStartMs ?? timeMs),
    mime: NO_TYPE.has(mime) ? undefined : mime,
    framing: undefined,
    payloadSize: size,
    length: undefined,
    truncated: annotations.some((annotation) => TRUNCATED.has(annotation)),
    digests: digest === undefined ? [] : [formatDigest(digest)],
    status,
    responseSize: typeof whole === "number" && whole >= 0 ? whole : undefined,
  };
}
