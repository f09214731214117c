/**
 * One line of a CDXJ file: key, time, and a JSON object. The entry is that of a CDX line. Written as pywb and
 * cdxj-indexer write it: their order of keys, numbers as strings, ASCII only.
 */
import { type CdxEntry, type CdxName, formatField, lineEnd, parseCdxTimestamp, parseCount } from "./cdx-line.ts";

/** `!meta {…}` and its like, which stand before the entries; the value of one without JSON is its text. */
export interface CdxjHeader {
  /** What follows the `!`: `meta`, `context`, `keys`, `OpenWayback-CDXJ`. */
  readonly name: string;
  readonly value: unknown;
}

/** Absent where the line is not a header. Never throws. */
export function parseCdxjHeader(line: string): CdxjHeader | undefined {
  // OpenWayback begins its first line with a blank.
  const start = line.startsWith(" !") ? 1 : 0;
  if (line.charCodeAt(start) !== 0x21) return undefined;
  const end = lineEnd(line);
  const blank = line.indexOf(" ", start);
  const nameEnd = blank < 0 ? end : blank;
  // The `!meta 0 {…}` of a WACZ index has a number in the place of the time.
  const text = line.slice(line.startsWith(" 0 ", nameEnd) ? nameEnd + 3 : nameEnd + 1, end);
  return { name: line.slice(start + 1, nameEnd), value: parseJson(text) ?? text };
}

const KEYS: ReadonlyMap<string, Exclude<CdxName, "urlKey" | "timestamp">> = new Map([
  ["url", "url"],
  ["mime", "mime"],
  ["status", "status"],
  ["digest", "digest"],
  ["redirect", "redirect"],
  ["robotflags", "meta"],
  ["length", "length"],
  ["offset", "offset"],
  ["filename", "file"],
]);

type Draft = { -readonly [K in keyof CdxEntry]: CdxEntry[K] };

/**
 * Absent where the line is a header or not CDXJ; never throws. Numbers may be written as strings or as numbers. Keys
 * without a name here, and values that do not fit the type of theirs, are kept in `extra`. The dialect of OpenWayback,
 * which has the type of the record between time and JSON, is not read.
 */
export function parseCdxjLine(line: string): CdxEntry | undefined {
  const first = line.indexOf(" ");
  const second = line.indexOf(" ", first + 1);
  if (first <= 0 || line.charCodeAt(second + 1) !== 0x7b || line.charCodeAt(0) === 0x21) return undefined;
  const timestamp = parseCdxTimestamp(line.slice(first + 1, second));
  if (timestamp === undefined) return undefined;
  const json = parseJsonObject(line.slice(second + 1));
  if (json === undefined) return undefined;
  const key = line.slice(0, first);
  const entry: Draft = {
    urlKey: key === "-" ? undefined : key,
    timestamp,
    url: undefined,
    mime: undefined,
    status: undefined,
    digest: undefined,
    redirect: undefined,
    meta: undefined,
    length: undefined,
    offset: undefined,
    file: undefined,
    extra: undefined,
  };
  let extra: [string, unknown][] | undefined;
  for (const name of Object.keys(json)) {
    const value = json[name];
    const field = KEYS.get(name);
    if (field !== undefined && (value === "-" || value === null)) continue;
    if (field === undefined) (extra ??= []).push([name, value]);
    else if (field === "status" || field === "length" || field === "offset") {
      const count = toCount(value);
      if (count === undefined) (extra ??= []).push([name, value]);
      else entry[field] = count;
    } else if (typeof value === "string") entry[field] = value;
    else (extra ??= []).push([name, value]);
  }
  // Not by assignment: a key may be `__proto__`.
  if (extra !== undefined) entry.extra = Object.fromEntries(extra);
  return entry;
}

function toCount(value: unknown): number | undefined {
  if (typeof value === "string") return parseCount(value);
  return typeof value === "number" && Number.isSafeInteger(value) && value >= 0 ? value : undefined;
}

/** The line of an entry, without a line end. A key with blanks is percent-encoded; the values are JSON strings. */
export function formatCdxjLine(entry: CdxEntry): string {
  const pairs: string[] = [];
  for (const [key, name] of KEYS) {
    const value = entry[name];
    if (value !== undefined && value !== "-") pairs.push(`"${key}": ${JSON.stringify(String(value))}`);
  }
  for (const [key, value] of Object.entries(entry.extra ?? {})) {
    const name = KEYS.get(key);
    const written = name !== undefined && entry[name] !== undefined;
    if (value !== undefined && !written) pairs.push(`${JSON.stringify(key)}: ${JSON.stringify(value)}`);
  }
  // A leading `!` would make it a header.
  const urlKey = formatField(entry.urlKey).replace(/^!/, "%21");
  return `${urlKey} ${formatField(entry.timestamp)} {${toAscii(pairs.join(", "))}}`;
}

function toAscii(json: string): string {
  return json.replace(/[\u0080-\uffff]/g, (char) => `\\u${char.charCodeAt(0).toString(16).padStart(4, "0")}`);
}

/** Deeper nesting than this is in no real line, and would let a hostile one exhaust the stack of who writes it. */
const DEPTH_MAX = 64;

/** Absent where the text is not JSON, or nested too deep. Never throws. */
export function parseJson(text: string): unknown {
  try {
    const value: unknown = JSON.parse(text);
    return isShallow(value, DEPTH_MAX) ? value : undefined;
  } catch {
    return undefined;
  }
}

export function parseJsonObject(text: string): Readonly<Record<string, unknown>> | undefined {
  const value = parseJson(text);
  if (typeof value !== "object" || value === null || Array.isArray(value)) return undefined;
  return value as Readonly<Record<string, unknown>>;
}

function isShallow(value: unknown, depth: number): boolean {
  if (typeof value !== "object" || value === null) return true;
  if (depth === 0) return false;
  for (const part of Object.values(value)) if (!isShallow(part, depth - 1)) return false;
  return true;
}
