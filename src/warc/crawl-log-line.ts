/**
 * One line of a Heritrix crawl.log: what was fetched, with which result, and whether it was a duplicate. Reads the
 * dialects of Heritrix 1 and 3, of warcprox, of the deduplicating add-ons, and the JSON lines that UKWA sends through
 * Kafka; writes that of Heritrix 3. Logs of other tools (browsertrix) are something else, and absent.
 */
import { type Digest, formatDigest, formatIso, parseIso, parseTimestamp } from "../base/index.ts";
import { formatField, lineEnd, parseCdxDigest, parseCount } from "./cdx-line.ts";
import { parseJsonObject } from "./cdxj-line.ts";

export interface CrawlLogEntry {
  /** When the line was written, that is when the URI was done with. */
  readonly timeMs: number;
  /** Of HTTP, or one of Heritrix's own, which are 1 (DNS) or negative. */
  readonly status: number;
  /** Bytes of the body; of the whole where the length of the body is not known. */
  readonly size?: number | undefined;
  readonly uri: string;
  /** A letter a hop from the seed, such as `LLE`. */
  readonly hops?: string | undefined;
  readonly via?: string | undefined;
  /** Heritrix writes `no-type` or `unknown` where there is none. */
  readonly mime?: string | undefined;
  readonly thread?: number | undefined;
  readonly fetchStartMs?: number | undefined;
  readonly fetchDurationMs?: number | undefined;
  /** Of the payload. Absent too where its algorithm is not known. */
  readonly digest?: Digest | undefined;
  readonly sourceTag?: string | undefined;
  /** All of them as they are written, those that `duplicate` was read from among them. */
  readonly annotations: readonly string[];
  readonly extra?: Readonly<Record<string, unknown>> | undefined;
  readonly duplicate?: CrawlLogDuplicate | undefined;
}

export interface CrawlLogDuplicate {
  readonly kind: "digest" | "not-modified" | "uri-agnostic-digest";
  readonly origin?: CrawlLogOrigin | undefined;
}

/** What a line says of the original; no dialect says all of it. */
export interface CrawlLogOrigin {
  readonly file?: string | undefined;
  readonly offset?: number | undefined;
  /** Digits. */
  readonly timestamp?: string | undefined;
  readonly uri?: string | undefined;
  readonly dateMs?: number | undefined;
  /** An origin that is not of the form file, offset. */
  readonly text?: string | undefined;
}

/** Absent where the line is none of a crawl.log. Never throws. */
export function parseCrawlLogLine(line: string): CrawlLogEntry | undefined {
  if (line.charCodeAt(0) === 0x7b) return parseJsonLine(line);
  const end = lineEnd(line);
  const fields: string[] = [];
  let from = skipBlanks(line, 0);
  let to = from;
  while (fields.length < 11 && from < end) {
    to = line.indexOf(" ", from);
    if (to < 0) to = end;
    fields.push(line.slice(from, to));
    from = skipBlanks(line, to);
  }
  if (fields.length < 10) return undefined;
  const [time, status, size, uri, hops, via, mime, thread, fetch, digest, tag] = fields;
  // Heritrix in 2005 had annotations but no source tag, so that a line may end in what is either.
  const untagged = to === end && tag !== undefined && !tag.includes("://");
  const { annotations, extra } = parseRest(untagged ? tag : line.slice(from, end));
  return toEntry({
    timeMs: parseTime(time!),
    status: parseInteger(status!),
    size: size === "-" ? undefined : (parseCount(size!) ?? NaN),
    uri: uri!,
    hops: present(hops),
    via: present(via),
    mime: present(mime),
    thread: thread === "-" ? undefined : thread!.startsWith("#") ? (parseCount(thread!.slice(1)) ?? NaN) : NaN,
    fetch: present(fetch),
    digest: present(digest),
    sourceTag: untagged ? undefined : present(tag),
    annotations,
    extra,
  });
}

