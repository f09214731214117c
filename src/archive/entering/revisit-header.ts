/** Which record has the HTTP header of a revisit that has none of its own, or only that of a 304. Obeys docs/lifespans.md. */
import { timeOfDate } from "../../dedup/index.ts";
import { urlHash } from "../catalogue/capture-key.ts";
import { archiveKey, type CaptureRow, type RecordPlace } from "../catalogue/capture-row.ts";
import type { CatalogueView, FoundCapture } from "../catalogue/catalogue-view.ts";
import { Arrival } from "./arrival.ts";

export interface HeadlessRevisit {
  /** The first half of that of its payload. */
  readonly digest: Buffer;
  readonly row: Pick<CaptureRow, "source" | "place">;
  readonly refersTo: { readonly uri?: string | undefined; readonly date?: string | undefined } | undefined;
}

/**
 * That of the capture that it refers to, else of the last one of its URL `before` it, the last first, of those that came no
 * later than it did, if there is one; else the record that holds the payload, which may be of any URL, with any answer.
 */
export function headerPlace(
  catalogue: CatalogueView,
  { digest, row, refersTo }: HeadlessRevisit,
  before: Iterable<FoundCapture>,
): RecordPlace | undefined {
  const isSame = ({ row }: FoundCapture) => row.kind !== "revisit" && row.digest?.equals(digest) === true;
  const timeMs = timeOfDate(refersTo?.date);
  if (refersTo?.uri !== undefined && timeMs !== undefined) {
    const found = catalogue.capturesAt(urlHash(archiveKey(refersTo.uri)), timeMs).find(isSame);
    if (found !== undefined) return found.row.place;
  }
  const found = new Arrival(catalogue, row).first(rowsOf(before, isSame));
  return (found ?? catalogue.anyOriginal(digest))?.place;
}

function* rowsOf(all: Iterable<FoundCapture>, isWanted: (found: FoundCapture) => boolean): Generator<CaptureRow> {
  for (const found of all) if (isWanted(found)) yield found.row;
}
