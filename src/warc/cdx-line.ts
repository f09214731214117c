/**
 * One line of a CDX file, in any dialect that its header line describes or that the number of fields betrays.
 * It knows lines, not files: finding them, sorting them and reading blocks of them is done elsewhere. The letters are
 * those of the CDX legend of 2006 and the eleven of 2015.
 */
import { type Digest, type DigestAlgorithm, formatTimestamp, parseDigest, parseIso } from "../base/index.ts";

/** One capture as a line of an index tells it, CDX or CDXJ. What the line does not say is absent. */
export interface CdxEntry {
  /** What the index is sorted by; most often a SURT. */
  readonly urlKey?: string | undefined;
  /** 14 digits or more, UTC. */
  readonly timestamp: string;
  readonly url?: string | undefined;
  /** `warc/revisit` where the record is a revisit. */
  readonly mime?: string | undefined;
  readonly status?: number | undefined;
  /** As the line has it: in CDX without a label, in CDXJ with or without. `parseCdxDigest` reads both. */
  readonly digest?: string | undefined;
  readonly redirect?: string | undefined;
  /** What robots are told by the page, as the letters A, F, I. */
  readonly meta?: string | undefined;
  /** Bytes of the record in its file, as stored there. */
  readonly length?: number | undefined;
  readonly offset?: number | undefined;
  readonly file?: string | undefined;
  /** By letter (CDX) or key (CDXJ): what has no name here, and values that do not fit the type of their field. */
  readonly extra?: Readonly<Record<string, unknown>> | undefined;
}

export type CdxName = Exclude<keyof CdxEntry, "extra">;

/** What stands where on a line. `names` goes with `codes`, field by field; absent where only `extra` has the field. */
export interface CdxLayout {
  /** One character that is neither a letter nor a digit nor one of `-`, `%`. */
  readonly delimiter: string;
  /** The letters of the legend, unknown ones among them, and the longer names that pywb gives to its own fields. */
  readonly codes: readonly string[];
  readonly names: readonly (CdxName | undefined)[];
}

const NAMES: ReadonlyMap<string, CdxName> = new Map([
  ["N", "urlKey"],
  ["A", "urlKey"],
  ["b", "timestamp"],
  ["a", "url"],
  ["m", "mime"],
  ["s", "status"],
  ["k", "digest"],
  ["c", "digest"],
  ["r", "redirect"],
  ["M", "meta"],
  ["S", "length"],
  ["V", "offset"],
  ["v", "offset"],
  ["g", "file"],
]);

/** A letter that gets its name only where the better letter is not there: WebCurator has its digest under `c`. */
const BETTER: ReadonlyMap<string, string> = new Map([
  ["A", "N"],
  ["c", "k"],
  ["v", "V"],
]);

export function createCdxLayout(codes: readonly string[], delimiter = " "): CdxLayout {
  const names = codes.map((code) => {
    const better = BETTER.get(code);
    return better !== undefined && codes.includes(better) ? undefined : NAMES.get(code);
  });
  return { delimiter, codes, names };
}

const ORIGINAL = ["orig.length", "orig.offset", "orig.filename"];
const NINE = "N b a m s k r V g".split(" ");
const TEN = "N b a m s k r M V g".split(" ");
const ELEVEN = "N b a m s k r M S V g".split(" ");

export const CDX_9: CdxLayout = createCdxLayout(NINE);
export const CDX_10: CdxLayout = createCdxLayout(TEN);
export const CDX_11: CdxLayout = createCdxLayout(ELEVEN);
/** Eleven, and where pywb found the original of a revisit. */
export const CDX_14: CdxLayout = createCdxLayout([...ELEVEN, ...ORIGINAL]);
/** What the public CDX server of the Internet Archive answers. */
export const CDX_PUBLIC: CdxLayout = createCdxLayout("N b a m s k S".split(" "));
/** NetarchiveSuite, of ARC files: url, IP address, time, type, length, file, offset. */
export const CDX_NETARCHIVE: CdxLayout = createCdxLayout("a e b m n g v".split(" "));

