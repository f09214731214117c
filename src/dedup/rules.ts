/** Whether one capture may stand for another: the rules that always hold, and those of a policy. */
import { parseIso, parseTimestamp } from "../base/index.ts";
import { equivalentUrl, hostOf, urlKey } from "../url/index.ts";
import { type Candidate, type KeptReason, whyNotDuplicate } from "./candidate.ts";
import { mimeFilter, type Policy } from "./policy.ts";

const DAY_MS = 86_400_000;
/** A revisit takes about this much at the least; what is smaller cannot shrink. */
const REVISIT_SIZE_LEAST = 200;

/** The record that a duplicate would refer to. */
export type Original = Pick<Candidate, "uri" | "date" | "known">;

/** How the URL of a duplicate is to that of its original: the DeDuplicator's exact, equivalent and new hits. */
export type HitKind = "exact" | "equivalent" | "elsewhere";

export class Rules {
  private readonly policy: Policy;
  private readonly mayReplace: (mime: string | undefined) => boolean;
  private readonly minSaving: number;

  constructor(policy: Policy) {
    this.policy = policy;
    this.mayReplace = mimeFilter(policy);
    const { minSaving = 1 } = policy;
    this.minSaving = minSaving === "none" ? Number.NEGATIVE_INFINITY : minSaving;
  }

  /** Whether the policy lets the candidate be a duplicate of that original at all; if not, it may begin anew. */
  isInReach(original: Original, candidate: Candidate): boolean {
    const { sameUrl, sameSite, maxAgeDays } = this.policy;
    if (original.known === true && !isOfEarlierSecond(original, candidate)) return false;
    if (sameUrl === true && !this.isSameUrl(original, candidate)) return false;
    if (sameSite === true && siteOf(original) !== siteOf(candidate)) return false;
    if (maxAgeDays === undefined) return true;
    const [then, now] = [timeOfDate(original.date), timeOfDate(candidate.date)];
    if (then === undefined || now === undefined) return true;
    return now - then <= maxAgeDays * DAY_MS;
  }

  private isSameUrl({ uri }: Original, candidate: Candidate): boolean {
    if (uri === candidate.uri) return true;
    if (this.policy.equivalentUrl !== true || uri === undefined || candidate.uri === undefined) return false;
    return equivalentUrl(uri) === equivalentUrl(candidate.uri);
  }

  /** Why a candidate whose payload is that of the original is kept all the same; absent where it is a duplicate. */
  whyKept(original: Original, candidate: Candidate): KeptReason | undefined {
    const reason = whyNotDuplicate(candidate);
    // What is fixed for no other reason would be replaced if its file could be rewritten, where it may have another size.
    if (reason !== undefined && reason !== "fixed") return reason;
    if (isSameCapture(original, candidate)) return "same-capture";
    if (!this.mayReplace(candidate.mime)) return "mime";
    if (reason !== undefined) return reason;
    const { length } = candidate;
    return length !== undefined && length < this.minSaving + REVISIT_SIZE_LEAST ? "saving" : undefined;
  }
}

export function timeOfDate(date: string | undefined): number | undefined {
  return date === undefined ? undefined : (parseIso(date) ?? parseTimestamp(date));
}

function siteOf({ uri }: Original): string | undefined {
  return uri === undefined ? undefined : hostOf(urlKey(uri));
}

/** Seconds are what indexes and replay tell captures apart by. */
const SECONDS_LENGTH = "2013-09-03T14:05:50".length;

/** Names a capture as replay finds it: by its URI and second. */
export function captureKey(uri: string, date: string): string {
  return `${date.slice(0, SECONDS_LENGTH)} ${uri}`;
}

/** A revisit of one that is found under the same URI and second would refer to itself. */
function isSameCapture(one: Original, other: Original): boolean {
  if (one.uri === undefined || one.date === undefined || other.uri === undefined || other.date === undefined)
    return false;
  return captureKey(one.uri, one.date) === captureKey(other.uri, other.date);
}

/**
 * Whoever keeps a known capture may know ours in turn. Only a capture of an earlier second is given precedence over one
 * of our own: then of any number of hosts that know each other at least one keeps its copy.
 */
function isOfEarlierSecond(known: Original, { date }: Original): boolean {
  const [then, now] = [timeOfDate(known.date), timeOfDate(date)];
  return then !== undefined && now !== undefined && Math.floor(then / 1000) < Math.floor(now / 1000);
}

export function hitKind(original: Original, candidate: Original): HitKind {
  if (original.uri === undefined || candidate.uri === undefined) return "elsewhere";
  if (urlKey(original.uri) === urlKey(candidate.uri)) return "exact";
  return equivalentUrl(original.uri) === equivalentUrl(candidate.uri) ? "equivalent" : "elsewhere";
}
