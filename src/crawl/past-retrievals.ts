/** What the crawl.log of a job tells of its earlier runs. */
import { isLearned } from "./learned-entry.ts";
import type { Assignment, Retrieval } from "./retrieval.ts";
import { RetrievalTally } from "./retrieval-tally.ts";

export class PastRetrievals {
  /** Files to the offset of the last record of theirs that the log tells of. */
  readonly offsets = new Map<string, number>();
  last: Retrieval["place"];
  /** Entries that the index of the job must have, at the least. */
  learned = 0;
  private readonly done = new Set<string>();
  readonly tally = new RetrievalTally();
  /** Redirects whose targets may be left to fetch. */
  readonly redirects: Assignment[] = [];

  add(retrieval: Retrieval): void {
    const { uri, place, redirect, hops, seed } = retrieval;
    if (place !== undefined) {
      this.offsets.set(place.file, Math.max(place.offset, this.offsets.get(place.file) ?? 0));
      this.last = place;
    }
    if (isLearned(retrieval)) this.learned++;
    // A server that did not answer may do so now.
    if (retrieval.outcome === "failed" && retrieval.failure !== "url") return;
    this.done.add(uri);
    this.tally.add(retrieval);
    if (redirect !== undefined) this.redirects.push({ uri: redirect, hops: `${hops}R`, via: uri, seed: seed ?? uri });
  }

  isDone(uri: string): boolean {
    return this.done.has(uri);
  }
}
