/**
 * The record that stands before those of one input in each segment, and says where they come from. It says where itself
 * lies, so that one that came with the segments of another archive, or was made up, is taken for a record like any other.
 */
import { formatIso } from "../../base/index.ts";
import { derivedId } from "../../pipeline/index.ts";
import { type ByteSink, type WarcRecord, WarcWriter } from "../../warc/index.ts";
import type { SourceRow } from "../catalogue/catalogue-view.ts";

/** Behind it stands the number of the source. */
const SOURCE_URI = "urn:holotype:source:";
/** In the warcinfo of a segment in which these records say where they lie. Earlier versions did not write it. */
export const PLACED_LINE = "sources: placed";

/** Where a record of a source lies. */
export interface SourcePlace {
  readonly archiveId: string;
  readonly segment: number;
  readonly offset: number;
}

/** The number in the URI of such a record; absent for all others. */
export function sourceNumberOf(uri: string | undefined): number | undefined {
  if (uri?.startsWith(SOURCE_URI) !== true) return undefined;
  const number = Number(uri.slice(SOURCE_URI.length));
  return Number.isSafeInteger(number) && number > 0 ? number : undefined;
}

/** What such a record tells; absent for all others, and for one that belongs elsewhere. */
export function sourceIn(
  record: WarcRecord,
  place: SourcePlace,
  isPlaced: boolean,
): { readonly number: number; readonly row: SourceRow } | undefined {
  const number = sourceNumberOf(record.uri);
  const block = number === undefined ? undefined : record.block?.toString();
  if (number === undefined || block === undefined) return undefined;
  const name = /^source: (.*?)\r?$/m.exec(block)?.[1] ?? "";
  const addedMs = record.timeMs ?? 0;
  const isOurs = isPlaced
    ? block.includes(`\n${placeLine(place)}\r\n`)
    : `<${record.id}>` === derivedId("source", String(number), name, String(addedMs));
  const crawl = /^crawl: (.*?)\r?$/m.exec(block)?.[1];
  return isOurs ? { number, row: { name, addedMs, ...(crawl === undefined ? {} : { crawl }) } } : undefined;
}

/** Whether the first record of a segment says that sources say where they lie. */
export function tellsPlaced({ type, block }: WarcRecord): boolean {
  return type === "warcinfo" && block?.toString().includes(`\n${PLACED_LINE}\r\n`) === true;
}

function placeLine({ archiveId, segment, offset }: SourcePlace): string {
  return `place: ${archiveId} ${segment} ${offset}`;
}

export function writeSource(sink: ByteSink, number: number, row: SourceRow, place: SourcePlace): void {
  const { name, addedMs, crawl } = row;
  const line = placeLine(place);
  const crawlLine = crawl === undefined ? "" : `crawl: ${crawl.replace(/[\r\n]/g, " ")}\r\n`;
  new WarcWriter(sink).write({
    fields: [
      ["WARC-Type", "metadata"],
      ["WARC-Record-ID", derivedId("source", String(number), name, String(addedMs), line)],
      ["WARC-Date", formatIso(addedMs)],
      ["WARC-Target-URI", `${SOURCE_URI}${number}`],
      ["Content-Type", "application/warc-fields"],
    ],
    block: Buffer.from(`source: ${name.replace(/[\r\n]/g, " ")}\r\n${line}\r\n${crawlLine}`),
  });
}
