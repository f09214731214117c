/**
 * Who is a duplicate of whom. Captures with one payload come in order of their dates; the first that can be referred to
 * is the original, and those behind it are its copies, as far as the rules and the policy allow.
 *
 * Invariants: an original is never a copy; a copy's original came before it and was not replaced; so every revisit that
 * follows from these decisions leads to an original in one step.
 */
import { invariant, parseIso, parseTimestamp } from "../base/index.ts";
import { type Candidate, type KeptReason, whyNotDuplicate, whyNotOriginal } from "./candidate.ts";
import { mimeFilter, type Policy } from "./policy.ts";

export type Decision<C> =
  /** The first of its payload, or one that begins anew by the policy. */
  | { readonly kind: "original" }
  /** The copy number counts from 2. */
  | { readonly kind: "duplicate"; readonly original: C; readonly copy: number }
  | { readonly kind: "kept"; readonly reason: KeptReason };

const DAY_MS = 86_400_000;
/** A revisit takes about this much at the least; what is smaller cannot shrink. */
const REVISIT_SIZE_LEAST = 200;

interface Held<C> {
  readonly original: C;
  readonly timeMs: number | undefined;
  copies: number;
}

/** Decides over the captures of one payload after another: `begin` for each payload, then `decide` in order of dates. */
export class OriginalChooser<C extends Candidate> {
  private readonly policy: Policy;
  private readonly mayReplace: (mime: string | undefined) => boolean;
  private readonly minSaving: number;
  /** The original of each framing and size; payloads of one digest and two sizes are two. */
  private readonly held = new Map<string, Held<C>>();

  constructor(policy: Policy) {
    this.policy = policy;
    this.mayReplace = mimeFilter(policy);
    this.minSaving = policy.minSaving ?? 1;
  }

  begin(): void {
    this.held.clear();
  }

  decide(candidate: C): Decision<C> {
    const key = keyOf(candidate);
    const held = this.held.get(key) ?? this.held.get(keyOf({ ...candidate, payloadSize: undefined }));
    const timeMs = candidate.date === undefined ? undefined : timeOf(candidate.date);
    if (held !== undefined && this.isInReach(held, candidate, timeMs)) {
      const reason = whyNotDuplicate(candidate) ?? this.whyNotHere(held.original, candidate);
      if (reason !== undefined) return { kind: "kept", reason };
      held.copies++;
      return { kind: "duplicate", original: held.original, copy: held.copies };
    }
    const reason = whyNotOriginal(candidate) ?? (timeMs === undefined ? "no-date" : undefined);
    if (reason !== undefined) return { kind: "kept", reason };
    this.held.set(key, { original: candidate, timeMs, copies: 1 });
    return { kind: "original" };
  }

  private isInReach(held: Held<C>, candidate: C, timeMs: number | undefined): boolean {
    const { sameUrl, maxAgeDays } = this.policy;
    if (sameUrl === true && held.original.uri !== candidate.uri) return false;
    if (maxAgeDays === undefined || timeMs === undefined) return true;
    invariant(held.timeMs !== undefined, "an original has a date");
    return timeMs - held.timeMs <= maxAgeDays * DAY_MS;
  }

  private whyNotHere(original: C, candidate: C): KeptReason | undefined {
    if (isSameCapture(original, candidate)) return "same-capture";
    if (!this.mayReplace(candidate.mime)) return "mime";
    const { length } = candidate;
    return length !== undefined && length < this.minSaving + REVISIT_SIZE_LEAST ? "saving" : undefined;
  }
}

function keyOf({ framing, payloadSize }: Pick<Candidate, "framing" | "payloadSize">): string {
  return `${framing ?? ""} ${payloadSize ?? ""}`;
}

function timeOf(date: string): number | undefined {
  return parseIso(date) ?? parseTimestamp(date);
}

/** Seconds are what indexes and replay tell captures apart by. */
const SECONDS_LENGTH = "2013-09-03T14:05:50".length;

/** Names a capture as replay finds it: by its URI and second. */
export function captureKey(uri: string, date: string): string {
  return `${date.slice(0, SECONDS_LENGTH)} ${uri}`;
}

/** A revisit of one that is found under the same URI and second would refer to itself. */
function isSameCapture(one: Candidate, other: Candidate): boolean {
  return captureKey(one.uri!, one.date!) === captureKey(other.uri!, other.date!);
}
