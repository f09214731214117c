export type { AdoptReport } from "./adopt.ts";
export { Archive, type ArchiveOptions, type Change, type Lifespan, type Moment, type Scope } from "./archive.ts";
export type { WriterOptions } from "./archive-core.ts";
export { type ArchiveSettings, archiveExists, createArchive } from "./archive-folder.ts";
export { type AddOptions, type AddReport, ArchiveWriter } from "./archive-writer.ts";
export { type CaptureDetails, CaptureReader } from "./capture-reader.ts";
export { archiveKey, type CaptureKind, type CaptureRow, type RecordPlace } from "./capture-row.ts";
export { type CatalogueState, type FoundCapture } from "./catalogue-view.ts";
export type { CompactOptions, CompactReport } from "./compact.ts";
export type { Content } from "./content.ts";
export { type DoctorFinding, type DoctorOptions, examineArchive } from "./doctor.ts";
export {
  type ExportFormat,
  type ExportOptions,
  type ExportProgress,
  type ExportReport,
  exportArchive,
} from "./export.ts";
export type { ExportFate } from "./export-record.ts";
export type { ExportSelection } from "./export-selection.ts";
export type { IntakeCounts } from "./intake.ts";
export { type JournalEntry, type RemovedCapture, readJournal } from "./journal.ts";
export { behind, type OrderedStore, type Pair, type StoreView } from "./ordered-store.ts";
export type { RebuildOptions } from "./rebuild.ts";
export type { RemoveOptions, RemoveReport, Selection } from "./remove.ts";
export {
  type ArchiveTotals,
  archiveStats,
  archiveTotals,
  type Figures,
  type NamedFigures,
  STATS_GROUPS,
  type StatsGroup,
} from "./stats.ts";
export type { TakeOptions } from "./take-facts.ts";
