/** The digest index of the DeDuplicator: which contents earlier crawls have seen, where, and when. */

export { type BuildOptions, type BuildResult, buildIndex } from "./build.ts";
export { type CdxDialect, CdxServerContents, type CdxServerOptions } from "./cdx-server.ts";
export { checkIndex, type IndexFinding, type ProofCounts, proveIndex } from "./check.ts";
export {
  DigestIndex,
  type DigestIndexOptions,
  type IndexInfo,
  type LearningOptions,
  type OriginalProver,
} from "./digest-index.ts";
export { type DigestEntry, type FoundCapture, type RecordPlace } from "./entry.ts";
export { EXPORT_FORMATS, type ExportFormat, formatExported, WGET_HEADER } from "./export.ts";
export { isDigestIndex } from "./index-writer.ts";
export { type CaptureSource, InputSource } from "./input-source.ts";
export { type Fault, type Intake, type IntakeProgress, type SkipReason } from "./intake.ts";
export { type MergeOptions, mergeIndexes } from "./merge.ts";
export { type MimeFilter } from "./mime-gate.ts";
export { OriginalFiles } from "./original-files.ts";
export { entryOfRecord } from "./record-entries.ts";
export { formatReportCsv } from "./report/csv.ts";
export { formatReportPage } from "./report/page.ts";
export { type ReportOptions, reportOn, reportSettings } from "./report/run.ts";
export { type DigestReport, shapeReport, type Tallies } from "./report/shape.ts";
export { formatReportText } from "./report/text.ts";
export { type IndexSettings, SETTINGS_DEFAULT } from "./settings.ts";
