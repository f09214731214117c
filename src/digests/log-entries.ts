/** What a line of a crawl.log tells an index. */
import { formatDigest, formatIso, parseTimestamp } from "../base/index.ts";
import type { CrawlLogDuplicate, CrawlLogEntry } from "../warc/index.ts";
import type { DigestEntry, RecordPlace } from "./entry.ts";
import { wholeSecond } from "./entry-bytes.ts";
import type { SkipReason } from "./intake.ts";

/** Answers of HTTP, and of FTP, that have a content of their own. */
export function hasContentOfItsOwn(status: number): boolean {
  return status >= 100 && status <= 999 && status !== 304;
}

/** What Heritrix notes where it did not read to the end: `timeTrunc`, `lenTrunc`, `headerTrunc`, `midFetchTrunc`. */
const TRUNCATED = /Trunc$/;

export function entryOfLog(line: CrawlLogEntry): DigestEntry | SkipReason {
  const { uri, status, size, digest, annotations, duplicate, extra } = line;
  if (!hasContentOfItsOwn(status) || duplicate?.kind === "not-modified") return "status";
  if (digest === undefined) return "no-digest";
  if (size === 0) return "empty";
  if (annotations.some((annotation) => TRUNCATED.test(annotation))) return "truncated";
  // Heritrix dates a record by when its fetch began, and the line by when all was done.
  const timeMs = line.fetchStartMs ?? line.timeMs;
  const own = { uri, date: formatIso(wholeSecond(timeMs)), id: undefined };
  return {
    uri,
    timeMs,
    digests: [formatDigest(digest)],
    status,
    mime: line.mime,
    // Heritrix asks in such a way that it gets plain bodies; other writers of such logs have no numbered threads.
    framing: line.thread === undefined ? undefined : "plain",
    origin: originText(duplicate),
    original: duplicate === undefined ? own : originalOf(line, duplicate),
    place: duplicate === undefined ? placeOf(extra) : originPlace(duplicate),
  };
}

/** Where a duplicate has its content from, as far as its line tells. */
function originalOf({ uri, annotations }: CrawlLogEntry, { origin }: CrawlLogDuplicate): DigestEntry["original"] {
  const timeMs = origin?.dateMs ?? (origin?.timestamp === undefined ? undefined : parseTimestamp(origin.timestamp));
  if (timeMs === undefined) return undefined;
  return { uri: origin?.uri ?? equivalentIn(annotations) ?? uri, date: formatIso(timeMs), id: undefined };
}

/** The paper's software names the URL where it is not the one of the line. */
function equivalentIn(annotations: readonly string[]): string | undefined {
  for (const annotation of annotations) {
    const named = /^equivalentURL:"(.+)"$/.exec(annotation)?.[1];
    if (named !== undefined) return named;
  }
  return undefined;
}

function originText(duplicate: CrawlLogDuplicate | undefined): string | undefined {
  const { text, file, offset } = duplicate?.origin ?? {};
  return text ?? (file === undefined ? undefined : `${file},${offset}`);
}

function originPlace({ origin }: CrawlLogDuplicate): RecordPlace | undefined {
  if (origin?.file === undefined || origin.offset === undefined) return undefined;
  return { file: origin.file, offset: origin.offset };
}

/** warcprox, and Heritrix with extra information, tell where a record is. */
function placeOf(extra: CrawlLogEntry["extra"]): RecordPlace | undefined {
  const { warcFilename: file, warcFileOffset: offset } = extra ?? {};
  return typeof file === "string" && Number.isSafeInteger(offset) && (offset as number) >= 0
    ? { file, offset: offset as number }
    : undefined;
}
