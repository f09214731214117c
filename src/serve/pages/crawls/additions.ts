/** The files of a collection, with what each of them brought. */
import type { ArchiveSource, CrawlFigures, Duplication } from "../../../archive/index.ts";
import { formatIso } from "../../../base/index.ts";
import { fileName } from "../../api/rows.ts";
import type { Collection } from "../../collection.ts";

export interface Addition extends Pick<ArchiveSource, "number" | "name"> {
  readonly addedMs: number | undefined;
  readonly adoptedBytes: number | undefined;
  /** Absent where it brought no capture that may be seen, or none that is left. */
  readonly figures: CrawlFigures | undefined;
}

/** Newest first. Where captures may be hidden, files that show none are not there. */
export async function additionsOf(collection: Collection, { crawls }: Duplication): Promise<readonly Addition[]> {
  const additions: Addition[] = [];
  const byNumber = new Map(crawls.map((each) => [each.number, each]));
  for await (const batch of collection.archive.sources()) {
    for (const source of batch) {
      const figures = byNumber.get(source.number);
      if (figures === undefined && collection.hasRules) continue;
      additions.push({ ...source, name: fileName(source.name), figures });
    }
  }
  return additions.sort((one, other) => (other.addedMs ?? 0) - (one.addedMs ?? 0) || other.number - one.number);
}

export function additionRow({ number, name, addedMs, adoptedBytes, figures }: Addition) {
  const iso = (timeMs: number | undefined) => (timeMs === undefined ? undefined : formatIso(timeMs));
  const { captures = 0, contents = 0, bytesSeen = 0, bytesKept = 0, firstMs, lastMs } = figures ?? {};
  return {
    number,
    file: name,
    added: iso(addedMs),
    kind: adoptedBytes === undefined ? "added" : "adopted",
    captures,
    contents,
    bytesSeen,
    bytesKept,
    bytesSaved: bytesSeen - bytesKept,
    first: iso(firstMs),
    last: iso(lastMs),
  };
}
