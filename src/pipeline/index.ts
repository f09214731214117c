export {
  ARC_LINE_BASE64_FIELD,
  ARC_LINE_FIELD,
  type ArcContext,
  arcId,
  convertedFields,
  derivedId,
  warcinfoBlock,
  warcinfoFields,
} from "./arc-conversion.ts";
export { type CdxOptions, cdxEntryOf, isIndexed } from "./cdx-index.ts";
export type { RecordCheck } from "./check.ts";
export type { CommitOptions, CommitProgress, CommitResult } from "./commit.ts";
export { detectCompression } from "./compression.ts";
export { type Converted, type ConvertOptions, convertedName, convertInput } from "./convert.ts";
export type { DedupOptions, DedupProgress, DedupResult, DedupStage, FixedDuplicates, FixedKind } from "./dedup.ts";
export { HalfManifest } from "./half-manifest.ts";
export { headChecksumOf } from "./head-checksum.ts";
export { isUrl } from "./http-source.ts";
export { accessOf } from "./input-access.ts";
export * from "./inputs.ts";
export * from "./jobs.ts";
export { LineSorter, type LineSorterOptions } from "./line-sorter.ts";
export type { RecordListing } from "./listing.ts";
export * from "./manifest-line.ts";
export { isOrdinaryHead } from "./ordinary-head.ts";
export { type Orphan, OrphanFinder } from "./orphans.ts";
export { mayHaveZstd } from "./part.ts";
export { damageOf } from "./record-damage.ts";
export { type CaptureFacts, factsOf, namedBy, type RecordFacts, readFacts } from "./record-facts.ts";
export { type OpenedRecord, RecordReopener } from "./record-reopener.ts";
export { DedupStatistics } from "./report/dedup-statistics.ts";
export { formatReportHtml } from "./report/html.ts";
export { explainReason } from "./report/reasons.ts";
export * from "./report/shape.ts";
export { Expansion } from "./restore/expand.ts";
export type { SubsetFilter } from "./restore/filter.ts";
export type { RestoredFile, RestoredState } from "./restore/job.ts";
export { type OwnRevisit, parseReplaced, RecordHasher, restoredBlock, restoredHead } from "./restore/record.ts";
export type { RestoreOptions, RestoreResult } from "./restore/restore.ts";
export type { RestoreProgress } from "./restore/run.ts";
export type { SubsetOptions, SubsetResult } from "./restore/subset.ts";
export type { SubsetFile } from "./restore/subset-job.ts";
export { examineRecord, RECORD_DIGEST } from "./reversal.ts";
export { type RunOptions, type RunProgress, type RunSummary, runTask } from "./run.ts";
export { SeenPayloads } from "./seen-payloads.ts";
export { Spool } from "./spool.ts";
export * from "./stages.ts";
export type { Estimate, SurveyOptions, SurveyReport } from "./survey/survey.ts";
export type { TaskRequest } from "./task.ts";
export { readGivenLines, readInputLines, readTextLines } from "./text-lines.ts";
export { usefulThreads } from "./thread-count.ts";
export type {
  SampledRecord,
  VerifyOptions,
  VerifyProblem,
  VerifyProgress,
  VerifyResult,
  VerifyStage,
} from "./verify/verify.ts";
export { WarcsumIntake } from "./warcsum-intake.ts";
export { formatWarcsumLine } from "./warcsum-line.ts";
export { checkZips, comparePackages } from "./zip-check.ts";
