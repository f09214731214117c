export * from "./candidate.ts";
export * from "./capture-set.ts";
export * from "./chooser.ts";
export {
  type CrawlFacts,
  CrawlStudy,
  type CrawlStudyResult,
  crawlOfFile,
  type StudiedCrawl,
} from "./crawl-study.ts";
export { Deduplicator, type ExemptReason, type HeldReason, type NewCapture, type Verdict } from "./deduplicator.ts";
export {
  ANALYSIS_MODES,
  type AnalysisMode,
  type DeduplicatorLogLine,
  type DeduplicatorSettings,
  handledTypes,
  LOG_LEVELS,
  type LogLevel,
  type MimeFilter,
  type OriginHandling,
} from "./deduplicator-settings.ts";
export {
  type DateReference,
  HEADER_SCHEMES,
  HeaderPredictor,
  type HeaderScheme,
  type HeaderSigns,
  type HeaderValues,
  type KnownHeaders,
  type Prediction,
  predictionOf,
  readSigns,
} from "./header-predictor.ts";
export { type HeaderCounts, type HeaderFigures, HeaderTally, headerFigures, type Ratio } from "./header-tally.ts";
export * from "./joined-contents.ts";
export * from "./known-contents.ts";
export * from "./policy.ts";
export * from "./reference.ts";
export * from "./rules.ts";
export { DuplicateTally, newOnes, type TalliedCapture, type TallyCounts } from "./tally.ts";
export { UrlsBefore } from "./urls-before.ts";
