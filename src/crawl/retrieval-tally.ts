/**
 * What a job came to, counted from its retrievals alone: so a job that was killed and went on counts as one that was not. The
 * counts of the DeDuplicator are those of documents that were read; what a server said or a header predicted stands apart.
 */
import {
  type Certainty,
  DuplicateTally,
  type ExemptReason,
  HEADER_SCHEMES,
  HeaderTally,
  predictionOf,
} from "../dedup/index.ts";
import { hostOf, urlKey } from "../url/index.ts";
import {
  type HeaderTrial,
  type KeptRetrieval,
  RETRIEVAL_OUTCOMES,
  type Retrieval,
  type RetrievalOutcome,
} from "./retrieval.ts";

const EXEMPT: ReadonlySet<string> = new Set<ExemptReason>([
  "disabled",
  "dns",
  "robots",
  "status",
  "empty",
  "no-digest",
  "mime",
]);

const HOSTS_MAX = 1000;

export interface RetrievalCounts {
  retrievals: number;
  outcomes: Record<RetrievalOutcome, number>;
  /** Requests that had a condition, and with which validators. */
  asked: { any: number; etag: number; datestamp: number };
  audited: number;
  redirects: number;
  /** Bytes of answers. */
  received: number;
  /** Bytes of the payloads that did not have to be received, as far as their size is known. */
  spared: number;
  /** Revisits by how sure it is that their originals are there; predictions are not among them. */
  revisits: Record<Certainty, number>;
  truncated: Record<string, number>;
  failures: Record<string, number>;
  flaws: Record<string, number>;
  /** Fetched again, since a crash came between capture and log. */
  again: number;
}

export class RetrievalTally {
  readonly duplicates = new DuplicateTally({ hosts: true });
  readonly headers = new HeaderTally(HEADER_SCHEMES, { hosts: true });
  readonly exempt = new Map<ExemptReason, number>();
  readonly kept = new Map<KeptRetrieval, number>();
  /** Documents that were to be analysed, but whose digests are of different kinds. */
  readonly unanalysed = { headersUnknown: 0, incomparable: 0 };
  readonly counts: RetrievalCounts = {
    retrievals: 0,
    outcomes: Object.fromEntries(RETRIEVAL_OUTCOMES.map((outcome) => [outcome, 0])) as Record<RetrievalOutcome, number>,
    asked: { any: 0, etag: 0, datestamp: 0 },
    audited: 0,
    redirects: 0,
    received: 0,
    spared: 0,
    revisits: { proven: 0, held: 0, claimed: 0 },
    truncated: {},
    failures: {},
    flaws: {},
    again: 0,
  };

  /** Origins of URLs to hosts. */
  private readonly hosts = new Map<string, string | undefined>();

  add(retrieval: Retrieval): void {
    this.count(retrieval);
    if (retrieval.outcome !== "stored" && retrieval.outcome !== "duplicate") return;
    const host = this.hostOf(retrieval.uri);
    if (retrieval.kept !== undefined && EXEMPT.has(retrieval.kept)) {
      increase(this.exempt, retrieval.kept as ExemptReason);
      return;
    }
    if (retrieval.kept !== undefined) increase(this.kept, retrieval.kept);
    this.duplicates.add({
      host,
      mime: retrieval.mime,
      bytes: retrieval.payloadSize ?? 0,
      responseBytes: retrieval.answerSize,
      hit: retrieval.original?.hit,
      kept: retrieval.kept !== undefined,
    });
    if (retrieval.headers === "new") this.headers.newUrls++;
    else if (retrieval.headers === "incomparable") this.unanalysed.incomparable++;
    else if (retrieval.headers !== undefined) this.addTrial(host, retrieval.headers);
  }

  /** Remembered for a while: many URLs are of few servers. */
  private hostOf(uri: string): string | undefined {
    const origin = uri.slice(0, uri.indexOf("/", "https://".length));
    if (!this.hosts.has(origin)) {
      if (this.hosts.size >= HOSTS_MAX) this.hosts.clear();
      this.hosts.set(origin, hostOf(urlKey(`${origin}/`, { stripWww: false })));
    }
    return this.hosts.get(origin);
  }

  private addTrial(host: string | undefined, { changed, ...signs }: HeaderTrial): void {
    for (const scheme of this.headers.schemes) {
      this.headers.add({ host, scheme, prediction: predictionOf(scheme, signs), changed });
    }
  }

  private count(retrieval: Retrieval): void {
    const { counts } = this;
    const { outcome, asked = [], original } = retrieval;
    counts.retrievals++;
    counts.outcomes[outcome]++;
    counts.received += retrieval.answerSize ?? 0;
    if (asked.length > 0) counts.asked.any++;
    for (const validator of asked) counts.asked[validator]++;
    if (retrieval.audited === true) counts.audited++;
    if (retrieval.redirect !== undefined) counts.redirects++;
    if (retrieval.again === true) counts.again++;
    if ((outcome === "duplicate" || outcome === "not-modified") && original) counts.revisits[original.certainty]++;
    if (outcome === "not-modified" || outcome === "predicted") counts.spared += original?.payloadSize ?? 0;
    if (retrieval.truncated !== undefined) bump(counts.truncated, retrieval.truncated);
    if (retrieval.failure !== undefined) bump(counts.failures, retrieval.failure);
    for (const flaw of retrieval.flaws ?? []) bump(counts.flaws, flaw);
  }
}

function increase<K>(map: Map<K, number>, key: K): void {
  map.set(key, (map.get(key) ?? 0) + 1);
}

function bump(counts: Record<string, number>, key: string): void {
  counts[key] = (counts[key] ?? 0) + 1;
}