function skipBlanks(line: string, from: number): number {
  let at = from;
  while (line.charCodeAt(at) === 0x20) at++;
  return at;
}

function present(field: string | undefined): string | undefined {
  return field === "-" ? undefined : field;
}

/** 17 digits in the first Heritrix, ISO with milliseconds since. */
function parseTime(text: string): number | undefined {
  if (text.length === 17 || text.length === 14) return parseTimestamp(text);
  return text.length >= 20 && text.length <= 40 ? parseIso(text) : undefined;
}

function parseInteger(text: string): number | undefined {
  if (!text.startsWith("-")) return parseCount(text);
  const count = parseCount(text.slice(1));
  return count === undefined ? undefined : -count || 0;
}

/** What both forms of a line come down to. A number that is NaN, or a time that is absent, was not one in the line. */
interface Raw extends Omit<CrawlLogEntry, "timeMs" | "status" | "digest" | "fetchStartMs" | "fetchDurationMs"> {
  readonly timeMs: number | undefined;
  readonly status: number | undefined;
  readonly fetch: string | undefined;
  readonly digest: string | undefined;
}

function toEntry(raw: Raw): CrawlLogEntry | undefined {
  const { timeMs, status, fetch } = raw;
  if (timeMs === undefined || status === undefined || Number.isNaN(raw.size) || Number.isNaN(raw.thread)) {
    return undefined;
  }
  const span = fetch === undefined ? {} : parseFetch(fetch);
  if (span === undefined) return undefined;
  return {
    timeMs,
    status,
    size: raw.size,
    uri: raw.uri,
    hops: raw.hops,
    via: raw.via,
    mime: raw.mime,
    thread: raw.thread,
    fetchStartMs: span.fetchStartMs,
    fetchDurationMs: span.fetchDurationMs,
    digest: raw.digest === undefined ? undefined : parseCdxDigest(raw.digest),
    sourceTag: raw.sourceTag,
    annotations: raw.annotations,
    extra: raw.extra,
    duplicate: readDuplicate(raw.annotations, raw.extra),
  };
}

/** `20190403111533835+88`; the manual has `;` where the code has `+`. */
function parseFetch(text: string): { fetchStartMs?: number; fetchDurationMs?: number } | undefined {
  const plus = text.indexOf("+");
  const mark = plus < 0 ? text.indexOf(";") : plus;
  const fetchStartMs = parseTime(mark < 0 ? text : text.slice(0, mark));
  if (fetchStartMs === undefined) return undefined;
  if (mark < 0) return { fetchStartMs };
  const fetchDurationMs = parseInteger(text.slice(mark + 1));
  return fetchDurationMs === undefined ? undefined : { fetchStartMs, fetchDurationMs };
}

/** Annotations, which may hold blanks, and behind them perhaps a JSON object. */
function parseRest(rest: string): Pick<CrawlLogEntry, "annotations" | "extra"> {
  const brace = rest.startsWith("{") ? 0 : rest.indexOf(" {") + 1;
  const maybe = (brace > 0 || rest.startsWith("{")) && rest.endsWith("}");
  const extra = maybe ? parseJsonObject(rest.slice(brace)) : undefined;
  return { annotations: parseAnnotations(extra === undefined ? rest : rest.slice(0, brace)), extra };
}

/**
 * Between commas; a comma inside double quotes is part of its annotation, as in `duplicate:"file,offset"`. A quote
 * that is never closed quotes nothing.
 */
function parseAnnotations(text: string): readonly string[] {
  const list: string[] = [];
  if (text.trim() === "-") return list;
  const unclosed = text.split('"').length % 2 === 0 ? text.lastIndexOf('"') : -1;
  let quoted = false;
  let from = 0;
  for (let i = 0; i <= text.length; i++) {
    const code = text.charCodeAt(i);
    if (code === 0x22 && i !== unclosed) quoted = !quoted;
    if ((code !== 0x2c || quoted) && i < text.length) continue;
    const annotation = text.slice(from, i).trim();
    if (annotation !== "") list.push(annotation);
    from = i + 1;
  }
  return list;
}

