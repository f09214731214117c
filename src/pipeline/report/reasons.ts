/** Why records stayed as they are, in plain words. */
import type { KeptReason } from "../../dedup/index.ts";

const REASONS: Readonly<Record<KeptReason, string>> = {
  truncated: "Its writer cut it off, so its payload is not whole.",
  segmented: "It is a part of a record that was split over several.",
  damaged: "Damage was found in it. It is neither referred to nor touched.",
  empty: "Its payload has no bytes: there is nothing to save.",
  shared: "It shares its compressed member with other records, so it can neither be reached nor replaced by itself.",
  irreversible: "It could not be put together again, byte for byte, from a revisit and its original.",
  "no-uri": "It names no URL, so nothing could refer to it.",
  "no-date": "It has no date that can be read, so nothing could refer to it.",
  fixed: "Its file cannot be rewritten: an ARC file, an entry of a WACZ, or a file on a server.",
  referred: "A revisit refers to it already, so it has to stay.",
  ambiguous: "Another capture of its URL in the same second has another payload, so nothing could refer to it.",
  known: "It is of an earlier holding, which is not changed.",
  mime: "The settings leave out its media type.",
  saving: "A revisit in its place would save too little.",
  "same-capture": "It has the URL and the second of its original; a revisit would refer to itself.",
};

/** What can also happen to a duplicate when its turn comes. */
const LATER_REASONS: Readonly<Record<string, string>> = {
  unreadable: "It could not be read again where the plan has it.",
  "original-missing": "The file that holds its original had changed, could not be found, or could not be read.",
  "original-differs": "Its original was read again where it was said to lie, and is not there or has another payload.",
  "original-replaced": "The plan calls its original a copy as well, so nothing would be left to refer to.",
  "header-size": "With what it refers to, the header of a revisit would be too large to be read.",
  "file-left": "Its file was left as it is.",
};

/** Absent for a reason that is not known here; its own words have to do. */
export function explainReason(reason: string): string | undefined {
  if (Object.hasOwn(REASONS, reason)) return REASONS[reason as KeptReason];
  return Object.hasOwn(LATER_REASONS, reason) ? LATER_REASONS[reason] : undefined;
}
