/** What the digest index of a crawl learns of a capture: enough to find it, to ask for it again, and to refer to it. */
import { formatDigest } from "../base/index.ts";
import { type KnownCapture, shareDigest } from "../dedup/index.ts";
import type { DigestEntry, RecordPlace } from "../digests/index.ts";
import { type HttpHead, mediaType } from "../warc/index.ts";
import type { WireCapture, WrittenCapture } from "./capture-records.ts";
import type { Retrieval } from "./retrieval.ts";

interface Validated {
  readonly etag: string | undefined;
  readonly lastModified: string | undefined;
}

function validatorsOf(head: HttpHead | undefined): Validated {
  return { etag: head?.headers.get("etag"), lastModified: head?.headers.get("last-modified") };
}

/** A response that was stored. Absent where nothing may refer to it: it is empty, cut off, or says nothing of its URL. */
export function storedEntry(
  capture: WireCapture,
  { file, offset, id, date }: WrittenCapture,
  origin: string | undefined,
): DigestEntry | undefined {
  const { uri, timeMs, head, payloadSize, framing, truncated } = capture;
  if (truncated !== undefined || payloadSize === 0 || head?.status === undefined || head.status < 200) return undefined;
  if (head.status === 304) return undefined;
  return {
    uri,
    timeMs,
    digests: capture.payloadDigests.map(formatDigest),
    payloadSize,
    framing,
    status: head.status,
    mime: mediaType(head.headers.get("content-type")),
    ...validatorsOf(head),
    origin,
    original: { uri, date, id },
    place: { file, offset },
  };
}

/** Whether the index learned of a retrieval. Of an answer without a header, or too odd for an index, it says no. */
export function isLearned({ outcome, truncated, payloadSize = 0, status, flaws = [] }: Retrieval): boolean {
  if (outcome !== "stored") return outcome === "duplicate" || outcome === "not-modified";
  return truncated === undefined && payloadSize > 0 && status >= 200 && status !== 304 && !flaws.includes("no-head");
}

/** A revisit of ours that was read again, with what is known of its original from elsewhere; absent where that is needed. */
export function revisitEntry(entry: DigestEntry, state: KnownCapture | undefined): DigestEntry | undefined {
  const isOfState = state !== undefined && shareDigest(state.digests, entry.digests);
  // The record of a 304 does not tell how the body of its original is stored.
  if (!isOfState) return entry.status === undefined ? undefined : entry;
  const { uri, timeMs, etag = state.etag, lastModified = state.lastModified } = entry;
  return { ...knownEntry(state), uri, timeMs, etag, lastModified };
}

/** A capture with the payload of one that is known: what is told of the original is carried on. */
export function duplicateEntry(capture: WireCapture, known: KnownCapture, origin: string | undefined): DigestEntry {
  const { head } = capture;
  const mime = mediaType(head?.headers.get("content-type"));
  // A 304 would be told with the header of the original: without validators nobody asks for one.
  const isCoded = head?.headers.get("content-encoding") !== undefined;
  const isLike = known.status === head?.status && known.mime === mime && (!isCoded || known.uri === capture.uri);
  return {
    ...originalOf(known, origin),
    uri: capture.uri,
    timeMs: capture.timeMs,
    digests: [...new Set([...capture.payloadDigests.map(formatDigest), ...known.digests])],
    status: head?.status,
    mime,
    ...(isLike ? validatorsOf(head) : {}),
  };
}

/** The server said that nothing has changed. A 304 tells the validators anew, or leaves them as they were. */
export function unchangedEntry(capture: WireCapture, known: KnownCapture): DigestEntry {
  const { etag, lastModified } = validatorsOf(capture.head);
  return {
    ...knownEntry(known),
    uri: capture.uri,
    timeMs: capture.timeMs,
    etag: etag ?? known.etag,
    lastModified: lastModified ?? known.lastModified,
  };
}

/** What is known, as it was. */
export function knownEntry(known: KnownCapture): DigestEntry {
  const { uri, timeMs, digests, status, mime, etag, lastModified, origin } = known;
  return { ...originalOf(known, origin), uri, timeMs, digests, status, mime, etag, lastModified };
}

function originalOf(known: KnownCapture, origin: string | undefined) {
  const { payloadSize, framing, original } = known;
  const reference = original && { uri: original.uri, date: original.date, id: original.id };
  return { payloadSize, framing, original: reference, origin: origin ?? known.origin, place: placeOf(known) };
}

/** An archive's place is a number of a segment, which means nothing elsewhere. */
function placeOf(known: KnownCapture & { readonly place?: unknown }): RecordPlace | undefined {
  const { place } = known;
  const isPlace = typeof place === "object" && place !== null && "file" in place && "offset" in place;
  return isPlace ? (place as RecordPlace) : undefined;
}
