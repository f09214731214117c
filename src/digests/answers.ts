/** How questions are answered from runs and from what was learned since: one place for the order in which it is looked. */
import type { KnownQuestion } from "../dedup/index.ts";
import { equivalentUrl } from "../url/index.ts";
import type { Framing } from "../warc/index.ts";
import { type DigestEntry, hasContent, isChunked, mergeStates } from "./entry.ts";
import type { LearnedTail } from "./learned-tail.ts";
import { type DigestProbe, probesOf, UrlProbe } from "./probe.ts";
import { hashEquivalent } from "./row-keys.ts";
import type { Run } from "./run.ts";
import type { IndexSettings } from "./settings.ts";
import { createHashPair } from "./url-hash.ts";

/** What there is to look at; the newest last. */
export interface Holdings {
  readonly settings: IndexSettings;
  readonly runs: readonly Run[];
  readonly tails: readonly LearnedTail[];
}

interface ContentQuestion {
  readonly uri: string;
  readonly digests: readonly string[];
  readonly framing?: Framing | undefined;
}

export class Answers {
  private readonly probe = new UrlProbe();
  private readonly pair = createHashPair();

  answer(question: KnownQuestion, holdings: Holdings): DigestEntry | undefined {
    const { settings } = holdings;
    switch (question.by) {
      case "url":
        return settings.url ? this.statesOf(question.uri, holdings)[0] : undefined;
      case "equivalent":
        if (!settings.equivalent) return undefined;
        return this.choose(this.equivalents(question.uri, question.digests, holdings), question, holdings);
      default:
        return settings.digest ? this.byDigest(question, holdings) : undefined;
    }
  }

  /** All that is known of a URL, the newest state first. */
  statesOf(uri: string, { runs, tails }: Holdings): DigestEntry[] {
    const probe = this.probe.set(uri);
    let found: DigestEntry[] | undefined;
    for (const run of runs) {
      const states = run.statesOf(probe);
      if (states.length > 0) found = found === undefined ? states : [...found, ...states];
    }
    for (const tail of tails) {
      const states = tail.statesOf(uri);
      if (states.length > 0) found = found === undefined ? [...states] : [...found, ...states];
    }
    return found === undefined || found.length === 1 ? (found ?? []) : mergeStates(found);
  }

  private byDigest(question: ContentQuestion, holdings: Holdings): DigestEntry | undefined {
    const { uri, framing } = question;
    const probes = probesOf(question.digests);
    if (!mayHave(probes, holdings)) return undefined;
    const digests = probes.map(({ text }) => text);
    const own = this.statesOf(uri, holdings).filter((entry) => hasContent(entry, digests));
    if (own.length > 0) return best(own, framing);
    const equivalents = holdings.settings.equivalent ? this.equivalents(uri, digests, holdings) : [];
    if (equivalents.length > 0) return this.choose(equivalents, question, holdings);
    const any = withDigest(probes, holdings);
    return this.choose(holdings.settings.equivalent ? any : equivalentFirst(uri, any), question, holdings);
  }

  /** The best one. Where none can be referred to by itself, another run may know what a duplicate among them refers to. */
  private choose(
    entries: readonly DigestEntry[],
    { digests, framing }: Pick<ContentQuestion, "digests" | "framing">,
    holdings: Holdings,
  ): DigestEntry | undefined {
    const chosen = best(entries, framing);
    if (chosen === undefined || chosen.original !== undefined) return chosen;
    const states = entries.flatMap(({ uri }) =>
      this.statesOf(uri, holdings).filter((entry) => hasContent(entry, digests)),
    );
    return best(states, framing) ?? chosen;
  }

  private equivalents(uri: string, digests: readonly string[], { runs, tails }: Holdings): DigestEntry[] {
    const equivalent = equivalentUrl(uri);
    const found: DigestEntry[] = [];
    const probes = probesOf(digests);
    for (const { text } of probes) {
      hashEquivalent(equivalent, text, this.pair);
      for (const run of runs) found.push(...run.entriesAt("equivalents", this.pair[0]!, this.pair[1]!));
      for (const tail of tails) found.push(...tail.withEquivalent(equivalent, text));
    }
    const wanted = probes.map(({ text }) => text);
    return found.filter((entry) => hasContent(entry, wanted) && equivalentUrl(entry.uri) === equivalent);
  }
}

function mayHave(probes: readonly DigestProbe[], { runs, tails }: Holdings): boolean {
  return probes.some(
    ({ text, high, low }) =>
      runs.some((run) => run.mayHave("digests", high, low)) || tails.some((tail) => tail.withDigest(text).length > 0),
  );
}

function withDigest(probes: readonly DigestProbe[], { runs, tails }: Holdings): DigestEntry[] {
  const found: DigestEntry[] = [];
  for (const { text, high, low } of probes) {
    for (const run of runs)
      found.push(...run.entriesAt("digests", high, low).filter((entry) => hasContent(entry, [text])));
    for (const tail of tails) found.push(...tail.withDigest(text));
  }
  return found;
}

/** Those of equivalent URLs, or else all of them. */
function equivalentFirst(uri: string, entries: readonly DigestEntry[]): readonly DigestEntry[] {
  if (entries.length < 2) return entries;
  const equivalent = equivalentUrl(uri);
  const those = entries.filter((entry) => equivalentUrl(entry.uri) === equivalent);
  return those.length > 0 ? those : entries;
}

/** One that can be referred to before one that cannot, the framing asked for before another, and then the earliest. */
function best(entries: readonly DigestEntry[], framing?: Framing): DigestEntry | undefined {
  const rank = (entry: DigestEntry) =>
    (entry.original === undefined ? 2 : 0) +
    (framing === undefined || isChunked(entry) === (framing === "chunked") ? 0 : 1);
  let chosen: DigestEntry | undefined;
  for (const entry of entries) {
    if (chosen === undefined) chosen = entry;
    else {
      const difference = rank(entry) - rank(chosen);
      if (difference < 0 || (difference === 0 && entry.timeMs < chosen.timeMs)) chosen = entry;
    }
  }
  return chosen;
}
