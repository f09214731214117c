/**
 * Crawl-time deduplication: captures from the wire become records, of which each distinct content is stored once.
 * `ConditionalFetcher` fetches documents that may be known, `runFetchJob` a list of them into a folder.
 */
export type { TruncatedReason, WireCapture } from "./capture-records.ts";
export { CaptureWriter, type CaptureWriterParts, type Ruling } from "./capture-writer.ts";
export { ConditionalFetcher, type ConditionalFetcherParts } from "./conditional-fetcher.ts";
export { CrawlLog } from "./crawl-log.ts";
export { type FetchJobOptions, type FetchProgress, type FetchResult, runFetchJob } from "./fetch-job.ts";
export { type FetchFigures, type FetchReport, fetchRows } from "./fetch-report.ts";
export type { FetchSettings } from "./fetch-settings.ts";
export { OwnCaptures } from "./own-captures.ts";
export type { Assignment, Retrieval, RetrievalOutcome } from "./retrieval.ts";
export { retrievalJson } from "./retrieval-line.ts";
export { type RetrievalCounts, RetrievalTally } from "./retrieval-tally.ts";
export { type SeriesOptions, WarcSeries } from "./warc-series.ts";
export { SpoolPool } from "./wire-spool.ts";
