/**
 * What a crawl has captured, and its index does not know. After a crash these are the records behind the last line of the
 * log: they are read again, so that what is fetched again becomes a revisit of them. Where the index itself was lost, they
 * are all records.
 */
import { join } from "node:path";
import type { KnownContents } from "../dedup/index.ts";
import { type DigestEntry, entryOfRecord } from "../digests/index.ts";
import type { Disk } from "../disk/index.ts";
import { fileSource, WarcReader } from "../warc/index.ts";
import { revisitEntry } from "./learned-entry.ts";
import { listSeries } from "./warc-series.ts";

/** The captures of these files; with `after` only the responses behind that record. */
export function* capturesIn(
  disk: Disk,
  folder: string,
  isOwn: (name: string) => boolean,
  after?: { readonly file: string; readonly offset: number },
): Generator<DigestEntry> {
  // What still has its open name was left alone.
  const names = listSeries(disk, folder).flatMap(({ name, isOpen }) => (!isOpen && isOwn(name) ? [name] : []));
  const first = after === undefined ? 0 : names.indexOf(after.file);
  for (const name of first < 0 ? names : names.slice(first)) {
    using file = disk.open(join(folder, name), "read");
    const start = name === after?.file ? after.offset : 0;
    const reader = new WarcReader(fileSource(file, name), { start });
    for (const record of reader) {
      const isLogged = name === after?.file && record.offset <= after.offset;
      const entry = isLogged ? undefined : entryOfRecord(record, name, { isOurs: true });
      // A revisit that no line tells of holds nothing, and what it says will be said again.
      const isWanted = typeof entry === "object" && (after === undefined || entry.place !== undefined);
      if (isWanted && entry.payloadSize !== 0) yield entry;
    }
    reader.close();
  }
}

/** What the index learns of them; what a revisit does not tell of its original is asked of those who know it. */
export async function* learnable(
  captures: Iterable<DigestEntry>,
  known: KnownContents,
  origin: string | undefined,
): AsyncGenerator<DigestEntry> {
  for (const entry of captures) {
    if (entry.place !== undefined) yield { ...entry, origin };
    else {
      const [state] = await known.find([{ by: "url", uri: entry.uri }]);
      const learned = revisitEntry(entry, state);
      if (learned !== undefined) yield learned;
    }
  }
}
