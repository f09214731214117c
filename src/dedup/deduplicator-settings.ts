/** The settings of the DeDuplicator: those of the paper's Figure 2, and what revisits ask for beyond them. */
import { ArchiveError } from "../base/index.ts";
import { type DateReference, HEADER_SCHEMES, type HeaderScheme } from "./header-predictor.ts";
import type { KnownContents } from "./known-contents.ts";
import { mimeExpression, mimeMatcher, type Policy } from "./policy.ts";

/** Which header schemes are tried on documents that are known, by the name of the analysis mode. */
export const ANALYSIS_MODES = {
  none: [],
  timestamp: ["datestamp"],
  etag: ["etag"],
  both: ["datestamp", "etag"],
  all: HEADER_SCHEMES,
} as const satisfies Readonly<Record<string, readonly HeaderScheme[]>>;
export type AnalysisMode = keyof typeof ANALYSIS_MODES;

/** Each level logs what those before it do. */
export const LOG_LEVELS = ["off", "warning", "info", "debug"] as const;
export type LogLevel = (typeof LOG_LEVELS)[number];

export interface MimeFilter {
  /** A regular expression for the whole media type: `^text/.*`. */
  readonly expression?: string | undefined;
  /** Patterns such as `image/*`. One that fits is enough, here or above. */
  readonly patterns?: readonly string[] | undefined;
  /** `blacklist`: captures that fit are not handled. `whitelist`: only those are. */
  readonly mode: "blacklist" | "whitelist";
}

/** What is done with the index's word on where originals lie. */
export type OriginHandling =
  /** Nothing is said of it. */
  | "none"
  /** The text of `origin`, for all. */
  | "processor"
  /** What the index has for the original. */
  | "index";

export interface DeduplicatorSettings {
  /** False: every capture is kept, and nothing is asked. */
  readonly enabled?: boolean | undefined;
  readonly index: KnownContents;
  /** How originals are looked up. Either way a duplicate has the URL of its original, or an equivalent one. */
  readonly matching?: "url" | "digest" | undefined;
  /** Equivalent URLs count where the URL itself does not lead to the content. */
  readonly tryEquivalent?: boolean | undefined;
  readonly mimeFilter?: MimeFilter | undefined;
  readonly analysis?: AnalysisMode | readonly HeaderScheme[] | undefined;
  /** See `DateReference`. */
  readonly dateReference?: DateReference | undefined;
  readonly logLevel?: LogLevel | undefined;
  readonly onLog?: ((line: DeduplicatorLogLine) => void) | undefined;
  readonly statsPerHost?: boolean | undefined;
  readonly originHandling?: OriginHandling | undefined;
  readonly origin?: string | undefined;

  /**
   * What a mirror is, that is a capture whose content is known of another URL only. `counted`: it is kept, as in the paper.
   * `duplicates`: it is a duplicate, which WARC can express and ARC could not.
   */
  readonly mirrors?: "counted" | "duplicates" | undefined;
  /**
   * Duplicates are to become revisit records: so there must be a record to refer to, and its body must be stored as the
   * new one is. Without it the content alone decides, as in the paper.
   */
  readonly revisits?: boolean | undefined;
  /** Originals are read before a capture is called their duplicate, once in a run, where they can be reached. */
  readonly proves?: boolean | undefined;
  /** Answers with a status of 400 and more are handled too. */
  readonly errors?: boolean | undefined;
  readonly policy?: Policy | undefined;
}

export interface DeduplicatorLogLine {
  readonly level: Exclude<LogLevel, "off">;
  readonly uri: string;
  readonly message: string;
}

export function schemesOf(analysis: DeduplicatorSettings["analysis"]): readonly HeaderScheme[] {
  return typeof analysis === "object" ? analysis : ANALYSIS_MODES[analysis ?? "timestamp"];
}

/** Says whether captures of a media type are handled. */
export function handledTypes(filter: MimeFilter | undefined): (mime: string | undefined) => boolean {
  const tests = [
    ...(filter?.expression === undefined ? [] : [mimeExpression(filter.expression)]),
    ...(filter?.patterns === undefined ? [] : [mimeMatcher(filter.patterns)]),
  ];
  if (filter === undefined || tests.length === 0) return () => true;
  const isBlack = filter.mode === "blacklist";
  return (mime) => tests.some((test) => test(mime)) !== isBlack;
}

/** Throws where the index cannot answer what the settings ask of it. */
export function requireAnswers({ index, matching = "url", tryEquivalent }: DeduplicatorSettings): void {
  const needed = [
    matching,
    ...(matching === "url" && tryEquivalent === true ? (["equivalent"] as const) : []),
  ] as const;
  for (const by of needed) {
    if (!index.answers.has(by)) throw new ArchiveError("HT_USAGE", `the index cannot be searched by ${QUESTIONS[by]}`);
  }
}

const QUESTIONS = { url: "URL", digest: "digest", equivalent: "equivalent URL" } as const;
