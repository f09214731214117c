/** The crawl that a file says it is part of. */
import { ArchiveError } from "../../base/index.ts";
import type { Disk } from "../../disk/index.ts";
import type { Input } from "../../pipeline/index.ts";
import { WarcReader } from "../../warc/index.ts";
import { openArchive } from "../segments/segments.ts";

const NAME_LENGTH_MAX = 500;

/** A name as it is kept: on one line, and not without end. Absent where nothing is left. */
export function crawlName(text: string): string | undefined {
  const name = text
    .replace(/[\r\n]+/g, " ")
    .trim()
    .slice(0, NAME_LENGTH_MAX)
    .replace(/\p{Surrogate}/gu, "\ufffd");
  return name === "" ? undefined : name;
}

/** What the `isPartOf` of a `warcinfo` says with which the file begins; absent where there is none. */
export function crawlIn(disk: Disk, input: Input): string | undefined {
  try {
    const { source } = openArchive(disk, input);
    try {
      const record = new WarcReader(source, { onWarning: () => {} }).next();
      const told = record?.type === "warcinfo" ? record.block?.toString() : undefined;
      return crawlName(/^isPartOf:(.*)$/im.exec(told ?? "")?.[1] ?? "");
    } finally {
      source.close?.();
    }
  } catch (error) {
    // Whoever takes the records says what is wrong with the file.
    if (error instanceof ArchiveError) return undefined;
    throw error;
  }
}
