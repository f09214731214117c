/** What an index has learned since its last run, in memory: found by the same keys as what is in runs. */
import { equivalentUrl } from "../url/index.ts";
import { type DigestEntry, hasContent } from "./entry.ts";
import type { IndexSettings } from "./settings.ts";

/** So many URLs with one digest are remembered. */
const URIS_MAX = 64;

/** Nearly all have one, and are not to take an array each. */
type OneOrMore<T> = T | T[];

export class LearnedTail {
  private readonly settings: IndexSettings;
  private readonly byUri = new Map<string, OneOrMore<DigestEntry>>();
  /** Digests, and equivalent URLs with digests, to the URLs that have them. */
  private readonly byDigest = new Map<string, OneOrMore<string>>();
  private readonly byEquivalent = new Map<string, OneOrMore<string>>();
  size = 0;

  constructor(settings: IndexSettings) {
    this.settings = settings;
  }

  add(entry: DigestEntry): void {
    this.size++;
    const states = this.byUri.get(entry.uri);
    if (states === undefined) this.byUri.set(entry.uri, entry);
    else if (Array.isArray(states)) states.push(entry);
    else this.byUri.set(entry.uri, [states, entry]);
    const equivalent = this.settings.equivalent ? equivalentUrl(entry.uri) : "";
    for (const digest of entry.digests) {
      if (this.settings.digest) remember(this.byDigest, digest, entry.uri);
      if (this.settings.equivalent) remember(this.byEquivalent, `${equivalent} ${digest}`, entry.uri);
    }
  }

  /** In the order in which they were learned. */
  statesOf(uri: string): readonly DigestEntry[] {
    return listOf(this.byUri.get(uri));
  }

  withDigest(digest: string): readonly DigestEntry[] {
    return this.statesAt(this.byDigest.get(digest), digest);
  }

  withEquivalent(equivalent: string, digest: string): readonly DigestEntry[] {
    return this.statesAt(this.byEquivalent.get(`${equivalent} ${digest}`), digest);
  }

  private statesAt(uris: OneOrMore<string> | undefined, digest: string): readonly DigestEntry[] {
    if (uris === undefined) return [];
    return listOf(uris).flatMap((uri) => this.statesOf(uri).filter((entry) => hasContent(entry, [digest])));
  }

  *entries(): Generator<DigestEntry> {
    for (const states of this.byUri.values()) yield* listOf(states);
  }
}

function listOf<T>(found: OneOrMore<T> | undefined): readonly T[] {
  return found === undefined ? [] : Array.isArray(found) ? found : [found];
}

function remember(map: Map<string, OneOrMore<string>>, key: string, uri: string): void {
  const found = map.get(key);
  if (found === undefined) map.set(key, uri);
  else if (!Array.isArray(found)) {
    if (found !== uri) map.set(key, [found, uri]);
  } else if (found.length < URIS_MAX && !found.includes(uri)) found.push(uri);
}
