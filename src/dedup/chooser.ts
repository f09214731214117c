/**
 * Who is a duplicate of whom. Captures with one payload come in order of their dates; the first that can be referred to
 * is the original, and those behind it are its copies, as far as the rules and the policy allow.
 *
 * Invariants: an original is never a copy; a copy's original came before it and was not replaced; so every revisit that
 * follows from these decisions leads to an original in one step.
 */
import { type Candidate, type KeptReason, whyNotOriginal } from "./candidate.ts";
import type { Policy } from "./policy.ts";
import { Rules, timeOfDate } from "./rules.ts";

export type Decision<C> =
  /** The first of its payload, or one that begins anew by the policy. */
  | { readonly kind: "original" }
  /** The copy number counts from 2. */
  | { readonly kind: "duplicate"; readonly original: C; readonly copy: number }
  | { readonly kind: "kept"; readonly reason: KeptReason };

interface Held<C> {
  readonly original: C;
  copies: number;
}

/** Decides over the captures of one payload after another: `begin` for each payload, then `decide` in order of dates. */
export class OriginalChooser<C extends Candidate> {
  private readonly rules: Rules;
  /** The original of each framing and size; payloads of one digest and two sizes are two. */
  private readonly held = new Map<string, Held<C>>();

  constructor(policy: Policy) {
    this.rules = new Rules(policy);
  }

  begin(): void {
    this.held.clear();
  }

  decide(candidate: C): Decision<C> {
    const key = keyOf(candidate.framing, candidate.payloadSize);
    const held = this.held.get(key) ?? this.held.get(keyOf(candidate.framing, undefined));
    if (held !== undefined && this.rules.isInReach(held.original, candidate)) {
      const reason = this.rules.whyKept(held.original, candidate);
      if (reason !== undefined) return { kind: "kept", reason };
      held.copies++;
      return { kind: "duplicate", original: held.original, copy: held.copies };
    }
    const reason = whyNotOriginal(candidate) ?? (timeOfDate(candidate.date) === undefined ? "no-date" : undefined);
    if (reason !== undefined) return { kind: "kept", reason };
    this.held.set(key, { original: candidate, copies: 1 });
    return { kind: "original" };
  }
}

function keyOf(framing: string | undefined, payloadSize: number | undefined): string {
  return `${framing ?? ""} ${payloadSize ?? ""}`;
}
