/** What becomes of an answer, case by case: the record that is written, what the index learns, what the log tells. */
import { formatDigest, formatIso } from "../base/index.ts";
import { type Certainty, type KnownCapture, readSigns, shareDigest, type Verdict } from "../dedup/index.ts";
import type { Answer } from "../http/index.ts";
import { type HttpHead, mediaType } from "../warc/index.ts";
import type { WireCapture, WrittenCapture } from "./capture-records.ts";
import type { Ruling } from "./capture-writer.ts";
import type { FetchSettings } from "./fetch-settings.ts";
import { duplicateEntry, knownEntry, storedEntry, unchangedEntry } from "./learned-entry.ts";
import { redirectOf } from "./redirect.ts";
import type { Assignment, KeptRetrieval, Retrieval, RetrievalOriginal } from "./retrieval.ts";
import type { Condition } from "./validators.ts";

/** A document that was fetched, and what was known of it before. */
export interface Fetched {
  readonly assignment: Assignment;
  /** The newest capture of exactly this URL. */
  readonly state: KnownCapture | undefined;
  /** It was to be fetched in full, to see whether its headers are right. */
  readonly isAudited: boolean;
  /** A crash came between its last capture and the log. */
  readonly isAgain: boolean;
  readonly condition: Condition | undefined;
  /** Of `state`, after its record was looked at. */
  readonly certainty: Certainty | undefined;
  readonly answer: Answer;
  readonly capture: WireCapture;
}

export type RulingSettings = Pick<FetchSettings, "redirectsMax" | "origin" | "writePredicted" | "refusesClaims">;

/** An answer without a header has no status, and nothing but success in its time. */
const STATUS_HTTP09 = 200;
const STATUS_NONE = 0;

function retrievalOf(
  fetched: Fetched,
  settings: RulingSettings,
  own: Pick<Retrieval, "outcome"> & Partial<Retrieval>,
): Retrieval {
  const { assignment, answer, capture, condition, isAudited, isAgain } = fetched;
  const { head, truncated } = capture;
  const redirect = redirectOf(assignment, head, settings.redirectsMax);
  return {
    ...assignment,
    startMs: answer.startMs,
    durationMs: answer.endMs - answer.startMs,
    status: head === undefined ? STATUS_HTTP09 : (head.status ?? STATUS_NONE),
    mime: mediaType(head?.headers.get("content-type")),
    answerSize: answer.rawSize,
    truncated,
    flaws: answer.flaws,
    redirect: redirect?.target?.uri,
    redirectTrouble: redirect?.trouble,
    asked: condition?.asked,
    audited: isAudited,
    again: isAgain,
    ...own,
  };
}

/** What is told of a payload that was read. */
function payloadOf({ capture }: Fetched): Pick<Retrieval, "payloadSize" | "digest"> {
  return { payloadSize: capture.payloadSize, digest: capture.payloadDigests[0] };
}

function placed({ file, offset }: WrittenCapture): Pick<Retrieval, "place"> {
  return { place: { file, offset } };
}

/** A document with a verdict: stored, or a revisit of the capture that has its content. */
export function judged(fetched: Fetched, verdict: Verdict, settings: RulingSettings): Ruling {
  const headers = trialOf(fetched, verdict);
  if (verdict.kind !== "duplicate") return stored(fetched, verdict, headers, settings);
  const { original, hit, certainty, origin } = verdict;
  if (certainty === "claimed" && settings.refusesClaims) {
    return stored(fetched, { kind: "kept", reason: "claimed", original, hit }, headers, settings);
  }
  const { capture } = fetched;
  return {
    revisit: {
      profile: "identical-payload-digest",
      original: original.original!,
      payloadDigest: formatDigest(capture.payloadDigests[0]!),
    },
    learns: () => duplicateEntry(capture, original, origin),
    retrieval: (written) =>
      retrievalOf(fetched, settings, {
        outcome: "duplicate",
        ...payloadOf(fetched),
        ...placed(written),
        original: { ...originalOf(original), certainty, hit, origin },
        headers,
      }),
  };
}

type Kept = { readonly kind: "kept"; readonly reason: KeptRetrieval } & Pick<
  Extract<Verdict, { kind: "kept" }>,
  "original" | "hit"
