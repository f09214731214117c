/** What an `add` counts. */
import type { KeptReason } from "../../dedup/index.ts";

/** Why a capture whose content the archive has is kept whole. */
export type RepeatedReason =
  | KeptReason
  /** The archive has the content in another framing only. */
  | "framing"
  /** The policy does not let it refer to the original that is there. */
  | "out-of-reach"
  /** Nothing may refer to the record that holds the content. */
  | "original-unfit"
  | "original-missing"
  | "header-size"
  /** No revisit could be made of it when its turn came. */
  | "unreadable";

/**
 * What became of the records of an `add`. Each new capture is one of `contents`, `repeated`, `revisits` and
 * `incomparable`; what is repeated was `replaced` or `kept`.
 */
export interface IntakeCounts {
  records: number;
  captures: number;
  /** Captures that the archive had already. */
  known: number;
  /** Captures whose records in the archive could not be read any more, and were replaced by those that came. */
  healed: number;
  /** Captures that brought a content that the archive did not have. */
  contents: number;
  /** Captures that brought nothing new: their contents were there. */
  repeated: number;
  /** Those of them that became revisits. */
  replaced: number;
  /** Those of them that are stored whole all the same, by reason. */
  readonly kept: Partial<Record<RepeatedReason, number>>;
  /** Those of them that the rules and the policy allow to be replaced, as for `dedup`. */
  duplicates: number;
  /** Duplicates whose content the archive had at this URL, as it is written, and those whose content it had only elsewhere. */
  acrossTime: number;
  acrossLocation: number;
  /** Captures that do not say what their URL held: answers with status 304, and records without a payload. */
  incomparable: number;
  /** Revisits that were in the input. */
  revisits: number;
  /** Captures that were removed from the archive before, and stay so. */
  removed: number;
  /** Records that cannot be read to their end. */
  damaged: number;
  bytesIn: number;
  bytesKept: number;
}

export function noCounts(): IntakeCounts {
  const taken = { records: 0, captures: 0, known: 0, healed: 0, contents: 0, repeated: 0, replaced: 0, kept: {} };
  const found = { duplicates: 0, acrossTime: 0, acrossLocation: 0, incomparable: 0, revisits: 0 };
  return { ...taken, ...found, removed: 0, damaged: 0, bytesIn: 0, bytesKept: 0 };
}

/** Counts a capture of a content that is there. */
export function countRepeated(counts: IntakeCounts, why: RepeatedReason | "replaced"): void {
  counts.repeated++;
  if (why === "replaced") counts.replaced++;
  else counts.kept[why] = (counts.kept[why] ?? 0) + 1;
}