const KINDS: ReadonlyMap<string, CrawlLogDuplicate["kind"]> = new Map([
  ["duplicate:digest", "digest"],
  ["duplicate:server-not-modified", "not-modified"],
  ["warcRevisit:digest", "digest"],
  ["warcRevisit:notModified", "not-modified"],
  ["warcRevisit:uriAgnosticDigest", "uri-agnostic-digest"],
  ["Revisit:IdenticalPayloadDigest", "digest"],
  ["Revisit:ServerNotModified", "not-modified"],
]);

function readDuplicate(annotations: readonly string[], extra: CrawlLogEntry["extra"]): CrawlLogDuplicate | undefined {
  for (const annotation of annotations) {
    const quote = annotation.indexOf(':"');
    const label = annotation.slice(0, Math.max(quote, 0));
    if (label === "duplicate" || label === "deduplicate") {
      const closed = annotation.length > quote + 2 && annotation.endsWith('"');
      const origin = readOrigin(annotation.slice(quote + 2, closed ? -1 : undefined));
      return { kind: "digest", origin: { ...origin, ...readRefersTo(extra) } };
    }
    const kind = KINDS.get(annotation);
    if (kind !== undefined) return { kind, origin: readRefersTo(extra) };
  }
  return undefined;
}

function readOrigin(text: string): CrawlLogOrigin {
  const [file, digits, timestamp, ...more] = text.split(",", 4);
  const offset = parseCount(digits ?? "");
  const timed = timestamp === undefined || parseTimestamp(timestamp) !== undefined;
  if (file === "" || offset === undefined || !timed || more.length > 0) return { text };
  return { file, offset, timestamp };
}

const REFERS_TO_URI = "RevisitRefersToURI";
const REFERS_TO_DATE = "RevisitRefersToDate";

function readRefersTo(extra: CrawlLogEntry["extra"]): CrawlLogOrigin | undefined {
  const uri = extra?.[REFERS_TO_URI];
  const date = extra?.[REFERS_TO_DATE];
  const dateMs = typeof date === "string" ? (parseIso(date) ?? parseTimestamp(date)) : undefined;
  if (typeof uri !== "string") return dateMs === undefined ? undefined : { dateMs };
  return dateMs === undefined ? { uri } : { uri, dateMs };
}

/** Keys of the Kafka form that Heritrix has in `extra` by another name. */
const EXTRA_NAMES: ReadonlyMap<string, string> = new Map([
  ["size", "contentSize"],
  ["wire_bytes", "contentSize"],
  ["warc_filename", "warcFilename"],
  ["warc_offset", "warcFileOffset"],
  ["warc_length", "warcFileRecordLength"],
  ["http_method", "method"],
]);

const JSON_FIELDS: ReadonlySet<string> = new Set([
  ..."timestamp status_code content_length url hop_path via mimetype content_type thread".split(" "),
  ..."start_time_plus_duration content_digest seed annotations extra_info".split(" "),
]);

/** The form that ukwa-heritrix and warcprox send through Kafka. What has no field goes to `extra`, nulls are left out. */
function parseJsonLine(line: string): CrawlLogEntry | undefined {
  const json = parseJsonObject(line.slice(0, lineEnd(line)));
  const { timestamp, url, status_code: status, content_length: length, size } = json ?? {};
  if (typeof timestamp !== "string" || typeof url !== "string" || typeof status !== "number") return undefined;
  const text = (key: string) => {
    const value = json?.[key];
    return typeof value === "string" && value !== "" ? present(value) : undefined;
  };
  const count = (value: unknown) => (isInteger(value) && value >= 0 ? value : undefined);
  const more = Object.entries(json!).filter(([key, value]) => value !== null && !JSON_FIELDS.has(key));
  const info = json?.["extra_info"];
  const extra = [
    ...Object.entries(typeof info === "object" && info !== null ? info : {}),
    ...more.map(([key, value]) => [EXTRA_NAMES.get(key) ?? key, value] as const),
  ];
  return toEntry({
    timeMs: parseTime(timestamp),
    status: isInteger(status) ? status : undefined,
    size: count(length) ?? count(size),
    uri: url,
    hops: text("hop_path"),
    via: text("via"),
    mime: text("mimetype") ?? text("content_type"),
    thread: count(json?.["thread"]),
    fetch: text("start_time_plus_duration"),
    digest: text("content_digest"),
    sourceTag: text("seed"),
    annotations: parseAnnotations(text("annotations") ?? ""),
    extra: extra.length === 0 ? undefined : Object.fromEntries(extra),
  });
}

