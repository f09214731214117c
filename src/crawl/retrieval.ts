/**
 * What became of one URL: the one thing that the crawl.log, the figures and the report are made from. Everything in it
 * can be written to a line of the crawl.log and read back, so that a job that goes on knows what was before.
 */
import type { Digest } from "../base/index.ts";
import type { Certainty, ExemptReason, HeaderSigns, HeldReason, HitKind } from "../dedup/index.ts";
import type { TruncatedReason } from "./capture-records.ts";

/** A URL that is to be fetched. */
export interface Assignment {
  readonly uri: string;
  /** `R` for each redirect that led here from the URL that was given. */
  readonly hops: string;
  /** The URL that redirected here. */
  readonly via?: string | undefined;
  /** The URL that was given, where this one is not it. */
  readonly seed?: string | undefined;
}

/**
 * `stored`: a response record. `duplicate`: a revisit, since the payload is that of a capture that is known.
 * `not-modified`: a revisit, since the server says so. `unasked`: a 304 to a request that had no condition; it was stored
 * as it is. `predicted`: the header says that nothing has changed, and the body was not read. `failed`: no answer came.
 */
export const RETRIEVAL_OUTCOMES = ["stored", "duplicate", "not-modified", "unasked", "predicted", "failed"] as const;
export type RetrievalOutcome = (typeof RETRIEVAL_OUTCOMES)[number];

/** Why a redirect is not followed. */
export type RedirectTrouble = "invalid" | "too-long" | "too-many";

/** The capture that a retrieval is compared with, or refers to. */
export interface RetrievalOriginal {
  readonly uri: string;
  /** As it is written in the original. */
  readonly date: string;
  readonly certainty: Certainty;
  /** How its URL is to this one. */
  readonly hit: HitKind;
  /** The operator's text on where it lies. */
  readonly origin?: string | undefined;
  readonly payloadSize?: number | undefined;
}

/** `claimed`: only a line of text says that the original is there, and that is not enough here. */
export type KeptRetrieval = HeldReason | ExemptReason | "claimed";

/** How right headers were about a document whose URL was known; made of documents that were fetched in any case. */
export interface HeaderTrial extends HeaderSigns {
  readonly changed: boolean;
}

export interface Retrieval extends Assignment {
  readonly startMs: number;
  readonly durationMs: number;
  /** Of HTTP; or Heritrix's code for a failure, which is negative. */
  readonly status: number;
  readonly outcome: RetrievalOutcome;
  readonly mime?: string | undefined;
  readonly payloadSize?: number | undefined;
  /** Of the whole answer. */
  readonly answerSize?: number | undefined;
  readonly digest?: Digest | undefined;
  /** Where its record lies; absent where there is none. */
  readonly place?: { readonly file: string; readonly offset: number } | undefined;
  readonly truncated?: TruncatedReason | undefined;
  /** What was odd about the answer; of a failure, what it was. */
  readonly flaws?: readonly string[] | undefined;
  /** The name of the failure. */
  readonly failure?: string | undefined;
  /** Where a redirect leads, if that is followed. */
  readonly redirect?: string | undefined;
  readonly redirectTrouble?: RedirectTrouble | undefined;
  /** Validators that were sent with the request. */
  readonly asked?: readonly ("etag" | "datestamp")[] | undefined;
  /** It was fetched in full though its headers might have spared that. */
  readonly audited?: boolean | undefined;
  readonly original?: RetrievalOriginal | undefined;
  /** Why it is stored though its content is known, or why nobody looked. */
  readonly kept?: KeptRetrieval | undefined;
  /** Absent where nothing was analysed; `new` where its URL was not known, `incomparable` where digests are of two kinds. */
  readonly headers?: HeaderTrial | "new" | "incomparable" | undefined;
  /** Nobody had asked for it: a crash came between its capture and its line, so it was fetched again. */
  readonly again?: boolean | undefined;
}
