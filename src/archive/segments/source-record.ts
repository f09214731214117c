/** The record that stands before those of one input in each segment, and says where they come from. */
import { formatIso } from "../../base/index.ts";
import { derivedId } from "../../pipeline/index.ts";
import { type ByteSink, type WarcRecord, WarcWriter } from "../../warc/index.ts";
import type { SourceRow } from "../catalogue/catalogue-view.ts";

/** Behind it stands the number of the source. */
const SOURCE_URI = "urn:holotype:source:";

/** The number in the URI of such a record; absent for all others. */
export function sourceNumberOf(uri: string | undefined): number | undefined {
  if (uri?.startsWith(SOURCE_URI) !== true) return undefined;
  const number = Number(uri.slice(SOURCE_URI.length));
  return Number.isSafeInteger(number) && number > 0 ? number : undefined;
}

/** What such a record tells; absent for all others. */
export function sourceIn(record: WarcRecord): { readonly number: number; readonly row: SourceRow } | undefined {
  const number = sourceNumberOf(record.uri);
  const block = number === undefined ? undefined : record.block;
  if (number === undefined || block === undefined) return undefined;
  const name = /^source: (.*?)\r?$/m.exec(block.toString())?.[1] ?? "";
  return { number, row: { name, addedMs: record.timeMs ?? 0 } };
}

export function writeSource(sink: ByteSink, number: number, { name, addedMs }: SourceRow): void {
  new WarcWriter(sink).write({
    fields: [
      ["WARC-Type", "metadata"],
      ["WARC-Record-ID", derivedId("source", String(number), name, String(addedMs))],
      ["WARC-Date", formatIso(addedMs)],
      ["WARC-Target-URI", `${SOURCE_URI}${number}`],
      ["Content-Type", "application/warc-fields"],
    ],
    block: Buffer.from(`source: ${name.replace(/[\r\n]/g, " ")}\r\n`),
  });
}
