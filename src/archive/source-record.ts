/** The record that stands before those of one input, and says where they come from. */

import type { WarcRecord } from "../warc/index.ts";
import type { SourceRow } from "./catalogue-view.ts";

/** Behind it stands the number of the source. */
export const SOURCE_URI = "urn:holotype:source:";

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