function isInteger(value: unknown): value is number {
  return Number.isSafeInteger(value);
}

/**
 * The line of an entry as Heritrix 3 writes it, without a line end. Blanks and control characters in fields are
 * percent-encoded. A `duplicate` that none of the annotations tells of gets one that does.
 */
export function formatCrawlLogLine(entry: CrawlLogEntry): string {
  const told = entry.duplicate === undefined || readDuplicate(entry.annotations, entry.extra) !== undefined;
  const annotations = told ? entry.annotations : [...entry.annotations, formatDuplicate(entry.duplicate)];
  const extra = told ? entry.extra : formatRefersTo(entry.duplicate.origin, entry.extra);
  const fields = [
    new Date(entry.timeMs).toISOString(),
    String(entry.status).padStart(5),
    (entry.size === undefined ? "-" : String(entry.size)).padStart(10),
    formatField(entry.uri),
    formatField(entry.hops),
    formatField(entry.via),
    formatField(entry.mime),
    entry.thread === undefined ? "-" : `#${String(entry.thread).padStart(3, "0")}`,
    formatFetch(entry.fetchStartMs, entry.fetchDurationMs),
    entry.digest === undefined ? "-" : formatDigest(entry.digest),
    formatField(entry.sourceTag),
    formatAnnotations(annotations),
  ];
  if (extra !== undefined) fields.push(JSON.stringify(extra));
  return fields.join(" ");
}

function formatFetch(startMs: number | undefined, durationMs: number | undefined): string {
  if (startMs === undefined) return "-";
  const digits = new Date(startMs).toISOString().replace(/[-:.TZ]/g, "");
  return durationMs === undefined ? digits : `${digits}+${durationMs}`;
}

/** Blanks stay, as in Heritrix; what would end the line or begin the JSON object is percent-encoded. */
function formatAnnotations(annotations: readonly string[]): string {
  const list = parseAnnotations(annotations.join(","));
  const text = list.join(",").replace(/\p{Cc}|(?<![^ ])\{/gu, (char) => encodeURIComponent(char));
  return text === "" ? "-" : text;
}

function formatDuplicate({ kind, origin }: CrawlLogDuplicate): string {
  if (kind === "not-modified") return "duplicate:server-not-modified";
  if (kind === "uri-agnostic-digest") return "warcRevisit:uriAgnosticDigest";
  if (origin?.text !== undefined) return `deduplicate:"${origin.text.replaceAll('"', "%22")}"`;
  if (origin?.file === undefined || origin.offset === undefined) return "duplicate:digest";
  const file = origin.file.replace(/[",]/g, (char) => encodeURIComponent(char));
  return `duplicate:"${file},${origin.offset}${origin.timestamp === undefined ? "" : `,${origin.timestamp}`}"`;
}

function formatRefersTo(origin: CrawlLogOrigin | undefined, extra: CrawlLogEntry["extra"]): CrawlLogEntry["extra"] {
  if (origin?.uri === undefined && origin?.dateMs === undefined) return extra;
  const date = origin.dateMs === undefined ? {} : { [REFERS_TO_DATE]: formatIso(origin.dateMs) };
  return { ...extra, ...(origin.uri === undefined ? {} : { [REFERS_TO_URI]: origin.uri }), ...date };
}
