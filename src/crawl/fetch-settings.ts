/** How documents are fetched: the settings of the paper's DeDupFetchHTTP, and what conditional requests add to them. */
import { digestOf } from "../base/index.ts";
import type { DeduplicatorSettings, HeaderScheme } from "../dedup/index.ts";

export interface FetchSettings {
  /** Without it everything is fetched and stored, nobody is asked, and no index is made. */
  readonly deduplicates: boolean;
  /** Which headers say whether a document has changed. */
  readonly scheme: HeaderScheme;
  /**
   * `conditional`: the server is asked to send nothing where nothing has changed. `abort`: the header is read, and what it
   * predicts to be unchanged is not read any further, as in the paper.
   */
  readonly by: "conditional" | "abort";
  /** The share of documents, from 0 to 1, that is fetched in full, so that it can be known how far headers are right. */
  readonly audit: number;
  /** Chooses which documents these are. */
  readonly seed: string;
  /** A prediction is written as a revisit, with a profile of its own. */
  readonly writePredicted: boolean;
  /** What is only claimed to be held somewhere is never referred to. */
  readonly refusesClaims: boolean;
  readonly redirectsMax: number;
  /** How duplicates are found. */
  readonly matching: Pick<DeduplicatorSettings, "matching" | "tryEquivalent" | "mirrors" | "mimeFilter" | "policy">;
  /** The index of this crawl can be asked by equivalent URL too. */
  readonly indexesEquivalent: boolean;
  /** The operator's name for this crawl, which later ones will tell of their originals. */
  readonly origin?: string | undefined;
  /** Sent with each request, after Host. */
  readonly headers: readonly (readonly [name: string, value: string])[];
}

/** Whether a document is one of those that are fetched in full; always the same for one URL and seed. */
export function isAudited(uri: string, { audit, seed }: Pick<FetchSettings, "audit" | "seed">): boolean {
  if (audit <= 0 || audit >= 1) return audit >= 1;
  const { hex } = digestOf("sha1", Buffer.from(`${seed} ${uri}`));
  return Number.parseInt(hex.slice(0, 8), 16) < audit * 2 ** 32;
}
