/**
 * Pages of a WACZ. Its lists say which captures are pages, with their titles and texts. Each line comes in as a metadata
 * record of its URL and time, so that it goes with the captures of that when they are removed. Obeys docs/format/archive.md.
 */
import { formatIso, parseIso } from "../../base/index.ts";
import type { Disk } from "../../disk/index.ts";
import { derivedId, type Input, openInput } from "../../pipeline/index.ts";
import { type ByteSource, openZipEntry, readZipEntries, type WarcRecord, WarcWriter } from "../../warc/index.ts";

/** One line of a list of pages. */
export interface PageLine {
  /** The name of its list, without folder and ending: `pages`, `extraPages`. */
  readonly list: string;
  readonly url: string;
  readonly timeMs: number;
  /** The line as it was. */
  readonly json: string;
}

/** The field that says of which list a record has a line. */
const PAGE_FIELD = "Holotype-Page";
const LIST_ENTRY = /^(?:.*\/)?pages\/([\w-]{1,64})\.jsonl$/;
/** Texts of pages may stand in their lines; no line is held that is larger. */
const LINE_SIZE_MAX = 1 << 24;
const READ_SIZE = 1 << 18;

/** The WACZ that an input lies in, by its name; absent for any other. */
export function containerOf({ name, entries }: Pick<Input, "name" | "entries">): string | undefined {
  const last = entries.at(-1);
  return last === undefined ? undefined : name.slice(0, name.length - last.length - 1);
}

/** All lines of the lists in the WACZ that an input lies in. `onSkip` is told of lists with lines that are none. */
export function* pagesBeside(
  disk: Disk,
  input: Input,
  onSkip: (list: string, lines: number) => void,
): Generator<PageLine> {
  const container = { ...input, entries: input.entries.slice(0, -1), size: undefined };
  const source = openInput(disk, container);
  try {
    for (const entry of readZipEntries(source)) {
      const list = LIST_ENTRY.exec(entry.name)?.[1];
      if (list === undefined || entry.method === "unsupported") continue;
      let skipped = 0;
      for (const line of linesOf(openZipEntry(source, entry, entry.name))) {
        const page = parsePage(list, line);
        if (page === undefined) skipped++;
        else if (page !== "header") yield page;
      }
      if (skipped > 0) onSkip(list, skipped);
    }
  } finally {
    source.close?.();
  }
}

/** Without their ends; of a line that is too large nothing is given but its beginning. */
function* linesOf(source: ByteSource): Generator<string> {
  const buffer = Buffer.allocUnsafe(READ_SIZE);
  let parts: Buffer[] = [];
  let size = 0;
  const take = (bytes: Buffer) => {
    if (size < LINE_SIZE_MAX) parts.push(Buffer.from(bytes));
    size += bytes.length;
  };
  for (let at = 0, count = source.read(buffer, 0); count > 0; count = source.read(buffer, at)) {
    at += count;
    let begin = 0;
    for (let end = buffer.indexOf(10, 0); end >= 0 && end < count; end = buffer.indexOf(10, begin)) {
      take(buffer.subarray(begin, end));
      yield Buffer.concat(parts).toString().trim();
      parts = [];
      size = 0;
      begin = end + 1;
    }
    take(buffer.subarray(begin, count));
  }
  if (size > 0) yield Buffer.concat(parts).toString().trim();
}

/** Absent for what is no line of such a list. An empty one is as good as a header. */
function parsePage(list: string, json: string): PageLine | "header" | undefined {
  if (json === "") return "header";
  let page: unknown;
  try {
    page = JSON.parse(json);
  } catch {
    return undefined;
  }
  const { url, ts, format } = (typeof page === "object" && page !== null ? page : {}) as Record<string, unknown>;
  if (typeof format === "string" && url === undefined) return "header";
  const timeMs = typeof ts === "string" ? parseIso(ts) : undefined;
  return typeof url !== "string" || url === "" || timeMs === undefined ? undefined : { list, url, timeMs, json };
}

/** The record that a line becomes, as a gzip member: the same for the same line. */
export function encodePage({ list, url, timeMs, json }: PageLine): Buffer {
  const parts: Uint8Array[] = [];
  new WarcWriter({ write: (bytes) => void parts.push(Buffer.from(bytes)) }).write({
    fields: [
      ["WARC-Type", "metadata"],
      ["WARC-Record-ID", derivedId("page", list, json)],
      ["WARC-Date", formatIso(timeMs)],
      ["WARC-Target-URI", url.replace(/[\r\n]/g, "")],
      [PAGE_FIELD, list],
      ["Content-Type", "application/warc-fields"],
    ],
    block: Buffer.from(`page: ${json.replace(/[\r\n]/g, " ")}\r\n`),
  });
  return Buffer.concat(parts);
}

/** The line that a record has; absent for any other record. */
export function pageIn(record: WarcRecord): PageLine | undefined {
  const list = record.type === "metadata" ? record.headers.get(PAGE_FIELD.toLowerCase()) : undefined;
  if (list === undefined || !/^[\w-]{1,64}$/.test(list)) return undefined;
  const json = /^page: (.*?)\r?\n?$/s.exec(record.readAll(LINE_SIZE_MAX + READ_SIZE).toString())?.[1] ?? "";
  const page = parsePage(list, json);
  return page === "header" ? undefined : page;
}
