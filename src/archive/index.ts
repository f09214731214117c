export type { AdoptReport } from "./adding/adopt.ts";
export type { IntakeCounts } from "./adding/intake-counts.ts";
export type { TakeOptions } from "./adding/take-facts.ts";
export { type AddOptions, type AddReport, ArchiveWriter } from "./archive-writer.ts";
export { captureJson, lifespanJson } from "./asking/answer-json.ts";
export { Archive } from "./asking/archive.ts";
export type { Capture, CaptureFlag } from "./asking/capture.ts";
export type { CaptureQuery } from "./asking/capture-query.ts";
export type {
  CrawlFigures,
  DuplicateTally,
  Duplication,
  DuplicationOptions,
  MonthFigures,
} from "./asking/duplication.ts";
export type { KnownInArchive } from "./asking/known-in-archive.ts";
export type { Change, Lifespan, Scope, SliceOptions } from "./asking/lifespans.ts";
export { type LookAlikes, lookAlikes } from "./asking/look-alikes.ts";
export type { Moment } from "./asking/moment.ts";
export { type ByteRange, OpenedCapture } from "./asking/opened-capture.ts";
export type { RepeatedContent } from "./asking/repeated-contents.ts";
export type { SegmentFile } from "./asking/segment-file.ts";
export type { ArchiveOptions } from "./asking/snapshot.ts";
export type { ArchiveSource } from "./asking/sources.ts";
export { type ArchiveTotals, type Figures, type NamedFigures, STATS_GROUPS, type StatsGroup } from "./asking/stats.ts";
export type { CompactOptions, CompactReport } from "./care/compact.ts";
export { type DoctorFinding, type DoctorOptions, examineArchive } from "./care/doctor.ts";
export type { RebuildOptions } from "./care/rebuild.ts";
export type { RemoveOptions, RemoveReport, Selection } from "./care/remove.ts";
export { archiveKey } from "./catalogue/capture-key.ts";
export { VISIT_CLASSES, type VisitClass } from "./catalogue/capture-row.ts";
export type { CatalogueState } from "./catalogue/catalogue-view.ts";
export type { Content } from "./catalogue/content.ts";
export type { WriterOptions } from "./core/archive-core.ts";
export {
  type ExportFormat,
  type ExportOptions,
  type ExportProgress,
  type ExportReport,
  exportArchive,
} from "./export/export.ts";
export type { ExportFate } from "./export/export-record.ts";
export type { ExportSelection } from "./export/export-selection.ts";
export { type JournalEntry, type RemovedCapture, readJournal } from "./journal/journal.ts";
export { type ArchiveSettings, archiveExists, createArchive } from "./segments/archive-folder.ts";
