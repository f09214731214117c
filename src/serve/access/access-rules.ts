/**
 * Which captures of a collection may be seen. Of the rules that fit a capture, the one with the longest key prefix counts,
 * and of several of these the first; an embargo comes on top. Rules with dates fit captures of those dates, and captures
 * without a date.
 */
import type { Capture } from "../../archive/index.ts";
import { type Clock, systemClock } from "../../base/index.ts";

/** `allow`: shown. `block`: it is there, but not to be seen. `exclude`: as if it were not there. */
export type AccessVerdict = "allow" | "block" | "exclude";

export interface AccessRule {
  /** What the URL key begins with, or all of it where the rule is `exact`: `org,example)/private`. */
  readonly prefix: string;
  readonly exact?: boolean | undefined;
  readonly verdict: AccessVerdict;
  /** Of the dates of captures; both ends count. */
  readonly fromMs?: number | undefined;
  readonly toMs?: number | undefined;
  /** An embargo does not hold for what this rule allows. */
  readonly ignoresEmbargo?: boolean | undefined;
}

/** Captures younger than `newerThanMs`, or older than `olderThanMs`, are not shown. */
export interface Embargo {
  readonly verdict: Exclude<AccessVerdict, "allow">;
  readonly newerThanMs?: number | undefined;
  readonly olderThanMs?: number | undefined;
}

/** What a capture is judged by. */
export type Judged = Pick<Capture, "key" | "timeMs">;

export class AccessRules {
  private readonly byPrefix = new Map<string, AccessRule[]>();
  /** Of the prefixes, the longest first. */
  private readonly lengths: readonly number[];
  private readonly embargo: Embargo | undefined;
  private readonly clock: Clock;
  /** The rules of the last key: captures come in the order of keys. */
  private last: { readonly key: string; readonly rules: readonly AccessRule[] } | undefined;

  constructor(rules: readonly AccessRule[], embargo?: Embargo, clock: Clock = systemClock) {
    for (const rule of rules) {
      const same = this.byPrefix.get(rule.prefix);
      if (same === undefined) this.byPrefix.set(rule.prefix, [rule]);
      else same.push(rule);
    }
    this.lengths = [...new Set(rules.map(({ prefix }) => prefix.length))].sort((one, other) => other - one);
    this.embargo = embargo;
    this.clock = clock;
  }

  judge({ key, timeMs }: Judged): AccessVerdict {
    const rule = this.rulesOf(key).find(({ fromMs, toMs }) => isWithin(timeMs, fromMs, toMs));
    const verdict = rule?.verdict ?? "allow";
    if (verdict !== "allow" || this.embargo === undefined || rule?.ignoresEmbargo === true) return verdict;
    return this.isUnderEmbargo(timeMs, this.embargo) ? this.embargo.verdict : "allow";
  }

  /** Whether a capture of this key may have to be hidden. */
  touches(key: string): boolean {
    return this.embargo !== undefined || this.rulesOf(key).some(({ verdict }) => verdict !== "allow");
  }

  /** Those that fit the key, in the order in which they count. */
  private rulesOf(key: string): readonly AccessRule[] {
    if (this.last?.key === key) return this.last.rules;
    const rules = this.lengths.flatMap((length) => {
      const found = length > key.length ? undefined : this.byPrefix.get(key.slice(0, length));
      if (found === undefined) return [];
      const isAll = length === key.length;
      return isAll ? found.toSorted(exactFirst) : found.filter(({ exact }) => exact !== true);
    });
    this.last = { key, rules };
    return rules;
  }

  private isUnderEmbargo(timeMs: number | undefined, { newerThanMs, olderThanMs }: Embargo): boolean {
    if (timeMs === undefined) return true;
    const ageMs = this.clock.now() - timeMs;
    return (newerThanMs !== undefined && ageMs < newerThanMs) || (olderThanMs !== undefined && ageMs > olderThanMs);
  }
}

function exactFirst(one: AccessRule, other: AccessRule): number {
  return Number(other.exact === true) - Number(one.exact === true);
}

function isWithin(timeMs: number | undefined, fromMs = -Infinity, toMs = Infinity): boolean {
  return timeMs === undefined || (timeMs >= fromMs && timeMs <= toMs);
}
