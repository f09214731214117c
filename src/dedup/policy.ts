/** What the keeper of a collection may ask for beyond the rules that always hold. */
import { ArchiveError } from "../base/index.ts";

export interface Policy {
  /** Replace only where at least so many bytes are saved; with `none`, also where a revisit is larger. */
  readonly minSaving?: number | "none" | undefined;
  /** Replace only media types that fit one of these patterns (`image/*`). */
  readonly mime?: readonly string[] | undefined;
  /** Never replace media types that fit one of these. */
  readonly notMime?: readonly string[] | undefined;
  /** A duplicate must be a capture of the same URI as its original. */
  readonly sameUrl?: boolean | undefined;
  /** With `sameUrl`: a URI that is equivalent, as the DeDuplicator has it, is the same. */
  readonly equivalentUrl?: boolean | undefined;
  /** A duplicate must be from the same host as its original. */
  readonly sameSite?: boolean | undefined;
  /** An original may be at most so many days older than its duplicate. */
  readonly maxAgeDays?: number | undefined;
}

const PATTERN = /^[a-z0-9!#$&^_.+*-]+\/[a-z0-9!#$&^_.+*-]+$/i;

/** Compiles patterns of media types: `*` stands for anything but a slash, and `-` for records without a type. */
export function mimeMatcher(patterns: readonly string[]): (mime: string | undefined) => boolean {
  const tests = patterns.map((pattern) => {
    if (pattern !== "-" && !PATTERN.test(pattern)) {
      throw new ArchiveError("HT_USAGE", `not a pattern of media types: ${pattern} (try image/*)`);
    }
    const source = pattern
      .split("*")
      .map((part) => part.replace(/[\\^$.+()[\]{}|]/g, "\\$&"))
      .join("[^/]*");
    return new RegExp(`^${source}$`, "i");
  });
  return (mime) => tests.some((test) => test.test(mime ?? "-"));
}

/** A policy ready for use: says whether a media type may be replaced. */
export function mimeFilter(policy: Policy): (mime: string | undefined) => boolean {
  const wanted = policy.mime === undefined ? undefined : mimeMatcher(policy.mime);
  const unwanted = policy.notMime === undefined ? undefined : mimeMatcher(policy.notMime);
  return (mime) => (wanted === undefined || wanted(mime)) && (unwanted === undefined || !unwanted(mime));
}

/** Longer ones are no media types, and match no expression: an unlucky one could be looked at for ever. */
const MIME_LENGTH_MAX = 255;

/**
 * Compiles a regular expression that has to match a whole media type, as the DeDuplicator has them: `^text/.*`. Case does
 * not matter, and `-` stands for records without a type.
 */
export function mimeExpression(source: string): (mime: string | undefined) => boolean {
  try {
    const expression = new RegExp(`^(?:${source})$`, "i");
    return (mime = "-") => mime.length <= MIME_LENGTH_MAX && expression.test(mime);
  } catch (cause) {
    const message = `not a regular expression: ${source} (${(cause as Error).message})`;
    throw new ArchiveError("HT_USAGE", message, {}, cause);
  }
}
