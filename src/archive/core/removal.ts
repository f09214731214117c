/** What the removal of captures means for the timeline and for payloads that nothing leads to any more. */
import type { TimelineSnapshot, TimelineVisit } from "../../temporal/index.ts";
import { urlHash } from "../catalogue/capture-key.ts";
import { halfOf } from "../catalogue/capture-row.ts";
import { type Catalogue } from "../catalogue/catalogue.ts";
import { decodeContent } from "../catalogue/content.ts";

/** The visits of keys whose captures the catalogue does not have any more. */
export function lostVisits(
  catalogue: Catalogue,
  timeline: TimelineSnapshot,
  keys: Iterable<string>,
): Map<string, TimelineVisit[]> {
  const lost = new Map<string, TimelineVisit[]>();
  for (const key of keys) {
    const url = urlHash(key);
    const payloads = new Map(
      timeline.history(key).map(({ digest, value }) => [digest, halfOf(decodeContent(key, value, digest).sha256)]),
    );
    const visits = [...timeline.visits(key)].filter(({ time, digest }) => {
      const payload = payloads.get(digest ?? "");
      return !catalogue.capturesAt(url, time).some(({ row }) => payload !== undefined && row.digest?.equals(payload));
    });
    if (visits.length > 0) lost.set(key, visits);
  }
  return lost;
}

/** Takes the originals of payloads out of the catalogue that no capture has. */
export function dropUnused(catalogue: Catalogue, digests: Iterable<Buffer>): void {
  for (const digest of catalogue.unseen(digests)) {
    for (const framing of ["plain", "chunked"] as const) {
      if (catalogue.original(digest, framing) !== undefined) catalogue.putOriginal(digest, framing, undefined);
    }
  }
}
