/**
 * What a crash came between: records that are durable, while the index of the crawl has not learned them. They are read
 * again, so that what is fetched again becomes a revisit of them.
 */
import { join } from "node:path";
import { type DigestEntry, entryOfRecord } from "../digests/index.ts";
import type { Disk } from "../disk/index.ts";
import { fileSource, WarcReader } from "../warc/index.ts";
import { listSeries } from "./warc-series.ts";

/** The responses behind the last record that the crawl.log tells of, or all where it tells of none. */
export function* unloggedResponses(
  disk: Disk,
  folder: string,
  last: { readonly file: string; readonly offset: number } | undefined,
  origin: string | undefined,
  isOwn: (name: string) => boolean,
): Generator<DigestEntry> {
  // What still has its open name was left alone.
  const names = listSeries(disk, folder).flatMap(({ name, isOpen }) => (!isOpen && isOwn(name) ? [name] : []));
  const first = last === undefined ? 0 : names.indexOf(last.file);
  for (const name of first < 0 ? names : names.slice(first)) {
    using file = disk.open(join(folder, name), "read");
    const start = name === last?.file ? last.offset : 0;
    const reader = new WarcReader(fileSource(file, name), { start });
    for (const record of reader) {
      const isLogged = name === last?.file && record.offset <= last.offset;
      const entry = isLogged ? undefined : entryOfRecord(record, name);
      // A revisit holds nothing; what it says will be said again.
      const isStored = typeof entry === "object" && entry.place !== undefined && entry.payloadSize !== 0;
      if (isStored) yield { ...entry, origin };
    }
    reader.close();
  }
}
