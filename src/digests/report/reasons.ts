/** Why the DeDuplicator left captures as they are, in plain words. */
import type { ExemptReason, HeldReason, KeptReason } from "../../dedup/index.ts";
import { explainReason as explainKept } from "../../pipeline/index.ts";

/** Those that are its own; the others are those of `dedup` too. */
const REASONS: Readonly<Record<ExemptReason | Exclude<HeldReason, KeptReason> | "claimed", string>> = {
  disabled: "The DeDuplicator is switched off.",
  dns: "It is the answer of a name server.",
  robots: "It is a robots.txt.",
  status: "It is an error, a failure or a 304, not a document.",
  empty: "Its payload has no bytes.",
  "no-digest": "Nothing says what its content is.",
  mime: "The settings leave out its media type.",
  mirror: "Its content is known of another URL only.",
  "out-of-reach": "The capture that has its content is not older, or the policy rules it out.",
  size: "The capture with its digest has another size: two contents.",
  framing: "The capture with its content has the body in another transfer coding.",
  "no-original": "It is not known which record holds its content, so nothing could refer to it.",
  claimed: "Only a line of text says that its content is held, and that is not enough for an archive.",
  disproven: "The record that should hold its content was read, and does not.",
};

export function explainReason(reason: string): string | undefined {
  return Object.hasOwn(REASONS, reason) ? REASONS[reason as keyof typeof REASONS] : explainKept(reason);
}
