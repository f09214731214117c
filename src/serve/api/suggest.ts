/**
 * What somebody may be about to type: hosts and URLs that begin like that, whatever their scheme, with or without `www.`.
 * Hosts sort from the right in an archive, and people type from the left, so that their names are held in memory.
 */
import type { Capture } from "../../archive/index.ts";
import { hostOf, keyRange } from "../../url/index.ts";
import type { Collection } from "../collection.ts";

/** Names of hosts that are held: some 10 MB. Of an archive with more, the rest is found by what follows the host. */
const HOSTS_MAX = 200_000;

interface HostNames {
  readonly commit: string;
  /** In the order of their letters. */
  readonly names: Promise<readonly string[]>;
}

const known = new WeakMap<Collection, HostNames>();

function hostNames(collection: Collection): Promise<readonly string[]> {
  const { commit } = collection;
  const there = known.get(collection);
  if (there?.commit === commit) return there.names;
  const names = readHosts(collection);
  known.set(collection, { commit, names });
  // A failure is told to whoever waits for it, and the next one tries again.
  names.catch(() => known.delete(collection));
  return names;
}

async function readHosts(collection: Collection): Promise<readonly string[]> {
  const names: string[] = [];
  for await (const batch of collection.firsts({}, "host")) {
    for (const { key } of batch) names.push(hostOf(key)!);
    if (names.length >= HOSTS_MAX) break;
  }
  return names.sort();
}

export interface Suggestion {
  readonly host: string | null;
  readonly url: string;
}

/** What was typed, without a scheme and `www.`, which keys do not have either. */
function typedRest(text: string): string {
  return text
    .trim()
    .replace(/^(?:[a-z][a-z0-9+.-]*:)?\/\//i, "")
    .replace(/^www\d*\./i, "");
}

export async function suggest(collection: Collection, text: string, limit: number): Promise<readonly Suggestion[]> {
  const typed = typedRest(text);
  const suggestions: Suggestion[] = [];
  if (typed === "") return suggestions;
  if (!/[/?#]/.test(typed)) {
    for (const host of await hostsLike(collection, typed.toLowerCase(), limit)) {
      // The list may be older than the rules are: time passes, and an embargo ends or begins.
      const first = await firstOf(collection, host);
      if (first !== undefined) suggestions.push({ host, url: originOf(first.url) });
    }
  }
  for await (const batch of collection.firsts(keyRange(`http://${typed}`, "prefix"), "key")) {
    for (const { url } of batch) {
      if (suggestions.length >= limit) return suggestions;
      if (!suggestions.some((each) => each.url === url)) suggestions.push({ host: null, url });
    }
  }
  return suggestions;
}

async function hostsLike(collection: Collection, typed: string, limit: number): Promise<readonly string[]> {
  const names = await hostNames(collection);
  let [low, high] = [0, names.length];
  while (low < high) {
    const middle = (low + high) >> 1;
    if (names[middle]! < typed) low = middle + 1;
    else high = middle;
  }
  const found: string[] = [];
  for (let i = low; i < names.length && found.length < limit && names[i]!.startsWith(typed); i++) found.push(names[i]!);
  return found;
}

async function firstOf(collection: Collection, host: string): Promise<Capture | undefined> {
  for await (const [first] of collection.captures({ url: `http://${host}/`, match: "host", limit: 1 })) return first;
  return undefined;
}

/** Scheme and host as they were captured. */
function originOf(url: string): string {
  return `${/^[^/?#]*\/\/[^/?#]*/.exec(url)?.[0] ?? url}/`;
}
