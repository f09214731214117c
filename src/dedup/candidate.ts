/**
 * A capture as the decision sees it: what of it must be known to say whether it is a duplicate, and of what. Where the
 * facts come from (a manifest, an index, a crawl) is the caller's business.
 */

/** What keeps a record from taking part. */
export interface RecordFlaws {
  /** Its writer cut it off. */
  readonly truncated?: boolean | undefined;
  /** A part of a record that was split over several. */
  readonly segmented?: boolean | undefined;
  readonly damaged?: boolean | undefined;
  readonly empty?: boolean | undefined;
  /** It shares its compressed member with others, so that it can neither be reached nor replaced by itself. */
  readonly shared?: boolean | undefined;
  /** It could not be put together again from a revisit and an original. */
  readonly irreversible?: boolean | undefined;
}

export interface Candidate extends RecordFlaws {
  readonly uri: string | undefined;
  /** As it is written in the record. */
  readonly date: string | undefined;
  readonly mime: string | undefined;
  /** How the body is stored; a revisit and its original need the same. */
  readonly framing: string | undefined;
  /** Absent where only an index tells of the capture. */
  readonly payloadSize: number | undefined;
  /** Bytes that the record takes where it lies; absent where that is not known. */
  readonly length: number | undefined;
  /** An earlier holding: may be referred to, is never replaced. */
  readonly known?: boolean | undefined;
  /** A record of this kind cannot be replaced where it lies (ARC, an entry of a WACZ). */
  readonly fixed?: boolean | undefined;
  /** A revisit refers to it already: it has to stay. */
  readonly referred?: boolean | undefined;
  /** Another capture of the same URI in the same second has another content: nothing can refer to either. */
  readonly ambiguous?: boolean | undefined;
}

/** Why a capture is kept as it is. */
export type KeptReason =
  | "truncated"
  | "segmented"
  | "damaged"
  | "empty"
  | "shared"
  | "irreversible"
  | "no-uri"
  | "no-date"
  | "fixed"
  | "referred"
  | "ambiguous"
  | "known"
  | "mime"
  | "saving"
  | "same-capture";

/** Why the record cannot be one that others refer to; absent where it can. */
export function whyNotOriginal(candidate: Candidate): KeptReason | undefined {
  const flaw = flawOf(candidate);
  if (flaw !== undefined) return flaw;
  return candidate.ambiguous === true ? "ambiguous" : undefined;
}

/** Why the record must not be replaced by a revisit, whatever its original; absent where it may. */
export function whyNotDuplicate(candidate: Candidate): KeptReason | undefined {
  if (candidate.known === true) return "known";
  const flaw = flawOf(candidate);
  if (flaw !== undefined) return flaw;
  if (candidate.referred === true) return "referred";
  // A record of an ARC file is irreversible because it is one.
  if (candidate.fixed === true) return "fixed";
  return candidate.irreversible === true ? "irreversible" : undefined;
}

function flawOf(candidate: Candidate): KeptReason | undefined {
  if (candidate.damaged === true) return "damaged";
  if (candidate.truncated === true) return "truncated";
  if (candidate.segmented === true) return "segmented";
  if (candidate.empty === true) return "empty";
  if (candidate.shared === true) return "shared";
  if (candidate.uri === undefined) return "no-uri";
  return candidate.date === undefined ? "no-date" : undefined;
}
