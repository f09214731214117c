/** A retrieval as a line of the crawl.log, and back. What Heritrix has no field for stands in the JSON object at its end. */
import { formatDigest, formatIso, parseIso } from "../base/index.ts";
import { type CrawlLogEntry, formatCrawlLogLine, parseCrawlLogLine } from "../warc/index.ts";
import { RETRIEVAL_OUTCOMES, type Retrieval } from "./retrieval.ts";

/** The key of our own object among the extra information. */
const OWN = "holotype";

/** The first two are Heritrix's own words. */
const TRUNCATED = {
  length: "lenTrunc",
  time: "timeTrunc",
  disconnect: "disconnectTrunc",
  unspecified: "brokenTrunc",
} as const;

/** With its line end. */
export function formatRetrieval(retrieval: Retrieval, nowMs: number): string {
  return `${formatCrawlLogLine(entryOf(retrieval, nowMs))}\n`;
}

function entryOf(retrieval: Retrieval, nowMs: number): CrawlLogEntry {
  const { outcome, original, place, answerSize } = retrieval;
  const isDuplicate = outcome === "duplicate" || outcome === "not-modified";
  return {
    timeMs: nowMs,
    status: retrieval.status,
    size: retrieval.payloadSize,
    uri: retrieval.uri,
    hops: retrieval.hops === "" ? undefined : retrieval.hops,
    via: retrieval.via,
    mime: retrieval.mime ?? "unknown",
    fetchStartMs: retrieval.startMs,
    fetchDurationMs: retrieval.durationMs,
    digest: retrieval.digest,
    sourceTag: retrieval.seed,
    annotations: annotationsOf(retrieval),
    extra: {
      ...(answerSize === undefined ? {} : { contentSize: answerSize }),
      ...(place === undefined ? {} : { warcFilename: place.file, warcFileOffset: place.offset }),
      [OWN]: ownOf(retrieval),
    },
    duplicate:
      isDuplicate && original !== undefined
        ? {
            kind: outcome === "duplicate" ? "digest" : "not-modified",
            origin: { uri: original.uri, dateMs: parseIso(original.date), text: original.origin },
          }
        : undefined,
  };
}

/** For people and for tools that know nothing of our object. */
function annotationsOf({ outcome, truncated, flaws = [], failure, redirectTrouble }: Retrieval): string[] {
  return [
    ...(truncated === undefined ? [] : [TRUNCATED[truncated]]),
    ...(outcome === "predicted" ? ["predicted:unchanged"] : []),
    ...(outcome === "unasked" ? ["unasked:304"] : []),
    ...(failure === undefined ? [] : [`failed:${failure}`]),
    ...(redirectTrouble === undefined ? [] : [`redirect:${redirectTrouble}`]),
    ...flaws.map((flaw) => `flaw:${flaw}`),
  ];
}

const OWN_KEYS = [
  "outcome",
  "truncated",
  "flaws",
  "failure",
  "redirect",
  "redirectTrouble",
  "asked",
  "audited",
  "original",
  "kept",
  "headers",
  "again",
] as const satisfies readonly (keyof Retrieval)[];

function ownOf(retrieval: Retrieval): Record<string, unknown> {
  const told = OWN_KEYS.map((key) => [key, retrieval[key]] as const);
  return Object.fromEntries(told.filter(([, value]) => !isNone(value)));
}

function isNone(value: unknown): boolean {
  return value === undefined || value === false || (Array.isArray(value) && value.length === 0);
}

/** Absent where the line is none of ours. Never throws. */
export function parseRetrieval(line: string): Retrieval | undefined {
  const entry = parseCrawlLogLine(line);
  const own = entry?.extra?.[OWN];
  if (entry === undefined || typeof own !== "object" || own === null) return undefined;
  const { outcome } = own as Partial<Retrieval>;
  if (!RETRIEVAL_OUTCOMES.some((each) => each === outcome)) return undefined;
  const { contentSize, warcFilename, warcFileOffset } = entry.extra!;
  const place =
    typeof warcFilename === "string" && typeof warcFileOffset === "number"
      ? { file: warcFilename, offset: warcFileOffset }
      : undefined;
  return {
    ...(own as Pick<Retrieval, (typeof OWN_KEYS)[number]>),
    uri: entry.uri,
    hops: entry.hops ?? "",
    via: entry.via,
    seed: entry.sourceTag,
    startMs: entry.fetchStartMs ?? entry.timeMs,
    durationMs: entry.fetchDurationMs ?? 0,
    status: entry.status,
    mime: entry.mime === "unknown" ? undefined : entry.mime,
    payloadSize: entry.size,
    answerSize: typeof contentSize === "number" ? contentSize : undefined,
    digest: entry.digest,
    place,
  };
}

/** The object of `--json`: the retrieval itself, with times and digests as text. */
export function retrievalJson(retrieval: Retrieval): Record<string, unknown> {
  const { uri, status, outcome, startMs, durationMs, mime, payloadSize, answerSize, digest, place, ...more } =
    retrieval;
  const { hops, via, seed, ...own } = more;
  const told = {
    url: uri,
    status,
    outcome,
    time: formatIso(startMs),
    durationMs,
    mime,
    payloadSize,
    answerSize,
    digest: digest && formatDigest(digest),
    file: place?.file,
    offset: place?.offset,
    hops: hops === "" ? undefined : hops,
    via,
    seed,
    ...own,
  };
  return Object.fromEntries(Object.entries(told).filter(([, value]) => !isNone(value)));
}
