/** What the removal of captures means for the timeline and for payloads that nothing leads to any more. */
import type { TimelineSnapshot, TimelineWriter } from "../temporal/index.ts";
import { urlHash } from "./capture-key.ts";
import { DIGEST_HALF } from "./capture-row.ts";
import { type Catalogue } from "./catalogue.ts";
import { decodeContent } from "./content.ts";

/** Copies a timeline but for the visits whose captures the catalogue does not have. */
export function timelineWithout(catalogue: Catalogue, from: TimelineSnapshot, to: TimelineWriter): void {
  const [first, last] = [-(2 ** 51), 2 ** 51 - 1];
  let key: string | undefined;
  let values = new Map<string, Uint8Array>();
  const finish = () => {
    if (key === undefined) return;
    const url = urlHash(key);
    for (const { time, digest } of from.visits(key)) {
      const value = digest === undefined ? undefined : values.get(`${digest}`);
      if (value === undefined) continue;
      const payload = Buffer.from(decodeContent(key, value, digest!).sha256, "hex").subarray(0, DIGEST_HALF);
      const isThere = catalogue.capturesAt(url, time).some(({ row }) => row.digest?.equals(payload) === true);
      if (isThere) to.insert(key, time, value, Buffer.from(digest!, "latin1"));
    }
  };
  for (const entry of from.span(first, last)) {
    if (entry.key !== key) {
      finish();
      key = entry.key;
      values = new Map();
    }
    if (!values.has(entry.digest)) values.set(entry.digest, Buffer.from(entry.value));
  }
  finish();
}

/** Takes the originals of payloads out of the catalogue that no capture has. To be called after a commit. */
export function dropUnused(catalogue: Catalogue, digests: Iterable<Buffer>): void {
  for (const digest of digests) {
    if (catalogue.isSeen(digest)) continue;
    for (const framing of ["plain", "chunked"] as const) {
      if (catalogue.original(digest, framing) !== undefined) catalogue.putOriginal(digest, framing, undefined);
    }
  }
}
