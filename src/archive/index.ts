export { Archive, type ArchiveOptions, type Change, type Lifespan, type Moment, type Scope } from "./archive.ts";
export { type ArchiveSettings, archiveExists, createArchive } from "./archive-folder.ts";
export { type AddOptions, type AddReport, ArchiveWriter, type WriterOptions } from "./archive-writer.ts";
export { type CaptureDetails, CaptureReader } from "./capture-reader.ts";
export { archiveKey, type CaptureKind, type CaptureRow, type RecordPlace } from "./capture-row.ts";
export { type CatalogueState, type FoundCapture } from "./catalogue.ts";
export type { Content } from "./content.ts";
export type { IntakeCounts } from "./intake.ts";
export { behind, type OrderedStore, type Pair, type StoreView } from "./ordered-store.ts";
export {
  type ArchiveTotals,
  archiveStats,
  archiveTotals,
  type Figures,
  type NamedFigures,
  STATS_GROUPS,
  type StatsGroup,
} from "./stats.ts";
