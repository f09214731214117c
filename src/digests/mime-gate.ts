/** Which media types an index takes in: patterns and regular expressions, for and against, as the DeDuplicator has them. */
import { mimeExpression, mimeFilter } from "../dedup/index.ts";

export interface MimeFilter {
  /** Patterns such as `image/*`: only these are taken. */
  readonly mime?: readonly string[] | undefined;
  readonly notMime?: readonly string[] | undefined;
  /** Regular expressions, which must match the whole type. */
  readonly mimeRegex?: readonly string[] | undefined;
  readonly notMimeRegex?: readonly string[] | undefined;
}

/** Verdicts that are remembered; a crawl has some hundred types. */
const VERDICTS_MAX = 10_000;

function compile(sources: readonly string[] | undefined): ((mime: string) => boolean) | undefined {
  if (sources === undefined || sources.length === 0) return undefined;
  const expressions = sources.map(mimeExpression);
  return (mime) => expressions.some((matches) => matches(mime));
}

/** The type without its parameters, in small letters. */
export function plainMime(mime: string): string {
  const semicolon = mime.indexOf(";");
  return (semicolon < 0 ? mime : mime.slice(0, semicolon)).trim().toLowerCase();
}

/** Says whether a capture of this type is taken; `mime` is plain, and absent where the source tells none. */
export function createMimeGate(filter: MimeFilter): (mime: string | undefined) => boolean {
  const some = (list: readonly string[] | undefined) => (list === undefined || list.length === 0 ? undefined : list);
  const byPattern = mimeFilter({ mime: some(filter.mime), notMime: some(filter.notMime) });
  const wanted = compile(filter.mimeRegex);
  const unwanted = compile(filter.notMimeRegex);
  if (some(filter.mime) === undefined && some(filter.notMime) === undefined && wanted === undefined && !unwanted) {
    return () => true;
  }
  const verdicts = new Map<string, boolean>();
  return (mime = "-") => {
    let verdict = verdicts.get(mime);
    if (verdict === undefined) {
      verdict = byPattern(mime) && wanted?.(mime) !== false && unwanted?.(mime) !== true;
      if (verdicts.size >= VERDICTS_MAX) verdicts.clear();
      verdicts.set(mime, verdict);
    }
    return verdict;
  };
}
