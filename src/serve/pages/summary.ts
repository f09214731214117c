/**
 * What the overview shows of a collection. Bytes, hosts and files need a walk over all captures, so they are kept for as
 * long as the commit is the same; under access rules, which may depend on the time, for a few seconds.
 */
import { setTimeout as sleep } from "node:timers/promises";
import type { NamedFigures } from "../../archive/index.ts";
import { systemClock } from "../../base/index.ts";
import type { Collection } from "../collection.ts";

/** What a walk found. */
export interface Survey {
  readonly bytesSeen: number;
  /** Absent under access rules: records may be shared with what is hidden. */
  readonly bytesKept: number | undefined;
  /** Those with the most captures, the largest first. */
  readonly hosts: readonly NamedFigures[];
  readonly hostCount: number;
  /** The files that were added last, the latest first. */
  readonly recent: readonly NamedFigures[];
  readonly fileCount: number;
}

export interface Summary {
  /** Absent where they can only be told from what is still being made. */
  readonly counts: { readonly captures: number; readonly contents: number } | undefined;
  /** Absent while it is being made. */
  readonly survey: Survey | undefined;
}

const HOSTS_SHOWN = 12;
const RECENT_SHOWN = 8;
/** A page does not wait longer than this for a walk. */
const PATIENCE_MS = 50;
/** As long as answers about captures may be kept, see `SHORT_CACHING`. */
const AGE_MAX_MS = 10_000;

interface Kept {
  readonly commit: string;
  readonly madeMs: number;
  readonly survey: Promise<Survey>;
}

const kept = new WeakMap<Collection, Kept>();

export async function summaryOf(collection: Collection): Promise<Summary> {
  const patience = new AbortController();
  const survey = await Promise.race([
    surveyOf(collection),
    sleep(PATIENCE_MS, undefined, { signal: patience.signal }).catch(() => undefined),
  ]);
  patience.abort();
  if (survey === undefined && collection.hasRules) return { counts: undefined, survey };
  const { captures, contents } = await collection.counts();
  return { counts: { captures, contents }, survey };
}

function surveyOf(collection: Collection): Promise<Survey> {
  const { commit } = collection;
  const nowMs = systemClock.now();
  const there = kept.get(collection);
  if (there?.commit === commit && (!collection.hasRules || nowMs - there.madeMs < AGE_MAX_MS)) return there.survey;
  const survey = makeSurvey(collection);
  kept.set(collection, { commit, madeMs: nowMs, survey });
  // Whoever waits is told of a failure, and the next one tries again.
  survey.catch(() => kept.delete(collection));
  return survey;
}

async function makeSurvey(collection: Collection): Promise<Survey> {
  let [bytesSeen, bytesKept, fileCount, hostCount] = [0, 0, 0, 0];
  let recent: NamedFigures[] = [];
  for await (const batch of collection.stats("crawl")) {
    for (const figures of batch) {
      bytesSeen += figures.bytesSeen;
      bytesKept += figures.bytesKept;
    }
    fileCount += batch.length;
    recent = [...recent, ...batch].slice(-RECENT_SHOWN);
  }
  let hosts: NamedFigures[] = [];
  for await (const batch of collection.stats("host")) {
    hostCount += batch.length;
    hosts = [...hosts, ...batch].sort((one, other) => other.captures - one.captures).slice(0, HOSTS_SHOWN);
  }
  return {
    bytesSeen,
    bytesKept: collection.hasRules ? undefined : bytesKept,
    hosts,
    hostCount,
    recent: recent.reverse(),
    fileCount,
  };
}
