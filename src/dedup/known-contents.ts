/**
 * The one interface through which every taker of captures asks "is this known, and where?": a crawl, an `add`, a report.
 * An archive answers it, a digest index, a CDX server. Questions come in batches. Answers may be promises; one that is not
 * was there at once, so that a fast source costs no promise.
 */
import type { Framing, OriginalReference } from "../warc/index.ts";
import type { Validators } from "./reference.ts";

/**
 * `proven`: its bytes were read in this run and have this digest. `held`: it lies in an archive of ours, which vouches for
 * it. `claimed`: a line of text says so.
 */
export type Certainty = "proven" | "held" | "claimed";

export type KnownQuestion =
  /** The newest state of exactly this URL. */
  | { readonly by: "url"; readonly uri: string }
  /** A capture of an equivalent URL that has one of these digests. */
  | { readonly by: "equivalent"; readonly uri: string; readonly digests: readonly string[] }
  /** A capture with one of these digests: of this URL if there is one, else of an equivalent one, else of any. */
  | {
      readonly by: "digest";
      readonly digests: readonly string[];
      readonly uri: string;
      /** An original in this framing is preferred. */
      readonly framing?: Framing | undefined;
    };

/** A capture that somebody has, and what a new one is compared with. */
export interface KnownCapture extends Validators {
  readonly uri: string;
  /** When it was captured. */
  readonly timeMs: number;
  /** Of its payload, in our form, one per algorithm. Two captures have the same content if they share one. */
  readonly digests: readonly string[];
  readonly payloadSize?: number | undefined;
  /** How the body is stored; absent where that is not known. */
  readonly framing?: Framing | undefined;
  readonly status?: number | undefined;
  readonly mime?: string | undefined;
  /** As the server wrote them. */
  readonly etag?: string | undefined;
  readonly lastModified?: string | undefined;
  /** The operator's text on where the original lies, usually the name of a crawl. */
  readonly origin?: string | undefined;
  /** The record that holds the payload: its own, or where it is a revisit the one that it leads to. */
  readonly original?: OriginalReference | undefined;
  readonly certainty: Certainty;
}

export interface KnownContents {
  /** The questions that can be answered; others get no answer. */
  readonly answers: ReadonlySet<KnownQuestion["by"]>;

  /** One answer for each question, in order; absent where nothing is known. */
  find(
    questions: readonly KnownQuestion[],
  ): readonly (KnownCapture | undefined)[] | Promise<readonly (KnownCapture | undefined)[]>;

  /**
   * Reads the original of a capture that it answered with, once in a run. `proven` if the payload is there and has the
   * digest; the certainty it had where its bytes are out of reach; absent where they are not what was said.
   */
  prove(known: KnownCapture): Certainty | undefined | Promise<Certainty | undefined>;
}

/**
 * Whether two have one content, as far as their digests tell: they share one, and none of the others denies it. Contents
 * can be made that have one SHA-1, but none that have one SHA-256 as well.
 */
export function shareDigest(one: readonly string[], other: readonly string[]): boolean {
  let isShared = false;
  for (const digest of one) {
    if (other.includes(digest)) isShared = true;
    else if (other.some((each) => isOfAlgorithm(each, digest))) return false;
  }
  return isShared;
}

function isOfAlgorithm(one: string, other: string): boolean {
  return one.startsWith(other.slice(0, other.indexOf(":") + 1));
}
