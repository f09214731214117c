/** An index as lines that other tools read: what wget deduplicates by, CDX and CDXJ, and all there is as JSON. */
import { formatDigestValue, formatTimestamp, parseDigest } from "../base/index.ts";
import { timeOfDate } from "../dedup/index.ts";
import { urlKey } from "../url/index.ts";
import { CDX_11, type CdxEntry, formatCdxjLine, formatCdxLine } from "../warc/index.ts";
import type { DigestEntry } from "./entry.ts";

export const EXPORT_FORMATS = ["wget", "cdx11", "cdxj", "jsonl"] as const;
export type ExportFormat = (typeof EXPORT_FORMATS)[number];

/** What a file for wget begins with: URL, digest, record id. */
export const WGET_HEADER = " CDX a k u";

/** The line of an entry, without its end; absent where the format has no way to say it. */
export function formatExported(entry: DigestEntry, format: ExportFormat): string | undefined {
  switch (format) {
    case "wget":
      return formatWget(entry);
    case "cdx11":
      return formatCdxLine(cdxOf(entry), CDX_11);
    case "cdxj":
      return formatCdxjLine(cdxOf(entry));
    default:
      return JSON.stringify(entry);
  }
}

/** wget matches URL and sha1, and writes the id into its revisits: without one there is nothing to refer to. */
function formatWget({ uri, digests, original }: DigestEntry): string | undefined {
  const sha1 = digests.find((digest) => digest.startsWith("sha1:"));
  if (sha1 === undefined || original?.id === undefined || /[^!-~]/.test(uri)) return undefined;
  return `${uri} ${sha1.slice(5)} <${original.id}>`;
}

/** A capture of this URL that holds its content; any other is a revisit for whoever reads a CDX. */
function cdxOf({ uri, timeMs, digests, original, mime, status, place }: DigestEntry): CdxEntry {
  const isOwn = original?.uri === uri;
  const sha1 = parseDigest(digests.find((digest) => digest.startsWith("sha1:")) ?? digests[0] ?? "");
  return {
    urlKey: urlKey(uri),
    timestamp: formatTimestamp(isOwn ? (timeOfDate(original.date) ?? timeMs) : timeMs),
    url: uri,
    mime: isOwn ? mime : "warc/revisit",
    status,
    digest: sha1 === undefined ? undefined : formatDigestValue(sha1),
    offset: isOwn ? place?.offset : undefined,
    file: isOwn ? place?.file : undefined,
  };
}
