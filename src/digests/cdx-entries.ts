/** What a line of CDX or CDXJ tells an index. */
import { formatDigest, formatIso, parseTimestamp } from "../base/index.ts";
import { type CdxEntry, parseCdxDigest, unbracket } from "../warc/index.ts";
import type { DigestEntry } from "./entry.ts";
import type { SkipReason } from "./intake.ts";
import { hasContentOfItsOwn } from "./log-entries.ts";

const REVISIT = "warc/revisit";
const DIGITS_MAX = 17;

export function entryOfCdx(line: CdxEntry): DigestEntry | SkipReason {
  const { url: uri, status, mime, file, offset } = line;
  const digest = line.digest === undefined ? undefined : parseCdxDigest(line.digest);
  const timeMs = parseTimestamp(line.timestamp.slice(0, DIGITS_MAX));
  if (uri === undefined) return "no-url";
  if (timeMs === undefined) return "unreadable";
  if (status !== undefined && !hasContentOfItsOwn(status)) return "status";
  if (digest === undefined) return "no-digest";
  const isRevisit = mime === REVISIT;
  return {
    uri,
    timeMs,
    digests: [formatDigest(digest)],
    status,
    mime: isRevisit ? undefined : mime,
    original: isRevisit ? undefined : { uri, date: formatIso(timeMs), id: idOf(line) },
    place: isRevisit || file === undefined || offset === undefined ? undefined : { file: baseName(file), offset },
  };
}

/** wget has the id of the record in its last column. */
function idOf({ extra }: CdxEntry): string | undefined {
  const id = extra?.["u"];
  return typeof id === "string" && id.startsWith("<urn:") ? unbracket(id) : undefined;
}

export function baseName(path: string): string {
  return path.slice(Math.max(path.lastIndexOf("/"), path.lastIndexOf("!")) + 1);
}