const WITHOUT_HEADER: readonly CdxLayout[] = [
  CDX_11,
  CDX_9,
  CDX_14,
  CDX_PUBLIC,
  CDX_NETARCHIVE,
  CDX_10,
  createCdxLayout([...NINE, ...ORIGINAL]),
  createCdxLayout([...TEN, ...ORIGINAL]),
];

/** The layout of a file that has no header, from one of its lines. Absent where no known layout fits. */
export function detectCdxLayout(line: string): CdxLayout | undefined {
  return WITHOUT_HEADER.find((layout) => parseCdxLine(line, layout) !== undefined);
}

const NO_DELIMITER = /^[\p{L}\p{N}\p{Cs}%\r\n-]$/u;

/**
 * Reads ` CDX N b a …`. The first character is the delimiter of the file; of a header without it (seen in WebCurator)
 * it is the one behind `CDX`. Absent where the line is not a header.
 */
export function parseCdxHeader(line: string): CdxLayout | undefined {
  const start = line.startsWith("CDX") ? 0 : 1;
  if (!line.startsWith("CDX", start)) return undefined;
  const separator = line.charAt(start + 3);
  const delimiter = start === 0 ? separator : line.charAt(0);
  if (separator === "" || NO_DELIMITER.test(delimiter) || NO_DELIMITER.test(separator)) return undefined;
  const codes = line
    .slice(start + 4, lineEnd(line))
    .split(separator)
    .filter((code) => code !== "");
  return codes.length === 0 ? undefined : createCdxLayout(codes, delimiter);
}

/** Without a line end, like all that is formatted here. */
export function formatCdxHeader(layout: CdxLayout): string {
  return `${layout.delimiter}CDX${layout.delimiter}${layout.codes.join(layout.delimiter)}`;
}

type Draft = { -readonly [K in keyof CdxEntry]: CdxEntry[K] };

/**
 * Absent where the line is not one of this layout: another number of fields, or a time that is none. Never throws. An
 * ISO time becomes digits; a status, length or offset that is not a whole number goes to `extra`.
 */
