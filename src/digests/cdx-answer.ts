/**
 * What CDX servers answer, in whichever of their forms: lines of CDX with or without a header, CDXJ, an object of JSON per
 * line, arrays of JSON. Nothing here throws: a line that cannot be read is skipped.
 */
import { formatDigest, formatIso, parseTimestamp } from "../base/index.ts";
import { type KnownCapture, keyOfUri } from "../dedup/index.ts";
import {
  type CdxEntry,
  detectCdxLayout,
  parseCdxDigest,
  parseCdxHeader,
  parseCdxjLine,
  parseCdxLine,
  parseCdxTimestamp,
  parseCount,
} from "../warc/index.ts";

/** Longer ones are no lines of an index. */
const LINE_SIZE_MAX = 1 << 16;

const REVISIT = "warc/revisit";

/** The newest capture of a URL, or of one with the same key, that holds what the URL held then; absent where none does. */
export function newestIn(answer: string, uri: string): KnownCapture | undefined {
  const key = keyOfUri(uri);
  let newest: KnownCapture | undefined;
  for (const entry of entriesIn(answer)) {
    if (entry.url === undefined || entry.mime === REVISIT || !isState(entry.status)) continue;
    if (entry.url !== uri && keyOfUri(entry.url) !== key) continue;
    const known = knownFrom(entry, entry.url);
    if (known !== undefined && known.timeMs >= (newest?.timeMs ?? Number.NEGATIVE_INFINITY)) newest = known;
  }
  return newest;
}

/** The answer of a server that is asked by digest: `{"id": DIGEST, "uri": …, "date": 20261117221531}`. */
export function recordIn(answer: string, digest: string): KnownCapture | undefined {
  const { id, uri, date } = asObject(parseJson(answer)) ?? {};
  const timestamp = parseCdxTimestamp(textOf(date) ?? "");
  if (typeof uri !== "string" || timestamp === undefined) return undefined;
  const told = digestIn(textOf(id) ?? digest);
  return told === digest ? knownFrom({ timestamp, digest }, uri) : undefined;
}

function knownFrom({ timestamp, digest, status, mime }: CdxEntry, uri: string): KnownCapture | undefined {
  // Beyond milliseconds nothing is kept of a time.
  const timeMs = parseTimestamp(timestamp.slice(0, 17));
  const known = digest === undefined ? undefined : digestIn(digest);
  if (timeMs === undefined || known === undefined) return undefined;
  const original = { uri, date: formatIso(timeMs) };
  return { uri, timeMs, digests: [known], status, mime, original, certainty: "claimed" };
}

function digestIn(text: string): string | undefined {
  const digest = parseCdxDigest(text);
  return digest && formatDigest(digest);
}

/** Whether an answer with this status says what the URL held: see docs/lifespans.md, "What a visit is". */
function isState(status = 200): boolean {
  return status < 500 && ![206, 304, 408, 416, 425, 429].includes(status);
}

function* entriesIn(answer: string): Generator<CdxEntry> {
  if (answer.trimStart().startsWith("[")) {
    yield* rowsIn(parseJson(answer));
    return;
  }
  let layout: ReturnType<typeof parseCdxHeader>;
  for (let from = 0, to = 0; from < answer.length; from = to + 1) {
    to = answer.indexOf("\n", from);
    if (to < 0) to = answer.length;
    if (to - from > LINE_SIZE_MAX) continue;
    const line = answer.slice(from, to).replace(/\r$/, "");
    const header = parseCdxHeader(line);
    layout = header ?? layout;
    if (header !== undefined || line === "") continue;
    const entry = line.startsWith("{")
      ? objectEntry(parseJson(line))
      : (parseCdxjLine(line) ?? plainEntry(line, layout));
    if (entry !== undefined) yield entry;
  }
}

function plainEntry(line: string, told: ReturnType<typeof parseCdxHeader>): CdxEntry | undefined {
  const layout = told ?? detectCdxLayout(line);
  return layout && parseCdxLine(line, layout);
}

/** What the columns are where the first row does not say it. */
const COLUMNS = ["urlkey", "timestamp", "original", "mimetype", "statuscode", "digest"];

function* rowsIn(rows: unknown): Generator<CdxEntry> {
  if (!Array.isArray(rows)) return;
  const [first] = rows as unknown[];
  const columns = Array.isArray(first) && first.includes("timestamp") ? first.map(String) : COLUMNS;
  for (const row of rows as unknown[]) {
    const named = Array.isArray(row)
      ? Object.fromEntries(row.map((value, i) => [columns[i] ?? "", value as unknown]))
      : row;
    const entry = objectEntry(named);
    if (entry !== undefined) yield entry;
  }
}

/** The names of pywb, and those of the Wayback Machine. */
function objectEntry(value: unknown): CdxEntry | undefined {
  const fields = asObject(value);
  if (fields === undefined) return undefined;
  const text = (...names: readonly string[]) => {
    const told = names.map((name) => (Object.hasOwn(fields, name) ? textOf(fields[name]) : undefined));
    return told.find((each) => each !== undefined && each !== "-");
  };
  const timestamp = parseCdxTimestamp(text("timestamp") ?? "");
  if (timestamp === undefined) return undefined;
  const status = parseCount(text("status", "statuscode") ?? "");
  return { timestamp, url: text("url", "original"), mime: text("mime", "mimetype"), status, digest: text("digest") };
}

/** Numbers stand for their digits. */
function textOf(value: unknown): string | undefined {
  return typeof value === "string" ? value : Number.isSafeInteger(value) ? String(value) : undefined;
}

function asObject(value: unknown): Readonly<Record<string, unknown>> | undefined {
  return typeof value === "object" && value !== null && !Array.isArray(value)
    ? (value as Readonly<Record<string, unknown>>)
    : undefined;
}

function parseJson(text: string): unknown {
  try {
    return JSON.parse(text);
  } catch {
    return undefined;
  }
}
