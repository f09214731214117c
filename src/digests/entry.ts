/** One capture as a digest index knows it, and how what several sources say of one content of a URL becomes one entry. */
import { type Certainty, type KnownCapture, shareDigest, timeOfDate } from "../dedup/index.ts";

/** Where the record that holds the payload lies. */
export interface RecordPlace {
  /** The name of the file, without folders. */
  readonly file: string;
  readonly offset: number;
}

/**
 * What is known of a capture, and of the record that holds its payload: `original`, `place`, `framing`, `payloadSize` and
 * `origin` are of that one, which is its own record or, of a duplicate, an older one. Without `original` nothing can refer
 * to it.
 */
export interface DigestEntry extends Omit<KnownCapture, "certainty"> {
  readonly place?: RecordPlace | undefined;
}

/** An answer of a digest index. */
export interface FoundCapture extends DigestEntry {
  readonly certainty: Certainty;
}

/** A log that does not say how a body is stored is taken for one of plain bodies. */
export function isChunked({ framing }: Pick<DigestEntry, "framing">): boolean {
  return framing === "chunked";
}

/**
 * Entries of one URL, in the order in which they were told, as its states: what has one content in one framing becomes one
 * entry. The newest state comes first.
 */
export function mergeStates(entries: readonly DigestEntry[]): DigestEntry[] {
  const states: DigestEntry[] = [];
  const byDigest = new Map<string, number>();
  for (const entry of entries) {
    const keys = entry.digests.map((digest) => `${isChunked(entry) ? "chunked" : "plain"} ${digest}`);
    // Contents of one SHA-1 can be made: another digest may tell them apart.
    const isOf = (at: number | undefined) => at !== undefined && shareDigest(states[at]!.digests, entry.digests);
    const at = keys.map((each) => byDigest.get(each)).find(isOf) ?? states.length;
    states[at] = states[at] === undefined ? entry : mergeTwo(states[at], entry);
    for (const each of keys) byDigest.set(each, at);
  }
  return states.length < 2 ? states : states.sort((one, other) => other.timeMs - one.timeMs);
}

/** What a visit tells is that of the later one; what is told of the original is that of the earlier one. */
function mergeTwo(one: DigestEntry, other: DigestEntry): DigestEntry {
  const [earlier, later] = one.timeMs <= other.timeMs ? [one, other] : [other, one];
  const kept = originalOf(earlier, later);
  const { timeMs, status, mime, etag, lastModified } = later;
  const { original, place, framing, payloadSize, origin } = kept;
  const digests = [...new Set([...kept.digests, ...earlier.digests, ...later.digests])].sort();
  return {
    uri: later.uri,
    timeMs,
    digests,
    payloadSize,
    framing,
    status,
    mime,
    etag,
    lastModified,
    origin,
    original,
    place,
  };
}

/** The one whose original was captured first; of one original, the one that knows more of it. */
function originalOf(earlier: DigestEntry, later: DigestEntry): DigestEntry {
  if (earlier.original === undefined) return later.original === undefined ? earlier : later;
  if (later.original === undefined) return earlier;
  const [one, other] = [timeOfDate(earlier.original.date)!, timeOfDate(later.original.date)!];
  const second = (timeMs: number) => Math.floor(timeMs / 1000);
  if (earlier.original.uri === later.original.uri && second(one) === second(other)) {
    return earlier.place === undefined && later.place !== undefined ? later : earlier;
  }
  return one <= other ? earlier : later;
}

/** Whether the entry holds one of these contents. */
export function hasContent(entry: DigestEntry, digests: readonly string[]): boolean {
  return shareDigest(entry.digests, digests);
}

// oxlint-disable-next-line no-control-regex
const CONTROL = /[\0-\x1f\x7f]/;

/** Whether a text may go into a header: of a record that refers to it, or of a request that asks whether it changed. */
export function isHeaderText(text: unknown): text is string {
  return typeof text === "string" && !CONTROL.test(text);
}