export function parseCdxLine(line: string, layout: CdxLayout): CdxEntry | undefined {
  const { delimiter, codes, names } = layout;
  const last = codes.length - 1;
  const entry: Draft = {
    urlKey: undefined,
    timestamp: "",
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
  let extra: [string, string][] | undefined;
  let from = 0;
  for (let i = 0; i <= last; i++) {
    let to = line.indexOf(delimiter, from);
    if (to < 0 !== (i === last)) return undefined;
    if (to < 0) to = lineEnd(line);
    const value = line.slice(from, to);
    from = to + 1;
    if (value === "-" || value === "") continue;
    const name = names[i];
    if (name === "timestamp") {
      const timestamp = parseCdxTimestamp(value);
      if (timestamp === undefined) return undefined;
      entry.timestamp = timestamp;
    } else if (name === "status" || name === "length" || name === "offset") {
      const count = parseCount(value);
      if (count === undefined) (extra ??= []).push([codes[i]!, value]);
      else entry[name] = count;
    } else if (name === undefined) (extra ??= []).push([codes[i]!, value]);
    else entry[name] = value;
  }
  if (entry.timestamp === "") return undefined;
  // Not by assignment: a code may be `__proto__`.
  if (extra !== undefined) entry.extra = Object.fromEntries(extra);
  return entry;
}

/**
 * The line of an entry. Every value keeps to its field: blanks, control characters and the delimiter are
 * percent-encoded in it, and an absent or empty one becomes `-`.
 */
export function formatCdxLine(entry: CdxEntry, layout: CdxLayout): string {
  const { delimiter, codes, names } = layout;
  let line = "";
  for (let i = 0; i < codes.length; i++) {
    const name = names[i];
    const named = name === undefined ? undefined : name === "digest" ? formatCdxDigest(entry.digest) : entry[name];
    const value =
      named ?? (entry.extra !== undefined && Object.hasOwn(entry.extra, codes[i]!) ? entry.extra[codes[i]!] : "");
    line +=
      (i === 0 ? "" : delimiter) + formatField(typeof value === "string" ? value : JSON.stringify(value), delimiter);
  }
  return line;
}

/** The field of a value in a line of fields; CDXJ keys and crawl.log lines are written by the same rule. */
export function formatField(value: string | undefined, delimiter = " "): string {
  if (value === undefined || value === "") return "-";
  const taken = delimiter.charCodeAt(0);
  for (let i = 0; i < value.length; i++) {
    const code = value.charCodeAt(i);
    if (code <= 0x20 || code === 0x7f || code === taken) return escapeField(value, delimiter);
  }
  return value;
}

function escapeField(value: string, delimiter: string): string {
  let text = "";
  for (const char of value) {
    const code = char.charCodeAt(0);
    if (code <= 0x20 || code === 0x7f) text += `%${code.toString(16).toUpperCase().padStart(2, "0")}`;
    else if (char !== delimiter) text += char;
    else for (const byte of Buffer.from(char)) text += `%${byte.toString(16).toUpperCase().padStart(2, "0")}`;
  }
  return text;
}

const LABELS: ReadonlySet<string> = new Set(["sha1", "sha-1", "sha256", "sha-256", "sha512", "sha-512", "md5"]);

/** CDX has no labels. One that `parseCdxDigest` could not tell from the form is left, and costs the reader nothing. */
function formatCdxDigest(digest: string | undefined): string | undefined {
  const colon = digest?.indexOf(":") ?? -1;
  return colon > 0 && LABELS.has(digest!.slice(0, colon).toLowerCase()) ? digest!.slice(colon + 1) : digest;
}

/** By the length of base32, hex or base64 text without padding. */
const ALGORITHMS: ReadonlyMap<number, DigestAlgorithm> = new Map([
  [32, "sha1"],
  [40, "sha1"],
  [27, "sha1"],
  [26, "md5"],
  [22, "md5"],
  [64, "sha256"],
  [52, "sha256"],
  [43, "sha256"],
  [128, "sha512"],
  [103, "sha512"],
  [86, "sha512"],
]);

/**
 * The digest of an index or log line, where the label is most often left out and its algorithm must be told from the
 * form. 32 small hex digits are md5, any other 32 characters sha1 in base32.
 */
export function parseCdxDigest(text: string): Digest | undefined {
  if (text.includes(":")) return parseDigest(text);
  const bare = text.endsWith("=") ? text.slice(0, text.indexOf("=")) : text;
  const hex = bare.length === 32 && /^(?:[0-9a-f]+|[0-9A-F]*[0189][0-9A-F]*)$/.test(bare);
  const algorithm = hex ? "md5" : ALGORITHMS.get(bare.length);
  return algorithm === undefined ? undefined : parseDigest(bare, algorithm);
}

/** 14 to 20 digits as they are; an ISO time as 14 digits, or as 17 where it has milliseconds. */
export function parseCdxTimestamp(text: string): string | undefined {
  if (text.length < 14 || text.length > 40) return undefined;
  if (isDigits(text)) return text.length <= 20 ? text : undefined;
  const timeMs = parseIso(text);
  if (timeMs === undefined) return undefined;
  const ms = ((timeMs % 1000) + 1000) % 1000;
  const digits = formatTimestamp(timeMs) + (ms === 0 ? "" : String(ms).padStart(3, "0"));
  return isDigits(digits) ? digits : undefined;
}

function isDigits(text: string): boolean {
  for (let i = 0; i < text.length; i++) {
    const code = text.charCodeAt(i);
    if (code < 0x30 || code > 0x39) return false;
  }
  return text.length > 0;
}

/** A whole number in digits, of at most 15 so that it is exact. */
export function parseCount(text: string): number | undefined {
  return text.length <= 15 && isDigits(text) ? Number(text) : undefined;
}

/** Where the line ends without the line end that it may still have. */
export function lineEnd(line: string): number {
  let end = line.length;
  while (end > 0 && (line.charCodeAt(end - 1) === 10 || line.charCodeAt(end - 1) === 13)) end--;
  return end;
}