>;

function stored(
  fetched: Fetched,
  verdict: { readonly kind: "new" } | Kept,
  headers: Retrieval["headers"],
  settings: RulingSettings,
): Ruling {
  const { capture } = fetched;
  const { reason, original, hit = "elsewhere" } = verdict.kind === "kept" ? verdict : ({} as Partial<Kept>);
  return {
    learns: (written) => storedEntry(capture, written, settings.origin),
    retrieval: (written) =>
      retrievalOf(fetched, settings, {
        outcome: "stored",
        ...payloadOf(fetched),
        ...placed(written),
        kept: reason,
        original: original && { ...originalOf(original), certainty: original.certainty, hit },
        headers,
      }),
  };
}

/** The record that holds the payload; where none can be referred to, the capture that is known. */
function originalOf({ original, uri, timeMs }: KnownCapture): Pick<RetrievalOriginal, "uri" | "date"> {
  return original === undefined ? { uri, date: formatIso(timeMs) } : { uri: original.uri, date: original.date };
}

/** A 304 that was asked for: the document is what it was. */
export function unchanged(fetched: Fetched, settings: RulingSettings): Ruling {
  const { capture, certainty } = fetched;
  const known = fetched.state!;
  return {
    revisit: {
      profile: "server-not-modified",
      original: known.original!,
      payloadDigest: known.digests.find((digest) => digest.startsWith("sha1:")) ?? known.digests[0],
    },
    learns: () => unchangedEntry(capture, known),
    retrieval: (written) =>
      retrievalOf(fetched, settings, {
        outcome: "not-modified",
        mime: known.mime,
        ...placed(written),
        original: unchangedOriginal(known, certainty ?? known.certainty),
      }),
  };
}

function unchangedOriginal(known: KnownCapture, certainty: Certainty): RetrievalOriginal {
  const { origin, payloadSize } = known;
  return { ...originalOf(known), certainty, hit: "exact", origin, payloadSize };
}

/** A 304 that nobody had asked for says nothing of what the URL held. It is kept as it is. */
export function unasked(fetched: Fetched, settings: RulingSettings): Ruling {
  return {
    learns: () => undefined,
    retrieval: (written) => retrievalOf(fetched, settings, { outcome: "unasked", ...placed(written) }),
  };
}

/** The header says that nothing has changed, and the body was not read. Nobody learns more than was known. */
export function predicted(fetched: Fetched, settings: RulingSettings): Ruling {
  const known = fetched.state!;
  const original = unchangedOriginal(known, known.certainty);
  return {
    revisit: { profile: "predicted-unchanged", original: known.original!, payloadDigest: undefined },
    learns: () => knownEntry(known),
    retrieval: (written) => retrievalOf(fetched, settings, { outcome: "predicted", ...placed(written), original }),
  };
}

/** The same without a record. */
export function predictedRetrieval(fetched: Fetched, settings: RulingSettings): Retrieval {
  const known = fetched.state!;
  return retrievalOf(fetched, settings, { outcome: "predicted", original: unchangedOriginal(known, known.certainty) });
}

/** How right the headers were, of a document that was fetched in full to know that. */
function trialOf({ state, isAudited, capture }: Fetched, verdict: Verdict): Retrieval["headers"] {
  const isExempt = verdict.kind === "kept" && verdict.original === undefined;
  if (!isAudited || isExempt || capture.head?.status !== 200 || capture.truncated !== undefined) return undefined;
  if (state === undefined || (state.status ?? 200) !== 200) return "new";
  const digests = capture.payloadDigests.map(formatDigest);
  const isSame = shareDigest(state.digests, digests);
  // Digests of different algorithms say nothing about each other.
  const isComparable = state.digests.some((digest) => digests.some((own) => algorithmOf(own) === algorithmOf(digest)));
  if (!isSame && !isComparable) return "incomparable";
  return { ...readSigns(headersOf(capture.head), state, "stored"), changed: !isSame };
}

function algorithmOf(digest: string): string {
  return digest.slice(0, digest.indexOf(":"));
}

export function headersOf({ headers }: HttpHead) {
  return { etag: headers.get("etag"), lastModified: headers.get("last-modified") };
}
